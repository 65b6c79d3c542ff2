import type { RunnableConfig } from '@langchain/core/runnables'
import type { BaseCheckpointSaver } from '@langchain/langgraph'
import { isRecord } from '../../core/is-record.js'
import type { GraphInterruption } from '../graph-event.js'

/** A question that waits, as a checkpoint has it. */
export interface OpenInterrupt extends GraphInterruption {
  /** How many questions of the same id were answered before it. */
  readonly resumes: number
}

/**
 * The questions of a thread that wait for an answer. `getState` has them wrong: it lists one that was answered while
 * others wait, so they are read from what the tasks have written.
 */
export async function openInterrupts(
  checkpointer: BaseCheckpointSaver,
  config: RunnableConfig,
): Promise<OpenInterrupt[]> {
  const tuple = await checkpointer.getTuple(config)
  // By task; answers also stand under the id of the question, and only there when a graph inside has asked.
  const works = new Map<string, Work>()
  for (const [id, channel, value] of tuple?.pendingWrites ?? [])
    works.set(id, noted(works.get(id) ?? { asked: [], resume: [], isDone: false }, channel, value))
  return [...works.values()].flatMap((work) => (work.isDone ? [] : waiting(work, works)))
}

interface Work {
  readonly asked: readonly unknown[]
  readonly resume: readonly unknown[]
  readonly isDone: boolean
}

function noted(work: Work, channel: string, value: unknown): Work {
  switch (channel) {
    case '__interrupt__':
      return { ...work, asked: Array.isArray(value) ? value : [value] }
    case '__resume__':
      return { ...work, resume: Array.isArray(value) ? value : [value] }
    case '__error__':
      return work
    default:
      return { ...work, isDone: true }
  }
}

function waiting({ asked, resume }: Work, works: ReadonlyMap<string, Work>): OpenInterrupt[] {
  return asked.map((entry) => {
    const { id, value } = isRecord(entry) ? entry : { id: undefined, value: entry }
    if (typeof id !== 'string') return { id: undefined, value, ns: [], resumes: resume.length }
    return { id, value, ns: [], resumes: Math.max(resume.length, depth(works.get(id)?.resume ?? [])) }
  })
}

/** Under the id of a question, its answers stand as [[[first], second], third]. */
function depth(resume: readonly unknown[]): number {
  const [before] = resume
  return resume.length === 2 && Array.isArray(before) ? 1 + depth(before) : Math.min(resume.length, 1)
}
