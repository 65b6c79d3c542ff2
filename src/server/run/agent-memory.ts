import {
  checkpointOf,
  type AgentMemory,
  type ListedThread,
  type RememberedThread,
  type ThreadOwner,
} from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, Owner, Thread, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import { titleFor } from './thread-change.js'

/** The memory of a thread's agent, if its runtime has one of its own. */
export function memoryOf({ agents }: Pick<ServerContext, 'agents'>, key: ThreadKey): AgentMemory | undefined {
  return agents.get(key.agent)?.memory
}

/** The key of a thread in the memory of its agent. */
export function toThreadOwner({ app, user, thread }: ThreadKey): ThreadOwner {
  return { app, user, threadId: thread }
}

interface AdoptOptions {
  /** Whether a thread without messages counts. Default true. */
  readonly whenEmpty?: boolean
}

/** Takes a thread that the runtime made elsewhere into the store. Undefined when the runtime does not know it. */
export async function adoptThread(
  server: ServerContext,
  lease: Lease,
  { whenEmpty = true }: AdoptOptions = {},
): Promise<Thread | undefined> {
  const { store } = server
  const thread = await readRememberedThread(server, lease.key)
  if (!thread || (thread.messages.length === 0 && !whenEmpty)) return undefined
  const { messages, state, ...open } = thread
  await store.threads.commit(lease, {
    ...{ version: 0, keep: 0, append: messages, state: server.stateRulesOf(lease.key).stored(state) },
    ...{ ...open, title: titleFor(messages) },
  })
  return store.threads.load(lease.key)
}

/** A thread that the store does not have, as the runtime of its agent knows it. */
export async function readRememberedThread(
  { agents, newId }: Pick<ServerContext, 'agents' | 'newId'>,
  key: ThreadKey,
): Promise<
  Pick<Thread, 'messages' | 'state' | 'interrupts' | 'pendingToolCalls' | 'checkpoint'> | undefined
> {
  const agent = agents.get(key.agent)
  const thread = await readMemory(async () => agent?.memory?.read(toThreadOwner(key)))
  if (!agent || !thread) return undefined
  const { messages, state, suspension } = thread
  const pendingToolCalls = rememberedPendingCalls(thread)
  if (!suspension) return { messages, state, pendingToolCalls, interrupts: [] }
  const interrupts = suspension.openInterrupts.map(({ interrupt }) => interrupt)
  const run = { threadId: key.thread, runId: newId('run'), messages, state, ...suspension }
  return { messages, state, pendingToolCalls, interrupts, checkpoint: checkpointOf(agent, run) }
}

function rememberedPendingCalls({
  messages,
  pendingToolCallIds = [],
}: RememberedThread): Thread['pendingToolCalls'] {
  const pending = new Set(pendingToolCallIds)
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  return calls.filter(({ id }) => pending.has(id)).map(({ id, function: { name } }) => ({ id, name }))
}

/** The threads of an owner that the runtime of the agent knows. */
export async function listRemembered(
  { agents }: Pick<ServerContext, 'agents'>,
  { app, user, agent }: Owner,
): Promise<readonly ListedThread[]> {
  const memory = agents.get(agent)?.memory
  const listed = await readMemory(async () => memory?.list?.({ app, user }))
  return listed ?? []
}

async function readMemory<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    if (MillraceError.isInstance(cause)) throw cause
    // The same to clients as a store that fails: threads cannot be read now.
    throw new MillraceError('STORE_ERROR', 'The memory of the agent cannot be read.', { cause })
  }
}
