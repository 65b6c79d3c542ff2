import type { Message } from '@ag-ui/core'
import { Command } from '@langchain/langgraph'
import type { Answer } from '../../agents/index.js'
import { decisionOf } from './actions.js'
import type { Question } from './questions.js'

/** How a graph goes on with answers. `left` are the questions that still have none. */
export type Resume =
  /** Stream this: a Command, or null after a breakpoint. */
  | { readonly type: 'resume'; readonly input: Command | null; readonly left: readonly Question[] }
  /** There is nothing to go on with yet. */
  | { readonly type: 'wait'; readonly left: readonly Question[] }
  /** Someone has said at a breakpoint that the graph shall not go on. */
  | { readonly type: 'stop' }

type Answers = ReadonlyMap<string, Answer>

/**
 * What to stream for answers: all that were given so far, by the ids of the interrupts. Each goes to the question it is
 * for, never to all of them. Actions of one review wait for each other. A question that was cancelled gets
 * `{ __agui_cancelled__: true, interrupt_id }` as its answer.
 */
export function resumeOf(questions: readonly Question[], answers: Answers, update?: object): Resume {
  const left = questions.filter(({ interrupt }) => !answers.has(interrupt.id))
  const breakpoints = questions.filter(({ kind }) => kind === 'breakpoint')
  const verdicts = breakpoints.map(({ interrupt }) => answers.get(interrupt.id)?.status)
  if (verdicts.includes('cancelled')) return { type: 'stop' }
  const values = valuesOf(questions, answers)
  const changed = update && Object.keys(update).length > 0 ? { update: { ...update } } : {}
  if (values.length > 0) {
    const input = new Command({ resume: resumeValue(values), ...changed })
    return { type: 'resume', input, left }
  }
  if (!verdicts.includes('resolved')) return { type: 'wait', left }
  return { type: 'resume', input: 'update' in changed ? new Command(changed) : null, left }
}

type GraphValue = readonly [graphId: string | undefined, value: unknown]

function resumeValue(values: readonly GraphValue[]): unknown {
  const [first] = values
  // A graph that gives its questions no ids can only be given one answer.
  if (first && first[0] === undefined) return first[1]
  return Object.fromEntries(values.filter(([id]) => id !== undefined))
}

function valuesOf(questions: readonly Question[], answers: Answers): GraphValue[] {
  const reviews = new Map<string | undefined, Question[]>()
  const values: GraphValue[] = []
  for (const question of questions) {
    const answer = answers.get(question.interrupt.id)
    if (question.kind === 'value' && answer) values.push([question.graphId, valueOf(question, answer)])
    if (question.kind === 'action')
      reviews.set(question.graphId, [...(reviews.get(question.graphId) ?? []), question])
  }
  for (const [id, actions] of reviews) {
    const decisions = actions.flatMap(({ interrupt }) => answers.get(interrupt.id) ?? []).map(decisionOf)
    if (decisions.length === actions.length) values.push([id, { decisions }])
  }
  return values
}

function valueOf({ interrupt }: Question, answer: Answer): unknown {
  if (answer.status === 'cancelled') return { __agui_cancelled__: true, interrupt_id: interrupt.id }
  return answer.payload ?? null
}

/** The answers that results in the thread give, to questions that stand for calls of the client's tools: the results. */
export function answersInThread(questions: readonly Question[], messages: readonly Message[]): Answers {
  const answers = questions.flatMap((question): (readonly [string, Answer])[] => {
    if (question.kind !== 'value' || question.clientCallId === undefined) return []
    const { clientCallId, interrupt } = question
    const result = messages.findLast(
      (message) => message.role === 'tool' && message.toolCallId === clientCallId,
    )
    if (result?.role !== 'tool') return []
    return [[interrupt.id, { status: 'resolved', payload: result }]]
  })
  return new Map(answers)
}
