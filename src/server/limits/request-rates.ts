import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { Owner } from '../../threads/contract.js'
import type { Limits } from '../contract.js'
import { userKey } from './quota.js'
import { createRate, type Rate } from './rate.js'

/** A body counts as one more request for each of these. Smaller ones are read at once. */
export const largeBodyBytes = 64 * 1024

/** Counts requests. All methods that refuse throw RATE_LIMITED; an address that is not known is never refused. */
export interface RequestRates {
  /** Counts a request, before anything else is known of it. Refuses an address with too many, or too many failures. */
  ofAddress(address: string | undefined): void
  /** Counts a request that has no user. */
  failedIdentification(address: string | undefined): void
  /** Counts a request of a user, and its body if its size is declared. Refuses it before the body is read. */
  ofUser(owner: Pick<Owner, 'app' | 'user'>, declaredBytes: number): void
  /** Counts a body whose size was not declared. Refuses the next request, not this one. */
  ofBody(owner: Pick<Owner, 'app' | 'user'>, bytes: number): void
}

export function createRequestRates(limits: Limits, clock: Clock): RequestRates {
  const { requestsPerUser, requestsPerAddress, failedIdentifications } = limits
  const users = createRate(requestsPerUser, clock)
  const addresses = createRate(requestsPerAddress, clock)
  const failures = createRate(failedIdentifications, clock)
  return {
    ofAddress(address) {
      if (address === undefined) return
      refuseIfOver(failures, address, 'Too many requests from this address were not signed in.')
      refuseIfOver(addresses, address, 'Too many requests come from this address.')
      addresses.add(address, 1)
    },
    failedIdentification(address) {
      if (address !== undefined) failures.add(address, 1)
    },
    ofUser(owner, declaredBytes) {
      const key = userKey(owner)
      refuseIfOver(users, key, 'This user sends too many requests.')
      users.add(key, 1 + largeParts(declaredBytes))
    },
    ofBody: (owner, bytes) => users.add(userKey(owner), largeParts(bytes)),
  }
}

function largeParts(bytes: number): number {
  return Math.floor(bytes / largeBodyBytes)
}

function refuseIfOver(rate: Rate, key: string, message: string): void {
  const waitMs = rate.wait(key)
  if (waitMs === 0) return
  const seconds = Math.ceil(waitMs / 1000)
  throw new MillraceError('RATE_LIMITED', `${message} Try again in ${seconds} s.`, {
    details: { retryAfterSeconds: seconds },
  })
}
