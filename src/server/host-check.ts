const octet = String.raw`(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])`
const name = String.raw`(?:[a-z\d_-]+\.)*localhost\.?`
const address = String.raw`127(?:\.${octet}){3}\.?|\[::1\]`
const loopback = new RegExp(String.raw`^(?:${name}|${address})(?::\d{0,5})?$`, 'i')

/**
 * Whether a `Host` header, or a host name, can only mean this machine: `localhost` and names below it, 127.0.0.0/8 in
 * its usual form, and `::1`. With a server that only serves these, no foreign name that resolves to this machine gets
 * a browser to talk to it.
 */
export function isLoopbackHost(host: string | null | undefined): boolean {
  if (host === null || host === undefined) return false
  return host === '::1' || loopback.test(host)
}
