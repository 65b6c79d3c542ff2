import {
  checkpointOf,
  type AgentMemory,
  type RememberedThread,
  type ThreadOwner,
} from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, Thread, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import { titleOf } from './message-tail.js'

/** A thread as the runtime of its agent has it. */
export type Remembered = Pick<Thread, 'messages' | 'state' | 'interrupts' | 'pendingToolCalls' | 'checkpoint'>

/** What the agent of a thread keeps of it elsewhere, if it has a memory of its own. */
export function memoryOf({ agents }: Pick<ServerContext, 'agents'>, key: ThreadKey): AgentMemory | undefined {
  return agents.get(key.agent)?.memory
}

/** How a runtime knows a thread. */
export function ownerOf({ app, user, thread }: ThreadKey): ThreadOwner {
  return { app, user, threadId: thread }
}

/** A thread that the store does not have: it was made elsewhere, with the same runtime. */
export async function rememberedThread(
  { agents, newId }: Pick<ServerContext, 'agents' | 'newId'>,
  key: ThreadKey,
): Promise<Remembered | undefined> {
  const agent = agents.get(key.agent)
  const thread = agent?.memory && (await readFrom(agent.memory, key))
  if (!agent || !thread || thread.messages.length === 0) return undefined
  const { messages, state, suspension } = thread
  const pendingToolCalls = pendingCalls(thread)
  if (!suspension) return { messages, state, pendingToolCalls, interrupts: [] }
  const interrupts = suspension.openInterrupts.map(({ interrupt }) => interrupt)
  const at = { threadId: key.thread, runId: newId('run'), messages, state, ...suspension }
  return { messages, state, pendingToolCalls, interrupts, checkpoint: checkpointOf(agent, at) }
}

function pendingCalls({ messages, pendingToolCallIds = [] }: RememberedThread): Thread['pendingToolCalls'] {
  const pending = new Set(pendingToolCallIds)
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  return calls.filter(({ id }) => pending.has(id)).map(({ id, function: { name } }) => ({ id, name }))
}

async function readFrom(memory: AgentMemory, key: ThreadKey): ReturnType<AgentMemory['read']> {
  try {
    return await memory.read(ownerOf(key))
  } catch (cause) {
    if (MillraceError.isInstance(cause)) throw cause
    // For who asks it is the same: threads cannot be read now.
    throw new MillraceError('STORE_ERROR', 'The agent cannot say what it knows of a thread.', { cause })
  }
}

/** Takes a thread that was made elsewhere into the store, to go on with it here. Undefined when there is none. */
export async function adoptThread(server: ServerContext, lease: Lease): Promise<Thread | undefined> {
  const { store, stateRules } = server
  const thread = await rememberedThread(server, lease.key)
  if (!thread) return undefined
  const { messages, state, ...open } = thread
  await store.threads.commit(lease, {
    ...{ version: 0, keep: 0, append: messages, state: stateRules.stored(state) },
    ...{ ...open, title: titleOf(messages) },
  })
  return store.threads.load(lease.key)
}
