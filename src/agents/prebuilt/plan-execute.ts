import { isAbortError } from '../../core/abort.js'
import { MillraceError } from '../../core/errors.js'
import type { AgentEvent } from '../../protocol/index.js'
import { checkAgent, checkGiven, checkName } from '../check-agent.js'
import { checkNumber } from '../check-number.js'
import type { Agent, Control, RunContext } from '../contract.js'
import { agentTree } from '../interrupts/checkpoint.js'
import { privateKeysMember } from '../private-keys.js'
import { checkStateKey, withStateKey } from '../middlewares/state-key.js'
import { addressBelow } from '../run/address.js'
import { isStepDone } from '../workflows/workflow.js'
import {
  finalTask,
  lastTextAt,
  plannerResultSchema,
  replannerResultSchema,
  replanTask,
  toBriefing,
  toStepTask,
  toUnfinishedAnswer,
  type Plan,
  type PlanStep,
} from './plan.js'
import { checkPlannerResult, toPlanner, toReplanner, withoutOwnText, type PlannerSource } from './planner.js'

export interface PlanExecuteOptions {
  readonly name: string
  readonly description?: string
  /** Writes the plan: a model, a model with options, or an agent whose result is `{ steps: string[] }`. */
  readonly planner: PlannerSource
  /** Carries out one step at a time. Its result, or else its last text, is the result of the step. */
  readonly executor: Agent
  /**
   * Decides after each step. Default: the planner's model and options. An agent's result is `{ type: 'respond', response }`,
   * which is the answer, or `{ type: 'plan', steps }`, which replaces the open steps.
   */
  readonly replanner?: PlannerSource
  /** The most steps of one run. Default 10. */
  readonly maxIterations?: number
  /**
   * Above that limit: an error (default), since half-done work must not pass for an answer; or an answer of the
   * replanner, or else one that says how far the plan came.
   */
  readonly onExhausted?: 'error' | 'answer'
  /** The plan's key in the shared state. Default `plan`. Agents of one run with separate plans need a key each. */
  readonly stateKey?: string
  /** Prompts to start with, which show what the agent is for. */
  readonly examples?: readonly string[]
}

/**
 * An agent that plans first: a planner writes steps, an executor carries out the first, and a replanner reads the result
 * and answers, or decides what is still to be done. The plan is in the shared state, with the status and result of each
 * step. Throws INVALID_AGENT for options that make no sense.
 *
 * @example
 * const trip = planExecute({ name: 'trip', planner: model, executor: agentWithTools })
 */
export function planExecute(options: PlanExecuteOptions): Agent {
  checkGiven('planExecute', options, '{ name, planner, executor }')
  const { name, description = '', executor, examples, stateKey = 'plan' } = options
  const { maxIterations = 10, onExhausted = 'error' } = options
  checkName(name, 'An agent')
  checkAgent(executor, `The \`executor\` of '${name}'`)
  checkStateKey('stateKey', stateKey)
  checkNumber('maxIterations', maxIterations, { min: 1, isInteger: true })
  const planner = toPlanner(options.planner)
  const replanner = toReplanner(options.planner, options.replanner)
  const setup = { name, planner, executor, replanner, maxIterations, onExhausted, stateKey }
  const agents = {
    planner: agentTree(planner),
    executor: agentTree(executor),
    replanner: agentTree(replanner),
  }
  return {
    name,
    description,
    shape: { kind: 'plan-execute', name, agents },
    run: (ctx) => runPlan(setup, ctx),
    outline: () => ({ kind: 'plan-execute', agents: [planner, executor, replanner] }),
    ...privateKeysMember([planner, executor, replanner].map(({ privateKeys }) => privateKeys)),
    ...(examples === undefined ? {} : { examples }),
  }
}

interface PlanExecuteSetup {
  readonly name: string
  readonly planner: Agent
  readonly executor: Agent
  readonly replanner: Agent
  readonly maxIterations: number
  readonly onExhausted: 'error' | 'answer'
  readonly stateKey: string
}

/** Saved when the run is interrupted, so that a resumed run repeats no decision and no step. */
type PlanProgress = ActiveProgress | FinalProgress

interface ActiveProgress extends Plan {
  readonly stage: 'plan' | 'execute' | 'decide'
  /** The number of steps begun. */
  readonly round: number
}

type FinalProgress = Plan &
  (
    | { readonly stage: 'respond'; readonly response: string }
    | { readonly stage: 'give-up' }
    /** The executor's control that ended the plan. */
    | { readonly stage: 'end'; readonly end: Control }
  )

/** Returns the next progress, or the control that ends the run. */
type Stage = (
  setup: PlanExecuteSetup,
  ctx: RunContext,
  progress: ActiveProgress,
) => AsyncGenerator<AgentEvent, PlanProgress | Control>

const stages: Readonly<Record<ActiveProgress['stage'], Stage>> = {
  plan: makePlan,
  execute: executeStep,
  decide: replan,
}

async function* runPlan(setup: PlanExecuteSetup, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const frame = ctx.resume.takeFrame() as PlanProgress | undefined
  let progress: PlanProgress = frame ?? { stage: 'plan', round: 0, steps: [] }
  ctx.resume.keepFrame(() => progress)
  yield publishPlan(setup, ctx, progress)
  for (;;) {
    if (!('round' in progress)) return yield* finishPlan(setup, ctx, progress)
    const next: PlanProgress | Control = yield* stages[progress.stage](setup, ctx, progress)
    if ('type' in next) return next
    progress = next
    yield publishPlan(setup, ctx, progress)
    if ('round' in progress && ctx.services.shouldStop('tools')) return { type: 'cancelled' }
  }
}

function publishPlan({ stateKey }: PlanExecuteSetup, ctx: RunContext, { steps }: Plan): AgentEvent {
  const plan: Plan = { steps }
  return ctx.setState((state: unknown) => withStateKey(state, stateKey, plan))
}

async function* makePlan(setup: PlanExecuteSetup, ctx: RunContext): ReturnType<Stage> {
  const { planner } = setup
  const control = yield* withoutOwnText(ctx.delegate(planner, { segment: 'plan' }))
  if (!isAgentDone(control, planner, setup)) return stopBreak(control)
  const { steps } = await checkPlannerResult(control, plannerResultSchema, planner)
  return startNextStep(1, steps.map(toPendingStep))
}

async function* executeStep(
  setup: PlanExecuteSetup,
  ctx: RunContext,
  { round, steps }: ActiveProgress,
): ReturnType<Stage> {
  const { executor } = setup
  const task = toStepTask(steps.find(({ status }) => status === 'running')?.text ?? '')
  const messages = toBriefing(ctx, steps, task)
  const segment = [String(round), 'step']
  try {
    const control = yield* ctx.delegate(executor, { segment, messages })
    const isOver =
      control.type === 'exit' || control.type === 'break' || isAgentDone(control, executor, setup)
    if (!isOver) return control
    const at = addressBelow(ctx.span.address, { segment, name: executor.name, isCall: false, isLane: false })
    const result = resultText(control) ?? lastTextAt(ctx, at)
    const done = steps.map((step) => completeStep(step, result))
    if (control.type === 'done') return { stage: 'decide', round, steps: done }
    return { stage: 'end', steps: done, end: stopBreak(control) }
  } catch (error) {
    // Show the step as pending again.
    if (!isAbortError(error, ctx.signal)) yield publishPlan(setup, ctx, { steps: steps.map(resetStep) })
    throw error
  }
}

async function* replan(
  setup: PlanExecuteSetup,
  ctx: RunContext,
  { round, steps }: ActiveProgress,
): ReturnType<Stage> {
  const { replanner, maxIterations, onExhausted } = setup
  const isLast = round >= maxIterations
  const task = isLast && onExhausted === 'answer' ? finalTask : replanTask
  const messages = toBriefing(ctx, steps, task)
  const segment = [String(round), 'decide']
  const control = yield* withoutOwnText(ctx.delegate(replanner, { segment, messages }))
  if (!isAgentDone(control, replanner, setup)) return stopBreak(control)
  const decision = await checkPlannerResult(control, replannerResultSchema, replanner)
  const done = steps.filter(({ status }) => status === 'done')
  if (decision.type === 'respond') return { stage: 'respond', steps: done, response: decision.response }
  const all = [...done, ...decision.steps.map(toPendingStep)]
  return isLast ? { stage: 'give-up', steps: all } : startNextStep(round + 1, all)
}

function* finishPlan(
  setup: PlanExecuteSetup,
  ctx: RunContext,
  final: FinalProgress,
): Generator<AgentEvent, Control> {
  if (final.stage === 'end') return final.end
  if (final.stage === 'give-up' && setup.onExhausted === 'error') {
    const message = `Agent '${setup.name}' carried out ${setup.maxIterations} steps and did not come to the end of its plan.`
    throw new MillraceError('MAX_ITERATIONS', message)
  }
  const delta = final.stage === 'respond' ? final.response : toUnfinishedAnswer(final.steps)
  const messageId = ctx.services.newId('message')
  yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
  yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }
  yield { type: 'TEXT_MESSAGE_END', messageId }
  return { type: 'done' }
}

function startNextStep(round: number, steps: readonly PlanStep[]): ActiveProgress {
  const first = steps.findIndex(({ status }) => status === 'pending')
  if (first === -1) return { stage: 'decide', round: round - 1, steps }
  const begun = steps.map((step, index): PlanStep =>
    index === first ? { ...step, status: 'running' } : step,
  )
  return { stage: 'execute', round, steps: begun }
}

function toPendingStep(text: string): PlanStep {
  return { text, status: 'pending' }
}

function resetStep(step: PlanStep): PlanStep {
  return step.status === 'running' ? { ...step, status: 'pending' } : step
}

function completeStep(step: PlanStep, result: string): PlanStep {
  return step.status === 'running' ? { ...step, status: 'done', result } : step
}

function resultText(control: Control): string | undefined {
  const result = 'result' in control ? control.result : undefined
  if (result === undefined || result === null) return undefined
  return typeof result === 'string' ? result : JSON.stringify(result)
}

function isAgentDone(
  control: Control,
  { name }: Agent,
  setup: PlanExecuteSetup,
): control is Extract<Control, { type: 'done' }> {
  return isStepDone(control, { step: name, workflow: setup.name })
}

/** A break ends the plan, but no loop around it. */
function stopBreak(control: Control): Control {
  return control.type === 'break' ? { type: 'done' } : control
}
