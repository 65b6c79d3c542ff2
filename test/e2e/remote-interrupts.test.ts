import type { RunAgentInput } from '@ag-ui/client'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agentTool, defineAgent, defineTool, type Agent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { fromAgUi } from '../../src/remote/index.js'
import { createClient, idOf, interruptsOf, ofType, play, toResume } from '../support/run-agent.js'
import { clientVersions, linesOf, serveAgents } from '../support/serve-agents.js'
import { handWritten, ScriptedAgUi, servedRemote, text, whole } from './support-remote.js'

const answerSchema = z.object({ approved: z.boolean() })

function payer() {
  const paid: number[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ amount: z.number() }),
    async execute({ amount }, ctx) {
      const answer = await ctx.interrupt({ message: `Pay ${amount}?`, responseSchema: answerSchema })
      if (answer.status !== 'resolved' || !answer.payload.approved) return 'refused'
      paid.push(amount)
      return 'paid'
    },
  })
  return { paid, pay }
}

const call = (amount: number) => ({ toolCall: { name: 'pay', args: { amount } } })

/** Through text, as from a disk. */
const fromDisk = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe.each(clientVersions)('interrupts from behind the HttpAgent $version', ({ Client }) => {
  async function remotePayer(amounts: readonly number[], store: 'memory' | 'sqlite' = 'memory') {
    const { paid, pay } = payer()
    const model = scriptedModel([['A moment.', ...amounts.map(call)], 'Done.'])
    const agents = [defineAgent({ name: 'payer', model, tools: [pay] })] as const
    return { paid, model, remote: await servedRemote({ agents, store }, Client) }
  }

  it('are asked here, and answered there', async () => {
    const { paid, remote } = await remotePayer([120])
    const client = createClient(remote.agent())
    const asked = await client.say('Pay.')
    const [interrupt] = interruptsOf(asked)
    expect(interrupt).toMatchObject({ message: 'Pay 120?', reason: 'tool_call', toolCallId: 'call-1' })
    expect(interrupt?.responseSchema).toMatchObject({ required: ['approved'] })
    const sent = ofType(remote.streams[0]?.events ?? [], 'RUN_FINISHED')[0]?.outcome
    const theirs = sent?.type === 'interrupt' ? sent.interrupts[0]?.id : undefined
    expect(interrupt?.id).not.toBe(theirs)

    const misfit = await client.answer({ [interrupt?.id ?? '']: { approved: 'perhaps' } })
    expect(misfit.outcome).toMatchObject({ type: 'failed', error: { code: 'INVALID_RESUME' } })
    expect(remote.streams).toHaveLength(1)

    const { outcome } = await client.answer({ [interrupt?.id ?? '']: { approved: true } })
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(remote.streams[1]?.input.resume).toEqual([
      { interruptId: theirs, status: 'resolved', payload: { approved: true } },
    ])
    expect(paid).toEqual([120])
    expect(linesOf(client.messages)).toEqual([
      'user: Pay.',
      'assistant: A moment. pay({"amount":120})',
      'tool: paid',
      'assistant: Done.',
    ])
  })

  it('survive a restart of both sides', async () => {
    const { paid, remote } = await remotePayer([120], 'sqlite')
    const asked = await play(remote.agent(), {
      threadId: 't1',
      messages: [{ id: 'u', role: 'user', content: 'Pay.' }],
    })
    if (asked.outcome.type !== 'interrupted') throw new Error(asked.outcome.type)
    const checkpoint = fromDisk(asked.outcome.checkpoint)
    const next = await remote.served.restart()
    const resume = toResume({ [idOf(asked)]: { approved: true } })
    const { outcome } = await play(remote.agent({}, next.url), { resume }, { checkpoint })
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(paid).toEqual([120])
  })

  it('wait until all are answered, and may be left unanswered', async () => {
    const { paid, remote } = await remotePayer([1, 2])
    const client = createClient(remote.agent())
    const asked = await client.say('Pay both.')
    const ids = interruptsOf(asked).map(({ id }) => id)
    const [first = '', second = ''] = ids
    const still = await client.answer({ [first]: { approved: true } })
    expect(interruptsOf(still).map(({ id }) => id)).toEqual([second])
    expect(remote.streams).toHaveLength(1)
    const { outcome } = await client.answer({ [second]: 'cancelled' })
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(paid).toEqual([1])
    expect(remote.streams[1]?.input.resume).toMatchObject([{ status: 'resolved' }, { status: 'cancelled' }])
  })

  it('go through two servers, with clients of both generations in front', async () => {
    for (const { Client: Front } of clientVersions) {
      const { paid, remote } = await remotePayer([120])
      const front = await serveAgents({ agents: [remote.agent()] })
      const talk = front.talk({ Client: Front })
      await talk.say('Pay.')
      const [interrupt] = talk.client.pendingInterrupts
      const interruptId = interrupt?.id ?? ''
      await talk.send({ resume: [{ interruptId, status: 'resolved', payload: { approved: true } }] })
      expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: Done.')
      expect(paid).toEqual([120])
    }
  })

  it('of a child pass through an agent written by hand', async () => {
    const { paid, remote } = await remotePayer([120])
    const rootOf = (agent: Agent) =>
      handWritten('root', async function* (ctx) {
        const control = yield* ctx.delegate(agent, { segment: '0' })
        if (control.type !== 'done') return control
        const messageId = ctx.services.newId('message')
        yield { type: 'TEXT_MESSAGE_CHUNK', messageId, delta: 'It was paid.' }
        return { type: 'done' }
      })
    const client = createClient(rootOf(remote.agent()))
    const asked = await client.say('Pay.')
    const [interrupt] = interruptsOf(asked)
    const [span] = ofType(asked.events, 'SUBAGENT_STARTED')
    expect(interrupt?.subagentRunId).toBe(span?.subagentRunId)
    expect(ofType(asked.events, 'SUBAGENT_FINISHED')[0]?.outcome).toEqual({
      type: 'suspended',
      interruptIds: [interrupt?.id],
    })
    const { outcome, events } = await client.answer({ [interrupt?.id ?? '']: { approved: true } })
    expect(outcome).toMatchObject({ type: 'completed', text: 'It was paid.' })
    expect(ofType(events, 'SUBAGENT_STARTED')[0]?.subagentRunId).toBe(span?.subagentRunId)
    expect(paid).toEqual([120])
  })

  it('of a tool of a model pass through too', async () => {
    const { paid, remote } = await remotePayer([120])
    const toolCall = { name: 'remote', args: { request: 'Pay the bill.' } }
    const model = scriptedModel([[{ toolCall }], 'The bill is paid.'])
    const boss = defineAgent({ name: 'boss', model, tools: [agentTool(remote.agent())] })
    const client = createClient(boss)
    const asked = await client.say('The bill!')
    const { outcome } = await client.answer({ [idOf(asked, 'Pay 120?')]: { approved: true } })
    expect(outcome).toMatchObject({ type: 'completed', text: 'The bill is paid.' })
    expect(linesOf(model.requests[1]?.messages ?? []).at(-1)).toBe('tool: Done.')
    expect(paid).toEqual([120])
  })
})

describe('an agent that interrupts its run', () => {
  const asks = (...ids: readonly string[]) => [
    { type: 'RUN_STARTED' },
    {
      type: 'RUN_FINISHED',
      outcome: { type: 'interrupt', interrupts: ids.map((id) => ({ id, reason: 'input_required' })) },
    },
  ]

  it('may use an id again for its next interrupt', async () => {
    const remote = new ScriptedAgUi((_, index) => (index < 2 ? asks('q') : whole(...text('m1', 'Enough.'))))
    const client = createClient(fromAgUi(remote, { name: 'remote' }))
    const first = idOf(await client.say('Go.'))
    const second = idOf(await client.answer({ [first]: 'one' }))
    expect(second).not.toBe(first)
    const { outcome } = await client.answer({ [second]: 'two' })
    expect(outcome).toMatchObject({ type: 'completed', text: 'Enough.' })
    expect(remote.inputs.map(({ resume }) => resume?.[0]?.payload as unknown)).toEqual([
      undefined,
      'one',
      'two',
    ])
  })

  it('may do so in two places, with the same ids', async () => {
    const answers: string[] = []
    const remote = new ScriptedAgUi(({ resume, threadId }: RunAgentInput) => {
      const payload = resume?.[0]?.payload as string | undefined
      if (payload === undefined) return asks('q')
      answers.push(`${threadId} ${payload}`)
      return whole(...text('m1', payload))
    })
    const agent = fromAgUi(remote, { name: 'remote' })
    const root = handWritten('root', async function* (ctx) {
      const left = yield* ctx.delegate(agent, { segment: 'left' })
      const right = yield* ctx.delegate(agent, { segment: 'right' })
      const interrupted = [left, right].filter((control) => control.type === 'interrupted')
      if (interrupted.length === 0) return { type: 'done' }
      return {
        type: 'interrupted',
        openInterrupts: interrupted.flatMap(({ openInterrupts }) => openInterrupts),
        frames: Object.assign({}, ...interrupted.map(({ frames }) => frames)) as Record<string, unknown>,
      }
    })
    const client = createClient(root)
    const asked = await client.say('Go.')
    const [left = '', right = ''] = interruptsOf(asked).map(({ id }) => id)
    expect(left).not.toBe(right)
    const [leftThread, rightThread] = remote.inputs.map(({ threadId }) => threadId)
    expect(leftThread).not.toBe(rightThread)
    const { events } = await client.answer({ [left]: 'L', [right]: 'R' })
    expect(answers).toEqual([`${leftThread ?? ''} L`, `${rightThread ?? ''} R`])
    // The texts have one id over there, and two here.
    const ids = ofType(events, 'TEXT_MESSAGE_START').map(({ messageId }) => messageId)
    expect(new Set(ids).size).toBe(2)
  })

  it('may do so in a span of its own', async () => {
    const remote = new ScriptedAgUi((_, index) =>
      index > 0
        ? whole(...text('m1', 'Thanks.'))
        : [
            { type: 'RUN_STARTED' },
            { type: 'SUBAGENT_STARTED', subagentRunId: 'sa', name: 'clerk' },
            ...text('m0', 'May I?', { subagentRunId: 'sa' }),
            {
              type: 'SUBAGENT_FINISHED',
              subagentRunId: 'sa',
              outcome: { type: 'suspended', interruptIds: ['q'] },
            },
            {
              type: 'RUN_FINISHED',
              outcome: {
                type: 'interrupt',
                interrupts: [{ id: 'q', reason: 'confirmation', subagentRunId: 'sa' }],
              },
            },
          ],
    )
    const agent = fromAgUi(remote, { name: 'remote' })
    const root = handWritten('root', (ctx) => ctx.delegate(agent, { segment: '0' }))
    for (const top of [agent, root]) {
      remote.inputs.length = 0
      const client = createClient(top)
      const asked = await client.say('Go.')
      const [interrupt] = interruptsOf(asked)
      const span = ofType(asked.events, 'SUBAGENT_STARTED').at(-1)
      expect(span?.name).toBe('clerk')
      expect(interrupt?.subagentRunId).toBe(span?.subagentRunId)
      expect(ofType(asked.events, 'SUBAGENT_FINISHED').map(({ outcome }) => outcome)).toEqual(
        ofType(asked.events, 'SUBAGENT_STARTED').map(() => ({
          type: 'suspended',
          interruptIds: [interrupt?.id],
        })),
      )
      const { outcome } = await client.answer({ [interrupt?.id ?? '']: true })
      expect(outcome).toMatchObject({ type: 'completed', text: 'Thanks.' })
    }
  })

  it('is asked again with the same answer when it could not be reached', async () => {
    const remote = new ScriptedAgUi((_, index) => {
      if (index === 1) throw new Error('not now')
      return index === 0 ? asks('q') : whole(...text('m1', 'Thanks.'))
    })
    const client = createClient(fromAgUi(remote, { name: 'remote' }))
    const id = idOf(await client.say('Go.'))
    expect((await client.answer({ [id]: 'yes' })).outcome.type).toBe('failed')
    expect((await client.answer({ [id]: 'yes' })).outcome).toMatchObject({
      type: 'completed',
      text: 'Thanks.',
    })
  })
})
