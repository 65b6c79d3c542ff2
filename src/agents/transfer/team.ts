import { MillraceError } from '../../core/errors.js'
import { isAbortError } from '../../core/abort.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control, RunContext, TransferTarget } from '../contract.js'
import { checkNumber } from '../check-number.js'
import { agentTree } from '../interrupts/checkpoint.js'
import { isDone } from '../run/control.js'
import { addressBelow } from '../run/address.js'
import { failureNote } from '../history/origin.js'

/** An agent and those it may hand over to. */
export interface Team {
  /** The agent itself, without the others. Has the name of the team. */
  readonly lead: Agent
  readonly members: readonly Agent[]
  /** Whether members may hand over to each other, not only back. */
  readonly peers: boolean
  /** What follows when a member is done: the end, or the lead's next turn. */
  readonly afterMember: 'end' | 'lead'
  /** What a member that fails does: it fails the team, or the lead is told. */
  readonly onMemberError: 'throw' | 'tell'
  /** How often the conversation may be handed over in one run. */
  readonly maxTransfers: number
}

/** Where a team stands: whose turn it is, and the how manieth. */
interface TeamFrame {
  readonly turn: number
  readonly current: string
}

type Turn = AsyncGenerator<AgentEvent, Control>

/** Throws INVALID_AGENT when the agents cannot be told apart, or cannot be chosen between. */
export function teamAgent(team: Team): Agent {
  const { lead, members } = team
  checkNumber('maxTransfers', team.maxTransfers, { min: 1, isInteger: true })
  const names = new Set([lead.name])
  for (const { name, description } of members) {
    if (names.has(name))
      throw new MillraceError(
        'INVALID_AGENT',
        `Agent '${lead.name}' has two agents named '${name}'. Rename one.`,
      )
    if (description.trim() === '')
      throw new MillraceError('INVALID_AGENT', `Agent '${name}' needs a description: it is chosen by it.`)
    names.add(name)
  }
  const agents = Object.fromEntries(members.map((member) => [member.name, agentTree(member)]))
  return {
    ...lead,
    shape: { kind: 'team', name: lead.name, lead: agentTree(lead), agents },
    run: (ctx) => runTeam(team, ctx),
  }
}

/** Lets one agent after the other have its turn, as they hand over to each other, beginning with the lead. */
async function* runTeam(team: Team, ctx: RunContext): Turn {
  const frame = ctx.resume.takeFrame() as TeamFrame | undefined
  let { turn, current } = frame ?? { turn: 1, current: team.lead.name }
  ctx.resume.keepFrame((): TeamFrame => ({ turn, current }))
  for (;;) {
    const control = yield* takeTurn(team, ctx, { turn, current })
    const next = nextOf(team, ctx, { control, current })
    if (next === undefined) return control
    if (turn > team.maxTransfers) throw tooManyTransfers(team)
    turn++
    current = next
    if (ctx.services.shouldStop('tools')) return { type: 'cancelled' }
  }
}

async function* takeTurn(team: Team, ctx: RunContext, { turn, current }: TeamFrame): Turn {
  const { lead } = team
  const segment = String(turn)
  if (current === lead.name) {
    const transferTargets = [...membersOf(team, 'child'), ...ctx.transferTargets]
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

function membersOf({ members }: Team, relation: TransferTarget['relation']): TransferTarget[] {
  return members.map(({ name, description }) => ({ name, description, relation }))
}

function targetsOf(team: Team, member: Agent): TransferTarget[] {
  const { name, description } = team.lead
  const peers = team.peers ? membersOf(team, 'peer').filter((peer) => peer.name !== member.name) : []
  return [{ name, description, relation: 'parent' }, ...peers]
}

function memberNamed({ members, lead }: Team, name: string): Agent {
  const member = members.find((one) => one.name === name)
  if (member) return member
  throw new MillraceError('INVALID_CHECKPOINT', `Agent '${lead.name}' has no agent '${name}' any more.`)
}

interface Handover {
  readonly control: Control
  readonly current: string
}

/** Whose turn is next. Undefined when the team is through, or somebody above it is next. */
function nextOf(team: Team, ctx: RunContext, { control, current }: Handover): string | undefined {
  const { lead, members, afterMember } = team
  const isLead = current === lead.name
  if (isDone(control)) return isLead || afterMember === 'end' ? undefined : lead.name
  if (control.type !== 'transfer') return undefined
  const { to } = control
  const known = isLead ? membersOf(team, 'child') : targetsOf(team, memberNamed(team, current))
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

/** An agent that hands over to another when it is done, whatever its model thinks. */
export function transferAfter(agent: Agent, to: string): Agent {
  return {
    ...agent,
    async *run(ctx) {
      const control = yield* agent.run(ctx)
      return isDone(control) ? { type: 'transfer', to } : control
    },
  }
}
