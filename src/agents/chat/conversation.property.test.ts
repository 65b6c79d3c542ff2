import fc from 'fast-check'
import type { Message, ResumeEntry } from '@ag-ui/core'
import { expect, test } from 'vitest'
import { conversation, type CallPlan, type Talk } from '../../../test/support/arbitrary-conversation.js'
import { createClient, interruptsOf, ofType, toResume, type Played } from '../../../test/support/run-agent.js'
import { scriptedModel, type ModelRequest, type ScriptPiece } from '../../models/index.js'
import { agentTool } from '../tools/agent-tool.js'
import type { Agent, Answer, Tool, ToolContext } from '../contract.js'
import { defineTool } from '../tools/define-tool.js'
import { defineAgent } from './chat-agent.js'
import { isRejected } from '../../protocol/index.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

/** The plan of each call by its id: `0.1` is the second call of the first turn, `0.1/0.0` one of the agent inside. */
function plansOf(talk: Talk, above = ''): [string, CallPlan][] {
  return talk.flatMap(({ calls }, turn) =>
    calls.flatMap((call, index): [string, CallPlan][] => {
      const id = `${above}${turn}.${index}`
      return [[id, call], ...(call.kind === 'agent' ? plansOf(call.talk, `${id}/`) : [])]
    }),
  )
}

function piecesOf(talk: Talk, turn: number, above: string): ScriptPiece[] {
  const plan = talk[turn]
  if (!plan) return [`Goodbye ${above}`]
  const calls = plan.calls.map(({ kind }, index) => {
    const id = `${above}${turn}.${index}`
    return { toolCall: { id, name: kind, args: kind === 'agent' ? { request: `${id}/` } : {} } }
  })
  return [{ reasoning: plan.reasoning }, plan.text, ...calls].filter(
    (piece) => piece !== '' && !(typeof piece === 'object' && 'reasoning' in piece && piece.reasoning === ''),
  )
}

const turnOf = ({ messages }: ModelRequest): number =>
  messages.filter(({ role }) => role === 'assistant').length

interface World {
  readonly agent: Agent
  /** How often each call came to its end. */
  readonly done: Map<string, number>
  /** What the model of the agent was shown last. */
  readonly shown: () => readonly Message[]
}

interface WorldOptions {
  /** Whether tools ask, or know the answers. */
  readonly isAsking: boolean
  /** Whether the next call of the model breaks off in the midst of it. */
  readonly breaks: () => boolean
}

/** An agent that holds the planned conversation. */
function worldOf(talk: Talk, { isAsking, breaks }: WorldOptions): World {
  const plans = new Map(plansOf(talk))
  const done = new Map<string, number>()

  async function work(ctx: ToolContext): Promise<unknown> {
    const plan = plans.get(ctx.toolCallId)
    for (let turn = 0; turn < (plan?.turns ?? 0); turn++) await Promise.resolve()
    const value = plan?.kind === 'asking' ? await raiseInterrupts(plan, ctx) : `did ${ctx.toolCallId}`
    done.set(ctx.toolCallId, (done.get(ctx.toolCallId) ?? 0) + 1)
    if (plan?.kind === 'broken') throw new Error(`broken ${ctx.toolCallId}`)
    return value
  }

  async function raiseInterrupts(plan: CallPlan & { kind: 'asking' }, ctx: ToolContext): Promise<Answer[]> {
    const one = (_status: unknown, index: number): Promise<Answer> =>
      isAsking
        ? ctx.interrupt({ message: `${ctx.toolCallId}?${index}` })
        : Promise.resolve(answerTo(plans, `${ctx.toolCallId}?${index}`))
    if (plan.atOnce) return Promise.all(plan.questions.map(one))
    const answers: Answer[] = []
    for (const [index, status] of plan.questions.entries()) answers.push(await one(status, index))
    return answers
  }

  const tools: Tool[] = (['plain', 'broken', 'asking'] as const).map((name) =>
    defineTool({ name, description: 'A tool.', execute: (_args, ctx) => work(ctx) }),
  )
  tools.push(
    defineTool({
      name: 'progress',
      description: 'A tool.',
      async *execute(_args, ctx) {
        const plan = plans.get(ctx.toolCallId)
        for (let step = 0; plan?.kind === 'progress' && step < plan.steps; step++) yield { step }
        return await work(ctx)
      },
    }),
  )
  const requests: ModelRequest[] = []
  const inside = defineAgent({
    name: 'agent',
    description: 'An agent.',
    model: scriptedModel((request) => {
      const [asked] = request.messages
      const above = asked?.role === 'user' && typeof asked.content === 'string' ? asked.content : ''
      const plan = plans.get(above.slice(0, -1))
      return piecesOf(plan?.kind === 'agent' ? plan.talk : [], turnOf(request), above)
    }),
    tools: [...tools, { tools: () => Promise.resolve([agentTool(inside)]) }],
  })
  const agent = defineAgent({
    name: 'root',
    model: scriptedModel((request) => {
      if (breaks())
        return [
          'Half a',
          { toolCall: { id: crypto.randomUUID(), name: 'plain' } },
          { error: { status: 400 } },
        ]
      requests.push(request)
      return piecesOf(talk, turnOf(request), '')
    }),
    tools: [...tools, agentTool(inside)],
  })
  return { agent, done, shown: () => requests.at(-1)?.messages ?? [] }
}

/** What a person says to a question: `0.1?2` is the third of call `0.1`. */
function answerTo(plans: ReadonlyMap<string, CallPlan>, question: string): Answer {
  const [id = '', index] = question.split('?')
  const plan = plans.get(id)
  const status = plan?.kind === 'asking' ? plan.questions[Number(index)] : undefined
  return status === 'cancelled' ? { status } : { status: 'resolved', payload: `answer to ${question}` }
}

type Choose = (below: number) => number

/** Has the whole conversation, as a client: answers some of the open questions each time, in any order, or again. */
async function converse(talk: Talk, world: World, choose: Choose): Promise<Played[]> {
  const plans = new Map(plansOf(talk))
  const client = createClient(world.agent, [{ name: 'client', description: "The client's." }])
  const played: Played[] = []
  let next = client.say('Hello.')
  let resume: ResumeEntry[] = []
  for (;;) {
    const last = await next
    played.push(last)
    const { outcome } = last
    if (outcome.type === 'failed') {
      expect(outcome.error).toMatchObject({ code: 'MODEL_ERROR' })
      next = client.send(outcome.checkpoint ? { resume } : {})
      continue
    }
    const answered = new Set(client.messages.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : [])))
    const pending = client.messages
      .flatMap((one) => (one.role === 'assistant' ? (one.toolCalls ?? []) : []))
      .filter(({ id, function: { name } }) => name === 'client' && !answered.has(id))
    const results = pending.map(({ id }): Message => ({
      id: crypto.randomUUID(),
      role: 'tool',
      toolCallId: id,
      content: `client did ${id}`,
    }))
    if (outcome.type === 'interrupted') {
      const messages = [...client.messages, ...(choose(2) === 0 ? results : [])]
      resume = toResume(someAnswers(last, plans, choose))
      next = client.send({ messages, resume })
    } else if (results.length > 0) {
      if (outcome.type === 'completed')
        expect(outcome.pendingToolCalls.map(({ id }) => id)).toEqual(pending.map(({ id }) => id))
      next = client.send({ messages: [...client.messages, ...results] })
    } else return played
  }
}

function someAnswers(
  played: Played,
  plans: ReadonlyMap<string, CallPlan>,
  choose: Choose,
): Record<string, unknown> {
  const open = [...interruptsOf(played)]
  const answers: Record<string, unknown> = {}
  for (let count = 1 + choose(open.length); count > 0; count--) {
    const [one] = open.splice(choose(open.length), 1)
    const answer = answerTo(plans, one?.message ?? '')
    answers[one?.id ?? ''] = answer.status === 'cancelled' ? 'cancelled' : answer.payload
  }
  return answers
}

type Lists = Record<string, Omit<Message, 'id'>[]>

/** Messages by who said them, without what differs from run to run: ids, and the order of neighbouring results. */
function essence(messages: readonly Message[], owners: ReadonlyMap<string, string> = new Map()): Lists {
  const lists: Lists = {}
  for (const { id: _id, subagentRunId, ...message } of messages) {
    if (message.role === 'activity' || isRejected(message)) continue
    const list = (lists[owners.get(subagentRunId ?? '') ?? ''] ??= [])
    const behind = list.findLastIndex((one) => orderOf(one) <= orderOf(message)) + 1
    list.splice(message.role === 'tool' ? behind : list.length, 0, message)
  }
  return lists
}

/** Results by the call they answer; all else stays where it is. */
function orderOf(message: Omit<Message, 'id'>): string {
  return 'toolCallId' in message ? String(message.toolCallId) : ''
}

/** The call that each subagent answers. */
function ownersIn(played: readonly Played[]): Map<string, string> {
  const started = played.flatMap(({ events }) => ofType(events, 'SUBAGENT_STARTED'))
  return new Map(started.map((one) => [one.subagentRunId, String(one.parentToolCallId)]))
}

test('a conversation comes to the same end whatever is answered when and breaks in between, and nothing is done twice', async () => {
  await fc.assert(
    fc.asyncProperty(conversation, fc.infiniteStream(fc.nat()), async (talk, dice) => {
      const choose: Choose = (below) => Number(dice.next().value) % below
      const smooth = worldOf(talk, { isAsking: false, breaks: () => false })
      const expected = await converse(talk, smooth, choose)
      const bumpy = worldOf(talk, { isAsking: true, breaks: () => choose(4) === 0 })
      const played = await converse(talk, bumpy, choose)

      const own = plansOf(talk).filter(([, { kind }]) => kind !== 'client' && kind !== 'agent')
      expect(bumpy.done).toEqual(new Map(own.map(([id]) => [id, 1])))
      expect(played.at(-1)?.outcome.type).toBe('completed')
      const end = (all: readonly Played[]) => essence(all.at(-1)?.outcome.messages ?? [], ownersIn(all))
      expect(end(played)).toEqual(end(expected))
      expect(essence(bumpy.shown())).toEqual(essence(smooth.shown()))
    }),
    { numRuns: propertyRuns(150) },
  )
}, 120_000)
