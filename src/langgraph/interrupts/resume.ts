import type { Message } from '@ag-ui/core'
import { Command } from '@langchain/langgraph'
import type { Answer } from '../../agents/index.js'
import { toDecision, type ResumableInterrupt } from './to-interrupts.js'

/** The way a graph resumes with some answers. */
export type GraphResumePlan =
  /** Stream this: a Command, or null after a breakpoint. It answers these interrupts. */
  | {
      readonly type: 'resume'
      readonly input: Command | null
      readonly answered: readonly ResumableInterrupt[]
    }
  /** No interrupt can be resumed yet. */
  | { readonly type: 'wait' }
  /** A breakpoint was cancelled: the graph stays where it is. */
  | { readonly type: 'stop' }

type Answers = ReadonlyMap<string, Answer>

/**
 * Decides what to stream for the answers so far, by interrupt id. Each answer goes to its own interrupt alone. The
 * actions of one review wait for each other. A cancelled interrupt resumes with
 * `{ __agui_cancelled__: true, interrupt_id }`. `update` is a change of the state to apply with it.
 */
export function planGraphResume(
  interrupts: readonly ResumableInterrupt[],
  answers: Answers,
  update: object = {},
): GraphResumePlan {
  const breakpoints = interrupts.filter(({ kind }) => kind === 'breakpoint')
  const statuses = breakpoints.map(({ interrupt }) => answers.get(interrupt.id)?.status)
  if (statuses.includes('cancelled')) return { type: 'stop' }
  const values = resumeValues(interrupts, answers)
  const change = Object.keys(update).length > 0 ? { update: { ...update } } : undefined
  if (values.length > 0) {
    const answered = interrupts.filter(
      (entry) => entry.kind !== 'breakpoint' && values.some(([graphId]) => graphId === entry.graphId),
    )
    return { type: 'resume', input: new Command({ resume: resumeMap(values), ...change }), answered }
  }
  if (!statuses.includes('resolved')) return { type: 'wait' }
  return { type: 'resume', input: change ? new Command(change) : null, answered: breakpoints }
}

type ResumeValue = readonly [graphId: string | undefined, value: unknown]

function resumeValues(interrupts: readonly ResumableInterrupt[], answers: Answers): ResumeValue[] {
  const reviews = new Map<string | undefined, ResumableInterrupt[]>()
  const values: ResumeValue[] = []
  for (const entry of interrupts) {
    const answer = answers.get(entry.interrupt.id)
    if (entry.kind === 'value' && answer) values.push([entry.graphId, resumeValue(entry, answer)])
    if (entry.kind === 'action') reviews.set(entry.graphId, [...(reviews.get(entry.graphId) ?? []), entry])
  }
  for (const [graphId, actions] of reviews) {
    const decisions = actions.flatMap(({ interrupt }) => answers.get(interrupt.id) ?? []).map(toDecision)
    if (decisions.length === actions.length) values.push([graphId, { decisions }])
  }
  return values
}

function resumeValue({ interrupt }: ResumableInterrupt, answer: Answer): unknown {
  if (answer.status === 'cancelled') return { __agui_cancelled__: true, interrupt_id: interrupt.id }
  return answer.payload ?? null
}

function resumeMap(values: readonly ResumeValue[]): unknown {
  const [first] = values
  // A graph whose interrupts have no ids takes one answer only.
  if (first && first[0] === undefined) return first[1]
  return Object.fromEntries(values.filter(([id]) => id !== undefined))
}

/** The answers to interrupts that stand for client tool calls: the tool results in the thread. */
export function clientToolAnswers(
  interrupts: readonly ResumableInterrupt[],
  messages: readonly Message[],
): Answers {
  const answers = interrupts.flatMap((entry): (readonly [string, Answer])[] => {
    if (entry.kind !== 'value' || entry.clientCallId === undefined) return []
    const { clientCallId, interrupt } = entry
    const result = messages.findLast(
      (message) => message.role === 'tool' && message.toolCallId === clientCallId,
    )
    return result ? [[interrupt.id, { status: 'resolved', payload: result }]] : []
  })
  return new Map(answers)
}
