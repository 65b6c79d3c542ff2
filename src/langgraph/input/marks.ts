import { ToolMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { isRecord } from '../../core/is-record.js'
import { messagesOf, savedState } from './checkpoints.js'
import { checkpointerOf, type MemoryGraph } from './memory-graph.js'
import { readMessages } from './to-agui.js'

/** No task has this id, and so LangGraph has no use for what stands under it. */
const markTask = 'millrace'
const markChannel = '__millrace__'

export interface MarkOptions {
  /** Ids of messages that the thread has. */
  readonly told: ReadonlySet<string>
  /** Whether to note also what of the thread the graph does not have any more. */
  readonly withGone?: boolean
  /** Where the graph has its messages. Default `messages`. */
  readonly key?: string
}

/** What a run has noted beside the checkpoint it has left, as ids of messages. */
interface Mark {
  /** What the graph has, and the thread has not: a graph may keep some for itself. */
  readonly unseen: readonly string[]
  /** What the thread has, and the graph has not any more. */
  readonly gone: readonly string[]
}

/**
 * Notes beside the newest checkpoint that a run of this thread has made it, and in what it differs from the thread. That
 * is how what a client has cut off is told from what it has never seen. LangGraph keeps no metadata of a run with its
 * checkpoints, so the note is a write that belongs to no task.
 */
export async function markKnown(
  graph: MemoryGraph,
  config: RunnableConfig,
  { told, withGone = false, key = 'messages' }: MarkOptions,
): Promise<void> {
  const checkpointer = checkpointerOf(graph)
  const saved = await savedState(graph, config)
  if (!checkpointer || !saved) return
  const messages = readMessages(messagesOf(saved, key))
  const kept = new Set(messages.map(({ id }) => id))
  // Results are known by their calls, and clients have them all.
  const said = messages.filter(({ message }) => !ToolMessage.isInstance(message))
  const mark: Mark = {
    unseen: said.map(({ id }) => id).filter((id) => !told.has(id)),
    gone: withGone ? [...told].filter((id) => !kept.has(id)) : [],
  }
  await checkpointer.putWrites(saved.config, [[markChannel, mark]], markTask)
}

/** Ids of messages in a checkpoint that clients have never seen. */
export interface Unseen {
  /** Those that the graph keeps for itself. */
  readonly own: ReadonlySet<string>
  /** Those that others have added since the last run of the thread, in another process or with `updateState`. */
  readonly foreign: ReadonlySet<string>
}

/** What clients have never seen of the newest checkpoint. Nothing when no run has left a note. */
export async function unseenMessages(
  graph: MemoryGraph,
  config: RunnableConfig,
  key = 'messages',
): Promise<Unseen> {
  const found = await lastMark(graph, config)
  const own = new Set(found?.mark.unseen)
  if (!found || found.isNewest) return { own, foreign: new Set() }
  const before = new Set(await idsAt(graph, found.config, key))
  const now = await idsAt(graph, config, key)
  return { own, foreign: new Set(now.filter((id) => !before.has(id))) }
}

/** What the graph had of the thread and has not any more. Undefined when no run has left a note. */
export async function goneMessages(
  graph: MemoryGraph,
  config: RunnableConfig,
): Promise<ReadonlySet<string> | undefined> {
  const found = await lastMark(graph, config)
  return found && new Set(found.mark.gone)
}

interface Found {
  readonly mark: Mark
  readonly config: RunnableConfig
  readonly isNewest: boolean
}

/** The newest note, going back from the newest checkpoint. */
async function lastMark(graph: MemoryGraph, config: RunnableConfig): Promise<Found | undefined> {
  const checkpointer = checkpointerOf(graph)
  const newest = await checkpointer?.getTuple(config)
  let tuple = newest
  while (checkpointer && tuple) {
    const mark = markIn(tuple.pendingWrites)
    if (mark) return { mark, config: tuple.config, isNewest: tuple === newest }
    tuple = tuple.parentConfig && (await checkpointer.getTuple(tuple.parentConfig))
  }
  return undefined
}

async function idsAt(graph: MemoryGraph, config: RunnableConfig, key: string): Promise<string[]> {
  return readMessages(messagesOf(await savedState(graph, config), key)).map(({ id }) => id)
}

type Write = readonly [taskId: string, channel: string, value: unknown]

function markIn(writes: readonly Write[] | undefined): Mark | undefined {
  const [, , mark] = writes?.find(([taskId]) => taskId === markTask) ?? []
  return isRecord(mark) ? { unseen: idsIn(mark.unseen), gone: idsIn(mark.gone) } : undefined
}

function idsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : []
}
