import { createServer, connect, type AddressInfo, type Socket } from 'node:net'

/** A line to a server that can be cut. */
export interface Line extends AsyncDisposable {
  readonly url: string
  /** Breaks all connections, and every new one. */
  cut(): void
  heal(): void
}

export async function openLine(target: string): Promise<Line> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let isCut = false
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
  }
  const server = createServer((near) => {
    if (isCut) {
      near.destroy()
      return
    }
    const far = keep(connect(Number(port), hostname))
    keep(near).pipe(far).pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    heal: () => {
      isCut = false
    },
    async [Symbol.asyncDispose]() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
