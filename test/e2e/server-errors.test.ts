import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { sequentialIds } from '../../src/core/ids.js'
import {
  agentTool,
  defineAgent,
  defineTool,
  MillraceError,
  type Agent,
  type Tool,
  type ToolSource,
} from '../../src/index.js'
import { scriptedModel, type Script } from '../../src/models/index.js'
import { decodeProtobuf, protobufMediaType, type AgUiEvent } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { aborted, deferred, ofType, resultsIn } from '../support/run-agent.js'
import { command, toolsOf } from './support-mcp-servers.js'
import { clientVersions, linesOf, serveAgents, type ServeAgentsOptions } from '../support/serve-agents.js'

type Rest = Omit<ServeAgentsOptions, 'agents'>

async function serveModel(script: Script, options: Rest = {}) {
  const model = scriptedModel(script)
  const agent = defineAgent({ name: 'talker', model, retry: { attempts: 1 } })
  return { model, served: await serveAgents({ agents: [agent], ...options }) }
}

/** Fails, or whatever `first` does, in its first run. Answers `Fine.` in all others. */
function onceAgent(first: Agent['run']): Agent {
  let runs = 0
  return {
    name: 'moody',
    description: '',
    async *run(ctx) {
      if (runs++ === 0) return yield* first(ctx)
      const messageId = ctx.services.newId('message')
      yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
      yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: 'Fine.' }
      yield { type: 'TEXT_MESSAGE_END', messageId }
      return { type: 'done' }
    },
  }
}

const secret = 'postgres://admin:hunter2@db.internal'

describe.each(clientVersions)('with the client $version', ({ Client }) => {
  it('an agent that throws fails the run, in neutral words', async () => {
    const agent = onceAgent(async function* (ctx) {
      const messageId = ctx.services.newId('message')
      yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
      yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: 'I look' }
      await nextTurn()
      throw new Error(`cannot connect to ${secret}`)
    })
    const served = await serveAgents({ agents: [agent] })
    const talk = served.talk({ Client })
    const events = await talk.say('Look.')
    expect(events.at(-1)).toEqual({ type: 'RUN_ERROR', code: 'AGENT_ERROR', message: 'The agent failed.' })
    const connected = await served.stream('/connect', { body: { threadId: 'thread-1' } })
    const { text } = await served.ask('GET /thread/list')
    const { text: history } = await served.ask('GET /message_snapshot/thread-1')
    expect(JSON.stringify([events, connected.events, text, history])).not.toContain('hunter2')
    expect(JSON.parse(text)).toMatchObject({ threads: [{ status: 'idle', lastRun: { status: 'failed' } }] })
    // Sent again, it is tried again; what was said before the failure stays.
    await talk.say('Once more.')
    expect(linesOf(talk.client.messages)).toEqual([
      'user: Look.',
      'assistant: I look',
      'user: Once more.',
      'assistant: Fine.',
    ])
  })

  it('an agent that throws what may be shown is quoted', async () => {
    const agent = onceAgent(async function* () {
      yield { type: 'CUSTOM', name: 'thinking', value: true }
      await nextTurn()
      throw new MillraceError('AGENT_ERROR', 'The library is closed on Sundays.', {
        expose: true,
        wireCode: 'CLOSED',
      })
    })
    const served = await serveAgents({ agents: [agent] })
    const talk = served.talk({ Client })
    const message = 'The library is closed on Sundays.'
    expect((await talk.say('A book?')).at(-1)).toEqual({ type: 'RUN_ERROR', code: 'CLOSED', message })
    // Nothing new is a second try then.
    await talk.send()
    expect(linesOf(talk.client.messages)).toEqual(['user: A book?', 'assistant: Fine.'])
  })

  it('a model that fails fails the run, in neutral words', async () => {
    const error = { status: 401, message: `bad key ${secret}` }
    const { served } = await serveModel([['I', { error }], 'Hello.'])
    const talk = served.talk({ Client })
    const events = await talk.say('Hi.')
    expect(events.at(-1)).toMatchObject({
      type: 'RUN_ERROR',
      code: 'MODEL_ERROR',
      message: 'The model could not be reached or refused.',
    })
    expect(JSON.stringify(events)).not.toContain('hunter2')
    await talk.say('Hi again.')
    expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: Hello.')
  })

  it('a silent run ends when its time is over', async () => {
    const { model, served } = await serveModel([[{ wait: aborted }], 'Hello.'], {
      limits: { runTimeoutMs: 50 },
    })
    const talk = served.talk({ Client })
    const message = 'The run took longer than 50 ms.'
    expect((await talk.say('Hi.')).at(-1)).toEqual({ type: 'RUN_ERROR', code: 'EXECUTION_TIMEOUT', message })
    expect(model.requests[0]?.signal.aborted).toBe(true)
    await talk.say('Still there?')
    expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: Hello.')
  })

  it('a tool that takes too long fails, and the run goes on', async () => {
    const slow = defineTool({
      name: 'slow',
      description: 'Never ends.',
      execute: (_, ctx) => aborted(ctx.signal),
    })
    const model = scriptedModel([[{ toolCall: { name: 'slow' } }], 'It did not work.'])
    const agent = defineAgent({ name: 'talker', model, tools: [slow] })
    const served = await serveAgents({ agents: [agent], limits: { toolTimeoutMs: 30 } })
    const talk = served.talk({ Client })
    const events = await talk.say('Try it.')
    expect(resultsIn(events)).toEqual([expect.stringContaining('30 ms')])
    expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: It did not work.')
  })
})

describe('a tool without a time limit of its own has that of the server', () => {
  const aborts: string[] = []
  const schema = { type: 'object' }
  const tools: readonly [string, () => Tool | ToolSource][] = [
    [
      'written by hand',
      () => ({
        ...{ name: 'hang', description: 'Never ends.', parameters: schema },
        call: (_, { signal }) => aborted(signal).finally(() => aborts.push('hand')),
      }),
    ],
    [
      'that ignores its signal',
      () => ({
        ...{ name: 'hang', description: 'Never ends.', parameters: schema },
        call: () => new Promise(() => undefined),
      }),
    ],
    [
      'that reports progress',
      () => ({
        ...{ name: 'hang', description: 'Never ends.', parameters: schema },
        async *call(_args, { signal }) {
          yield 'half'
          await aborted(signal)
        },
      }),
    ],
    ['of an MCP server', () => toolsOf(command('stdio'))],
  ]

  it.each(tools)('%s', async (_, tool) => {
    const model = scriptedModel([[{ toolCall: { name: 'hang' } }], 'It did not work.'])
    const agent = defineAgent({ name: 'talker', model, tools: [tool()] })
    const served = await serveAgents({
      agents: [agent],
      limits: { toolTimeoutMs: 100, runTimeoutMs: 10_000 },
    })
    const talk = served.talk()
    const events = await talk.say('Try it.')
    expect(resultsIn(events)).toEqual([expect.stringContaining("Tool 'hang' took longer than 100 ms.")])
    expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: It did not work.')
  })

  it('and its signal aborts', () => {
    expect(aborts).toEqual(['hand'])
  })

  it('but an agent as a tool has none: its own tools have', async () => {
    const gate = deferred()
    const helper: Agent = {
      ...{ name: 'helper', description: 'Takes its time.' },
      async *run() {
        await gate.promise
        yield { type: 'TEXT_MESSAGE_CHUNK', messageId: 'late', delta: 'Done.' }
        return { type: 'done' }
      },
    }
    const call = { name: 'helper', args: { request: 'Go.' } }
    const model = scriptedModel([[{ toolCall: call }], 'It worked.'])
    const agent = defineAgent({ name: 'talker', model, tools: [agentTool(helper)] })
    const served = await serveAgents({ agents: [agent], limits: { toolTimeoutMs: 20 } })
    const talk = served.talk()
    setTimeout(() => gate.resolve(), 100)
    expect(resultsIn(await talk.say('Try it.'))).toEqual(['call-1: Done.'])
  })
})

it('a run that writes without pause ends when its time is over', async () => {
  const delta = 'x'.repeat(10_000)
  const agent = onceAgent(async function* (ctx) {
    const messageId = ctx.services.newId('message')
    yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
    // Not even here does it wait for anything: what is awaited is there already.
    for (;;) yield await Promise.resolve({ type: 'TEXT_MESSAGE_CONTENT' as const, messageId, delta })
  })
  const served = await serveAgents({ agents: [agent], limits: { runTimeoutMs: 30 } })
  const input = (runId: string, ...asked: string[]) => ({
    body: {
      ...{ threadId: 'thread-1', runId, protocolVersion: '1.0', state: {}, tools: [], context: [] },
      messages: asked.map((content) => ({ id: content, role: 'user', content })),
    },
  })
  const { events } = await served.stream('/', input('run-1', 'Go.'))
  expect(ofType(events, 'TEXT_MESSAGE_CONTENT').length).toBeGreaterThan(1)
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'EXECUTION_TIMEOUT' })
  const next = await served.stream('/', input('run-2', 'Go.', 'And now?'))
  expect(ofType(next.events, 'TEXT_MESSAGE_CONTENT').at(-1)?.delta).toBe('Fine.')
})

describe('a client that goes away', () => {
  /** Starts a run, leaves in its midst, and waits until the server has noticed. */
  async function leave(onDisconnect: 'continue' | 'cancel') {
    const [begun, letGo] = [deferred(), deferred()]
    const wait = () => {
      begun.resolve()
      return letGo.promise
    }
    const { model, served } = await serveModel(['Hi.', ['One', { wait }, ' and done.'], 'Two.'], {
      onDisconnect,
    })
    const talk = served.talk()
    await talk.say('Hello.')
    const running = talk.say('One?')
    await begun.promise
    talk.client.abortRun()
    await running
    await vi.waitFor(async () => {
      const { text } = await served.ask('GET /metrics')
      expect(text).toMatch(/streams_closed.*reason="client".* 1$/mu)
    })
    const lastRun = async () => {
      const { body } = await served.ask('GET /thread/list')
      return (body as { threads: { lastRun: { status: string } }[] }).threads[0]?.lastRun.status
    }
    return { model, served, letGo, lastRun }
  }

  it('leaves a run behind that goes on', async () => {
    const { model, served, letGo, lastRun } = await leave('continue')
    expect(await lastRun()).toBe('running')
    expect(model.requests[1]?.signal.aborted).toBe(false)
    const following = served.stream('/connect', { body: { threadId: 'thread-1', protocolVersion: '1.0' } })
    letGo.resolve()
    const { events } = await following
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    expect(await lastRun()).toBe('completed')
    const back = served.talk()
    await back.say('Two?')
    expect(linesOf(model.requests[2]?.messages ?? []).slice(2)).toEqual([
      'user: One?',
      'assistant: One and done.',
      'user: Two?',
    ])
  })

  it('takes its run along when that is wanted', async () => {
    const { model, served, lastRun } = await leave('cancel')
    await vi.waitFor(async () => expect(await lastRun()).toBe('cancelled'))
    expect(model.requests[1]?.signal.aborted).toBe(true)
    const back = served.talk()
    await back.say('Two?')
    expect(linesOf(model.requests[2]?.messages ?? []).slice(2)).toEqual([
      'user: One?',
      'assistant: One',
      'user: Two?',
    ])
  })
})

it('the same events come as protobuf to a client that asks for it', async () => {
  const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5 }
  const script: Script = () => [{ reasoning: 'Hm.' }, 'Hello ', 'Ada.', { usage }]
  const asked = {
    ...{ runId: 'run-1', protocolVersion: '1.0', state: { a: [1, null] }, tools: [], context: [] },
    ...{ threadId: 'thread-1', messages: [{ id: 'u1', role: 'user', content: 'I am Ada.' }] },
  }
  const { served: plain } = await serveModel(script, { newId: sequentialIds() })
  const { events } = await plain.stream('/', { body: asked })
  const { served } = await serveModel(script, { newId: sequentialIds() })
  const response = await fetch(served.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: protobufMediaType },
    body: JSON.stringify(asked),
  })
  expect(response.headers.get('content-type')).toBe(protobufMediaType)
  const decoded: AgUiEvent[] = []
  for await (const frame of decodeProtobuf(response.body ?? new ReadableStream())) {
    if (frame.kind === 'malformed') throw frame.error
    decoded.push(frame.event as AgUiEvent)
  }
  assertValidStream(decoded, { input: asked })
  expect(decoded).toEqual(events)
})

describe.each(['.', '..'])('a thread cannot be named %j, since no address can hold it', (threadId) => {
  const message = "threadId: '.' and '..' cannot stand in an address. Choose another id"
  const refusal = { status: 400, body: { error: { code: 'INVALID_INPUT', message } } }

  it('for a run, a connection and a cancellation', async () => {
    const { served, model } = await serveModel(() => 'Fine.')
    const fields = { runId: 'run-1', tools: [], context: [], state: {} }
    const messages = [{ id: 'u1', role: 'user', content: 'Hi.' }]
    const run = { ...fields, threadId, messages }
    expect(await served.ask('POST /run', { body: run })).toMatchObject(refusal)
    expect(await served.ask('POST /', { body: run })).toMatchObject(refusal)
    expect(await served.ask('POST /connect', { body: { threadId } })).toMatchObject(refusal)
    expect(await served.ask('POST /cancel', { body: { threadId } })).toMatchObject(refusal)
    expect(model.requests).toEqual([])
    expect((await served.ask('GET /thread/list')).body).toEqual({ threads: [] })
  })
})
