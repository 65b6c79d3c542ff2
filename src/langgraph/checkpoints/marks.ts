import { ToolMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { isRecord } from '../../core/json.js'
import type { CheckpointedGraph } from '../contract.js'
import { readGraphMessages } from '../messages/to-agui.js'
import { checkpointerOf, savedState, storedMessages } from './checkpoints.js'

/** The difference between a checkpoint and the thread, by message ids. Each run leaves one beside its last checkpoint. */
interface CheckpointMark {
  /** In the graph but not in the thread: a graph may have private messages. */
  readonly unseen: readonly string[]
  /** In the thread but no longer in the graph. */
  readonly removed: readonly string[]
}

/** No task has this id, so LangGraph ignores its writes. */
const markTask = 'millrace'
const markChannel = '__millrace__'

export interface MarkOptions {
  /** Ids of messages that clients have. */
  readonly shown: ReadonlySet<string>
  /** Whether to record the removed messages too. */
  readonly withRemoved?: boolean
  /** The key of the messages in the graph's state. Default `messages`. */
  readonly key?: string
}

/**
 * Records how the newest checkpoint differs from the thread, to distinguish messages that a client has cut off from
 * messages it has never seen. LangGraph stores no metadata of a run with its checkpoints, so the mark is a write that
 * belongs to no task.
 */
export async function markCheckpoint(
  graph: CheckpointedGraph,
  config: RunnableConfig,
  { shown, withRemoved = false, key = 'messages' }: MarkOptions,
): Promise<void> {
  const checkpointer = checkpointerOf(graph)
  const saved = await savedState(graph, config)
  if (!checkpointer || !saved) return
  const messages = readGraphMessages(storedMessages(saved, key))
  const stored = new Set(messages.map(({ id }) => id))
  // Clients have all results; the tool call identifies each.
  const others = messages.filter(({ message }) => !ToolMessage.isInstance(message))
  const mark: CheckpointMark = {
    unseen: others.map(({ id }) => id).filter((id) => !shown.has(id)),
    removed: withRemoved ? [...shown].filter((id) => !stored.has(id)) : [],
  }
  await checkpointer.putWrites(saved.config, [[markChannel, mark]], markTask)
}

/** Ids of stored messages that clients have never seen. */
export interface UnseenMessages {
  /** Private messages of the graph. */
  readonly own: ReadonlySet<string>
  /** Messages that others have added since the last run: another process, or `updateState`. */
  readonly foreign: ReadonlySet<string>
}

/** The messages of the newest checkpoint that clients have never seen. None if no run has left a mark. */
export async function unseenMessages(
  graph: CheckpointedGraph,
  config: RunnableConfig,
  key = 'messages',
): Promise<UnseenMessages> {
  const found = await findLastMark(graph, config)
  const own = new Set(found?.mark.unseen)
  if (!found || found.isNewest) return { own, foreign: new Set() }
  const before = new Set(await messageIdsAt(graph, found.config, key))
  const now = await messageIdsAt(graph, config, key)
  return { own, foreign: new Set(now.filter((id) => !before.has(id))) }
}

/** The messages of the thread that the graph has removed. Undefined if no run has left a mark. */
export async function removedMessages(
  graph: CheckpointedGraph,
  config: RunnableConfig,
): Promise<ReadonlySet<string> | undefined> {
  const found = await findLastMark(graph, config)
  return found && new Set(found.mark.removed)
}

interface FoundMark {
  readonly mark: CheckpointMark
  readonly config: RunnableConfig
  /** The mark stands beside the newest checkpoint. */
  readonly isNewest: boolean
}

async function findLastMark(
  graph: CheckpointedGraph,
  config: RunnableConfig,
): Promise<FoundMark | undefined> {
  const checkpointer = checkpointerOf(graph)
  const newest = await checkpointer?.getTuple(config)
  let tuple = newest
  while (checkpointer && tuple) {
    const mark = readMark(tuple.pendingWrites)
    if (mark) return { mark, config: tuple.config, isNewest: tuple === newest }
    tuple = tuple.parentConfig && (await checkpointer.getTuple(tuple.parentConfig))
  }
  return undefined
}

type PendingWrite = readonly [taskId: string, channel: string, value: unknown]

function readMark(writes: readonly PendingWrite[] | undefined): CheckpointMark | undefined {
  const [, , mark] = writes?.find(([taskId]) => taskId === markTask) ?? []
  return isRecord(mark) ? { unseen: onlyStrings(mark.unseen), removed: onlyStrings(mark.removed) } : undefined
}

function onlyStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : []
}

async function messageIdsAt(
  graph: CheckpointedGraph,
  config: RunnableConfig,
  key: string,
): Promise<string[]> {
  return readGraphMessages(storedMessages(await savedState(graph, config), key)).map(({ id }) => id)
}
