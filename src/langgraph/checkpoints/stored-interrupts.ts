import type { RunnableConfig } from '@langchain/core/runnables'
import type { BaseCheckpointSaver } from '@langchain/langgraph'
import { isRecord } from '../../core/json.js'
import type { GraphInterruption } from '../contract.js'

/** An interrupt that is open in a checkpoint. */
export interface StoredInterrupt extends GraphInterruption {
  /** The number of earlier interrupts with the same id. All of them were answered. */
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
  const tasks = writesByTask(await checkpointer.getTuple(config))
  return [...tasks.values()].flatMap((task) => (task.isDone ? [] : taskInterrupts(task, tasks)))
}

type SavedTuple = Awaited<ReturnType<BaseCheckpointSaver['getTuple']>>
type TaskMap = ReadonlyMap<string, TaskWrites>

/** The pending writes by task. Answers also stand under the id of their interrupt, and only there if a nested graph raised it. */
function writesByTask(tuple: SavedTuple): TaskMap {
  const tasks = new Map<string, TaskWrites>()
  for (const [id, channel, value] of tuple?.pendingWrites ?? [])
    tasks.set(id, addWrite(tasks.get(id) ?? noWrites, channel, value))
  return tasks
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

function taskInterrupts({ interrupts, answers }: TaskWrites, tasks: TaskMap): StoredInterrupt[] {
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

/** Answers that a run gave and that came to nothing: the run failed or was cancelled. */
export interface LostAnswers {
  /** The number of answers before, by LangGraph's id of the interrupt. */
  readonly answersBefore: ReadonlyMap<string, number>
  /** The checkpoint namespaces of the graphs that the run has entered. */
  readonly namespaces: Iterable<string>
}

/**
 * Takes back answers, so that their interrupts can be answered again. LangGraph keeps an answer with the checkpoint, and
 * gives a node that starts again the first one it got. Answers of nodes that are done stay.
 */
export async function takeBackAnswers(
  checkpointer: BaseCheckpointSaver,
  config: RunnableConfig,
  { answersBefore, namespaces }: LostAnswers,
): Promise<void> {
  const thread_id: unknown = config.configurable?.thread_id
  for (const checkpoint_ns of namespaces) {
    const tuple = await checkpointer.getTuple({ configurable: { thread_id, checkpoint_ns } })
    for (const [taskId, task] of writesByTask(tuple)) {
      const before = keptAnswers(taskId, task, answersBefore)
      // Writes to this channel replace each other.
      if (tuple && before) await checkpointer.putWrites(tuple.config, [['__resume__', before]], taskId)
    }
  }
}

/** The answers of a task without those that are taken back. Undefined if all of them stay. */
function keptAnswers(
  taskId: string,
  { answers, interrupts, isDone }: TaskWrites,
  answersBefore: ReadonlyMap<string, number>,
): readonly unknown[] | undefined {
  if (isDone) return undefined
  const nestedCount = answersBefore.get(taskId)
  if (nestedCount !== undefined) return unnest(answers, nestedCount)
  const [count] = interrupts.flatMap(
    (entry) => answersBefore.get(isRecord(entry) ? String(entry.id) : '') ?? [],
  )
  return count === undefined || answers.length <= count ? undefined : answers.slice(0, count)
}

/** The first answers of those that stand under the id of an interrupt. Undefined if there are no more. */
function unnest(answers: readonly unknown[], count: number): readonly unknown[] | undefined {
  let kept = answers
  while (nestingDepth(kept) > count)
    kept = kept.length === 2 && Array.isArray(kept[0]) ? (kept[0] as unknown[]) : []
  return kept === answers ? undefined : kept
}
