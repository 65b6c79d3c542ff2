import { LLMock } from '@copilotkit/aimock'
import { FunctionTool, Gemini, LlmAgent, START, Workflow, type BaseAgent } from '@google/adk'
import { afterEach, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { callId, callsIn, clientTool, historyOf, serveAdk, textIn } from '../support/adk/serve-adk.js'
import { ofType } from '../support/run-agent.js'
import { linesOf } from '../support/serve-agents.js'

type Fixture = Parameters<LLMock['on']>[1]

const mocks = new Set<LLMock>()

afterEach(async () => {
  const all = [...mocks]
  mocks.clear()
  await Promise.all(all.map((mock) => mock.stop()))
})

const looked: string[] = []
const look = new FunctionTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.object({ what: z.string() }),
  execute: ({ what }) => {
    looked.push(what)
    return { found: what }
  },
})
const tools = [clientTool('pick'), clientTool('draw')]

/** An agent whose model is the real Gemini client, talking to a mock of the service. */
async function serveGemini(
  answers: readonly Fixture[],
  rootOf: (model: Gemini) => BaseAgent | Workflow = (model) =>
    new LlmAgent({ name: 'helper', model, tools: [look] }),
) {
  looked.length = 0
  const mock = await LLMock.create({ port: 0, chunkSize: 4 })
  mocks.add(mock)
  let count = 0
  const next = () => answers[count++] ?? { content: 'Too often.', finishReason: 'stop' }
  mock.on({}, next as Fixture)
  class Mocked extends Gemini {
    override getHttpOptions() {
      return { ...super.getHttpOptions(), baseUrl: mock.url }
    }
  }
  const model = () => new Mocked({ model: 'gemini-2.5-flash', apiKey: 'test' })
  const served = await serveAdk({ make: () => fromAdk(rootOf(model())), store: 'sqlite' })
  return { served, count: () => count }
}

const says = (content: string): Fixture => ({ content, finishReason: 'stop' })
const calls = (...names: readonly string[]): Fixture => ({
  toolCalls: names.map((name) => ({ name, arguments: JSON.stringify(name === 'look' ? { what: 'x' } : {}) })),
  finishReason: 'stop',
})

it('streams a text, runs a tool, and goes on with the conversation after a restart', async () => {
  const { served, count } = await serveGemini([calls('look'), says('I have found it.'), says('Bye then.')])
  const talk = served.talk()
  const events = await talk.say('Look')
  expect(textIn(events)).toBe('I have found it.')
  expect(ofType(events, 'TEXT_MESSAGE_CONTENT').length).toBeGreaterThan(1)
  expect(ofType(events, 'TEXT_MESSAGE_START')).toHaveLength(1)
  expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([{ content: '{"found":"x"}' }])
  const next = (await served.restart()).talk()
  next.client.setMessages(talk.client.messages)
  expect(textIn(await next.say('Bye'))).toBe('Bye then.')
  expect([looked, count()]).toEqual([['x'], 3])
})

it.each([false, true])(
  'calls of the client’s tools beside its own pause once, restart: %s',
  async (restarts) => {
    const { served, count } = await serveGemini([calls('pick', 'look', 'draw'), says('All done.')])
    const talk = served.talk()
    const first = await talk.say('Go', { tools })
    expect(callsIn(first).map(({ name }) => name)).toEqual(['pick', 'look', 'draw'])
    // Gemini sends its usage behind the calls, which makes ADK ask again.
    expect([count(), looked]).toEqual([1, ['x']])
    const now = restarts ? await served.restart() : served
    const next = now.talk()
    next.client.setMessages(talk.client.messages)
    const results = { [callId(first, 'pick')]: 'red', [callId(first, 'draw')]: 'done' }
    expect(textIn(await next.answer(results, { tools }))).toBe('All done.')
    expect([count(), looked]).toEqual([2, ['x']])
    expect(linesOf(await historyOf(now)).at(-1)).toBe('assistant: All done.')
  },
)

it('a node of a workflow waits for the client, and the next one follows', async () => {
  const { served, count } = await serveGemini(
    [says('One.'), calls('pick'), says('Two.'), says('Three.')],
    (model) => {
      const [a, b, c] = ['a', 'b', 'c'].map((name) => new LlmAgent({ name, model }))
      return new Workflow({ name: 'flow', edges: [[START, ...[a, b, c].flatMap((node) => node ?? [])]] })
    },
  )
  const talk = served.talk()
  const first = await talk.say('Go', { tools })
  expect([textIn(first), count()]).toEqual(['One.', 2])
  expect(textIn(await talk.answer({ [callId(first, 'pick')]: 'red' }, { tools }))).toBe('Two.Three.')
  expect(count()).toBe(4)
})

it('a service that is out of quota is an error, once, and the thread goes on', async () => {
  const { served } = await serveGemini([
    { error: { message: 'quota-secret', type: 'RESOURCE_EXHAUSTED' }, status: 429 },
    says('Back.'),
  ])
  const talk = served.talk()
  await talk.say('Go').catch(() => undefined)
  const events = talk.streams[0]?.events ?? []
  expect(ofType(events, 'RUN_ERROR')).toMatchObject([{ code: 'MODEL_ERROR' }])
  expect(JSON.stringify(events)).not.toContain('quota-secret')
  expect(textIn(await talk.say('Again'))).toBe('Back.')
})
