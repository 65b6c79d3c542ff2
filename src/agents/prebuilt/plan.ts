import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { z } from 'zod'
import type { JsonSchema } from '../../models/index.js'
import type { Message } from '@ag-ui/core'
import type { RunContext } from '../contract.js'
import { isWrittenAt, type Origin } from '../history/message-origin.js'
import { rewriteHistory } from '../history/rewrite-history.js'

export interface PlanStep {
  readonly text: string
  readonly status: 'pending' | 'running' | 'done'
  readonly result?: string
}

/** In the shared state, for clients to show. */
export interface Plan {
  readonly steps: readonly PlanStep[]
}

interface PlannerResult {
  readonly steps: readonly string[]
}

/** The answer, or all steps that are still to be done. */
type ReplannerResult =
  | { readonly type: 'respond'; readonly response: string }
  | { readonly type: 'plan'; readonly steps: readonly string[] }

const text = z.string().trim().min(1)
const steps: JsonSchema = { type: 'array', items: { type: 'string' } }

export const plannerResultSchema: StandardSchemaV1<unknown, PlannerResult> = withJsonSchema(
  z.object({ steps: z.array(text) }),
  {
    steps: { ...steps, description: 'What is to be done, in order. None when there is nothing to do.' },
  },
)

export const replannerResultSchema: StandardSchemaV1<unknown, ReplannerResult> = withJsonSchema(
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('respond'), response: text }),
    z.object({ type: z.literal('plan'), steps: z.array(text).min(1) }),
  ]),
  {
    type: { type: 'string', enum: ['respond', 'plan'], description: 'Whether to answer or to go on.' },
    response: { type: 'string', description: 'To respond: the answer for the user. Else empty.' },
    steps: { ...steps, description: 'To plan: all that is still to be done, in order. Else empty.' },
  },
)

/**
 * Replaces the JSON Schema that models get by one object with all members required: strict modes of providers refuse
 * alternatives and optional members.
 */
function withJsonSchema<Output>(
  schema: StandardSchemaV1<unknown, Output>,
  properties: Readonly<Record<string, JsonSchema>>,
): StandardSchemaV1<unknown, Output> & StandardJSONSchemaV1 {
  const jsonSchema = (): Record<string, unknown> => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  })
  return { '~standard': { ...schema['~standard'], jsonSchema: { input: jsonSchema, output: jsonSchema } } }
}

/** The messages for an agent that works on a plan: the conversation before it, the plan, and the task. */
export function toBriefing(ctx: RunContext, steps: readonly PlanStep[], task: string): Message[] {
  const plan =
    steps.length === 0 ? [] : [toUserMessage(ctx, 'plan', `The plan:\n${steps.map(formatStep).join('\n')}`)]
  return [...conversationBefore(ctx), ...plan, toUserMessage(ctx, 'task', task)]
}

/** Without the messages of the plan's own agents, whose results are in the plan. The same after a resume. */
function conversationBefore(ctx: RunContext): readonly Message[] {
  const plan: Origin = { runId: ctx.resume.originRunId, address: ctx.span.address }
  return ctx.history((entries) =>
    rewriteHistory(entries.filter(({ message }) => !isWrittenAt(message, plan))),
  )
}

/** The last text that this run wrote at an address or below it, also before a resume. */
export function lastTextAt(ctx: RunContext, address: string): string {
  const step: Origin = { runId: ctx.resume.originRunId, address }
  const messages = ctx.history((entries) =>
    entries.map(({ message }) => message).filter((message) => isWrittenAt(message, step)),
  )
  const last = messages.findLast(({ role, content }) => role === 'assistant' && content !== undefined)
  return last?.role === 'assistant' ? (last.content ?? '') : ''
}

function toUserMessage({ span }: RunContext, suffix: string, content: string): Message {
  return { id: `${span.address}#${suffix}`, role: 'user', content }
}

const marks: Readonly<Record<PlanStep['status'], string>> = { pending: '[ ]', running: '[>]', done: '[x]' }

function formatStep({ text, status, result }: PlanStep, index: number): string {
  const resultLine = result === undefined ? '' : `\n   Result: ${result}`
  return `${index + 1}. ${marks[status]} ${text}${resultLine}`
}

export function toStepTask(text: string): string {
  return `Do this step, and nothing else: ${text}`
}

export const replanTask = 'What follows? Respond, or plan what is still to be done.'

export const finalTask = 'No more steps may be taken. Respond with what is known, and say what is missing.'

/** The answer for people if the steps were not enough. */
export function toUnfinishedAnswer(steps: readonly PlanStep[]): string {
  return `I did not come to an end. This is how far I came:\n${steps.map(formatStep).join('\n')}`
}
