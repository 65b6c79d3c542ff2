import { MillraceError } from '../../core/errors.js'
import type { Agent } from '../contract.js'
import { defineAgent, type AgentOptions } from '../chat/chat-agent.js'
import { teamAgent } from '../transfer/team.js'
import { extendInstructions } from '../middlewares/instructions.js'

export interface SupervisorOptions extends Omit<AgentOptions, 'subAgents' | 'transferToPeers'> {
  /** Any agents, other supervisors too. The supervisor chooses a worker by its description. */
  readonly workers: readonly Agent[]
  /** When a worker fails: the supervisor gets a note and continues (default), or fails. */
  readonly onWorkerError?: 'tell' | 'throw'
  /** The most transfers of one run, there and back counted. Default 20. */
  readonly maxTransfers?: number
}

const guidance = [
  'You lead other agents. Hand over to the one that fits, with one thing to do at a time, and say what you need from it.',
  'When it is done you have the turn again, with what it reported: hand over to the next, or answer the user yourself.',
].join(' ')

/**
 * An agent that leads others. It transfers to a worker, and continues when the worker is done, until it answers itself.
 * Workers cannot transfer, and read the conversation before them. A worker that exits ends the run. Throws
 * INVALID_AGENT for workers of one name, or without a description.
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
    lead: defineAgent({ ...options, instructions: extendInstructions(instructions, guidance) }),
    members: workers.map(toWorker),
    peers: false,
    afterMember: 'lead',
    onMemberError: onWorkerError,
    maxTransfers,
  })
}

/** A worker returns by being done. A tool to transfer back would only tempt its model to do so before it has answered. */
function toWorker(agent: Agent): Agent {
  return {
    ...agent,
    // Inherits from `ctx` instead of copying it: members such as `state` are live.
    run: (ctx) => agent.run(Object.create(ctx, { transferTargets: { value: [] } }) as typeof ctx),
  }
}
