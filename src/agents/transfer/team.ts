import { MillraceError } from '../../core/errors.js'
import { isAbortError } from '../../core/abort.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control, RunContext, TransferTarget } from '../contract.js'
import { checkAgent, checkAgents, checkDescription, checkGiven } from '../check-agent.js'
import { checkNumber } from '../check-number.js'
import { privateKeysMember } from '../private-keys.js'
import { wrapAgent } from '../wrap-agent.js'
import { agentTree } from '../interrupts/checkpoint.js'
import { isDone } from '../run/control.js'
import { addressBelow } from '../run/address.js'
import { failureNote } from '../history/message-origin.js'
import { withTransferTool } from './transfer-tool.js'

/** An agent and the agents it may transfer to. */
export interface Team {
  /** The agent itself. The team has its name. */
  readonly lead: Agent
  readonly members: readonly Agent[]
  /** Whether members may transfer to each other, not only back. */
  readonly peers: boolean
  /** When a member is done: the team ends, or the lead runs again. */
  readonly afterMember: 'end' | 'lead'
  /** Whether a member that fails fails the team, or the lead gets a note. */
  readonly onMemberError: 'throw' | 'tell'
  /** How many transfers one run may have. */
  readonly maxTransfers: number
}

export interface TeamOptions {
  /** Any agent. It begins, and the team has its name. */
  readonly lead: Agent
  /** Agents that the lead may transfer to. They may transfer back. */
  readonly members: readonly Agent[]
  /** Whether members may also transfer to each other. Default: no. */
  readonly transferToPeers?: boolean
  /** How many transfers one run may have. Default 20. */
  readonly maxTransfers?: number
}

/**
 * An agent of any kind that leads others: what `subAgents` are for `defineAgent`. An agent written by hand transfers by
 * returning `{ type: 'transfer', to }` with one of `ctx.transferTargets`; the model of another runtime gets the tool
 * `transfer_in_team` among the client's tools. Throws INVALID_AGENT for members of one name, or without a description.
 *
 * @example
 * const desk = team({ lead: router, members: [billing, shipping] })
 */
export function team(options: TeamOptions): Agent {
  checkGiven('team', options, '{ lead, members }')
  const { lead, members, transferToPeers = false, maxTransfers = 20 } = options
  checkAgent(lead, 'The `lead` of `team`')
  checkAgents(members, { of: `Team '${lead.name}'`, option: 'members' })
  return teamAgent({
    ...{ lead: withTransferTool(lead), members: members.map(withTransferTool), peers: transferToPeers },
    ...{ afterMember: 'end', onMemberError: 'throw', maxTransfers },
  })
}

/** The running member, and how many have run so far. */
interface TeamFrame {
  readonly ordinal: number
  readonly current: string
}

/** Throws INVALID_AGENT when two agents have the same name, or one has no description. */
export function teamAgent(team: Team): Agent {
  const { lead, members } = team
  checkNumber('maxTransfers', team.maxTransfers, { min: 1, isInteger: true })
  const names = new Set([lead.name])
  for (const member of members) {
    const { name } = member
    if (names.has(name))
      throw new MillraceError(
        'INVALID_AGENT',
        `Agent '${lead.name}' has two agents named '${name}'. Rename one.`,
      )
    checkDescription(member, 'the lead chooses it by that')
    names.add(name)
  }
  const agents = Object.fromEntries(members.map((member) => [member.name, agentTree(member)]))
  const shape = { kind: 'team', name: lead.name, lead: agentTree(lead), agents }
  const privateKeys = privateKeysMember([lead, ...members].map((agent) => agent.privateKeys))
  const outline: Agent['outline'] = async (options) => {
    const own = (await lead.outline?.(options)) ?? { kind: 'custom' }
    const kind = team.afterMember === 'lead' ? 'supervisor' : own.kind
    return { ...own, kind, agents: [...(own.agents ?? []), ...members] }
  }
  return { ...wrapAgent(lead, (ctx) => runTeam(team, ctx)), shape, ...privateKeys, outline }
}

/** Runs one agent after the other, as they transfer, beginning with the lead. */
async function* runTeam(team: Team, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const frame = ctx.resume.takeFrame() as TeamFrame | undefined
  let { ordinal, current } = frame ?? { ordinal: 1, current: team.lead.name }
  ctx.resume.keepFrame((): TeamFrame => ({ ordinal, current }))
  for (;;) {
    const control = yield* runCurrent(team, ctx, { ordinal, current })
    const next = nextAgent(team, ctx, { control, current })
    if (next === undefined) return control
    if (ordinal > team.maxTransfers) throw tooManyTransfers(team)
    ordinal++
    current = next
    if (ctx.services.shouldStop('tools')) return { type: 'cancelled' }
  }
}

async function* runCurrent(
  team: Team,
  ctx: RunContext,
  { ordinal, current }: TeamFrame,
): AsyncGenerator<AgentEvent, Control> {
  const { lead } = team
  const segment = String(ordinal)
  if (current === lead.name) {
    const transferTargets = [...memberTargets(team, 'child'), ...ctx.transferTargets]
    return yield* ctx.delegate(lead, { segment, isSelf: true, transferTargets })
  }
  const member = memberNamed(team, current)
  const transferTargets = targetsOf(team, member)
  try {
    return yield* ctx.delegate(member, { segment, transferTargets })
  } catch (error) {
    if (team.onMemberError === 'throw' || isAbortError(error, ctx.signal)) throw error
    const address = addressBelow(ctx.span.address, {
      segment,
      name: member.name,
      isCall: false,
      isLane: false,
    })
    yield* failureNote(error, { runId: ctx.resume.originRunId, address }, ctx.services)
    return { type: 'done' }
  }
}

function memberTargets({ members }: Team, relation: TransferTarget['relation']): TransferTarget[] {
  return members.map(({ name, description }) => ({ name, description, relation }))
}

function targetsOf(team: Team, member: Agent): TransferTarget[] {
  const { name, description } = team.lead
  const peers = team.peers ? memberTargets(team, 'peer').filter((peer) => peer.name !== member.name) : []
  return [{ name, description, relation: 'parent' }, ...peers]
}

function memberNamed({ members, lead }: Team, name: string): Agent {
  const member = members.find((one) => one.name === name)
  if (member) return member
  throw new MillraceError('INVALID_CHECKPOINT', `Agent '${lead.name}' has no agent '${name}' any more.`)
}

interface EndedAgent {
  readonly control: Control
  readonly current: string
}

/** The agent that runs next. Undefined when the team is done, or an agent above it is next. */
function nextAgent(team: Team, ctx: RunContext, { control, current }: EndedAgent): string | undefined {
  const { lead, members, afterMember } = team
  const isLead = current === lead.name
  if (isDone(control)) return isLead || afterMember === 'end' ? undefined : lead.name
  if (control.type !== 'transfer') return undefined
  const { to } = control
  const known = isLead ? memberTargets(team, 'child') : targetsOf(team, memberNamed(team, current))
  if (known.some(({ name }) => name === to)) return to
  const above = isLead ? ctx.transferTargets : []
  if (above.some(({ name }) => name === to)) return undefined
  const may = [...known, ...above].map(({ name }) => name).join(', ') || 'nobody'
  const message = `Agent '${current}' transfers to '${to}', which is not one of those it may transfer to: ${may}.`
  throw new MillraceError('INVALID_AGENT', message, {
    details: { from: current, to, members: members.length },
  })
}

function tooManyTransfers({ lead, maxTransfers }: Team): MillraceError {
  const message = `The agents of '${lead.name}' handed over more than ${maxTransfers} times and did not finish.`
  return new MillraceError('MAX_ITERATIONS', message)
}

/** The name of an agent, several of which the first that is a transfer target here is taken, or a choice. */
export type TransferChoice =
  string | readonly string[] | ((result: unknown, ctx: RunContext) => string | undefined)

/**
 * An agent that transfers to another when it is done, whatever its model decides. A function chooses by the agent's
 * result; with undefined the agent is just done.
 *
 * @example
 * const router = transferAfter(classifier, (result) => (result === 'bill' ? 'billing' : undefined))
 */
export function transferAfter(agent: Agent, to: TransferChoice): Agent {
  return wrapAgent(agent, async function* (ctx) {
    const control = yield* agent.run(ctx)
    if (!isDone(control)) return control
    const target = chooseTarget(to, control.result, ctx)
    return target === undefined ? control : { type: 'transfer', to: target }
  })
}

function chooseTarget(to: TransferChoice, result: unknown, ctx: RunContext): string | undefined {
  if (typeof to === 'function') return to(result, ctx)
  if (typeof to === 'string') return to
  return to.find((name) => ctx.transferTargets.some((target) => target.name === name)) ?? to[0]
}
