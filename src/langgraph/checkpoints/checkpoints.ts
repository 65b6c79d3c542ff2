import type { RunnableConfig } from '@langchain/core/runnables'
import {
  type BaseCheckpointSaver,
  END,
  START,
  type StateSnapshot,
  copyCheckpoint,
  emptyCheckpoint,
} from '@langchain/langgraph'
import { isRecord } from '../../core/json.js'
import type { CheckpointedGraph } from '../contract.js'
import { stateUpdate } from '../input/state-keys.js'
import { readGraphMessages } from '../messages/to-agui.js'
import { storedInterrupts } from './stored-interrupts.js'

/** The graph's own checkpointer. Undefined if it has none: `true` and `false` are for nested graphs. */
export function checkpointerOf({
  checkpointer,
}: Pick<CheckpointedGraph, 'checkpointer'>): BaseCheckpointSaver | undefined {
  return typeof checkpointer === 'object' ? checkpointer : undefined
}

/** The newest checkpoint of a thread. Undefined if it has none, or if the graph has no checkpointer. */
export async function savedState(
  graph: CheckpointedGraph,
  config: RunnableConfig,
): Promise<StateSnapshot | undefined> {
  if (!checkpointerOf(graph)) return undefined
  const snapshot = await graph.getState(config)
  return snapshot.metadata === undefined ? undefined : snapshot
}

/** The messages in a checkpoint. */
export function storedMessages(snapshot: StateSnapshot | undefined, key = 'messages'): readonly unknown[] {
  const values: unknown = snapshot?.values
  const messages = isRecord(values) ? values[key] : undefined
  return Array.isArray(messages) ? messages : []
}

/** Deletes all checkpoints of a thread. Does nothing if the graph has no checkpointer. */
export async function deleteCheckpoints(graph: CheckpointedGraph, threadId: string): Promise<void> {
  await checkpointerOf(graph)?.deleteThread(threadId)
}

/**
 * Writes values of the state that changed outside of a run. Does nothing for a thread without checkpoints. Returns false if the
 * graph is in the middle of its work: a write would move it, so the next run must write the change.
 */
export async function writeCheckpointState(
  graph: CheckpointedGraph,
  config: RunnableConfig,
  known: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const checkpointer = checkpointerOf(graph)
  const snapshot = await savedState(graph, config)
  if (!checkpointer || !snapshot) return true
  if (snapshot.next.length > 0 || (await storedInterrupts(checkpointer, config)).length > 0) return false
  const values = stateUpdate(graph, known, snapshot.values)
  if (Object.keys(values).length === 0) return true
  // As an input, because any other node may be one of several or lead elsewhere; then as the end, so that nothing runs.
  await graph.bulkUpdateState(config, [
    { updates: [{ values, asNode: START }] },
    { updates: [{ values: null, asNode: END }] },
  ])
  return true
}

/** A past checkpoint to resume from. */
export interface PastCheckpoint {
  readonly config: RunnableConfig
  readonly messages: readonly unknown[]
}

/**
 * The checkpoint right before a message was added. Follows the parents of the newest checkpoint, because the history of
 * a thread also lists abandoned branches. Undefined if every ancestor has the message.
 */
export async function checkpointBefore(
  graph: CheckpointedGraph,
  config: RunnableConfig,
  { messageId, key = 'messages' }: { readonly messageId: string; readonly key?: string },
): Promise<PastCheckpoint | undefined> {
  let snapshot = await savedState(graph, config)
  while (snapshot) {
    const messages = storedMessages(snapshot, key)
    if (!readGraphMessages(messages).some(({ id }) => id === messageId)) {
      const { configurable } = snapshot.config
      return { config: { ...config, configurable: { ...config.configurable, ...configurable } }, messages }
    }
    snapshot = snapshot.parentConfig && (await graph.getState(snapshot.parentConfig))
  }
  return undefined
}

/**
 * Makes a past checkpoint the newest one and returns the config to run with. Later checkpoints stay in the history.
 *
 * The checkpoint is copied with channel versions above all that were used. LangGraph would count up from the old
 * versions and reuse those of the abandoned branch; savers that store values by version, such as the one for
 * PostgreSQL, would then return values of that branch (langgraphjs#1812).
 */
export async function rewind(
  graph: CheckpointedGraph,
  config: RunnableConfig,
  past: RunnableConfig,
): Promise<RunnableConfig> {
  const checkpointer = checkpointerOf(graph)
  const newest = await checkpointer?.getTuple(config)
  const saved = await checkpointer?.getTuple(past)
  // A channel that is stored as a chain of deltas cannot be copied.
  if (!checkpointer || !newest || !saved || hasDeltaChannels(graph)) return past
  const highest = Math.max(0, ...numericVersions(newest.checkpoint.channel_versions))
  const checkpoint = copyWithVersionsAbove(highest, saved)
  const { step = -1, parents = {} } = saved.metadata ?? {}
  const metadata = { source: 'fork' as const, step: step + 1, parents }
  await checkpointer.put(saved.config, checkpoint, metadata, checkpoint.channel_versions)
  return config
}

type Versions = Readonly<Record<string, number | string>>
type SavedTuple = NonNullable<Awaited<ReturnType<BaseCheckpointSaver['getTuple']>>>

function copyWithVersionsAbove(highest: number, { checkpoint }: SavedTuple): SavedTuple['checkpoint'] {
  const { id, ts } = emptyCheckpoint()
  const copy = copyCheckpoint(checkpoint)
  // Savers whose versions are strings make each of them unique.
  const raise = (versions: Versions): Record<string, number | string> =>
    Object.fromEntries(
      Object.entries(versions).map(([key, version]) => [
        key,
        typeof version === 'number' ? version + highest : version,
      ]),
    )
  const byNode = Object.entries(copy.versions_seen)
  return {
    ...copy,
    id,
    ts,
    channel_versions: raise(copy.channel_versions),
    versions_seen: Object.fromEntries(byNode.map(([node, versions]) => [node, raise(versions)])),
  }
}

function numericVersions(versions: Versions): number[] {
  return Object.values(versions).filter((version) => typeof version === 'number')
}

function hasDeltaChannels({ channels }: CheckpointedGraph): boolean {
  return Object.values(channels).some(
    (channel) => isRecord(channel) && channel.lc_graph_name === 'DeltaChannel',
  )
}
