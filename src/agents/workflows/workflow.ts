import { MillraceError } from '../../core/errors.js'
import type { Agent, AgentLimits, Control, RunContext } from '../contract.js'
import { checkAgents, checkGiven, checkName } from '../check-agent.js'
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
  kind: 'sequential' | 'loop' | 'parallel',
  options: WorkflowOptions,
  run: (agents: readonly Agent[], ctx: RunContext) => ReturnType<Agent['run']>,
): Agent {
  checkGiven(kind, options, '{ name, agents }')
  const { name, description = '', examples, limits } = options
  checkName(name, 'A workflow')
  checkAgents(options.agents, { of: `Workflow '${name}'`, option: 'agents' })
  const agents = [...options.agents]
  return {
    name,
    description,
    // By index, since frames name agents by index.
    shape: {
      kind,
      name,
      agents: Object.fromEntries(agents.map((agent, index) => [index, agentTree(agent)])),
    },
    run: (ctx) => run(agents, ctx),
    outline: () => ({ kind: kind === 'sequential' ? 'sequence' : kind, agents }),
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
