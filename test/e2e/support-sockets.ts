import { connect, type Socket } from 'node:net'
import { afterEachTest } from '../support/after-each-test.js'

/** A connection that sends what it likes, and no more. */
export interface RawConnection {
  send(text: string): void
  /** Resolves with all that came when the server has closed it. */
  readonly closed: Promise<string>
  /** Resolves with what came so far when that holds a whole answer with JSON. */
  readonly answered: Promise<string>
  readonly isOpen: boolean
  destroy(): void
}

const open = new Set<Socket>()

afterEachTest(() => {
  for (const socket of open) socket.destroy()
  open.clear()
})

/** Connects. All of 127.0.0.0/8 is this machine, so a client may come from any address of it. */
export async function connectRaw(url: string, from = '127.0.0.1'): Promise<RawConnection> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), localAddress: from })
  open.add(socket)
  let text = ''
  let onText: () => void = () => undefined
  const answered = new Promise<string>((resolve) => {
    onText = () => {
      if (text.endsWith('}')) resolve(text)
    }
  })
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1')
    onText()
  })
  // A connection that is cut off is what the tests look for.
  socket.on('error', () => undefined)
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)))
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))
  return {
    send(more) {
      if (socket.writable) socket.write(more)
    },
    closed,
    answered,
    get isOpen() {
      return !socket.destroyed
    },
    destroy: () => socket.destroy(),
  }
}

/** The head of a request with a JSON body of this length. */
export function headOf(
  route: string,
  { length, headers = {} }: { length?: number; headers?: Readonly<Record<string, string>> } = {},
): string {
  const size = length === undefined ? {} : { 'content-length': String(length) }
  const all = { host: '127.0.0.1', 'content-type': 'application/json', ...size, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${route} HTTP/1.1\r\n${lines.join('')}\r\n`
}
