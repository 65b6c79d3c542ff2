import type { RunnableConfig } from '@langchain/core/runnables'
import { BaseMessage } from '@langchain/core/messages'
import { isRecord } from '../core/is-record.js'
import { openInterrupts } from './ask/open-interrupts.js'
import { breakpointQuestion, questionsOf, type Question } from './ask/questions.js'
import { savedState } from './input/checkpoints.js'
import { checkpointerOf } from './input/memory-graph.js'
import type { ServableGraph } from './setup.js'

/** The questions that a graph has asked and that wait for an answer, as its checkpointer has them. */
export async function openQuestions(
  graph: ServableGraph,
  config: RunnableConfig,
): Promise<readonly Question[]> {
  const checkpointer = checkpointerOf(graph)
  if (!checkpointer) return []
  const open = await openInterrupts(checkpointer, config)
  if (open.length === 0) return []
  const counts = new Map(
    open.flatMap(({ id, resumes }) => (id === undefined ? [] : [[id, resumes] as const])),
  )
  const values: unknown = (await savedState(graph, config))?.values
  const messages = isRecord(values) && Array.isArray(values.messages) ? (values.messages as unknown[]) : []
  const lastMessage = messages.findLast((message) => BaseMessage.isInstance(message))
  return questionsOf(open, { counts, lastMessage })
}

/** The question of a graph that was compiled to stop where it is. None when it is done. */
export async function openBreakpoint(
  graph: ServableGraph,
  config: RunnableConfig,
): Promise<readonly Question[]> {
  const saved = await savedState(graph, config)
  if (!saved || saved.next.length === 0) return []
  const checkpointId = String(saved.config.configurable?.checkpoint_id ?? '')
  return [breakpointQuestion({ next: saved.next, checkpointId })]
}

/**
 * The same when it is not known why the graph has stopped. Only a graph that was compiled to stop there has asked: one
 * that has failed, or was cancelled, stands in the middle as well.
 */
export async function likelyBreakpoint(
  graph: ServableGraph,
  config: RunnableConfig,
): Promise<readonly Question[]> {
  const { interruptBefore = [], interruptAfter = [] } = graph
  if (interruptBefore.length === 0 && interruptAfter.length === 0) return []
  const saved = await savedState(graph, config)
  if (!saved || saved.tasks.some(({ error }) => error !== undefined)) return []
  const isBefore = interruptBefore === '*' || saved.next.some((name) => interruptBefore.includes(name))
  return isBefore || interruptAfter.length > 0 ? openBreakpoint(graph, config) : []
}

/** Whether a question stands for a call of the client's tools: it is answered by a result, not by a person. */
export function isClientCall(question: Question): boolean {
  return question.kind === 'value' && question.clientCallId !== undefined
}
