import { AbstractAgent, EventType, type RunAgentInput } from '@ag-ui/client'
import { AbstractAgent as OldAbstractAgent } from 'ag-ui-client-0.0.59'
import { tap } from 'rxjs'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { contentResult, defineAgent, defineTool, type Agent, type Checkpoint } from '../../src/index.js'
import { scriptedModel, type Script } from '../../src/models/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { fromAgUi, toAgUi, type ToAgUiOptions } from '../../src/remote/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { aborted, createClient, deferred, ofType } from '../support/run-agent.js'
import { linesOf } from '../support/serve-agents.js'

type OldInput = Parameters<OldAbstractAgent['run']>[0]

/** An agent of the older client in front of ours, as its users would write it. */
class OldFront extends OldAbstractAgent {
  readonly inner: AbstractAgent

  constructor(inner: AbstractAgent) {
    super({ threadId: 'thread-1' })
    this.inner = inner
  }

  override run(input: OldInput): ReturnType<OldAbstractAgent['run']> {
    const events: unknown = this.inner.run(input as RunAgentInput)
    return events as ReturnType<OldAbstractAgent['run']>
  }

  override abortRun(): void {
    this.inner.abortRun()
  }
}

const fronts = [
  { version: '1.0', front: (agent: AbstractAgent): AbstractAgent => agent },
  // The older has the same members, typed more loosely.
  { version: '0.0.59', front: (agent: AbstractAgent) => new OldFront(agent) as unknown as AbstractAgent },
]

const recorded: { readonly input: unknown; readonly events: readonly AgUiEvent[] }[] = []

afterEach(() => {
  for (const { input, events } of recorded.splice(0)) assertValidStream(events, { input })
})

/** What the agent emits, below whatever the client makes of it. Linted when the test is over. */
function watched(agent: Agent, options: ToAgUiOptions = {}) {
  const shown = toAgUi(agent, { threadId: 'thread-1', ...options })
  const streams: AgUiEvent[][] = []
  const run = shown.run.bind(shown)
  shown.run = (given) => {
    const { protocolVersion, ...rest } = given
    const isOld = protocolVersion === undefined || options.clients === '0.0.59'
    const events: AgUiEvent[] = []
    streams.push(events)
    recorded.push({ input: isOld ? rest : given, events })
    return run(given).pipe(tap((event) => void events.push(event as AgUiEvent)))
  }
  return { shown, streams }
}

const tools = [{ name: 'colour', description: 'Colours.', parameters: { type: 'object' } }]
const user = (content: string) => ({ id: crypto.randomUUID(), role: 'user' as const, content })

function payer(script: Script) {
  const paid: number[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ amount: z.number() }),
    async execute({ amount }, ctx) {
      const answer = await ctx.interrupt({ message: `Pay ${amount}?` })
      if (answer.status === 'resolved') paid.push(amount)
      return answer.status === 'resolved' ? 'paid' : 'refused'
    },
  })
  const model = scriptedModel(script)
  return { paid, model, agent: defineAgent({ name: 'payer', model, tools: [pay] }) }
}

const payment = { toolCall: { name: 'pay', args: { amount: 7 } } }

describe.each(fronts)('runAgent of $version', ({ version, front }) => {
  it('talks, and goes on talking', async () => {
    const model = scriptedModel(['Hello.', 'Still here.'])
    const { shown, streams } = watched(defineAgent({ name: 'guide', model }))
    const client = front(shown)
    const texts: string[] = []
    client.subscribe({ onTextMessageEndEvent: ({ textMessageBuffer }) => void texts.push(textMessageBuffer) })
    for (const content of ['Hi.', 'And now?']) {
      client.addMessage(user(content))
      await client.runAgent()
    }
    expect(texts).toEqual(['Hello.', 'Still here.'])
    const lines = ['user: Hi.', 'assistant: Hello.', 'user: And now?', 'assistant: Still here.']
    expect(linesOf(client.messages)).toEqual(lines)
    expect(linesOf(model.requests[1]?.messages ?? [])).toEqual(lines.slice(0, 3))
    expect(streams).toHaveLength(2)
  })

  it('gives the calls of its tools to the client', async () => {
    const model = scriptedModel([[{ toolCall: { name: 'colour', args: {} } }], 'Coloured.'])
    const { shown, streams } = watched(defineAgent({ name: 'painter', model }))
    const client = front(shown)
    client.addMessage(user('Colour it.'))
    await client.runAgent({ tools })
    // Clients before 1.0 take an outcome for the end, and would not send the result.
    const outcome = version === '1.0' ? { type: 'success', pendingToolCallIds: ['call-1'] } : undefined
    expect(ofType(streams[0] ?? [], 'RUN_FINISHED')[0]?.outcome).toEqual(outcome)
    client.addMessage({ id: 't1', role: 'tool', toolCallId: 'call-1', content: 'done' })
    await client.runAgent({ tools })
    expect(linesOf(client.messages).at(-1)).toBe('assistant: Coloured.')
  })

  it('asks, and goes on with the answer', async () => {
    const { agent, paid } = payer([[payment], 'Paid.'])
    const client = front(watched(agent).shown)
    client.addMessage(user('Pay.'))
    await client.runAgent()
    const [question] = client.pendingInterrupts
    expect(question?.message).toBe('Pay 7?')
    await client.runAgent({
      resume: [{ interruptId: question?.id ?? '', status: 'resolved', payload: 'ok' }],
    })
    expect(client.pendingInterrupts).toEqual([])
    expect(linesOf(client.messages).at(-1)).toBe('assistant: Paid.')
    expect(paid).toEqual([7])
  })

  it('is aborted, and what was said stays', async () => {
    const stopped = deferred()
    const wait = async (signal: AbortSignal) => {
      await aborted(signal)
      stopped.resolve()
    }
    const model = scriptedModel([['One ', { wait }]])
    const { shown, streams } = watched(defineAgent({ name: 'speaker', model }))
    const client = front(shown)
    client.addMessage(user('Count.'))
    await client.runAgent({}, { onTextMessageContentEvent: () => client.abortRun() })
    await stopped.promise
    expect(linesOf(client.messages)).toEqual(['user: Count.', 'assistant: One '])
    expect(streams[0]?.at(-1)).toMatchObject(
      version === '1.0'
        ? { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } }
        : { type: 'RUN_ERROR', code: 'abort' },
    )
  })

  it('fails with a RUN_ERROR', async () => {
    const model = scriptedModel([[{ error: new Error('secret') }]])
    const { shown, streams } = watched(defineAgent({ name: 'speaker', model, retry: { attempts: 1 } }))
    const client = front(shown)
    client.addMessage(user('Hi.'))
    await client.runAgent()
    expect(streams[0]?.at(-1)).toMatchObject({
      type: 'RUN_ERROR',
      message: expect.not.stringContaining('secret') as string,
    })
  })
})

describe('clones, as a runtime makes one for every request', () => {
  it('know what was asked of the others', async () => {
    const { agent, paid } = payer([[payment], 'Paid.'])
    const registered = toAgUi(agent)
    const first = registered.clone() as AbstractAgent
    first.threadId = 'thread-7'
    first.setMessages([user('Pay.')])
    await first.runAgent({ runId: 'run-1' })
    const interruptId = first.pendingInterrupts[0]?.id ?? ''

    // It does not know of the question, so it is asked again.
    const second = registered.clone() as AbstractAgent
    second.threadId = 'thread-7'
    second.setMessages([...first.messages, user('Well?')])
    await second.runAgent({ runId: 'run-2' })
    expect(second.pendingInterrupts.map(({ id }) => id)).toEqual([interruptId])
    expect(paid).toEqual([])

    const third = registered.clone() as AbstractAgent
    third.threadId = 'thread-7'
    third.setMessages(first.messages)
    // With the id of the run that asked, and the answer once more as a result.
    third.addMessage({ id: 't9', role: 'tool', toolCallId: 'call-1', content: '"ok"' })
    await third.runAgent({ runId: 'run-1', resume: [{ interruptId, status: 'resolved', payload: 'ok' }] })
    expect(linesOf(third.messages).at(-1)).toBe('assistant: Paid.')
    expect(paid).toEqual([7])
    expect(registered.messages).toEqual([])
  })

  it('are aborted one by one', async () => {
    const model = scriptedModel((_, index) => (index === 0 ? ['One ', { wait: aborted }] : 'Two.'))
    const registered = toAgUi(defineAgent({ name: 'speaker', model }))
    const first = registered.clone() as AbstractAgent
    const second = registered.clone() as AbstractAgent
    const speaking = deferred()
    const running = first.runAgent({}, { onTextMessageContentEvent: () => speaking.resolve() })
    await speaking.promise
    await second.runAgent()
    second.abortRun()
    expect(linesOf(second.messages)).toEqual(['assistant: Two.'])
    expect(first.isRunning).toBe(true)
    first.abortRun()
    await running
    expect(linesOf(first.messages)).toEqual(['assistant: One '])
  })

  it('have the capabilities of the agent', async () => {
    const { agent } = payer([])
    const registered = toAgUi({ ...agent, capabilities: { reasoning: { supported: true } } })
    const capabilities = await (registered.clone() as AbstractAgent).getCapabilities?.()
    expect(capabilities).toMatchObject({
      identity: { name: 'payer' },
      reasoning: { supported: true },
      humanInTheLoop: { interrupts: true },
    })
    expect([registered.agentId, toAgUi(agent, { agentId: 'other' }).agentId]).toEqual(['payer', 'other'])
  })
})

it('goes on in another process, with a store of checkpoints', async () => {
  const disk = new Map<string, string>()
  const checkpoints = {
    load: (threadId: string) => Promise.resolve(JSON.parse(disk.get(threadId) ?? 'null') as unknown),
    save: (threadId: string, checkpoint: Checkpoint) => {
      disk.set(threadId, JSON.stringify(checkpoint))
      return Promise.resolve()
    },
  }
  const { agent, paid } = payer([[payment], 'Paid.'])
  const before = toAgUi(agent, { threadId: 'thread-1', checkpoints })
  before.addMessage(user('Pay.'))
  await before.runAgent()
  const interruptId = before.pendingInterrupts[0]?.id ?? ''
  const { messages } = before
  const after = toAgUi(agent, { threadId: 'thread-1', checkpoints, initialMessages: messages })
  await after.runAgent({ resume: [{ interruptId, status: 'resolved', payload: 'ok' }] })
  expect(linesOf(after.messages).at(-1)).toBe('assistant: Paid.')
  expect(paid).toEqual([7])
})

it('says nothing to clients before 1.0 that they cannot read, when it is told of them', async () => {
  const model = scriptedModel([[{ toolCall: { name: 'colour', args: {} } }]])
  const { shown, streams } = watched(defineAgent({ name: 'painter', model }), { clients: '0.0.59' })
  shown.addMessage(user('Colour it.'))
  await shown.runAgent({ tools })
  expect(streams[0]?.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
  expect(streams[0]?.at(-1)).not.toHaveProperty('outcome')
})

it('reports what clients before 1.0 do not get', async () => {
  const problems: string[] = []
  const source = { type: 'data', value: 'AAAA', mimeType: 'image/png' } as const
  const execute = () => contentResult([{ type: 'image', source }])
  const model = scriptedModel([[{ toolCall: { name: 'photo', args: {} } }], 'Done.'])
  const photo = defineTool({ name: 'photo', description: 'Takes one.', execute })
  const agent = defineAgent({ name: 'photographer', model, tools: [photo] })
  const { shown } = watched(agent, { clients: '0.0.59', onProblem: (problem) => problems.push(problem) })
  shown.addMessage(user('Go.'))
  await shown.runAgent()
  expect(problems).toEqual(['TOOL_CALL_RESULT.content: media dropped for a client before 1.0'])
})

it('stops when nobody listens any more', async () => {
  const stopped = deferred()
  const wait = async (signal: AbortSignal) => {
    await aborted(signal)
    stopped.resolve()
  }
  const shown = toAgUi(defineAgent({ name: 'speaker', model: scriptedModel([['One ', { wait }]]) }))
  const input = { threadId: 't', runId: 'r', messages: [user('Hi.')], tools: [], context: [] }
  const subscription = shown.run(input).subscribe({
    next: ({ type }) => {
      if (type === EventType.TEXT_MESSAGE_CONTENT) setImmediate(() => subscription.unsubscribe())
    },
  })
  await stopped.promise
})

it('refuses what is no input', async () => {
  const shown = toAgUi(defineAgent({ name: 'speaker', model: scriptedModel(['Hi.']) }))
  const refused = new Promise((_, reject) => {
    shown.run({ threadId: 't' } as RunAgentInput).subscribe({ error: reject })
  })
  await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

it('is an agent again on the other side', async () => {
  const { agent, paid } = payer([[payment], 'Paid.'])
  const client = createClient(fromAgUi(toAgUi(agent)))
  const asked = await client.say('Pay.')
  if (asked.outcome.type !== 'interrupted') throw new Error(asked.outcome.type)
  const { outcome } = await client.answer({ [asked.outcome.interrupts[0]?.id ?? '']: 'ok' })
  expect(outcome).toMatchObject({ type: 'completed', text: 'Paid.' })
  expect(paid).toEqual([7])
})
