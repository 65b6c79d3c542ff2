import type { RunnableConfig } from '@langchain/core/runnables'
import { END, START, type BaseCheckpointSaver, type StateSnapshot } from '@langchain/langgraph'
import { isRecord } from '../../core/is-record.js'
import type { CheckpointedGraph, GraphInterruption } from '../contract.js'
import { inputKeys, splitState, stateUpdate } from '../input/state-keys.js'

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
 * Writes a state that was changed outside of a run. Does nothing for a thread without checkpoints. Returns false if the
 * graph is in the middle of its work: a write would move it, so the next run must bring the change along.
 */
export async function writeState(
  graph: CheckpointedGraph,
  config: RunnableConfig,
  state: unknown,
): Promise<boolean> {
  const checkpointer = checkpointerOf(graph)
  const snapshot = await savedState(graph, config)
  if (!checkpointer || !snapshot) return true
  if (snapshot.next.length > 0 || (await storedInterrupts(checkpointer, config)).length > 0) return false
  const values = stateUpdate(graph, splitState(state, inputKeys(graph)).known, snapshot.values)
  if (Object.keys(values).length === 0) return true
  // As an input, because any other node may be one of several or lead elsewhere; then as the end, so that nothing runs.
  await graph.bulkUpdateState(config, [
    { updates: [{ values, asNode: START }] },
    { updates: [{ values: null, asNode: END }] },
  ])
  return true
}

/** An interrupt that is open in a checkpoint. */
export interface StoredInterrupt extends GraphInterruption {
  /** How many interrupts with the same id were answered before it. */
  readonly answersBefore: number
}

/**
 * The interrupts that are open in the newest checkpoint. They are read from the pending writes of its tasks, because
 * `getState` still lists an answered interrupt while others are open.
 */
export async function storedInterrupts(
  checkpointer: BaseCheckpointSaver,
  config: RunnableConfig,
): Promise<StoredInterrupt[]> {
  const tuple = await checkpointer.getTuple(config)
  // By task. Answers also stand under the id of their interrupt, and only there if a nested graph raised it.
  const tasks = new Map<string, TaskWrites>()
  for (const [id, channel, value] of tuple?.pendingWrites ?? [])
    tasks.set(id, addWrite(tasks.get(id) ?? noWrites, channel, value))
  return [...tasks.values()].flatMap((task) => (task.isDone ? [] : interruptsOf(task, tasks)))
}

interface TaskWrites {
  readonly interrupts: readonly unknown[]
  readonly answers: readonly unknown[]
  readonly isDone: boolean
}

const noWrites: TaskWrites = { interrupts: [], answers: [], isDone: false }

function addWrite(task: TaskWrites, channel: string, value: unknown): TaskWrites {
  switch (channel) {
    case '__interrupt__':
      return { ...task, interrupts: Array.isArray(value) ? value : [value] }
    case '__resume__':
      return { ...task, answers: Array.isArray(value) ? value : [value] }
    case '__error__':
      return task
    default:
      return { ...task, isDone: true }
  }
}

function interruptsOf(
  { interrupts, answers }: TaskWrites,
  tasks: ReadonlyMap<string, TaskWrites>,
): StoredInterrupt[] {
  return interrupts.map((entry) => {
    const { id, value } = isRecord(entry) ? entry : { id: undefined, value: entry }
    if (typeof id !== 'string') return { id: undefined, value, ns: [], answersBefore: answers.length }
    const ofNested = nestingDepth(tasks.get(id)?.answers ?? [])
    return { id, value, ns: [], answersBefore: Math.max(answers.length, ofNested) }
  })
}

/** Under the id of an interrupt, its answers are nested: [[[first], second], third]. */
function nestingDepth(answers: readonly unknown[]): number {
  const [before] = answers
  return answers.length === 2 && Array.isArray(before)
    ? 1 + nestingDepth(before)
    : Math.min(answers.length, 1)
}
