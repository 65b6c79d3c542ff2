import { MillraceError } from '../../core/errors.js'
import type { Agent } from '../contract.js'
import { checkNumber } from '../check-number.js'
import { agentTree } from '../interrupts/checkpoint.js'
import { toPlanner, toReplanner, type PlannerSource } from './planner.js'
import { workOff } from './work-off.js'

export interface PlanExecuteOptions {
  readonly name: string
  readonly description?: string
  /** Makes the plan: a model, a model with options, or an agent whose result is `{ steps: string[] }`. */
  readonly planner: PlannerSource
  /** Carries out one step at a time. What it says last, or its result, is the result of the step. */
  readonly executor: Agent
  /**
   * Decides what follows each step. Default: as the planner. An agent's result is `{ type: 'respond', response }`, which is
   * the answer, or `{ type: 'plan', steps }`, which replaces what is open.
   */
  readonly replanner?: PlannerSource
  /** How many steps may be carried out in one run. Default 10. */
  readonly maxIterations?: number
  /**
   * When that is not enough: an error (default), since work that is half done must not pass for an answer; or an answer,
   * which the replanner is asked for, and which else tells how far the plan came.
   */
  readonly onExhausted?: 'error' | 'answer'
  /** Where in the shared state the plan is. Default `plan`. Two that plan in one run need one each. */
  readonly stateKey?: string
  /** What to ask it first: prompts that show its point. */
  readonly examples?: readonly string[]
}

/**
 * An agent that plans first: a planner writes steps, an executor carries out the first, and a replanner looks at what came
 * of it, and answers or says what is still to be done. The plan is in the shared state, with how each step stands and
 * what came of it. Throws INVALID_AGENT when the options make no sense.
 *
 * @example
 * const trip = planExecute({ name: 'trip', planner: model, executor: agentWithTools })
 */
export function planExecute(options: PlanExecuteOptions): Agent {
  const { name, description = '', executor, examples, stateKey = 'plan' } = options
  const { maxIterations = 10, onExhausted = 'error' } = options
  if (name.trim() === '') throw new MillraceError('INVALID_AGENT', 'An agent needs a name.')
  if (stateKey === '' || stateKey === '__proto__')
    throw new MillraceError(
      'INVALID_AGENT',
      `The option 'stateKey' must be the name of a member, not '${stateKey}'.`,
    )
  checkNumber('maxIterations', maxIterations, { min: 1, isInteger: true })
  const planner = toPlanner(options.planner)
  const replanner = toReplanner(options.planner, options.replanner)
  const crew = { name, planner, executor, replanner, maxIterations, onExhausted, stateKey }
  const agents = {
    planner: agentTree(planner),
    executor: agentTree(executor),
    replanner: agentTree(replanner),
  }
  return {
    name,
    description,
    shape: { kind: 'plan-execute', name, agents },
    run: (ctx) => workOff(crew, ctx),
    ...(examples === undefined ? {} : { examples }),
  }
}
