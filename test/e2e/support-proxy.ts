import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** How many bytes a connection carries before it breaks. */
export interface Cut {
  readonly up: number
  readonly down: number
}

export interface CuttingProxy {
  readonly url: string
  /** Where the next connections go. */
  target: string
  /** Breaks all open connections. */
  dropAll(): void
  /** Lets nothing more through on the open connections, which stay open. */
  fallSilent(): void
  /** From now on, nothing is cut. */
  mend(): void
  close(): Promise<void>
  /** How many connections were opened, and were cut. */
  readonly opened: number
  /** How many chunks the server has sent through it. */
  readonly chunks: number
  readonly cuts: number
}

/** A loopback proxy that breaks connections in the middle: one cut for each connection, then whole ones. */
export async function cuttingProxy(target: string, cuts: readonly Cut[]): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  const silent = new WeakSet<Socket>()
  let [next, cutCount, chunkCount] = [0, 0, 0]
  let isMended = false
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    return socket
  }
  const server = createServer((near) => {
    const { hostname, port } = new URL(proxy.target)
    const far = keep(connect(Number(port), hostname))
    keep(near)
    const cut = cuts[next++] ?? { up: Infinity, down: Infinity }
    carry(near, far, () => (isMended ? Infinity : cut.up))
    carry(far, near, () => (isMended ? Infinity : cut.down))
    far.on('data', () => chunkCount++)
  })
  const carry = (from: Socket, to: Socket, limit: () => number): void => {
    let carried = 0
    from.on('data', (chunk: Buffer) => {
      if (silent.has(from)) return
      const left = limit() - carried
      carried += chunk.length
      to.write(chunk.length <= left ? chunk : chunk.subarray(0, Math.max(left, 0)))
      if (chunk.length <= left) return
      cutCount++
      // What was written still arrives: a break in the middle of an event.
      to.end(() => to.destroy())
      from.destroy()
    })
    from.on('close', () => to.destroy())
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const dropAll = (): void => {
    for (const socket of [...sockets]) socket.destroy()
  }
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target,
    dropAll,
    fallSilent() {
      for (const socket of sockets) silent.add(socket)
    },
    mend: () => void (isMended = true),
    close() {
      dropAll()
      return new Promise((resolve) => server.close(() => resolve()))
    },
    get opened() {
      return next
    },
    get chunks() {
      return chunkCount
    },
    get cuts() {
      return cutCount
    },
  }
  return proxy
}
