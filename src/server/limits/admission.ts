import { MillraceError } from '../../core/errors.js'
import type { ServerContext } from '../context.js'
import type { Identity, ServerOptions } from '../contract.js'
import { createIdentify } from '../request/identity.js'
import { declaredLength } from '../request/read-json.js'
import { createClientAddress, toAddressKey } from './client-address.js'

/** A request before its body is read. */
interface Arrival {
  readonly request: Request
  /** On Node, the other end of the connection. */
  readonly socketAddress: string | undefined
}

/** What a request must pass before its body is read. */
export interface Admission {
  /** Counts a request for its address. Throws RATE_LIMITED. */
  count(arrival: Arrival): void
  /** Finds the user of a request and counts it for the user. Throws as `identify` does, or RATE_LIMITED. */
  identify(arrival: Arrival, route: string): Promise<Required<Identity>>
  /** The address of the client, if it is known. */
  addressOf(arrival: Arrival): string | undefined
}

export function createAdmission(
  server: ServerContext,
  { identify: identifyOfApp, trustProxy }: ServerOptions,
): Admission {
  const { limits, rates, audit } = server
  const identify = createIdentify(identifyOfApp, server)
  const clientAddress = createClientAddress(trustProxy)
  const countsAddresses = limits.requestsPerAddress < Infinity || limits.failedIdentifications < Infinity
  const addressOf = ({ request, socketAddress }: Arrival): string | undefined =>
    clientAddress(request, socketAddress)
  const keyOf = (arrival: Arrival): string | undefined =>
    countsAddresses ? toAddressKey(addressOf(arrival)) : undefined
  return {
    addressOf,
    count: (arrival) => rates.ofAddress(keyOf(arrival)),
    async identify(arrival, route) {
      const { request } = arrival
      const identity = await identify(request).catch((error: unknown) => {
        if (isUnauthenticated(error)) rates.failedIdentification(keyOf(arrival))
        const { method } = request
        audit.record({ action: 'identify', method, route, address: addressOf(arrival) }, error)
        throw error
      })
      rates.ofUser(identity, declaredLength(request.headers) ?? 0)
      return identity
    },
  }
}

function isUnauthenticated(error: unknown): boolean {
  return MillraceError.isInstance(error) && error.code === 'UNAUTHENTICATED'
}
