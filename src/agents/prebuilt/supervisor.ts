import { MillraceError } from '../../core/errors.js'
import type { Agent } from '../contract.js'
import { defineAgent, type AgentOptions } from '../chat/chat-agent.js'
import { teamAgent } from '../transfer/team.js'
import { moreInstructions } from './more-instructions.js'

export interface SupervisorOptions extends Omit<AgentOptions, 'subAgents' | 'transferToPeers'> {
  /** Those it leads: any agents, other supervisors too. Each needs a description, by which it is chosen. */
  readonly workers: readonly Agent[]
  /** What a worker that fails does: the supervisor is told and goes on (default), or all of it fails. */
  readonly onWorkerError?: 'tell' | 'throw'
  /** How often the turn may pass from one agent to another in one run, there and back counted. Default 20. */
  readonly maxTransfers?: number
}

const guidance = [
  'You lead other agents. Hand over to the one that fits, with one thing to do at a time, and say what you need from it.',
  'When it is done you have the turn again, with what it reported: hand over to the next, or answer the user yourself.',
].join(' ')

/**
 * An agent that leads others. It hands over to one of them; when that one is done, it has the turn again, until it answers
 * itself. Workers know nobody but the supervisor, and hear what was said before them. One that exits ends all of it. Throws
 * INVALID_AGENT when the workers cannot be told apart or chosen between.
 *
 * @example
 * const team = supervisor({ name: 'team', model, workers: [researcher, mathematician] })
 */
export function supervisor({
  workers,
  onWorkerError = 'tell',
  maxTransfers = 20,
  ...options
}: SupervisorOptions): Agent {
  const { name, instructions } = options
  if (workers.length === 0) throw new MillraceError('INVALID_AGENT', `Supervisor '${name}' has no workers.`)
  return teamAgent({
    lead: defineAgent({ ...options, instructions: moreInstructions(instructions, guidance) }),
    members: workers.map(toWorker),
    peers: false,
    afterMember: 'lead',
    onMemberError: onWorkerError,
    maxTransfers,
  })
}

/** Reports back by being done: a tool to hand back with would only tempt its model to do so before it has answered. */
function toWorker(agent: Agent): Agent {
  return {
    ...agent,
    // Inherited, not copied: members such as `state` are live.
    run: (ctx) => agent.run(Object.create(ctx, { transferTargets: { value: [] } }) as typeof ctx),
  }
}
