import { MillraceError } from '../../core/errors.js'
import type { Agent, Control } from '../contract.js'
import { agentTree } from '../interrupts/checkpoint.js'
import { isDone } from '../run/control.js'

/** What all workflows are made with. */
export interface WorkflowOptions {
  readonly name: string
  readonly description?: string
  /** The agents in it. One may stand in it more than once. */
  readonly agents: readonly Agent[]
  /** What to ask it first: prompts that show its point. */
  readonly examples?: readonly string[]
}

/** An agent made of others. Throws INVALID_AGENT when it has none. */
export function workflowAgent(
  kind: string,
  { name, description = '', agents, examples }: WorkflowOptions,
  run: Agent['run'],
): Agent {
  if (name.trim() === '') throw new MillraceError('INVALID_AGENT', 'A workflow needs a name.')
  if (agents.length === 0) throw new MillraceError('INVALID_AGENT', `Workflow '${name}' has no agents.`)
  return {
    name,
    description,
    // By place, since a saved position is one.
    shape: {
      kind,
      name,
      agents: Object.fromEntries(agents.map((agent, index) => [index, agentTree(agent)])),
    },
    run,
    ...(examples === undefined ? {} : { examples }),
  }
}

/** Whether what comes next in the workflow may begin. Throws for a transfer: steps have nobody to hand over to. */
export function isStepDone(
  control: Control,
  { step, workflow }: { readonly step: string; readonly workflow: string },
): control is Extract<Control, { type: 'done' }> {
  if (control.type === 'transfer') {
    const message = `Agent '${step}' transfers to '${control.to}', but it is a step of '${workflow}': it may not. Make it one of the subAgents of an agent that may.`
    throw new MillraceError('INVALID_AGENT', message, { details: { from: step, to: control.to } })
  }
  return isDone(control)
}
