import { checkAgent, checkAgents, checkGiven, invalidAgent } from '../check-agent.js'
import type { Agent } from '../contract.js'
import { defineAgent, type AgentOptions } from '../chat/chat-agent.js'
import { teamAgent } from '../transfer/team.js'
import { withTransferTool } from '../transfer/transfer-tool.js'
import { wrapAgent } from '../wrap-agent.js'
import { extendInstructions } from '../middlewares/instructions.js'

interface SupervisorBasics {
  /** Any agents, other supervisors too. The supervisor chooses a worker by its description. */
  readonly workers: readonly Agent[]
  /** When a worker fails: the supervisor gets a note and continues (default), or fails. */
  readonly onWorkerError?: 'tell' | 'throw'
  /** The most transfers of one run, there and back counted. Default 20. */
  readonly maxTransfers?: number
}

/** A supervisor with a model. */
export interface SupervisorOptions
  extends SupervisorBasics, Omit<AgentOptions, 'subAgents' | 'transferToPeers' | 'maxTransfers'> {
  readonly lead?: undefined
}

/** A supervisor that is an agent of any kind. It transfers as the lead of a `team` does. */
export interface LeadSupervisorOptions extends SupervisorBasics {
  readonly lead: Agent
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
 * const desk = supervisor({ lead: fromAdk(agent), workers: [researcher, mathematician] })
 */
export function supervisor(options: SupervisorOptions | LeadSupervisorOptions): Agent {
  checkGiven('supervisor', options, '{ name, model, workers }')
  const { workers, onWorkerError = 'tell', maxTransfers = 20 } = options
  const lead = toLead(options)
  checkAgents(workers, { of: `Supervisor '${lead.name}'`, option: 'workers' })
  return teamAgent({
    lead,
    members: workers.map(toWorker),
    peers: false,
    afterMember: 'lead',
    onMemberError: onWorkerError,
    maxTransfers,
  })
}

function toLead(options: SupervisorOptions | LeadSupervisorOptions): Agent {
  // It may come from code without types.
  const given: unknown = options.lead
  if (given !== undefined && given !== null) {
    checkAgent(given, 'The `lead` of `supervisor`')
    return withTransferTool(given)
  }
  if (!('name' in options))
    throw invalidAgent('`supervisor` needs a `lead`, an agent, or the `name` and `model` of a new one.')
  const { workers: _workers, onWorkerError: _tell, maxTransfers: _most, lead: _none, ...rest } = options
  return defineAgent({ ...rest, instructions: extendInstructions(rest.instructions, guidance) })
}

/** A worker returns by being done. A tool to transfer back would only tempt its model to do so before it has answered. */
function toWorker(agent: Agent): Agent {
  // Inherits from `ctx` instead of copying it: members such as `state` are live.
  return wrapAgent(agent, (ctx) =>
    agent.run(Object.create(ctx, { transferTargets: { value: [] } }) as typeof ctx),
  )
}
