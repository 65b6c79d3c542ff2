import type { ServerOptions } from '../contract.js'

/** Finds the address of a client. Undefined when it is not known. */
export type ClientAddress = (request: Request, socketAddress: string | undefined) => string | undefined

/**
 * The address of the socket, unless `trustProxy` says who else to believe. Clients can write any `X-Forwarded-For`; only
 * the entries that the application's own proxies have added at its end are true.
 */
export function createClientAddress(trustProxy: ServerOptions['trustProxy']): ClientAddress {
  if (typeof trustProxy === 'function') return (request) => checkAddress(trustProxy(request))
  if (trustProxy === undefined) return (_request, socketAddress) => socketAddress
  return (request, socketAddress) => {
    const entries = (request.headers.get('x-forwarded-for') ?? '').split(',')
    // A request with fewer entries has not passed all proxies: the first is the furthest that is known.
    const entry = entries[Math.max(0, entries.length - trustProxy)]
    return checkAddress(entry) ?? socketAddress
  }
}

/** Only the text of an address: a header can hold anything. */
function checkAddress(text: string | undefined): string | undefined {
  return toAddressKey(text) === undefined ? undefined : text?.trim()
}

const ipv4 = /^(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?$/i
const ipv6 = /^\[?([\da-f:]{2,39})(?:%[\w.-]{1,32})?(?:\](?::\d{1,5})?)?$/i

/** An address as a key for limits, without the port. Of IPv6 the first half: a network is free to use the other half as it likes. */
export function toAddressKey(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? ''
  if (trimmed.length > 80) return undefined
  const [, short] = ipv4.exec(trimmed) ?? []
  if (short !== undefined) return short
  const [, long] = ipv6.exec(trimmed) ?? []
  return long?.includes(':') === true ? networkOf(long) : undefined
}

/** The first four groups, with zeros where `::` leaves them out. */
function networkOf(address: string): string {
  const [head = '', tail] = address.toLowerCase().split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0')
  const groups = tail === undefined ? front : [...front, ...zeros, ...back]
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}
