import type { ServerResponse } from 'node:http'
import { withAuthor } from '../../agents/index.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import {
  negotiate,
  type AgUiEvent,
  type EventPosition,
  type FieldNote,
  type Peer,
} from '../../protocol/index.js'
import type { ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { Share } from '../limits/quota.js'
import { writeWithBackPressure, type StreamEnd } from './back-pressure.js'
import { createFraming, type FrameBatch, type Framing } from './framing.js'
import { withLanes } from './ordered-lanes.js'
import { createWebSink, NodeSink, type DisconnectSignal, type Sink } from './sink.js'

/** A request and what its response is made with. */
export interface Exchange {
  readonly request: Request
  /** Node's own response, where there is one: streams are written straight into it. */
  readonly nodeResponse: ServerResponse | undefined
  /** Headers that every response gets, for example those of CORS. */
  readonly headers: Readonly<Record<string, string>>
  /** What a stream takes of its user's open streams. */
  readonly share?: Share | undefined
}

export interface StreamReply {
  readonly peer: Peer
  /** The thread, and the run if there is one: for the log. */
  readonly ids: ThreadKey & { readonly runId?: string | undefined }
  /** Returns the batches to send. The signal aborts when the client disconnects. */
  readonly source: (signal: DisconnectSignal) => AsyncIterable<FrameBatch> | Iterable<FrameBatch>
  readonly onEnd?: (end: StreamEnd) => void
  /** The last event that the client has, when the source follows it. */
  readonly from?: EventPosition | undefined
}

/** Tells the Node adapter that the response is already being written. */
const alreadySent = new Response(null, { headers: { 'x-hono-already-sent': 'true' } })

/** Answers with a stream, which continues after this resolves. */
export async function replyWithStream(
  server: ServerContext,
  { request, nodeResponse, headers, share }: Exchange,
  reply: StreamReply,
): Promise<Response> {
  const encoding = await createFraming(negotiate(request.headers.get('accept')), reply.peer, {
    warn: lossLogger(server, reply),
    withAuthor,
    stream: server.stream,
    clock: server.clock,
  })
  const { lanes } = server.stream
  const framing = withLanes(encoding, reply.peer, {
    lanes,
    maxBytes: server.limits.bufferBytes,
    from: reply.from,
  })
  const allHeaders = { ...headers, ...framing.headers }
  if (!nodeResponse) {
    const { sink, body } = createWebSink(request.signal)
    startWriting({ server, sink, framing, share }, reply)
    return new Response(body, { headers: allHeaders })
  }
  nodeResponse.writeHead(200, allHeaders)
  startWriting({ server, sink: new NodeSink(nodeResponse), framing, share }, reply)
  return alreadySent
}

/** A function of its own: the request in the scope above would stay in memory as long as the stream. */
function lossLogger({ log }: ServerContext, { ids }: StreamReply): (note: FieldNote) => void {
  return (note) => log.warn({ ...ids, ...note }, 'a client before 1.0 does not get all of a run')
}

interface OpenStream {
  readonly server: ServerContext
  readonly sink: Sink
  readonly framing: Framing
  readonly share: Share | undefined
}

/** A function of its own: the request in the scope above would stay in memory as long as the stream. */
function startWriting(stream: OpenStream, { source, onEnd }: StreamReply): void {
  const { server, sink, framing, share } = stream
  const { metrics, heartbeats, clock, limits } = server
  metrics.streamOpened()
  const onClosed = (reason: StreamEnd): void => {
    share?.release()
    metrics.streamClosed({ reason })
    onEnd?.(reason)
  }
  const options = { sink, framing, heartbeats, clock, stallMs: limits.stallMs }
  void writeWithBackPressure(source(sink.signal), options).then(onClosed, (error: unknown) =>
    onClosed(endWithError(error, stream)),
  )
}

/** Ends a stream that failed with an error event, which clients understand, not with a broken connection. */
function endWithError(error: unknown, { server, sink, framing }: OpenStream): StreamEnd {
  const isClosing = MillraceError.isInstance(error) && error.code === 'SERVER_CLOSING'
  if (!isClosing) server.log.error({ err: error }, 'a stream broke down')
  if (sink.signal.aborted) return 'client'
  const event: AgUiEvent = { type: 'RUN_ERROR', ...toWireError(error, 'INTERNAL_ERROR') }
  sink.write(framing.frame({ events: [event] }))
  sink.end()
  return 'end'
}
