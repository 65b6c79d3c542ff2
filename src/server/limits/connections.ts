import type { Server as HttpServer } from 'node:http'
import type { Limits } from '../contract.js'
import { toAddressKey } from './client-address.js'

/** How often Node looks for connections that are late, at least. */
const longestCheckMs = 5_000

/** The options with which `node:http` closes connections that send no request, or send one too slowly. */
export function connectionTimes(limits: Limits): {
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly keepAliveTimeout: number
  readonly connectionsCheckingInterval: number
} {
  const { headersTimeoutMs, bodyTimeoutMs, keepAliveMs } = limits
  return {
    // From the moment a connection opens, so that one that never sends a byte is closed too.
    headersTimeout: nodeTimeout(headersTimeoutMs),
    // Only the arrival of a request is timed: its stream may be open for hours.
    requestTimeout: nodeTimeout(headersTimeoutMs + bodyTimeoutMs),
    keepAliveTimeout: nodeTimeout(keepAliveMs),
    connectionsCheckingInterval: nodeTimeout(Math.min(longestCheckMs, headersTimeoutMs, bodyTimeoutMs)),
  }
}

/** Node's zero means no limit. */
function nodeTimeout(ms: number): number {
  return ms === Infinity ? 0 : Math.max(1, Math.round(ms))
}

/** Closes each connection above the limit of its address, before it costs anything. */
export function limitConnections(http: HttpServer, { connectionsPerAddress }: Limits): void {
  if (connectionsPerAddress === Infinity) return
  const openFrom = new Map<string, number>()
  http.on('connection', (socket) => {
    const address = toAddressKey(socket.remoteAddress) ?? ''
    const open = openFrom.get(address) ?? 0
    if (open >= connectionsPerAddress) {
      socket.destroy()
      return
    }
    openFrom.set(address, open + 1)
    socket.once('close', () => {
      const left = (openFrom.get(address) ?? 1) - 1
      if (left > 0) openFrom.set(address, left)
      else openFrom.delete(address)
    })
  })
}
