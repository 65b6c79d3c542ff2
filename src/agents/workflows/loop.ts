import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control, RunContext } from '../contract.js'
import { checkNumber } from '../check-number.js'
import { isStepDone, workflowAgent, type WorkflowOptions } from './workflow.js'

export interface LoopOptions extends WorkflowOptions {
  /** The most rounds. Then the loop is done, without an error. Default 10. */
  readonly maxIterations?: number
}

/** The round, from 1, and its running agent. */
interface LoopFrame {
  readonly iteration: number
  readonly index: number
}

/**
 * Runs agents one after the other, in rounds, until one breaks the loop or exits. An agent that fails fails the loop.
 *
 * @example
 * const essay = loop({ name: 'essay', agents: [writer, critic], maxIterations: 3 })
 */
export function loop(options: LoopOptions): Agent {
  const { maxIterations = 10 } = Object(options) as Partial<LoopOptions>
  checkNumber('maxIterations', maxIterations, { min: 1, isInteger: true })
  return workflowAgent('loop', options, (agents, ctx) =>
    runRounds({ name: options.name, agents, maxIterations }, ctx),
  )
}

interface Loop {
  readonly name: string
  readonly agents: readonly Agent[]
  readonly maxIterations: number
}

async function* runRounds(
  { name, agents, maxIterations }: Loop,
  ctx: RunContext,
): AsyncGenerator<AgentEvent, Control> {
  const frame = ctx.resume.takeFrame() as LoopFrame | undefined
  let { iteration, index } = frame ?? { iteration: 1, index: 0 }
  ctx.resume.keepFrame((): LoopFrame => ({ iteration, index }))
  let last: Control = { type: 'done' }
  let isFirst = true
  for (; iteration <= maxIterations; iteration++, index = 0) {
    for (const agent of agents.slice(index)) {
      if (!isFirst && ctx.services.shouldStop('tools')) return { type: 'cancelled' }
      isFirst = false
      last = yield* ctx.delegate(agent, { segment: [String(iteration), String(index)] })
      if (last.type === 'break') return { type: 'done' }
      if (!isStepDone(last, { step: agent.name, workflow: name })) return last
      index++
    }
  }
  return last
}
