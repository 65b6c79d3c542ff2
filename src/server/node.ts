import { getRequestListener, type HttpBindings } from '@hono/node-server'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { MillraceError } from '../core/errors.js'
import { systemClock, type Clock } from '../core/clock.js'
import type { CloseOptions, Server } from './contract.js'
import { defaultGraceMs } from './create-server.js'
import { connectionTimes, limitConnections } from './limits/connections.js'
import { leaveUnread } from './limits/unread-bodies.js'
import { isLoopbackHost } from './request/identity.js'
import { withParsedBody } from './request/parsed-body.js'

export interface ServeOptions {
  /** Default 4111; 0 takes any free port. */
  readonly port?: number
  /** Default: 127.0.0.1. Any host but this machine needs a server with `identify`. */
  readonly host?: string
  /** Closes the server on SIGTERM or SIGINT, and ends the process on the second signal. Default: true. */
  readonly signals?: boolean
  /** How long live runs and unanswered requests may continue after a signal, in milliseconds. Default 10 s. */
  readonly graceMs?: number
  readonly clock?: Clock
}

export interface Serving {
  /** For example `http://127.0.0.1:4111`. */
  readonly url: string
  /** Takes no more runs, lets live runs and their streams end, and closes the server. Cuts off unanswered requests only. */
  close(options?: CloseOptions): Promise<void>
}

/**
 * Makes a listener for an HTTP server of your own: `node:http`, Express, Fastify. Where a parser has read the body before,
 * the listener takes what the parser left at `request.body`: an object, a string or a Buffer.
 *
 * @example
 * app.use('/ai', createListener(server))
 */
export function createListener(server: Server): (request: IncomingMessage, response: ServerResponse) => void {
  const listener = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as HttpBindings
      return server.fetch(withParsedBody(request, incoming), {
        nodeRequest: incoming,
        nodeResponse: outgoing,
      })
    },
    { overrideGlobalObjects: false, autoCleanupIncoming: false },
  )
  return (request, response) => {
    leaveUnread(request, response)
    void listener(request, response)
  }
}

/**
 * Serves on Node. Resolves when the port is open.
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
  const listener = createListener(server)
  const connections = new Connections()
  const http = createHttpServer(connectionTimes(server.limits), (request, response) => {
    connections.addResponse(response)
    listener(request, response)
  })
  limitConnections(http, server.limits)
  http.on('connection', (socket) => connections.addSocket(socket))
  // Node calls this on close, and would cut off a response whose last bytes are still on their way.
  http.closeIdleConnections = () => undefined
  await listen(http, port, host)
  const closed = new Promise<void>((resolve) => http.once('close', resolve))
  const close = (closeOptions: CloseOptions = {}): Promise<void> =>
    closeServing({ http, server, connections, closed, clock }, closeOptions)
  const stopListening = signals ? onSignals(() => close({ graceMs })) : () => undefined
  return {
    url: urlOf(http, host),
    close: (closeOptions) => {
      stopListening()
      return close(closeOptions)
    },
  }
}

function listen(http: HttpServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', (error: NodeJS.ErrnoException) => reject(explainListenError(error, port, host)))
    http.listen(port, host, resolve)
  })
}

function explainListenError(error: NodeJS.ErrnoException, port: number, host: string): Error {
  if (error.code !== 'EADDRINUSE') return error
  const message = `Port ${port} of ${host} is in use. Choose another, or 0 for any that is free.`
  return new MillraceError('INTERNAL_ERROR', message, { cause: error, expose: true })
}

function urlOf(http: HttpServer, host: string): string {
  const { port } = http.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The open sockets, and the responses that are not complete. */
class Connections {
  readonly #sockets = new Set<Socket>()
  readonly #responses = new Set<ServerResponse>()

  addSocket(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  addResponse(response: ServerResponse): void {
    this.#responses.add(response)
    response.once('close', () => this.#responses.delete(response))
  }

  /** Closes the sockets without an open response. If `isLate`, a response counts only once it has begun. */
  closeIdle(isLate: boolean): void {
    const busy = new Set<Socket>()
    for (const { headersSent, req } of this.#responses) if (headersSent || !isLate) busy.add(req.socket)
    for (const socket of this.#sockets) if (!busy.has(socket)) socket.destroy()
  }
}

interface ServingParts {
  readonly http: HttpServer
  readonly server: Server
  readonly connections: Connections
  /** Resolves when the last socket has closed. */
  readonly closed: Promise<void>
  readonly clock: Clock
}

const pollMs = 50
/** Time for the answer to a request, even if runs have used up the grace: it may be about to be refused. */
const minAnswerMs = 1000

async function closeServing(
  { http, server, connections, closed, clock }: ServingParts,
  { graceMs = defaultGraceMs }: CloseOptions,
): Promise<void> {
  const startedAt = clock.now()
  // The port stays open until runs have ended: new ones get a proper refusal, and clients that lost a stream can reconnect.
  await server.close({ graceMs })
  if (http.listening) http.close()
  const lateAt = Math.max(startedAt + graceMs, clock.now() + minAnswerMs)
  // The runs have ended, so their streams end soon. Do not wait for idle sockets.
  let cancelTimer: () => void = () => undefined
  const poll = (): void => {
    connections.closeIdle(clock.now() >= lateAt)
    cancelTimer = clock.schedule(pollMs, poll)
  }
  poll()
  await closed
  cancelTimer()
}

/** Calls `close` on the first signal and ends the process on the second. Returns a function that stops listening. */
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
