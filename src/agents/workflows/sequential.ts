import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control, RunContext } from '../contract.js'
import { isStepDone, workflowAgent, type WorkflowOptions } from './workflow.js'

/** The running agent. */
interface SequenceFrame {
  readonly index: number
}

/**
 * Runs agents one after the other. Each sees the messages of those before it. An agent that fails, exits or breaks the
 * loop around it is the last; the result is that of the last.
 *
 * @example
 * const report = sequential({ name: 'report', agents: [researcher, writer, editor] })
 */
export function sequential(options: WorkflowOptions): Agent {
  return workflowAgent('sequential', options, (agents, ctx) => runSteps(options.name, agents, ctx))
}

async function* runSteps(
  workflow: string,
  agents: readonly Agent[],
  ctx: RunContext,
): AsyncGenerator<AgentEvent, Control> {
  const frame = ctx.resume.takeFrame() as SequenceFrame | undefined
  let index = frame?.index ?? 0
  ctx.resume.keepFrame((): SequenceFrame => ({ index }))
  let last: Control = { type: 'done' }
  for (const agent of agents.slice(index)) {
    if (index > (frame?.index ?? 0) && ctx.services.shouldStop('tools')) return { type: 'cancelled' }
    last = yield* ctx.delegate(agent, { segment: String(index) })
    if (!isStepDone(last, { step: agent.name, workflow })) return last
    index++
  }
  return last
}
