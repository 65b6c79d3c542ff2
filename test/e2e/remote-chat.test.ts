import { HttpAgent } from '@ag-ui/client'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineAgent, defineTool, type Agent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { fromAgUi } from '../../src/remote/index.js'
import { createClient, ofType, resultsIn } from '../support/run-agent.js'
import { clientVersions, linesOf, serveAgents } from '../support/serve-agents.js'
import { ScriptedAgUi, servedRemote, text, whole } from './support-remote.js'

const weather = defineTool({
  name: 'weather',
  description: 'Tells the weather.',
  input: z.object({ city: z.string() }),
  execute: ({ city }, ctx) => {
    ctx.setState((state: object) => ({ ...state, [city]: 'rain' }))
    return `rain in ${city}`
  },
})

const call = (city: string) => ({ toolCall: { name: 'weather', args: { city } } })

describe.each(clientVersions)('an endpoint behind the HttpAgent $version', ({ Client }) => {
  it('is an agent: it talks, thinks, calls its tools and remembers', async () => {
    const model = scriptedModel([
      [{ reasoning: 'Oslo it is.' }, call('Oslo')],
      'It rains in Oslo.',
      'I said so.',
    ])
    const behind = defineAgent({ name: 'guide', model, tools: [weather] })
    const remote = await servedRemote({ agents: [behind] }, Client)
    const client = createClient(remote.agent())
    const { events, outcome } = await client.say('Weather in Oslo?')
    expect(outcome).toMatchObject({ type: 'completed', text: 'It rains in Oslo.', state: { Oslo: 'rain' } })
    expect(resultsIn(events)).toEqual(['call-1: rain in Oslo'])
    expect(ofType(events, 'REASONING_MESSAGE_CONTENT').map(({ delta }) => delta)).toEqual(['Oslo it is.'])

    await client.say('Really?')
    expect(linesOf(model.requests[2]?.messages ?? [])).toEqual([
      'user: Weather in Oslo?',
      'reasoning: Oslo it is.',
      'assistant: weather({"city":"Oslo"})',
      'tool: rain in Oslo',
      'assistant: It rains in Oslo.',
      'user: Really?',
    ])
    // One thread over there, under the same id, with a run for each of ours.
    const sent = remote.streams.map(({ input }) => [input.threadId, input.protocolVersion])
    const version = Client === HttpAgent ? '1.0' : undefined
    expect(sent).toEqual([
      [client.threadId, version],
      [client.threadId, version],
    ])
    expect(new Set(remote.streams.map(({ input }) => input.runId)).size).toBe(2)
    expect(linesOf(client.messages).at(-1)).toBe('assistant: I said so.')
  })

  it('is served on to clients of both generations', async () => {
    const behind = defineAgent({ name: 'guide', model: scriptedModel(['Hello.', 'Again.']) })
    const remote = await servedRemote({ agents: [behind] }, Client)
    const front = await serveAgents({ agents: [remote.agent()] })
    for (const [index, { Client: Front }] of clientVersions.entries()) {
      const talk = front.talk({ Client: Front, threadId: `thread-${index}` })
      await talk.say('Hi.')
      expect(linesOf(talk.client.messages).at(-1)).toBe(
        index === 0 ? 'assistant: Hello.' : 'assistant: Again.',
      )
    }
  })
})

describe('what goes along', () => {
  const run = async (agent: Agent) => {
    const client = createClient(agent, [{ name: 'colour', description: 'Colours.' }])
    const fields = { state: { a: 1 }, context: [{ description: 'd', value: 'v' }], forwardedProps: { p: 1 } }
    const messages = [
      { id: 'u1', role: 'user' as const, content: 'Hi.' },
      { id: 'a1', role: 'assistant' as const, content: 'No.', metadata: { millrace: { rejected: 'error' } } },
      { id: 'x1', role: 'activity' as const, activityType: 'job', content: {} },
    ]
    return client.send({ ...fields, messages })
  }

  it('is everything but what was taken back and what only clients show', async () => {
    const remote = new ScriptedAgUi(whole(...text('m1', 'Hello.')))
    await run(fromAgUi(remote, { name: 'remote' }))
    expect(remote.inputs[0]).toMatchObject({
      state: { a: 1 },
      tools: [{ name: 'colour' }],
      context: [{ value: 'v' }],
      forwardedProps: { p: 1 },
      messages: [{ id: 'u1', role: 'user', content: 'Hi.' }],
    })
    expect(remote.inputs[0]?.messages).toHaveLength(1)
  })

  it('is what is wanted', async () => {
    const remote = new ScriptedAgUi(
      whole({ type: 'STATE_SNAPSHOT', snapshot: { b: 2 } }, ...text('m1', 'Hello.')),
    )
    const { outcome } = await run(fromAgUi(remote, { name: 'remote', forward: ['context'] }))
    expect(remote.inputs[0]).toMatchObject({
      state: {},
      tools: [],
      forwardedProps: {},
      context: [{ value: 'v' }],
    })
    expect(outcome.state).toEqual({ a: 1 })
  })

  it('can be of the user: every run has a copy of its own', async () => {
    const seen: (string | null)[] = []
    const http = new HttpAgent({
      url: 'http://nowhere.test',
      fetch: (_, init) => {
        seen.push(new Headers(init.headers).get('authorization'))
        return Promise.resolve(new Response('no', { status: 401 }))
      },
    })
    // It was aborted once, by whoever used it before.
    http.abortRun()
    const agent = fromAgUi(http, {
      name: 'remote',
      prepare(copy, { user }) {
        copy.headers.authorization = `Bearer ${user}`
      },
    })
    for (const user of ['ada', 'bob']) {
      const client = createClient(agent)
      const { outcome } = await client.say('Hi.', { identity: { app: 'a', user } })
      expect(outcome.type).toBe('failed')
    }
    expect(seen).toEqual(['Bearer ada', 'Bearer bob'])
    expect(http.headers).toEqual({})
  })

  it('is never the thread of another user', async () => {
    const remote = new ScriptedAgUi(whole(...text('m1', 'Hello.')))
    const agent = fromAgUi(remote, { name: 'remote' })
    const ask = (user: string) =>
      createClient(agent).send(
        { threadId: 'thread-1', messages: [{ id: 'u1', role: 'user', content: 'Hi.' }] },
        { identity: { app: 'a', user } },
      )
    for (const user of ['ada', 'bob', 'ada']) await ask(user)
    const [ada, bob, again] = remote.inputs.map(({ threadId }) => threadId)
    expect(again).toBe(ada)
    expect(bob).not.toBe(ada)
    expect(ada).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)

    const shared = fromAgUi(remote, { name: 'remote', threadId: ({ threadId }) => threadId })
    await createClient(shared).send(
      { threadId: 'thread-1', messages: [] },
      { identity: { app: 'a', user: 'eve' } },
    )
    expect(remote.inputs.at(-1)?.threadId).toBe('thread-1')
  })
})

it('hands over its result and what it has used', async () => {
  const usage = [{ provider: 'p', model: 'm', inputTokens: 3, outputTokens: 4, totalTokens: 7 }]
  const remote = new ScriptedAgUi([
    { type: 'RUN_STARTED' },
    { type: 'RUN_FINISHED', result: { sum: 7 }, usage },
  ])
  const { outcome } = await createClient(fromAgUi(remote, { name: 'remote' })).say('3 + 4?')
  expect(outcome).toMatchObject({ type: 'completed', result: { sum: 7 }, usage })
})

it('needs a name', () => {
  const remote = new ScriptedAgUi([])
  expect(() => fromAgUi(remote)).toThrow(/Give the agent a name/)
  expect(fromAgUi(Object.assign(remote, { agentId: 'scripted' })).name).toBe('scripted')
})
