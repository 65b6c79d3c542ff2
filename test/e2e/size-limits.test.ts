import { FunctionTool, LlmAgent } from '@google/adk'
import { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { Annotation, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { defineAgent, defineTool, offloadResults, type Agent } from '../../src/agents/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { AgentEvent } from '../../src/protocol/index.js'
import { callsTool, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { historyOf, stateOf, textIn } from '../support/adk/serve-adk.js'
import { callChunks } from '../support/langgraph/fake-model.js'
import { agentModel } from '../support/langgraph/serve-graph.js'
import { aborted, ofType, resultsIn } from '../support/run-agent.js'
import { serveAgents, type ServeAgentsOptions, type ServedAgents } from '../support/serve-agents.js'
import { inputOf, user } from './support-server.js'

const stores = ['memory', 'sqlite'] as const

/** Runs, and gives the events. */
async function runOn(served: ServedAgents, fields: object) {
  return (await served.stream('/run', { body: inputOf(fields) })).events
}

/** An agent that writes these events. */
function writer(events: (turn: number) => Iterable<AgentEvent>): Agent {
  let turn = 0
  return {
    ...{ name: 'writer', description: 'Writes.' },
    async *run() {
      for (const event of events(turn++)) {
        await Promise.resolve()
        yield event
      }
      return { type: 'done' }
    },
  }
}

const talker = () => defineAgent({ name: 'talker', model: scriptedModel(() => 'Fine.') })

/** What a refused request gets. */
const refusal = (code: string, message: RegExp) => ({
  status: 413,
  body: { error: { code, message: expect.stringMatching(message) as string } },
})

const large = 'x'.repeat(5000)

/** Agents whose tool returns `value`. Each says what it was given. */
const dumpers: Readonly<Record<string, (value: string) => Agent>> = {
  kit: (value) =>
    defineAgent({
      name: 'helper',
      model: scriptedModel([[{ toolCall: { name: 'dump' } }], 'Less, then.', 'Go on.']),
      tools: [defineTool({ name: 'dump', description: 'Dumps.', execute: () => value })],
    }),
  ADK: (value) => {
    const dump = new FunctionTool({
      ...{ name: 'dump', description: 'Dumps.', parameters: z.object({}) },
      execute: () => ({ value }),
    })
    const model = new ScriptedLlm([callsTool({ name: 'dump' }), says('Less, then.'), says('Go on.')])
    return fromAdk(new LlmAgent({ name: 'helper', model, tools: [dump] }))
  },
  LangGraph: (value) => {
    const dump = tool(() => value, { name: 'dump', description: 'Dumps.', schema: z.object({}) })
    const model = agentModel([callChunks('c1', 'dump', {}), ['Less, then.'], ['Go on.']])
    return fromLangGraph(createAgent({ model, tools: [dump] }), { name: 'helper' })
  },
}

describe.each(stores)('a tool result larger than `toolResultBytes`, with %s', (store) => {
  it.each(Object.entries(dumpers))(
    '%s: the model gets an error in its place, and goes on',
    async (_, make) => {
      const served = await serveAgents({ agents: [make(large)], store, limits: { toolResultBytes: 1000 } })
      const events = await runOn(served, { messages: [user('u1', 'Dump it.')] })
      const [result = ''] = resultsIn(events)
      expect(result).toMatch(/has run, but its result is larger than 1000 bytes.*Ask it for less/)
      expect(textIn(events)).toBe('Less, then.')
      expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
      expect(JSON.stringify(await historyOf(served))).not.toContain(large)
      expect(textIn(await runOn(served, { runId: 'run-2', messages: [user('u2', 'And?')] }))).toBe('Go on.')
    },
  )

  it.each(Object.entries(dumpers))('%s: one within it comes whole', async (_, make) => {
    const served = await serveAgents({ agents: [make(large)], store, limits: { toolResultBytes: 6000 } })
    const [result] = resultsIn(await runOn(served, { messages: [user('u1', 'Dump it.')] }))
    expect(result).toContain(large)
  })

  it('is refused when a client sends it, and the call stays open for a shorter one', async () => {
    const agent = defineAgent({
      name: 'helper',
      model: scriptedModel([[{ toolCall: { name: 'look', args: {}, id: 'c1' } }], 'I see.']),
    })
    const tools = [{ name: 'look', description: 'Looks.', parameters: {} }]
    const served = await serveAgents({ agents: [agent], store, limits: { toolResultBytes: 1000 } })
    await runOn(served, { messages: [user('u1', 'Look.')], tools })
    const answer = (content: string) =>
      inputOf({ runId: 'run-2', tools, messages: [{ id: 't1', role: 'tool', toolCallId: 'c1', content }] })
    expect(await served.ask('POST /run', { body: answer(large) })).toMatchObject(
      refusal('PAYLOAD_TOO_LARGE', /'t1'.*1000 bytes \(limits\.toolResultBytes\)/),
    )
    const { events } = await served.stream('/run', { body: answer('a cat') })
    expect(textIn(events)).toBe('I see.')
  })
})

it('a result that a middleware makes smaller is measured behind it', async () => {
  const agent = defineAgent({
    name: 'helper',
    model: scriptedModel([[{ toolCall: { name: 'dump' } }], 'Noted.']),
    tools: [defineTool({ name: 'dump', description: 'Dumps.', execute: () => large })],
    middlewares: [offloadResults({ maxChars: 500, previewChars: 100 })],
  })
  const served = await serveAgents({ agents: [agent], limits: { toolResultBytes: 2000 } })
  const [result] = resultsIn(await runOn(served, { messages: [user('u1', 'Dump it.')] }))
  expect(result).not.toContain('larger than')
})

/** Agents that put `value` into the state, piece by piece where they can. */
const keepers: Readonly<Record<string, (value: string) => Agent>> = {
  'deltas of an agent': (value) =>
    writer(function* () {
      yield { type: 'STATE_SNAPSHOT', snapshot: { list: [] } }
      for (let n = 0; n < 100; n++)
        yield { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/list/-', value: value.slice(0, 50) }] }
    }),
  ADK: (value) => {
    const keep = new FunctionTool({
      ...{ name: 'keep', description: 'Keeps.', parameters: z.object({}) },
      async execute(_, context) {
        for (let n = 0; n < 100; n++) {
          context?.state.set(`key${n}`, value.slice(0, 50))
          await Promise.resolve()
        }
        return 'kept'
      },
    })
    const model = new ScriptedLlm([callsTool({ name: 'keep' }), says('Kept.')])
    return fromAdk(new LlmAgent({ name: 'keeper', model, tools: [keep] }))
  },
  LangGraph: (value) => {
    const State = Annotation.Root({
      ...MessagesAnnotation.spec,
      notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    })
    const keep = () => ({ notes: [value.slice(0, 400)] })
    const graph = new StateGraph(State)
      .addNode('one', keep)
      .addNode('two', keep)
      .addNode('three', keep)
      .addNode('four', () => ({ messages: [new AIMessage('Kept.')] }))
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .addEdge('two', 'three')
      .addEdge('three', 'four')
      .compile()
    return fromLangGraph(graph, { name: 'keeper' })
  },
}

describe.each(stores)('the state of a thread is no larger than `stateBytes`, with %s', (store) => {
  const serveKeeper = (agent: Agent, more: Partial<ServeAgentsOptions> = {}) =>
    serveAgents({ agents: [agent], store, limits: { stateBytes: 1000 }, ...more })

  it.each(Object.entries(keepers))('%s: the run ends, and what was shown stays', async (_, make) => {
    const served = await serveKeeper(make(large))
    const talk = served.talk()
    await talk.say('Keep it.').catch(() => undefined)
    const events = talk.streams.at(-1)?.events ?? []
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'STATE_TOO_LARGE' })
    expect(ofType(events, 'RUN_ERROR')[0]?.message).toMatch(/1000 bytes \(limits\.stateBytes\)/)
    const stored = await stateOf(served)
    expect(JSON.stringify(stored).length).toBeGreaterThan(300)
    expect(JSON.stringify(stored).length).toBeLessThan(1200)
    expect(talk.client.state).toEqual(stored)
  })

  it('kit: the tool fails that would make it larger, and the model goes on', async () => {
    const keep = defineTool({
      ...{ name: 'keep', description: 'Keeps.', input: z.object({ length: z.number() }) },
      execute({ length }, ctx) {
        ctx.setState((state: object) => ({ ...state, [`kept${length}`]: large.slice(0, length) }))
        return 'kept'
      },
    })
    const call = (length: number) => [{ toolCall: { name: 'keep', args: { length } } }]
    const model = scriptedModel([call(500), call(900), call(100), 'Done.'])
    const served = await serveKeeper(defineAgent({ name: 'keeper', model, tools: [keep] }))
    const events = await runOn(served, { messages: [user('u1', 'Keep it.')] })
    expect(resultsIn(events)).toMatchObject(
      [/: kept$/, /limits\.stateBytes/, /: kept$/].map((text) => expect.stringMatching(text) as string),
    )
    expect(Object.keys((await stateOf(served)) as object)).toEqual(['kept500', 'kept100'])
  })

  it('a client’s state, PATCH, `initialState` and `server.state` are refused, and nothing changes', async () => {
    const hooks = { initialState: (input: { runId: string }) => (input.runId === 'big' ? { large } : {}) }
    const served = await serveKeeper(talker(), { hooks })
    const tooLarge = refusal('STATE_TOO_LARGE', /Make it smaller, or start a new thread/)
    const run = (fields: object) => served.ask('POST /run', { body: inputOf(fields) })
    const messages = [user('u1', 'Hi.')]
    expect(await run({ messages, runId: 'big' })).toMatchObject(tooLarge)
    expect(await run({ messages, state: { large } })).toMatchObject(tooLarge)
    expect((await served.ask('GET /state_snapshot/thread-1')).status).toBe(404)
    expect((await run({ messages, state: { small: 1 } })).status).toBe(200)
    expect(await run({ runId: 'run-2', messages, state: { small: 1, large } })).toMatchObject(tooLarge)
    const add = (value: string) =>
      served.ask('PATCH /state/thread-1', { body: [{ op: 'add', path: '/a', value }] })
    expect(await add(large)).toMatchObject(tooLarge)
    const thread = { user: 'local', thread: 'thread-1' }
    await expect(served.state.update(thread, () => ({ large }))).rejects.toMatchObject({
      code: 'STATE_TOO_LARGE',
    })
    expect(await stateOf(served)).toEqual({ small: 1 })
    expect((await add('short')).status).toBe(200)
    expect(await stateOf(served)).toEqual({ small: 1, a: 'short' })
  })

  const times = (count: number, operation: object) => Array.from({ length: count }, () => operation)
  const hostile: Readonly<Record<string, readonly [status: number, patch: readonly object[]]>> = {
    'too many operations': [422, times(1001, { op: 'add', path: '/a', value: 1 })],
    'copies that double it': [422, times(60, { op: 'copy', from: '/list', path: '/list/-' })],
    'copies below the patch’s own limit': [413, times(8, { op: 'copy', from: '/list', path: '/list/-' })],
    'moves that nest it': [
      422,
      Array.from({ length: 300 }, () => [
        { op: 'add', path: '/next', value: {} },
        { op: 'move', from: '/list', path: '/next/in' },
        { op: 'move', from: '/next', path: '/list' },
      ]).flat(),
    ],
    'a deep value': [
      400,
      [{ op: 'add', path: '/a', value: JSON.parse('['.repeat(99) + ']'.repeat(99)) as object }],
    ],
    'a test of what is not so': [409, [{ op: 'test', path: '/list', value: large }]],
  }

  it.each(Object.entries(hostile))(
    'a hostile patch is refused, and changes nothing: %s',
    async (_, [status, patch]) => {
      const served = await serveKeeper(talker())
      const state = { list: ['one', 'two', 'three'] }
      await runOn(served, { messages: [user('u1', 'Hi.')], state })
      expect((await served.ask('PATCH /state/thread-1', { body: patch })).status).toBe(status)
      expect(await stateOf(served)).toEqual(state)
    },
  )

  it('copies in one delta cannot make it grow without end', async () => {
    const copies = Array.from({ length: 60 }, () => ({ op: 'copy' as const, from: '/list', path: '/list/-' }))
    const agent = writer(function* () {
      yield { type: 'STATE_SNAPSHOT', snapshot: { list: [large] } }
      yield { type: 'STATE_DELTA', delta: copies }
    })
    const served = await serveKeeper(agent, { limits: { stateBytes: 10_000 } })
    await runOn(served, { messages: [user('u1', 'Copy.')] })
    expect(await stateOf(served)).toEqual({ list: [large] })
  })
})

describe.each(stores)('a thread has no more than `threadBytes` of messages, with %s', (store) => {
  const serveWriter = (agent: Agent) => serveAgents({ agents: [agent], store, limits: { threadBytes: 2000 } })
  const lines = (count: number): AgentEvent[] =>
    Array.from({ length: count }, (_, n) => ({
      ...{ type: 'TEXT_MESSAGE_CHUNK', messageId: 'a1', delta: `${n}:`.padEnd(50, '.') },
    }))

  it('a run that fills it ends, what was shown stays, and the next request says what to do', async () => {
    const served = await serveWriter(writer((turn) => (turn === 0 ? lines(100) : lines(1))))
    const events = await runOn(served, { messages: [user('u1', 'Talk.')] })
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'THREAD_FULL' })
    const shown = textIn(events)
    expect(shown.length).toBeGreaterThan(1500)
    const stored = await historyOf(served)
    expect(stored.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Talk.'],
      ['assistant', shown],
    ])
    const more = inputOf({ runId: 'run-2', messages: [user('u2', 'Go on.')] })
    const full = refusal('THREAD_FULL', /Nothing is lost\. Start a new thread, or edit an earlier message/)
    expect(await served.ask('POST /run', { body: more })).toMatchObject(full)
    expect(await historyOf(served)).toEqual(stored)
    // To edit the first message makes room.
    const edited = await runOn(served, { runId: 'run-3', messages: [user('u1', 'Be short.')] })
    expect(edited.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    // What was shown is a fork now.
    expect(ofType(edited, 'CUSTOM').map(({ name }) => name)).toContain('millrace.forked')
    const elsewhere = await runOn(served, { threadId: 'thread-2', messages: [user('u9', 'Hello.')] })
    expect(elsewhere.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
  })

  it('a message that does not fit is refused before anything is stored', async () => {
    const served = await serveWriter(talker())
    const body = inputOf({ messages: [user('u1', large)] })
    expect(await served.ask('POST /run', { body })).toMatchObject(
      refusal('THREAD_FULL', /limits\.threadBytes/),
    )
    expect((await served.ask('GET /message_snapshot/thread-1')).status).toBe(404)
  })

  it('a tool result that fills it is shown and kept before the run ends', async () => {
    const agent = defineAgent({
      name: 'payer',
      model: scriptedModel([[{ toolCall: { name: 'pay', id: 'c1' } }], 'Paid.']),
      tools: [defineTool({ name: 'pay', description: 'Pays.', execute: () => `paid ${large}` })],
    })
    const served = await serveWriter(agent)
    const events = await runOn(served, { messages: [user('u1', 'Pay.')] })
    expect(resultsIn(events)).toEqual([`c1: paid ${large}`])
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'THREAD_FULL' })
    expect((await historyOf(served)).at(-1)).toMatchObject({ role: 'tool', content: `paid ${large}` })
  })

  it('progress that replaces itself does not fill it', async () => {
    const agent = writer(function* () {
      for (let n = 0; n < 100; n++)
        yield {
          type: 'ACTIVITY_SNAPSHOT',
          messageId: 'p',
          activityType: 'progress',
          content: { n, note: 'at work' },
        }
    })
    const served = await serveWriter(agent)
    const events = await runOn(served, { messages: [user('u1', 'Work.')] })
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
  })
})

describe.each(stores)('one event has no more than `eventBytes`, with %s', (store) => {
  const tooLarge: Readonly<Record<string, AgentEvent>> = {
    'a delta': { type: 'TEXT_MESSAGE_CHUNK', messageId: 'a1', delta: large },
    'a custom event': { type: 'CUSTOM', name: 'dump', value: { large } },
    'an activity': { type: 'ACTIVITY_SNAPSHOT', messageId: 'p', activityType: 'dump', content: { large } },
  }

  it.each(Object.entries(tooLarge))(
    '%s: it is neither shown nor stored, and the run ends',
    async (_, event) => {
      const agent = writer(() => [{ type: 'TEXT_MESSAGE_CHUNK', messageId: 'a1', delta: 'So: ' }, event])
      const served = await serveAgents({ agents: [agent], store, limits: { eventBytes: 1000 } })
      const events = await runOn(served, { messages: [user('u1', 'Go.')] })
      expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'EVENT_TOO_LARGE' })
      expect(JSON.stringify(events)).not.toContain(large)
      expect((await historyOf(served)).map(({ content }) => content)).toEqual(['Go.', 'So: '])
    },
  )
})

describe.each(stores)('attachments, with %s', (store) => {
  const image = (value: string) => ({ type: 'image', source: { type: 'data', value, mimeType: 'image/png' } })
  const send = (served: ServedAgents, parts: readonly object[], runId = 'run-1') =>
    served.ask('POST /run', {
      body: inputOf({ runId, messages: [{ id: `m-${runId}`, role: 'user', content: parts }] }),
    })

  it('are limited in size and number, and a URL has no size', async () => {
    const limits = { attachmentBytes: 1000, attachments: 2 }
    const served = await serveAgents({ agents: [talker()], store, limits })
    expect(await send(served, [image(large)])).toMatchObject(
      refusal('PAYLOAD_TOO_LARGE', /'m-run-1'.*1000 bytes \(limits\.attachmentBytes\).*or its URL/),
    )
    const small = image('aGk=')
    expect(await send(served, [small, small, small])).toMatchObject(
      refusal('PAYLOAD_TOO_LARGE', /3 attachments.*limits\.attachments/),
    )
    const linked = { type: 'image', source: { type: 'url', value: `https://example.com/${large}` } }
    expect((await send(served, [small, linked], 'run-2')).status).toBe(200)
  })

  it('of earlier messages do not count again, for a client that sends them all', async () => {
    const served = await serveAgents({ agents: [talker()], store, limits: { attachments: 1 } })
    const messages = ['u1', 'u2', 'u3'].map((id) => ({ id, role: 'user', content: [image('aGk=')] }))
    for (const [index] of messages.entries()) {
      const events = await runOn(served, { runId: `run-${index}`, messages: messages.slice(0, index + 1) })
      expect(textIn(events)).toBe('Fine.')
    }
  })
})

describe.each(['wait', 'preempt'] as const)('requests that wait (%s)', (whenBusy) => {
  it('count as runs, and are refused with 429 above `runsPerUser`', async () => {
    const model = scriptedModel((_, index) =>
      index === 0 ? ['Wait', { wait: (signal) => aborted(signal) }] : 'Fine.',
    )
    const agent = defineAgent({ name: 'talker', model, retry: { attempts: 1 } })
    const identify = (request: Request) => ({ user: request.headers.get('x-user') ?? 'ann' })
    const limits = { runsPerUser: 2, preemptMs: 600_000, waitMs: 600_000 }
    const served = await serveAgents({ agents: [agent], whenBusy, identify, limits })
    const post = (runId: string, headers = {}) =>
      fetch(`${served.url}/run`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(inputOf({ runId, messages: [user(runId, 'Hi.')] })),
      })
    const first = await post('run-1')
    const second = await post('run-2')
    expect([first.status, second.status]).toEqual([200, 200])
    const third = await post('run-3')
    expect([third.status, third.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await third.json()).toMatchObject({ error: { code: 'TOO_MANY_RUNS' } })
    const other = await post('run-4', { 'x-user': 'ben' })
    expect(other.status).toBe(200)
    await served.ask('POST /cancel', { body: { threadId: 'thread-1', runId: 'run-1' } })
    expect(await second.text()).toContain('Fine.')
    await Promise.all([first.text(), other.text()])
    // The slots are free again.
    expect((await post('run-5')).status).toBe(200)
  })
})
