import type { Message } from '@ag-ui/core'
import type { RunContext } from '../contract.js'
import { pathFrom } from '../run/address.js'
import { addressIn, originMarkOf, originPrefix } from '../history/origin.js'
import { rewriteHistory } from '../history/history.js'
import type { PlanStep } from './plan.js'

/** What those who work on a plan are told: the conversation before it, the plan, and what they are to do. */
export function briefing(ctx: RunContext, steps: readonly PlanStep[], task: string): Message[] {
  const told = steps.length === 0 ? [] : [said(ctx, 'plan', `The plan:\n${steps.map(line).join('\n')}`)]
  return [...conversationBefore(ctx), ...told, said(ctx, 'task', task)]
}

/** Without what the agents of this plan have said: the results are in the plan. The same when the run goes on later. */
function conversationBefore(ctx: RunContext): readonly Message[] {
  const isOfPlan = saidAt(ctx, ctx.span.address)
  return ctx.history((entries) => rewriteHistory(entries.filter(({ message }) => !isOfPlan(message))))
}

/** What was said last at an address or below it, in this run. Also when it was said before the run was stopped. */
export function lastWordsAt(ctx: RunContext, address: string): string {
  const isThere = saidAt(ctx, address)
  const said = ctx.history((entries) => entries.map(({ message }) => message).filter(isThere))
  const last = said.findLast(({ role, content }) => role === 'assistant' && content !== undefined)
  return last?.role === 'assistant' ? (last.content ?? '') : ''
}

function saidAt({ resume }: RunContext, address: string): (message: Message) => boolean {
  const marksNow = originPrefix(resume.originRunId)
  return (message) => {
    const mark = originMarkOf(message)
    return mark?.startsWith(marksNow) === true && pathFrom(address, addressIn(mark)) !== undefined
  }
}

function said({ span }: RunContext, what: string, content: string): Message {
  return { id: `${span.address}#${what}`, role: 'user', content }
}

const marks: Readonly<Record<PlanStep['status'], string>> = { pending: '[ ]', running: '[>]', done: '[x]' }

function line({ text, status, result }: PlanStep, index: number): string {
  const came = result === undefined ? '' : `\n   Result: ${result}`
  return `${index + 1}. ${marks[status]} ${text}${came}`
}

/** For who carries out a step. */
export function stepTask(text: string): string {
  return `Do this step, and nothing else: ${text}`
}

export const decisionTask = 'What follows? Respond, or plan what is still to be done.'

export const lastDecisionTask =
  'No more steps may be taken. Respond with what is known, and say what is missing.'

/** For people, when nobody found an answer in time. */
export function unfinished(steps: readonly PlanStep[]): string {
  return `I did not come to an end. This is how far I came:\n${steps.map(line).join('\n')}`
}
