import { isAbortError } from '../../core/abort.js'
import { MillraceError } from '../../core/errors.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control, RunContext } from '../contract.js'
import { addressBelow } from '../run/address.js'
import { withStateKey } from '../middlewares/state-key.js'
import { isStepDone } from '../workflows/workflow.js'
import { briefing, decisionTask, lastDecisionTask, lastWordsAt, stepTask, unfinished } from './plan-words.js'
import { decisionSchema, plannedSchema, type Plan, type PlanStep } from './plan.js'
import { resultOf, withoutText } from './planner.js'

/** Who works on a plan, and how. */
export interface Crew {
  readonly name: string
  readonly planner: Agent
  readonly executor: Agent
  readonly replanner: Agent
  readonly maxIterations: number
  readonly onExhausted: 'error' | 'answer'
  readonly stateKey: string
}

/** Where the work stands. Saved when the run pauses, so that nothing is decided or done twice. */
type Standing = Working | Closing

interface Working extends Plan {
  readonly stage: 'plan' | 'execute' | 'decide'
  /** How many steps were begun. */
  readonly round: number
}

type Closing = Plan &
  (
    | { readonly stage: 'respond'; readonly response: string }
    | { readonly stage: 'give-up' }
    /** As the executor has ended it. */
    | { readonly stage: 'end'; readonly end: Control }
  )

/** Ends with what comes next, or with how the work stops here. */
type Stage = (crew: Crew, ctx: RunContext, working: Working) => AsyncGenerator<AgentEvent, Standing | Control>

const stages: Readonly<Record<Working['stage'], Stage>> = { plan: makePlan, execute, decide }

/** Makes a plan and carries it out. */
export async function* workOff(crew: Crew, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const frame = ctx.resume.takeFrame() as Standing | undefined
  let standing: Standing = frame ?? { stage: 'plan', round: 0, steps: [] }
  ctx.resume.keepFrame(() => standing)
  yield show(crew, ctx, standing)
  for (;;) {
    if (!('round' in standing)) return yield* close(crew, ctx, standing)
    const next: Standing | Control = yield* stages[standing.stage](crew, ctx, standing)
    if ('type' in next) return next
    standing = next
    yield show(crew, ctx, standing)
    if ('round' in standing && ctx.services.shouldStop('tools')) return { type: 'cancelled' }
  }
}

/** Brings the plan in the shared state up to date. */
function show({ stateKey }: Crew, ctx: RunContext, { steps }: Plan): AgentEvent {
  const plan: Plan = { steps }
  return ctx.setState((state: unknown) => withStateKey(state, stateKey, plan))
}

async function* makePlan(crew: Crew, ctx: RunContext): ReturnType<Stage> {
  const { planner } = crew
  const control = yield* withoutText(ctx.delegate(planner, { segment: 'plan' }))
  if (!isFinished(control, planner, crew)) return ended(control)
  const { steps } = await resultOf(control, plannedSchema, planner)
  return begin(1, steps.map(toStep))
}

async function* execute(crew: Crew, ctx: RunContext, { round, steps }: Working): ReturnType<Stage> {
  const { executor } = crew
  const task = stepTask(steps.find(({ status }) => status === 'running')?.text ?? '')
  const messages = briefing(ctx, steps, task)
  const segment = [String(round), 'step']
  try {
    const control = yield* ctx.delegate(executor, { segment, messages })
    const isOver = control.type === 'exit' || control.type === 'break' || isFinished(control, executor, crew)
    if (!isOver) return control
    const at = addressBelow(ctx.span.address, { segment, name: executor.name, isCall: false, isLane: false })
    const result = resultIn(control) ?? lastWordsAt(ctx, at)
    const done = steps.map((step) => withResult(step, result))
    if (control.type === 'done') return { stage: 'decide', round, steps: done }
    return { stage: 'end', steps: done, end: ended(control) }
  } catch (error) {
    // It is not at work any more, and what becomes of it is open.
    if (!isAbortError(error, ctx.signal)) yield show(crew, ctx, { steps: steps.map(asPending) })
    throw error
  }
}

async function* decide(crew: Crew, ctx: RunContext, { round, steps }: Working): ReturnType<Stage> {
  const { replanner, maxIterations, onExhausted } = crew
  const isLast = round >= maxIterations
  const task = isLast && onExhausted === 'answer' ? lastDecisionTask : decisionTask
  const messages = briefing(ctx, steps, task)
  const segment = [String(round), 'decide']
  const control = yield* withoutText(ctx.delegate(replanner, { segment, messages }))
  if (!isFinished(control, replanner, crew)) return ended(control)
  const decision = await resultOf(control, decisionSchema, replanner)
  const done = steps.filter(({ status }) => status === 'done')
  if (decision.type === 'respond') return { stage: 'respond', steps: done, response: decision.response }
  const all = [...done, ...decision.steps.map(toStep)]
  return isLast ? { stage: 'give-up', steps: all } : begin(round + 1, all)
}

function* close(crew: Crew, ctx: RunContext, closing: Closing): Generator<AgentEvent, Control> {
  if (closing.stage === 'end') return closing.end
  if (closing.stage === 'give-up' && crew.onExhausted === 'error') {
    const message = `Agent '${crew.name}' carried out ${crew.maxIterations} steps and did not come to the end of its plan.`
    throw new MillraceError('MAX_ITERATIONS', message)
  }
  // The answer, in the agent's own name.
  const delta = closing.stage === 'respond' ? closing.response : unfinished(closing.steps)
  const messageId = ctx.services.newId('message')
  yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
  yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }
  yield { type: 'TEXT_MESSAGE_END', messageId }
  return { type: 'done' }
}

/** The first open step is next. */
function begin(round: number, steps: readonly PlanStep[]): Working {
  const first = steps.findIndex(({ status }) => status === 'pending')
  if (first === -1) return { stage: 'decide', round: round - 1, steps }
  const begun = steps.map((step, index): PlanStep =>
    index === first ? { ...step, status: 'running' } : step,
  )
  return { stage: 'execute', round, steps: begun }
}

function toStep(text: string): PlanStep {
  return { text, status: 'pending' }
}

function asPending(step: PlanStep): PlanStep {
  return step.status === 'running' ? { ...step, status: 'pending' } : step
}

function withResult(step: PlanStep, result: string): PlanStep {
  return step.status === 'running' ? { ...step, status: 'done', result } : step
}

function resultIn(control: Control): string | undefined {
  const result = 'result' in control ? control.result : undefined
  if (result === undefined || result === null) return undefined
  return typeof result === 'string' ? result : JSON.stringify(result)
}

function isFinished(
  control: Control,
  { name }: Agent,
  crew: Crew,
): control is Extract<Control, { type: 'done' }> {
  return isStepDone(control, { step: name, workflow: crew.name })
}

/** A break ends the work on the plan, and nothing around it. */
function ended(control: Control): Control {
  return control.type === 'break' ? { type: 'done' } : control
}
