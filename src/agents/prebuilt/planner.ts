import { MillraceError } from '../../core/errors.js'
import type { Model } from '../../models/index.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control } from '../contract.js'
import { checkAgent, foreignAgent, memberOf } from '../check-agent.js'
import { defineAgent, type AgentOptions } from '../chat/chat-agent.js'
import { checkModel } from '../chat/check-options.js'
import { checkAgainst, type Schema } from '../tools/schema.js'
import { extendInstructions } from '../middlewares/instructions.js'
import { replannerResultSchema, plannerResultSchema } from './plan.js'

/** The options of a chat agent, except those that the plan decides. */
export interface PlannerOptions extends Omit<
  AgentOptions,
  'name' | 'output' | 'outputKey' | 'subAgents' | 'transferToPeers' | 'maxTransfers' | 'examples'
> {
  /** Default: `planner`, and `replanner` for the one that decides after each step. */
  readonly name?: string
}

/** A model, a model with options, or an agent that returns the expected result. */
export type PlannerSource = Model | PlannerOptions | Agent

const planInstructions = [
  'Make a plan for what the user asks: the steps that are needed, in order, and no others.',
  'Each is carried out by somebody who sees the plan and the results of the steps before it: say all that they need to know.',
  'The result of the last one should hold the answer. When there is nothing to do, give no steps.',
].join(' ')

const replanInstructions = [
  'You are shown a plan and what came of the steps that are done.',
  'Respond when that answers what the user asked, or when going on is of no use: what you respond is all that the user gets to read as the answer.',
  'Else plan: give all the steps that are still to be done, in order. They replace those that are open. Do not repeat what is done.',
].join(' ')

export function toPlanner(source: PlannerSource): Agent {
  return toPlannerAgent(source, { name: 'planner', guidance: planInstructions, output: plannerResultSchema })
}

/** Without a replanner, the planner's model and options are used. Throws INVALID_AGENT if the planner is an agent. */
export function toReplanner(planner: PlannerSource, replanner: PlannerSource | undefined): Agent {
  const role = { name: 'replanner', guidance: replanInstructions, output: replannerResultSchema }
  if (replanner !== undefined) return toPlannerAgent(replanner, role)
  if ('run' in planner) {
    const message = `The planner '${planner.name}' is an agent, which cannot decide what follows too: give a replanner.`
    throw new MillraceError('INVALID_AGENT', message)
  }
  if ('stream' in planner) return toPlannerAgent(planner, role)
  const { name: _planners, ...options } = planner
  return toPlannerAgent(options, role)
}

interface PlannerRole {
  readonly name: string
  readonly guidance: string
  readonly output: Schema
}

function toPlannerAgent(source: PlannerSource, { name, guidance, output }: PlannerRole): Agent {
  checkPlannerSource(source, name)
  if ('run' in source) return source
  const options = 'stream' in source ? { model: source } : source
  const instructions = extendInstructions(options.instructions, guidance)
  return defineAgent({ name, ...options, instructions, output })
}

/** It may come from code without types. */
function checkPlannerSource(source: unknown, role: string): void {
  const isModel = typeof memberOf(source, 'stream') === 'function'
  const isAgent = memberOf(source, 'run') !== undefined || foreignAgent(source) !== undefined
  if (isAgent) checkAgent(source, `The \`${role}\` of a plan`)
  else if (isModel || memberOf(source, 'model') === undefined) checkModel(source, `The ${role} of a plan`)
}

/** The result of a planner. Throws AGENT_ERROR if it does not match the schema. */
export async function checkPlannerResult<Output>(
  control: Extract<Control, { type: 'done' }>,
  schema: Schema<Output>,
  { name }: Agent,
): Promise<Output> {
  const checked = await checkAgainst(schema, control.result)
  if (checked.ok) return checked.value
  const issues = checked.issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
  const what = `The result of agent '${name}' is not what a plan is made of`
  throw new MillraceError('AGENT_ERROR', `${what}: ${issues}`, { logMessage: `${what}.` })
}

/** Leaves out the planner's text, which is JSON for the plan. Its reasoning and tool calls stay. */
export async function* withoutOwnText(
  source: AsyncGenerator<AgentEvent, Control>,
): AsyncGenerator<AgentEvent, Control> {
  const isHidden = createTextFilter()
  try {
    for (;;) {
      const step = await source.next()
      if (step.done === true) return step.value
      if (!isHidden(step.value)) yield step.value
    }
  } finally {
    await source.return({ type: 'cancelled' })
  }
}

function createTextFilter(): (event: AgentEvent) => boolean {
  /** Messages with tool calls. Their start and end are kept. */
  const shown = new Set<string>()
  const open = new Set<string>()
  let own: string | undefined
  return (event) => {
    if (event.type === 'SUBAGENT_STARTED') own ??= event.subagentRunId
    if (event.type === 'TOOL_CALL_START') shown.add(event.parentMessageId ?? '')
    if (!('subagentRunId' in event) || event.subagentRunId !== own) return false
    switch (event.type) {
      case 'TEXT_MESSAGE_CHUNK':
      case 'TEXT_MESSAGE_CONTENT':
        return true
      case 'TEXT_MESSAGE_START':
        if (shown.has(event.messageId)) open.add(event.messageId)
        return !open.has(event.messageId)
      case 'TEXT_MESSAGE_END':
        return !open.delete(event.messageId)
      default:
        return false
    }
  }
}
