import type { Message, ToolCall } from '@ag-ui/core'
import { recoverInterrupts, type RecoveredInterrupts } from '../../agents/index.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import { threadKeyText } from '../../threads/thread-key.js'
import type {
  Lease,
  LogEntry,
  RunRecord,
  RunStart,
  Store,
  Thread,
  ThreadKey,
} from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import {
  callsWithResult,
  messageChange,
  pendingClientCalls,
  stillPending,
  titleFor,
} from '../run/thread-change.js'
import { replayLostRun, withPrivatePart } from './lost-run.js'

/** Loads a thread. Ends its run first if that was lost with its process. */
export async function loadThread(server: ServerContext, key: ThreadKey): Promise<Thread | undefined> {
  const { store, registry, limits, owner, recoveries } = server
  const thread = await store.threads.load(key)
  if (thread?.run?.status !== 'running' || registry.get(key)) return thread
  const lease = await store.leases.acquire(key, { owner, ttlMs: limits.leaseMs })
  if (!lease) {
    const recovery = recoveries.current(key)
    // The run is live in another process.
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

/** The recoveries of this server. A request for a thread waits for its recovery. */
export interface Recoveries {
  /** Does the work, and registers it under the key until it is done. */
  during<T>(key: ThreadKey, work: () => Promise<T>): Promise<T>
  /** Resolves when the recovery of a thread has succeeded or failed. Undefined when there is none. */
  current(key: ThreadKey): Promise<void> | undefined
}

export function createRecoveries(): Recoveries {
  const current = new Map<string, Promise<void>>()
  const ignore = (): void => undefined
  return {
    async during(key, work) {
      const name = threadKeyText(key)
      const result = work()
      const done = result.then(ignore, ignore)
      current.set(name, done)
      try {
        return await result
      } finally {
        if (current.get(name) === done) current.delete(name)
      }
    },
    current: (key) => current.get(threadKeyText(key)),
  }
}

/**
 * Ends a run that was lost with its process: the events in its log become part of the thread, and RUN_ERROR follows them.
 * Needs the lease, so that no other run can change the thread.
 */
export async function recoverThread(server: ServerContext, lease: Lease): Promise<Thread | undefined> {
  const { store, clock, newId, log, metrics } = server
  const stateRules = server.stateRulesOf(lease.key)
  const thread = await store.threads.load(lease.key)
  const run = thread?.run
  if (run?.status !== 'running') return thread
  const entries = await readLog(store, lease.key, run)
  const start: RunStart = run.start ?? {
    keep: thread?.messages.length ?? 0,
    append: [],
    state: thread?.state,
    clientTools: [],
  }
  const startMessages = [...(thread?.messages ?? []).slice(0, start.keep), ...start.append]
  const lost = new MillraceError('RUN_LOST', lostMessage)
  const open = openInterrupts(thread, start, startMessages)
  const { lines, ended } = replayLostRun({
    ...{ threadId: lease.key.thread, run, entries, error: lost, newId },
    start: { messages: startMessages, state: start.state },
    isOpen: openCalls(thread, start, open.interrupts),
    onUnreadable: (error) =>
      log.warn({ ...lease.key, err: error }, 'an event in the log of a lost run cannot be read'),
  })
  const { messages } = ended
  const state = withPrivatePart(ended.state, start.state, stateRules)
  const added = messages.slice(start.keep)
  // The run may have rewritten earlier messages too.
  const { keep, append } = messageChange({ started: startMessages, kept: start.keep }, messages)
  const { start: _, ...record } = run
  const firstSeq = run.nextSeq + entries.length + unseenGap
  await store.threads.commit(lease, {
    version: thread?.version ?? 0,
    keep,
    append,
    state: stateRules.stored(state),
    ...open,
    pendingToolCalls: pendingClientCalls(added, {
      clientTools: new Set(start.clientTools),
      before: stillPending(thread?.pendingToolCalls ?? [], messages),
      timestamp: clock.now(),
    }),
    ...(thread?.title ? {} : { title: titleFor(messages) }),
    run: {
      ...record,
      status: 'lost',
      endedAt: clock.now(),
      nextSeq: firstSeq + lines.length,
      error: toWireError(lost),
    },
    log: { runId: run.runId, firstSeq, lines },
  })
  metrics.runEnded({ agent: lease.key.agent, status: 'lost' })
  log.warn({ ...lease.key, runId: run.runId }, 'a run was lost with its process and has been ended')
  return store.threads.load(lease.key)
}

/** The interrupts that stay open. The result of a call that came with the client's messages is none of its tool. */
function openInterrupts(
  thread: Thread | undefined,
  { answers = [] }: RunStart,
  startMessages: readonly Message[],
): RecoveredInterrupts {
  const { interrupts = [], checkpoint } = thread ?? {}
  const given = callsWithResult(startMessages)
  const answered = interrupts.filter(
    ({ id, toolCallId }) => answers.includes(id) && !given.has(toolCallId ?? ''),
  )
  return recoverInterrupts({ interrupts, checkpoint, answered: answered.map(({ id }) => id) })
}

/** Whether a call can still get its result: from the client, or when an interrupt is answered. */
function openCalls(
  thread: Thread | undefined,
  { clientTools }: RunStart,
  interrupts: Thread['interrupts'],
): (call: ToolCall) => boolean {
  const names = new Set(clientTools)
  const ids = new Set([
    ...(thread?.pendingToolCalls ?? []).map(({ id }) => id),
    ...interrupts.map(({ toolCallId }) => toolCallId),
  ])
  return ({ id, function: { name } }) => ids.has(id) || names.has(name)
}

/** Clients may have seen events that never reached the log. No such event can have the numbers of the end. */
const unseenGap = 1_000_000

const lostMessage = 'The run was lost: its process has ended. Send the message again to go on.'

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
