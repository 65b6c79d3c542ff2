import type { RunnableConfig } from '@langchain/core/runnables'
import { END, START, type StateSnapshot } from '@langchain/langgraph'
import { isRecord } from '../../core/is-record.js'
import { openInterrupts } from '../ask/open-interrupts.js'
import { checkpointerOf, type MemoryGraph } from './memory-graph.js'
import { inputKeys, splitState, stateUpdate } from './state-keys.js'
import { readMessages } from './to-agui.js'

/** What a graph remembers of a thread: its newest checkpoint. Undefined when it has none, or remembers nothing at all. */
export async function savedState(
  graph: MemoryGraph,
  config: RunnableConfig,
): Promise<StateSnapshot | undefined> {
  if (!checkpointerOf(graph)) return undefined
  const snapshot = await graph.getState(config)
  return snapshot.metadata === undefined ? undefined : snapshot
}

/** The messages in a checkpoint. */
export function messagesOf(snapshot: StateSnapshot | undefined, key = 'messages'): readonly unknown[] {
  const values: unknown = snapshot?.values
  const messages = isRecord(values) ? values[key] : undefined
  return Array.isArray(messages) ? messages : []
}

/** A place in the past of a thread to go on from. */
export interface ForkPoint {
  readonly config: RunnableConfig
  readonly messages: readonly unknown[]
}

/**
 * The checkpoint right before a message came. Goes back from the newest one along its own past: the history of a thread
 * also lists branches that were given up. Undefined when no checkpoint of it lacks the message.
 */
export async function forkPoint(
  graph: MemoryGraph,
  config: RunnableConfig,
  { messageId, key = 'messages' }: { readonly messageId: string; readonly key?: string },
): Promise<ForkPoint | undefined> {
  let snapshot = await savedState(graph, config)
  while (snapshot) {
    const messages = messagesOf(snapshot, key)
    if (!readMessages(messages).some(({ id }) => id === messageId)) {
      const { configurable } = snapshot.config
      return { config: { ...config, configurable: { ...config.configurable, ...configurable } }, messages }
    }
    snapshot = snapshot.parentConfig && (await graph.getState(snapshot.parentConfig))
  }
  return undefined
}

/** Forgets a thread, with all its past. Does nothing when the graph remembers nothing. */
export async function deleteThread(graph: MemoryGraph, threadId: string): Promise<void> {
  await checkpointerOf(graph)?.deleteThread(threadId)
}

/**
 * Takes over a state that was changed without a run. Does nothing for a thread that the graph does not know. False when
 * the graph is in the middle of something: any change would move it, so give the change to the next run.
 */
export async function writeState(
  graph: MemoryGraph,
  config: RunnableConfig,
  state: unknown,
): Promise<boolean> {
  const checkpointer = checkpointerOf(graph)
  const snapshot = await savedState(graph, config)
  if (!checkpointer || !snapshot) return true
  if (snapshot.next.length > 0 || (await openInterrupts(checkpointer, config)).length > 0) return false
  const values = stateUpdate(graph, splitState(state, inputKeys(graph)).known, snapshot.values)
  if (Object.keys(values).length === 0) return true
  // As an input, since any other node might be one of several or lead elsewhere; and then as the end, to run nothing.
  await graph.bulkUpdateState(config, [
    { updates: [{ values, asNode: START }] },
    { updates: [{ values: null, asNode: END }] },
  ])
  return true
}
