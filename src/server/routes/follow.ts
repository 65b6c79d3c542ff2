import { withAuthor } from '../../agents/index.js'
import { yieldToEventLoop } from '../../core/clock.js'
import {
  createRunStream,
  parsePeer,
  threadEventName,
  type AgentEvent,
  type AgUiEvent,
  type EventPosition,
} from '../../protocol/index.js'
import type { Thread, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import { loadThread } from '../recovery/recover-thread.js'
import { invalidField } from '../request/errors.js'
import { readRememberedThread } from '../run/agent-memory.js'
import type { FrameBatch } from '../stream/framing.js'
import { replyWithStream } from '../stream/reply.js'
import type { DisconnectSignal } from '../stream/sink.js'
import { catchUp, isOfLatestRun, lastEventPosition } from './connect.js'
import { readThreadBody, type Route } from './route.js'

/**
 * `POST /follow`: brings a client up to date with a thread, as `connect` does, and stays open: every later run and every
 * other change of the thread follows. A thread that does not exist is empty until its first run.
 */
export const followRoute: Route = {
  method: 'POST',
  path: '/follow',
  forOperators: true,
  optional: 'connect',
  streams: true,
  async handle(server, request) {
    const { body, key } = await readThreadBody(server, request)
    const { peer, warnings } = parsePeer(body.protocolVersion)
    if (warnings.length > 0) server.log.warn({ ...key, warnings }, 'a request was not quite right')
    const version = readVersion(body.version)
    const position = lastEventPosition(request.request.headers, server.limits)
    const thread = await loadThread(server, key)
    const isLatest = position && isOfLatestRun(position, thread?.run, server.registry.get(key))
    return replyWithStream(server, request, {
      ...{ peer, ids: key, from: isLatest ? position : undefined },
      source: (signal) => followThread({ server, key, signal }, { version, position }),
    })
  },
}

function readVersion(value: unknown): number | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw invalidField('version', 'expected the version of the thread, a whole number')
}

interface Follower {
  readonly server: ServerContext
  readonly key: ThreadKey
  readonly signal: DisconnectSignal
}

/** What the client has: a version of the thread, and a part of a run that came after it. */
interface Progress {
  readonly version: number | undefined
  readonly position: EventPosition | undefined
}

async function* followThread(follower: Follower, start: Progress): AsyncGenerator<FrameBatch> {
  const { server, signal } = follower
  let progress = start
  try {
    while (!signal.aborted && !server.isClosing()) progress = yield* followNext(follower, progress)
  } catch (error) {
    // The store closes with the server. The client comes back to another process.
    if (!server.isClosing()) throw error
  }
}

/** Follows the run that is live, or shows the thread if the client lacks something, and then waits for a change. */
async function* followNext(
  follower: Follower,
  { version, position }: Progress,
): AsyncGenerator<FrameBatch, Progress> {
  const { server, key, signal } = follower
  const thread = await loadThread(server, key)
  const live = server.registry.get(key)
  const stored = thread?.version ?? 0
  const isRunning = live !== undefined || thread?.run?.status === 'running'
  const from = position && isOfLatestRun(position, thread?.run, live) ? position : undefined
  const lacksEnd = from !== undefined && from.seq < (thread?.run?.nextSeq ?? 0) - 1
  if (isRunning || lacksEnd) {
    const batches = catchUp({ server, key, thread, live, from, signal })
    if (from) yield* batches
    else yield* withVersion(batches, stored)
    // A run adds one version. A client whose version turns out to be another gets the whole thread.
    const before = from ? version : stored
    return { version: before === undefined ? undefined : before + 1, position: undefined }
  }
  if (version !== stored) yield { events: await threadAtRest(server, key, thread) }
  await waitForChange(follower, stored)
  return { version: stored, position: undefined }
}

async function waitForChange({ server, key, signal }: Follower, version: number): Promise<void> {
  const wait = new AbortController()
  const stop = (): void => wait.abort()
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  try {
    await server.store.threads.changed(key, { version, isRunning: false }, wait.signal)
  } finally {
    signal.removeEventListener('abort', stop)
  }
  // A run that has just begun here is live in a moment: its feed is faster than its log.
  await yieldToEventLoop()
}

/** Puts the version behind the RUN_STARTED of a run that is shown with the thread as it was before. */
async function* withVersion(
  batches: AsyncIterable<FrameBatch> | Iterable<FrameBatch>,
  version: number,
): AsyncGenerator<FrameBatch> {
  let isFirst = true
  for await (const batch of batches) {
    if (isFirst && 'events' in batch) {
      const [started, ...rest] = batch.events
      yield { ...batch, events: [...(started ? [started] : []), threadEvent({ version }), ...rest] }
    } else yield batch
    isFirst = false
  }
}

/** The thread as a run that has ended. */
async function threadAtRest(
  server: ServerContext,
  key: ThreadKey,
  thread: Thread | undefined,
): Promise<AgUiEvent[]> {
  const known = thread ?? (await readRememberedThread(server, key)) ?? emptyThread
  const { messages, state, interrupts, pendingToolCalls } = known
  const run = thread?.run
  const events: AgUiEvent[] = []
  const stream = createRunStream({
    threadId: key.thread,
    runId: run?.runId ?? server.newId('run'),
    emit: (event) => events.push(event),
  })
  const lastRun = run && { runId: run.runId, status: run.status, ...(run.error && { error: run.error }) }
  const version = thread?.version ?? 0
  stream.write(threadEvent({ version, pendingToolCalls, ...(lastRun && { lastRun }) }))
  stream.write({ type: 'MESSAGES_SNAPSHOT', messages: messages.map(withAuthor) })
  stream.write({ type: 'STATE_SNAPSHOT', snapshot: server.stateRulesOf(key).visible(state) })
  stream.finish(
    interrupts.length > 0 ? { type: 'interrupt', interrupts: [...interrupts] } : { type: 'success' },
  )
  return events
}

const emptyThread: Pick<Thread, 'messages' | 'state' | 'interrupts' | 'pendingToolCalls'> = {
  messages: [],
  state: {},
  interrupts: [],
  pendingToolCalls: [],
}

/** Tells the client that the snapshots behind it are all of the thread, at this version. */
function threadEvent(
  value: { readonly version: number } & Partial<Pick<Thread, 'pendingToolCalls'>> & {
      readonly lastRun?: unknown
    },
): AgentEvent {
  return { type: 'CUSTOM', name: threadEventName, value }
}
