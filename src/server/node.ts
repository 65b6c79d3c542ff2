import { getRequestListener } from '@hono/node-server'
import { createServer as createHttpServer, type Server as HttpServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { MillraceError } from '../core/errors.js'
import { systemClock, type Clock } from '../core/clock.js'
import { defaultGraceMs, type CloseOptions, type Server } from './create-server.js'
import { isLoopbackHost } from './request/identity.js'

export interface ServeOptions {
  /** Default 4111; 0 takes any that is free. */
  readonly port?: number
  /** Default: this machine only. Another needs a server with `identify`. */
  readonly host?: string
  /**
   * Shuts down in order when the process is asked to end (SIGTERM, SIGINT), and at once when it is asked again. Default:
   * true.
   */
  readonly signals?: boolean
  /** How long runs, and requests that are not answered yet, may go on when it shuts down, in milliseconds. Default 10 s. */
  readonly graceMs?: number
  readonly clock?: Clock
}

export interface Serving {
  /** Where it is reached: `http://127.0.0.1:4111`. */
  readonly url: string
  /**
   * Takes no more runs, lets those at work and their streams end, and closes the server. No stream is cut off. Requests
   * that are not answered when the time is over are.
   */
  close(options?: CloseOptions): Promise<void>
}

/**
 * Serves on Node. Resolves when it listens.
 *
 * @example
 * const { url } = await serve(createServer({ agents: [agent] }))
 */
export async function serve(server: Server, options: ServeOptions = {}): Promise<Serving> {
  const {
    port = 4111,
    host = '127.0.0.1',
    signals = true,
    graceMs = defaultGraceMs,
    clock = systemClock,
  } = options
  if (!isLoopbackHost(host) && !server.identifies) {
    const message = `To listen on '${host}', the server must know its users: give createServer an \`identify\` function.`
    throw new MillraceError('UNAUTHENTICATED', message)
  }
  const listener = getRequestListener((request, env) => server.fetch(request, env), {
    overrideGlobalObjects: false,
  })
  const connections = new Connections()
  const http = createHttpServer((incoming, outgoing) => {
    connections.answering(outgoing)
    void listener(incoming, outgoing)
  })
  http.on('connection', (socket) => connections.opened(socket))
  // Node would do this when it closes, and it takes an answer for over while its last bytes are still on their way.
  http.closeIdleConnections = () => undefined
  // Streams may be open for hours: only requests that do not come in are timed out.
  http.requestTimeout = 60_000
  await listening(http, port, host)
  const ended = new Promise<void>((resolve) => http.once('close', resolve))
  const close = (how: CloseOptions = {}): Promise<void> =>
    closeAll({ http, server, connections, ended, clock }, how)
  const forget = signals ? onSignals(() => close({ graceMs })) : () => undefined
  return {
    url: urlOf(http, host),
    close: (how) => {
      forget()
      return close(how)
    },
  }
}

function listening(http: HttpServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => reject(explained(error, port, host)))
    http.listen(port, host, resolve)
  })
}

function explained(error: NodeJS.ErrnoException, port: number, host: string): Error {
  if (error.code !== 'EADDRINUSE') return error
  const message = `Port ${port} of ${host} is in use. Choose another, or 0 for any that is free.`
  return new MillraceError('INTERNAL_ERROR', message, { cause: error, expose: true })
}

function urlOf(http: HttpServer, host: string): string {
  const { port } = http.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** What is connected, and what is not answered to the end yet. */
class Connections {
  readonly #sockets = new Set<Socket>()
  readonly #answers = new Set<ServerResponse>()

  opened(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  answering(outgoing: ServerResponse): void {
    this.#answers.add(outgoing)
    outgoing.once('close', () => this.#answers.delete(outgoing))
  }

  /** Ends those that wait for no answer. When it is late, also those whose answer has not begun. */
  sweep(isLate: boolean): void {
    const busy = new Set<Socket>()
    for (const { headersSent, req } of this.#answers) if (headersSent || !isLate) busy.add(req.socket)
    for (const socket of this.#sockets) if (!busy.has(socket)) socket.destroy()
  }
}

interface Closing {
  readonly http: HttpServer
  readonly server: Server
  readonly connections: Connections
  /** Resolves when nobody is connected any more. */
  readonly ended: Promise<void>
  readonly clock: Clock
}

const pollMs = 50
/** So long a request has for its answer when runs have taken all the time: it may be about to be refused. */
const leastMs = 1000

async function closeAll(
  { http, server, connections, ended, clock }: Closing,
  { graceMs = defaultGraceMs }: CloseOptions,
): Promise<void> {
  const began = clock.now()
  // It listens until runs are over: new ones are refused with words, and who lost a stream can come back for the rest.
  await server.close({ graceMs })
  if (http.listening) http.close()
  const late = Math.max(began + graceMs, clock.now() + leastMs)
  // Runs are over, so their streams are about to be. Connections without a request are not waited for.
  let cancel: () => void = () => undefined
  const sweep = (): void => {
    connections.sweep(clock.now() >= late)
    cancel = clock.schedule(pollMs, sweep)
  }
  sweep()
  await ended
  cancel()
}

/** `close` on the first signal, the end of the process on the second. The answer stops listening. */
function onSignals(close: () => Promise<void>): () => void {
  let isClosing = false
  const names = ['SIGTERM', 'SIGINT'] as const
  const handle = (signal: NodeJS.Signals): void => {
    const code = signal === 'SIGINT' ? 130 : 143
    if (isClosing) process.exit(code)
    isClosing = true
    void close().finally(() => process.exit(0))
  }
  for (const name of names) process.on(name, handle)
  return () => {
    for (const name of names) process.off(name, handle)
  }
}
