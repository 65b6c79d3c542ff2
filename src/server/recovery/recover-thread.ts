import { MillraceError, toWireError } from '../../core/errors.js'
import type { Lease, LogEntry, RunRecord, Store, Thread, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import { afterLoss } from './after-loss.js'
import { openClientCalls, titleOf } from '../run/message-tail.js'
import { replayRun } from './replay-run.js'
import { stillOpen } from '../run/thread-change.js'

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
  const begun = [...(thread?.messages ?? []).slice(0, start.keep), ...start.append]
  const lost = new MillraceError('RUN_LOST', lostText)
  const { lines, ended } = replayRun({
    ...{ thread: lease.key.thread, run, entries, messages: begun, state: start.state, error: lost },
    onUnreadable: (error) =>
      log.warn({ ...lease.key, err: error }, 'an event in the log of a lost run cannot be read'),
  })
  const { messages, state, ...open } = afterLoss({ thread, start, begun, ended, stateRules })
  const added = messages.slice(start.keep)
  const error = toWireError(lost)
  const { start: _, ...record } = run
  const firstSeq = run.nextSeq + entries.length + unseenGap
  await store.threads.commit(lease, {
    version: thread?.version ?? 0,
    keep: start.keep,
    append: added,
    state: stateRules.stored(state),
    ...open,
    pendingToolCalls: openClientCalls(added, {
      clientTools: new Set(start.clientTools),
      before: stillOpen(thread?.pendingToolCalls ?? [], messages),
    }),
    ...(thread?.title ? {} : { title: titleOf(messages) }),
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
