import type { ServerResponse } from 'node:http'
import { MillraceError, toWireError } from '../../core/errors.js'
import { type AgUiEvent, negotiate, type Peer } from '../../protocol/index.js'
import type { ServerContext } from '../context.js'
import { pump, type StreamEnd } from './back-pressure.js'
import { type Batch, createFraming, type Framing } from './framing.js'
import type { Heart } from './heartbeat.js'
import { createNodeSink, createWebSink, type Departure, type Sink } from './sink.js'

/** A request as far as its answer depends on it. */
export interface Exchange {
  readonly request: Request
  /** Node's own response, where there is one. */
  readonly outgoing: ServerResponse | undefined
  /** Headers every answer has, those of CORS for example. */
  readonly headers: Readonly<Record<string, string>>
}

export interface StreamReply {
  readonly peer: Peer
  /** What is sent, until the signal aborts: the client is gone then. */
  readonly source: (gone: Departure) => AsyncIterable<Batch> | Iterable<Batch>
  readonly onEnd?: (end: StreamEnd) => void
}

/** Tells the Node adapter that the answer is on its way already. */
const alreadySent = new Response(null, { headers: { 'x-hono-already-sent': 'true' } })

/** Answers with a stream. It goes on after this resolves. */
export async function replyWithStream(
  server: ServerContext & { readonly heart: Heart },
  { request, outgoing, headers }: Exchange,
  reply: StreamReply,
): Promise<Response> {
  const framing = await createFraming(negotiate(request.headers.get('accept')), reply.peer)
  const all = { ...headers, ...framing.headers }
  if (!outgoing) {
    const { sink, body } = createWebSink(request.signal)
    send({ server, sink, framing }, reply)
    return new Response(body, { headers: all })
  }
  outgoing.writeHead(200, all)
  send({ server, sink: createNodeSink(outgoing), framing }, reply)
  return alreadySent
}

interface Stream {
  readonly server: ServerContext & { readonly heart: Heart }
  readonly sink: Sink
  readonly framing: Framing
}

/** Not part of the above: what that has in its scope would stay in memory for as long as the stream. */
function send(stream: Stream, { source, onEnd }: StreamReply): void {
  const { server, sink, framing } = stream
  const { metrics, heart, clock, limits } = server
  metrics.streamOpened()
  const end = (reason: StreamEnd): void => {
    metrics.streamClosed({ reason })
    onEnd?.(reason)
  }
  void pump(source(sink.gone), { sink, framing, heart, clock, stallMs: limits.stallMs }).then(
    end,
    (error: unknown) => end(breakOff(error, stream)),
  )
}

/**
 * A stream that breaks down, in its source or because an event cannot be written, ends with an error that clients
 * understand, not with a broken connection.
 */
function breakOff(error: unknown, { server, sink, framing }: Stream): StreamEnd {
  // A stream that closing has ended is no trouble.
  const isClosing = MillraceError.isInstance(error) && error.code === 'SERVER_CLOSING'
  if (!isClosing) server.log.error({ err: error }, 'a stream broke down')
  if (sink.gone.aborted) return 'client'
  const event: AgUiEvent = { type: 'RUN_ERROR', ...toWireError(error, 'INTERNAL_ERROR') }
  sink.write(framing.frame({ events: [event] }))
  sink.end()
  return 'end'
}
