import type { Message } from '@ag-ui/core'
import { withAuthor } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import {
  createRunStream,
  lostEventName,
  parseEventId,
  parsePeer,
  type AgentEvent,
  type AgUiEvent,
  type EventPosition,
} from '../../protocol/index.js'
import type { LogEntry, LogPosition, Thread, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { Limits } from '../contract.js'
import type { LiveRun } from '../live/registry.js'
import { SubscriberMark } from '../live/subscribers-elsewhere.js'
import { loadThread } from '../recovery/recover-thread.js'
import { checkId } from '../request/check-input.js'
import { unknownThread } from '../request/errors.js'
import { readRememberedThread } from '../run/agent-memory.js'
import { serverClosing } from '../run/lease.js'
import { eventTypeIn, parseEntry, type FrameBatch } from '../stream/framing.js'
import { replyWithStream } from '../stream/reply.js'
import type { DisconnectSignal } from '../stream/sink.js'
import { readThreadBody, type Route } from './route.js'

/**
 * `POST /connect`: brings a client up to date with a thread: messages, state, open interrupts, and the rest of a run that
 * is live. With `Last-Event-ID` it sends only what follows that event, exactly once.
 */
export const connectRoute: Route = {
  method: 'POST',
  path: '/connect',
  forOperators: true,
  optional: 'connect',
  streams: true,
  async handle(server, request) {
    // Clients also name the run they would start. The server ignores it: a thread has one latest run.
    const { body, key } = await readThreadBody(server, request)
    const { peer, warnings } = parsePeer(body.protocolVersion)
    if (warnings.length > 0) server.log.warn({ ...key, warnings }, 'a request was not quite right')
    const position = lastEventPosition(request.request.headers, server.limits)
    const thread = await loadThread(server, key)
    const live = server.registry.get(key)
    if (!thread && !live) {
      const remembered = await readRememberedThread(server, key)
      if (!remembered && body.mayBeNew !== true) throw unknownThread(key)
      return replyWithStream(server, request, {
        ...{ peer, ids: key },
        source: () => (remembered ? atRest({ key, ...remembered }, server) : newThread(key, server)),
      })
    }
    // The events of an older run are not sent again: its client gets the thread as it is now.
    const from = position && isOfLatestRun(position, thread?.run, live) ? position : undefined
    const ids = { ...key, runId: live?.runId ?? thread?.run?.runId }
    const source = (signal: DisconnectSignal) => catchUp({ server, key, thread, live, from, signal })
    return replyWithStream(server, request, { peer, ids, source, from })
  },
}

/** Reads `Last-Event-ID`. Throws INVALID_INPUT for an id that no server of ours has made. */
export function lastEventPosition(headers: Headers, limits: Limits): EventPosition | undefined {
  const header = headers.get('last-event-id') ?? ''
  if (header === '') return undefined
  const position = parseEventId(header)
  if (!position)
    throw new MillraceError('INVALID_INPUT', 'Last-Event-ID: this is no event id of this server.')
  checkId(position.runId, 'Last-Event-ID', limits)
  return position
}

/** Trusts any event of a run in another process: only its log shows how far it has come. */
export function isOfLatestRun(
  { runId, seq }: EventPosition,
  run: Thread['run'],
  live: LiveRun | undefined,
): boolean {
  if (live) return runId === live.runId && seq < live.feed.nextSeq
  return runId === run?.runId && (run.status === 'running' || seq < run.nextSeq)
}

/** A client that comes, or comes back, to a thread. */
export interface Connection {
  readonly server: ServerContext
  readonly key: ThreadKey
  readonly thread: Thread | undefined
  readonly live: LiveRun | undefined
  /** The last event that the client has. */
  readonly from: EventPosition | undefined
  readonly signal: DisconnectSignal
}

/** The rest of the latest run for a client that has some of it; else the thread, with the run if one is live. */
export function catchUp(connection: Connection): AsyncIterable<FrameBatch> | Iterable<FrameBatch> {
  const { server, thread, live, from, signal } = connection
  if (live && from) return live.feed.subscribe(from.after ?? from.seq, signal)
  if (live) return followFromStart(live, signal)
  if (!thread) return []
  if (thread.run && from) return followAfter(connection, from)
  return thread.run?.status === 'running' ? followElsewhere(connection, thread) : atRest(thread, server)
}

/** Follows a live run from its start, with the thread as it was before. */
async function* followFromStart(
  { feed, firstSeq, start }: LiveRun,
  signal: DisconnectSignal,
): AsyncGenerator<FrameBatch> {
  let isFirst = true
  for await (const batch of feed.subscribe(firstSeq - 1, signal)) {
    if (isFirst) yield* withSnapshots(batch, start)
    else yield batch
    isFirst = false
  }
}

/** Follows a run of another process from its start, by its log. */
async function* followElsewhere(connection: Connection, thread: Thread): AsyncGenerator<FrameBatch> {
  const { runId, nextSeq, start } = thread.run ?? { runId: '', nextSeq: 0 }
  const messages = [
    ...thread.messages.slice(0, start?.keep ?? thread.messages.length),
    ...(start?.append ?? []),
  ]
  const state = connection.server.stateRulesOf(thread.key).visible(start ? start.state : thread.state)
  let isFirst = true
  for await (const entries of followLog(connection, { runId, after: nextSeq - 1 })) {
    if (isFirst) yield* withSnapshots({ runId, entries }, { messages, state })
    else yield { runId, entries }
    isFirst = false
  }
}

/** Puts the snapshots behind RUN_STARTED, the first of the entries. The last has its id: a client with that id has all. */
function withSnapshots(
  { runId, entries }: Extract<FrameBatch, { runId: string }>,
  { messages, state }: { readonly messages: readonly Message[]; readonly state: unknown },
): readonly FrameBatch[] {
  const [started, ...rest] = entries
  if (!started) return []
  const events: AgUiEvent[] = [
    parseEntry(started),
    { type: 'MESSAGES_SNAPSHOT', messages: messages.map(withAuthor) },
    { type: 'STATE_SNAPSHOT', snapshot: state },
  ]
  return [
    { events, position: { runId, seq: started.seq } },
    { runId, entries: rest },
  ]
}

/**
 * Follows a run by its log, after an event that the client has. If that event was lost with its process before it was
 * logged, the client gets the thread as it is now, and the terminal event: the others that recovery wrote may not fit to
 * what it has.
 */
async function* followAfter(connection: Connection, from: EventPosition): AsyncGenerator<FrameBatch> {
  const { runId, seq, after = seq } = from
  let isFirst = true
  for await (const entries of followLog(connection, { runId, after })) {
    const hasGap = isFirst && (after !== seq || entries[0]?.seq !== seq + 1)
    isFirst = false
    if (!hasGap || (await isLogged(connection, from))) yield { runId, entries }
    else yield* withoutLostEvents(connection, { runId, entries: entries.slice(-1) })
  }
  const { server, key, signal } = connection
  if (!isFirst || signal.aborted) return
  const thread = await loadThread(server, key)
  // The run has ended in another process, before it reached that event.
  if (thread && thread.run?.status !== 'running' && !isOfLatestRun(from, thread.run, undefined))
    yield* atRest(thread, server)
}

async function* withoutLostEvents(
  { server, key }: Connection,
  terminal: Extract<FrameBatch, { runId: string }>,
): AsyncGenerator<FrameBatch> {
  const thread = await server.store.threads.load(key)
  const reason = 'The last events were lost with their process.'
  const lost: AgentEvent = { type: 'CUSTOM', name: lostEventName, value: { reason } }
  if (thread) yield { events: [lost, ...threadSnapshots(thread, server)] }
  yield terminal
}

/** A thread without a live run, as clients get it. */
function threadSnapshots(
  { key, messages, state }: Pick<Thread, 'key' | 'messages' | 'state'>,
  { stateRulesOf }: ServerContext,
): AgentEvent[] {
  return [
    { type: 'MESSAGES_SNAPSHOT', messages: messages.map(withAuthor) },
    { type: 'STATE_SNAPSHOT', snapshot: stateRulesOf(key).visible(state) },
  ]
}

async function isLogged({ server, key }: Connection, { runId, seq }: EventPosition): Promise<boolean> {
  const [entry] = await server.store.log.read(key, { runId, after: seq - 1 }, 1)
  return entry?.seq === seq
}

/** Sends a thread without a live run as a run that has ended. */
function* atRest(
  {
    key,
    run,
    messages,
    state,
    interrupts,
  }: Pick<Thread, 'key' | 'messages' | 'state' | 'interrupts' | 'run'>,
  server: ServerContext,
): Generator<FrameBatch> {
  const events: AgUiEvent[] = []
  const stream = createRunStream({
    threadId: key.thread,
    runId: run?.runId ?? server.newId('run'),
    emit: (event) => events.push(event),
  })
  for (const event of threadSnapshots({ key, messages, state }, server)) stream.write(event)
  stream.finish(interrupts.length > 0 ? { type: 'interrupt', interrupts } : { type: 'success' })
  yield { events }
}

/** A thread in which nothing was said. Its client keeps what it has: it may bring it with the first message. */
function* newThread({ thread }: ThreadKey, { newId }: ServerContext): Generator<FrameBatch> {
  const events: AgUiEvent[] = []
  createRunStream({ threadId: thread, runId: newId('run'), emit: (event) => events.push(event) }).finish({
    type: 'success',
  })
  yield { events }
}

const readAtOnce = 256

/** Reads the log of a run until its terminal event. Throws SERVER_CLOSING when the server shuts down first. */
async function* followLog(
  connection: Connection,
  position: LogPosition,
): AsyncGenerator<readonly LogEntry[]> {
  const { server, key } = connection
  let { after } = position
  const mark = new SubscriberMark(server, key)
  try {
    for (;;) {
      const at = { ...position, after }
      const entries = await server.store.log.read(key, at, readAtOnce)
      const last = entries.at(-1)
      if (last) {
        yield entries
        if (isTerminalEntry(last)) return
        after = last.seq
      } else if (!(await waitForMore(connection, at, mark))) return
    }
  } catch (error) {
    // The store closes with the server, maybe in the middle of a read.
    throw server.isClosing() ? serverClosing() : error
  } finally {
    mark.end()
  }
}

function isTerminalEntry({ json }: LogEntry): boolean {
  const type = eventTypeIn(json)
  return type === 'RUN_FINISHED' || type === 'RUN_ERROR'
}

/** Resolves to false when no more events will come, or the client is gone. */
async function waitForMore(
  { server, key, signal }: Connection,
  at: LogPosition,
  mark: SubscriberMark,
): Promise<boolean> {
  const { store, isClosing, clock, limits } = server
  const run = (await loadThread(server, key))?.run
  const isOver = run?.runId !== at.runId || run.status !== 'running'
  // The log may have grown before the run ended.
  if (isOver) return (await store.log.read(key, at, 1)).length > 0
  // The run continues in another process, where clients can follow it.
  if (isClosing()) throw serverClosing()
  mark.begin()
  const wait = new AbortController()
  const stop = (): void => wait.abort()
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  // A process that died writes nothing more: look again when its lease has run out.
  const cancelTimer = clock.schedule(limits.leaseMs, stop)
  try {
    await store.log.changed(key, at, wait.signal)
  } finally {
    cancelTimer()
    signal.removeEventListener('abort', stop)
  }
  return !signal.aborted
}
