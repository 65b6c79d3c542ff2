import { MillraceError } from '../../core/errors.js'
import type { Agent, AgentLimits, Control } from '../contract.js'
import { checkAgent } from '../check-agent.js'
import { agentTree } from '../interrupts/checkpoint.js'
import { isDone } from '../run/control.js'
import { privateKeysMember } from '../private-keys.js'
import { limitsMember } from '../run/limits.js'

/** The options of all workflows. */
export interface WorkflowOptions {
  readonly name: string
  readonly description?: string
  /** An agent may occur more than once. */
  readonly agents: readonly Agent[]
  /** Prompts that show what it is good for. Clients offer them as suggestions. */
  readonly examples?: readonly string[]
  readonly limits?: AgentLimits
}

/** An agent made of others. Throws INVALID_AGENT when it has none. */
export function workflowAgent(
  kind: string,
  { name, description = '', agents, examples, limits }: WorkflowOptions,
  run: Agent['run'],
): Agent {
  if (name.trim() === '') throw new MillraceError('INVALID_AGENT', 'A workflow needs a name.')
  if (agents.length === 0) throw new MillraceError('INVALID_AGENT', `Workflow '${name}' has no agents.`)
  for (const agent of agents) checkAgent(agent)
  return {
    name,
    description,
    // By index, since frames name agents by index.
    shape: {
      kind,
      name,
      agents: Object.fromEntries(agents.map((agent, index) => [index, agentTree(agent)])),
    },
    run,
    ...(examples === undefined ? {} : { examples }),
    ...limitsMember(limits),
    ...privateKeysMember(agents.map(({ privateKeys }) => privateKeys)),
  }
}

/** Whether the next agent of the workflow may begin. Throws for a transfer: an agent of a workflow has no targets. */
export function isStepDone(
  control: Control,
  { step, workflow }: { readonly step: string; readonly workflow: string },
): control is Extract<Control, { type: 'done' }> {
  if (control.type === 'transfer') {
    const message = `Agent '${step}' transfers to '${control.to}', but it is a step of '${workflow}': it may not. Make it the lead or a member of a team in place of a step.`
    throw new MillraceError('INVALID_AGENT', message, { details: { from: step, to: control.to } })
  }
  return isDone(control)
}
