import { isRecord } from '../../core/is-record.js'
import type { Message } from '@ag-ui/core'
import { MillraceError, toWireError } from '../../core/errors.js'
import { createRunStream, type AgUiEvent } from '../../protocol/index.js'
import type { Lease, LogEntry, Store } from '../../threads/store.js'
import type { RunRecord, Thread, ThreadKey } from '../../threads/thread.js'
import type { ServerContext } from '../context.js'
import { openClientCalls, titleOf } from './message-tail.js'
import { stillOpen } from './thread-change.js'

/** A thread as it is when no run is at work on it. A run that was lost with its process is ended first. */
export async function settledThread(server: ServerContext, key: ThreadKey): Promise<Thread | undefined> {
  const { store, registry, limits, owner, recoveries } = server
  const thread = await store.threads.load(key)
  if (thread?.run?.status !== 'running' || registry.get(key)) return thread
  const lease = await store.leases.acquire(key, { owner, ttlMs: limits.leaseMs })
  if (!lease) {
    const recovery = recoveries.over(key)
    // At work in another process.
    if (!recovery) return thread
    await recovery
    return store.threads.load(key)
  }
  return recoveries.during(key, async () => {
    try {
      return await recoverThread(server, lease)
    } finally {
      await store.leases.release(lease)
    }
  })
}

/**
 * Ends the run that was at work when its process died: what its log has of it becomes part of the thread, followed by
 * RUN_ERROR. Needs the lease, so that nobody is at work on it.
 */
export async function recoverThread(server: ServerContext, lease: Lease): Promise<Thread | undefined> {
  const { store, clock, stateRules, log, metrics } = server
  const thread = await store.threads.load(lease.key)
  const run = thread?.run
  if (run?.status !== 'running') return thread
  const entries = await readLog(store, lease.key, run)
  const start = run.start ?? {
    keep: thread?.messages.length ?? 0,
    append: [],
    state: thread?.state,
    clientTools: [],
  }
  const messages = [...(thread?.messages ?? []).slice(0, start.keep), ...start.append]
  const { lines, ended } = replay({
    ...{ thread: lease.key.thread, run, entries, messages, state: start.state },
    onUnreadable: (error) =>
      log.warn({ ...lease.key, err: error }, 'an event in the log of a lost run cannot be read'),
  })
  const added = ended.messages.slice(start.keep)
  const error = toWireError(new MillraceError('RUN_LOST', lostText))
  const { start: _, ...record } = run
  const firstSeq = run.nextSeq + entries.length + unseenGap
  await store.threads.commit(lease, {
    version: thread?.version ?? 0,
    keep: start.keep,
    append: added,
    state: stateRules.stored(withPrivate(start.state, ended.state, stateRules.isPrivate)),
    interrupts: thread?.interrupts ?? [],
    pendingToolCalls: openClientCalls(added, {
      clientTools: new Set(start.clientTools),
      before: stillOpen(thread?.pendingToolCalls ?? [], ended.messages),
    }),
    ...(thread?.checkpoint === undefined ? {} : { checkpoint: thread.checkpoint }),
    ...(thread?.title ? {} : { title: titleOf(ended.messages) }),
    run: { ...record, status: 'lost', endedAt: clock.now(), nextSeq: firstSeq + lines.length, error },
    log: { runId: run.runId, firstSeq, lines },
  })
  metrics.runEnded({ agent: lease.key.agent, status: 'lost' })
  log.warn({ ...lease.key, runId: run.runId }, 'a run was lost with its process and has been ended')
  return store.threads.load(lease.key)
}

/** Clients may have seen events that never reached the log. The end gets numbers that none of those can have had. */
const unseenGap = 1_000_000

const lostText = 'The run was lost: its process has ended. Send the message again to go on.'

interface Lost {
  readonly thread: string
  readonly run: RunRecord
  readonly entries: readonly LogEntry[]
  readonly messages: readonly Message[]
  readonly state: unknown
  readonly onUnreadable: (error: unknown) => void
}

/** Goes through the logged events once more, and adds what a stream needs to end. */
function replay({ thread, run, entries, messages, state, onUnreadable }: Lost) {
  const emitted: AgUiEvent[] = []
  const stream = createRunStream({
    threadId: thread,
    runId: run.runId,
    messages,
    state,
    emit: (event) => emitted.push(event),
  })
  if (entries.length > 0) emitted.length = 0
  const opening = run.start?.opening ?? 0
  for (const [position, { json }] of entries.entries()) {
    // It may tell the client of messages that the thread does not have yet.
    if (position > 0 && position <= opening) continue
    const event = JSON.parse(json) as AgUiEvent
    if (event.type === 'RUN_STARTED' || event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') continue
    try {
      stream.write(event)
    } catch (error) {
      // A hook has the last word on what is logged. One odd event must not make the thread useless.
      onUnreadable(error)
    }
    emitted.length = 0
  }
  stream.fail(new MillraceError('RUN_LOST', lostText))
  return { lines: emitted.map((event) => JSON.stringify(event)), ended: stream.held }
}

async function readLog(
  store: Store,
  key: ThreadKey,
  { runId, nextSeq }: RunRecord,
): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = []
  for (;;) {
    const page = await store.log.read(key, { runId, after: nextSeq - 1 + entries.length }, 1000)
    if (page.length === 0) return entries
    entries.push(...page)
  }
}

/** The log has only what clients may see. */
function withPrivate(before: unknown, shown: unknown, isPrivate: (key: string) => boolean): unknown {
  if (!isRecord(before) || !isRecord(shown)) return shown
  const hidden = Object.entries(before).filter(([key]) => isPrivate(key))
  return hidden.length === 0 ? shown : { ...shown, ...Object.fromEntries(hidden) }
}
