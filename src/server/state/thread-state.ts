import { isRecord } from '../../core/json.js'
import { toJson } from '../../core/to-json.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, Thread, ThreadHead, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { ThreadName, ThreadStates } from '../contract.js'
import { checkStateSize } from '../plan/check-sizes.js'
import { loadThread, recoverThread } from '../recovery/recover-thread.js'
import { unknownThread } from '../request/errors.js'
import { adoptThread, memoryOf, readRememberedThread, toThreadOwner } from '../run/agent-memory.js'
import { acquireLease } from '../run/lease.js'
import { stillPending } from '../run/thread-change.js'

type ReadThread = Pick<Thread, 'messages' | 'state' | 'interrupts' | 'pendingToolCalls'>

/** Reads a thread as clients know it. A thread in its first run shows what it started with. Throws THREAD_NOT_FOUND. */
export async function readThread(server: ServerContext, key: ThreadKey): Promise<ReadThread> {
  const thread = await loadThread(server, key)
  if (thread && thread.version > 0) return { ...thread, ...stillOpen(thread) }
  const start = thread?.run?.start
  if (start) return { messages: start.append, state: start.state, ...nothingOpen }
  const live = server.registry.get(key)?.start
  if (live) return { ...live, ...nothingOpen }
  const remembered = await readRememberedThread(server, key)
  if (remembered) return remembered
  throw unknownThread(key)
}

const nothingOpen = { interrupts: [], pendingToolCalls: [] }

/** The interrupts and client tool calls that nobody has answered: neither before nor with the run that is live. */
function stillOpen(thread: Thread): Pick<ReadThread, keyof typeof nothingOpen> {
  const { messages, interrupts, pendingToolCalls, run } = thread
  const start = run?.status === 'running' ? run.start : undefined
  if (!start) return { interrupts, pendingToolCalls }
  const { keep, append, answers = [] } = start
  return {
    interrupts: interrupts.filter(({ id }) => !answers.includes(id)),
    pendingToolCalls: stillPending(pendingToolCalls, [...messages.slice(0, keep), ...append]),
  }
}

/** Reads a thread's state, as `readThread` does. */
export async function readState(server: ServerContext, key: ThreadKey): Promise<unknown> {
  const head = await server.store.threads.loadHead(key)
  const isCommitted = head !== undefined && head.version > 0 && head.run?.status !== 'running'
  return isCommitted ? head.state : (await readThread(server, key)).state
}

interface StateChange {
  /** Returns the new full state. What it throws rejects the change. */
  readonly change: (state: unknown) => unknown
  /** Ends the wait for a busy thread. */
  readonly signal: AbortSignal
}

/** Changes the state of a thread that is not running. Throws THREAD_NOT_FOUND or THREAD_IS_LOCKED. */
export async function changeThreadState(
  server: ServerContext,
  key: ThreadKey,
  { change, signal }: StateChange,
): Promise<{ readonly state: unknown; readonly version: number }> {
  const { store } = server
  const lease = await acquireLease(server, key, { signal })
  try {
    const thread = await loadHead(server, lease)
    if (!thread) throw unknownThread(key)
    const { version, interrupts, pendingToolCalls, checkpoint, messageCount } = thread
    const state = server.stateRulesOf(key).stored(change(thread.state))
    checkStateSize(state, server.limits)
    const next = await store.threads.commit(lease, {
      ...{ version, keep: messageCount, append: [], state, interrupts, pendingToolCalls },
      // Clients that have not seen the change still hold the state before it. When they send it back, they change nothing.
      keepsShown: true,
      ...(checkpoint === undefined ? {} : { checkpoint }),
    })
    await writeToMemory(server, key, state)
    return { state, version: next }
  } finally {
    await store.leases.release(lease)
  }
}

/** The thread without its messages, after recovery. Most changes of a state need no more. */
async function loadHead(server: ServerContext, lease: Lease): Promise<ThreadHead | undefined> {
  const head = await server.store.threads.loadHead(lease.key)
  if (head && head.run?.status !== 'running') return head
  const thread = (await recoverThread(server, lease)) ?? (await adoptThread(server, lease))
  return thread && { ...thread, messageCount: thread.messages.length }
}

/** Passes the new state to the agent's runtime. Only logs a failure: the next run passes the state again. */
async function writeToMemory(server: ServerContext, key: ThreadKey, state: unknown): Promise<void> {
  try {
    await memoryOf(server, key)?.writeState(toThreadOwner(key), state)
  } catch (error) {
    server.log.warn({ ...key, err: error }, 'the runtime of an agent could not take a new state')
  }
}

/** The functions of `server.state`. */
export function createThreadStates(server: ServerContext): ThreadStates {
  const [first = ''] = server.agents.keys()
  const keyOf = ({ app = 'default', user, agent = first, thread }: ThreadName): ThreadKey => {
    if (!server.agents.has(agent)) throw new MillraceError('AGENT_NOT_FOUND', `There is no agent '${agent}'.`)
    return { app, user, agent, thread }
  }
  const update: ThreadStates['update'] = async (name, change) => {
    // A copy: `change` may write to it.
    const checked = (state: unknown): unknown => toJson(change(structuredClone(state)), 'state')
    const signal = new AbortController().signal
    return (
      await changeThreadState({ ...server, whenBusy: 'wait' }, keyOf(name), { change: checked, signal })
    ).state
  }
  return {
    read: async (name) => readState(server, keyOf(name)),
    update,
    clear: (name, { keep = ['app:', 'user:'] } = {}) =>
      update(name, (state) =>
        Object.fromEntries(
          Object.entries(isRecord(state) ? state : {}).filter(([key]) =>
            keep.some((prefix) => key.startsWith(prefix)),
          ),
        ),
      ),
  }
}
