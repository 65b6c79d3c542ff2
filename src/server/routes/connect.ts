import type { Message } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import {
  type AgUiEvent,
  createRunStream,
  type EventPosition,
  parseEventId,
  type Peer,
} from '../../protocol/index.js'
import type { LogEntry, LogPosition } from '../../threads/store.js'
import type { Thread, ThreadKey } from '../../threads/thread.js'
import type { ServerContext } from '../context.js'
import type { Limits } from '../contract.js'
import type { LiveRun } from '../live/live-run.js'
import { settledThread } from '../recovery/recover-thread.js'
import { checkId } from '../request/check-input.js'
import { rememberedThread } from '../run/agent-memory.js'
import { serverClosing } from '../run/server-closing.js'
import type { Batch } from '../stream/framing.js'
import { replyWithStream } from '../stream/reply.js'
import type { Departure } from '../stream/sink.js'
import { fieldsOf, readBody, type Route, unknownThread } from './route.js'

/**
 * `POST /connect`: what a client needs that comes to a thread: its messages, state and open questions, and the rest of a
 * run that is at work. With `Last-Event-ID` only what follows that event, exactly once.
 */
export const connectRoute: Route = {
  method: 'POST',
  path: '/connect',
  async handle(server, request) {
    const body = fieldsOf(await readBody(server, request))
    const threadId = checkId(body.threadId, 'threadId', server.limits)
    // Clients name the run they would like to start. There is nothing to look up by it: a thread has one latest run.
    if (body.runId !== undefined) checkId(body.runId, 'runId', server.limits)
    const peer: Peer = { legacy: typeof body.protocolVersion !== 'string' }
    const key = { ...request.owner, thread: threadId }
    const position = positionIn(request.request.headers.get('last-event-id'), server.limits)
    const thread = await settledThread(server, key)
    const live = server.registry.get(key)
    if (!thread && !live) {
      const remembered = await rememberedThread(server, key)
      if (!remembered) throw unknownThread(key)
      const events = hydrated({ key, ...remembered }, server)
      return replyWithStream(server, request, { peer, source: () => once({ events }) })
    }
    // The events of an older run are gone: then the client gets the thread as it is now.
    const from = position && isKnown(position, thread?.run, live) ? position : undefined
    const source = (gone: Departure) => batches({ server, key, thread, live, from, gone })
    return replyWithStream(server, request, { peer, source })
  },
}

/** Whether it is an event of the latest run. How far one has come that is at work elsewhere, its log alone can tell. */
function isKnown({ runId, seq }: EventPosition, run: Thread['run'], live: LiveRun | undefined): boolean {
  if (live) return runId === live.runId && seq < live.feed.nextSeq()
  return runId === run?.runId && (run.status === 'running' || seq < run.nextSeq)
}

// eslint-disable-next-line @typescript-eslint/require-await -- a stream of one batch has nothing to wait for
async function* once(batch: Batch): AsyncGenerator<Batch> {
  yield batch
}

interface Connection {
  readonly server: ServerContext
  readonly key: ThreadKey
  readonly thread: Thread | undefined
  readonly live: LiveRun | undefined
  readonly from: EventPosition | undefined
  readonly gone: Departure
}

async function* batches(connection: Connection): AsyncGenerator<Batch> {
  const { server, thread, live, from, gone } = connection
  if (live && (from === undefined || from.runId === live.runId)) {
    for await (const batch of followLive(live, from, gone)) yield batch
    return
  }
  const run = thread?.run
  if (thread && run?.status === 'running' && from === undefined) {
    for await (const batch of followElsewhere(connection, thread)) yield batch
  } else if (run && from) {
    for await (const batch of followFrom(connection, from)) yield batch
  } else if (thread) yield { events: hydrated(thread, server) }
}

/** A run of this process. Who has seen nothing of it is first told what was there before. */
async function* followLive(
  { feed, firstSeq, start }: LiveRun,
  from: EventPosition | undefined,
  gone: Departure,
): AsyncGenerator<Batch> {
  let isNew = from === undefined
  for await (const batch of feed.follow(from?.seq ?? firstSeq - 1, gone)) {
    if (!isNew) yield batch
    else {
      isNew = false
      for (const one of withBeginning(batch, start)) yield one
    }
  }
}

/**
 * What follows an event in the log. Who has seen events that were lost with their process, before they were logged, is
 * told the end alone: what else was added to end the run may not fit to them.
 */
async function* followFrom(connection: Connection, from: EventPosition): AsyncGenerator<Batch> {
  const { runId, seq } = from
  let isFirst = true
  for await (const entries of followLog(connection, { runId, after: seq })) {
    const hasGap = isFirst && entries[0]?.seq !== seq + 1
    isFirst = false
    const isLost = hasGap && !(await isLogged(connection, from))
    yield { runId, entries: isLost ? entries.slice(-1) : entries }
  }
  const { server, key, gone } = connection
  const thread = isFirst && !gone.aborted ? await settledThread(server, key) : undefined
  // The run has ended elsewhere and never came to that event.
  if (thread && thread.run?.status !== 'running' && !isKnown(from, thread.run, undefined))
    yield { events: hydrated(thread, server) }
}

async function isLogged({ server, key }: Connection, { runId, seq }: EventPosition): Promise<boolean> {
  const [entry] = await server.store.log.read(key, { runId, after: seq - 1 }, 1)
  return entry?.seq === seq
}

/** A run of another process: its log is all there is to see of it. */
async function* followElsewhere(connection: Connection, thread: Thread): AsyncGenerator<Batch> {
  const { runId, nextSeq, start } = thread.run ?? { runId: '', nextSeq: 0 }
  const messages = [
    ...thread.messages.slice(0, start?.keep ?? thread.messages.length),
    ...(start?.append ?? []),
  ]
  const state = connection.server.stateRules.visible(start ? start.state : thread.state)
  let isNew = true
  for await (const entries of followLog(connection, { runId, after: nextSeq - 1 })) {
    for (const batch of isNew ? withBeginning({ runId, entries }, { messages, state }) : [{ runId, entries }])
      yield batch
    isNew = false
  }
}

interface Beginning {
  readonly messages: readonly Message[]
  readonly state: unknown
}

/** Puts what was there before behind RUN_STARTED, the first of the entries. */
function withBeginning(
  { runId, entries }: Extract<Batch, { runId: string }>,
  { messages, state }: Beginning,
): readonly Batch[] {
  return [
    { runId, entries: entries.slice(0, 1) },
    {
      events: [
        { type: 'MESSAGES_SNAPSHOT', messages: [...messages] },
        { type: 'STATE_SNAPSHOT', snapshot: state },
      ],
    },
    { runId, entries: entries.slice(1) },
  ]
}

type AtRest = Pick<Thread, 'key' | 'messages' | 'state' | 'interrupts' | 'run'>

/** A thread at rest, as a stream that is over. */
function hydrated(thread: AtRest, { stateRules, newId }: ServerContext): AgUiEvent[] {
  const events: AgUiEvent[] = []
  const stream = createRunStream({
    threadId: thread.key.thread,
    runId: thread.run?.runId ?? newId('run'),
    emit: (event) => events.push(event),
  })
  stream.write({ type: 'MESSAGES_SNAPSHOT', messages: [...thread.messages] })
  stream.write({ type: 'STATE_SNAPSHOT', snapshot: stateRules.visible(thread.state) })
  const { interrupts } = thread
  stream.finish(interrupts.length > 0 ? { type: 'interrupt', interrupts } : { type: 'success' })
  return events
}

function positionIn(header: string | null, limits: Limits): EventPosition | undefined {
  if (header === null || header === '') return undefined
  const position = parseEventId(header)
  if (!position)
    throw new MillraceError('INVALID_INPUT', 'Last-Event-ID: this is no event id of this server.')
  checkId(position.runId, 'Last-Event-ID', limits)
  return position
}

export interface LogFollower {
  readonly server: ServerContext
  readonly key: ThreadKey
  /** Aborts when nobody follows any more. */
  readonly gone: Departure
}

const readAtOnce = 256

/** The events of a run as they stand in the log, until its end. Throws SERVER_CLOSING when the server shuts down first. */
export async function* followLog(
  follower: LogFollower,
  position: LogPosition,
): AsyncGenerator<readonly LogEntry[]> {
  try {
    for await (const entries of logged(follower, position)) yield entries
  } catch (error) {
    // The store closes with the server, maybe while it is read.
    throw follower.server.isClosing() ? serverClosing() : error
  }
}

async function* logged(
  { server, key, gone }: LogFollower,
  position: LogPosition,
): AsyncGenerator<readonly LogEntry[]> {
  const { store } = server
  let { after } = position
  for (;;) {
    const at = { ...position, after }
    const entries = await store.log.read(key, at, readAtOnce)
    const last = entries.at(-1)
    if (last) {
      yield entries
      after = last.seq
      if (isEnd(last)) return
      continue
    }
    const thread = await settledThread(server, key)
    const isOver = thread?.run?.runId !== position.runId || thread.run.status !== 'running'
    // What was added between the two looks is not missed.
    if (isOver && (await store.log.read(key, at, 1)).length === 0) return
    // The run goes on elsewhere, and can be followed there.
    if (!isOver && server.isClosing()) throw serverClosing()
    if (!isOver) await changedOrLost({ server, key, gone }, at)
    if (gone.aborted) return
  }
}

/** A process that has died writes nothing more: after the time of a lease it is worth another look. */
async function changedOrLost({ server, key, gone }: LogFollower, at: LogPosition): Promise<void> {
  const look = new AbortController()
  const leave = (): void => look.abort()
  gone.addEventListener('abort', leave)
  if (gone.aborted) leave()
  const cancel = server.clock.schedule(server.limits.leaseMs, () => look.abort())
  try {
    await server.store.log.changed(key, at, look.signal)
  } finally {
    cancel()
    gone.removeEventListener('abort', leave)
  }
}

function isEnd({ json }: LogEntry): boolean {
  return json.startsWith('{"type":"RUN_FINISHED"') || json.startsWith('{"type":"RUN_ERROR"')
}
