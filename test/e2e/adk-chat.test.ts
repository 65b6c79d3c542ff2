import type { Message } from '@ag-ui/core'
import { FunctionTool, LlmAgent, START, Workflow, type BaseAgent, type Gemini } from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk, type AdkOptions } from '../../src/adk/index.js'
import { mockGemini, type GeminiAnswer } from '../support/adk/mock-gemini.js'
import {
  callsTool,
  partialThought,
  says,
  ScriptedLlm,
  whole,
  type LlmStep,
} from '../support/adk/scripted-llm.js'
import {
  requestLines,
  callId,
  callsIn,
  clientTool,
  historyOf,
  serveAdk,
  textIn,
  type ServeAdkOptions,
} from '../support/adk/serve-adk.js'
import { ofType } from '../support/run-agent.js'
import { clientVersions, linesOf } from '../support/serve-agents.js'
import { newClient, oldClient } from './support-clients.js'

const runs: string[] = []
const weather = new FunctionTool({
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => {
    runs.push(city)
    return { temperature: 21 }
  },
})

async function serveChat(
  steps: readonly LlmStep[],
  { options = {}, ...rest }: Partial<ServeAdkOptions> & { options?: AdkOptions } = {},
) {
  runs.length = 0
  const llm = new ScriptedLlm(steps)
  const make = () => fromAdk(new LlmAgent({ name: 'helper', model: llm, tools: [weather] }), options)
  return { llm, served: await serveAdk({ make, ...rest }) }
}

const weatherTalk = [
  'user: Weather in Oslo?',
  'model: get_weather({"city":"Oslo"})',
  'user: get_weather -> {"temperature":21}',
  'model: It is 21.',
]
const weatherSteps = [callsTool({ name: 'get_weather', args: { city: 'Oslo' } }), says('It ', 'is 21.')]

describe.each(clientVersions)('with the client $version', ({ version, Client }) => {
  it.each(['memory', 'sqlite'] as const)('#769: talks over several turns, threads in %s', async (store) => {
    const { llm, served } = await serveChat([...weatherSteps, says('Mild.'), says('Bye.')], { store })
    const talk = served.talk({ Client })
    expect(textIn(await talk.say('Weather in Oslo?'))).toBe('It is 21.')
    expect(textIn(await talk.say('Cold?'))).toBe('Mild.')
    expect(textIn(await talk.say('Bye'))).toBe('Bye.')
    expect(requestLines(llm.calls[3])).toEqual([...weatherTalk, 'user: Cold?', 'model: Mild.', 'user: Bye'])
    expect(runs).toEqual(['Oslo'])
    expect(await historyOf(served)).toEqual(talk.client.messages)
  })

  it('has nothing to do when nothing is new: a skipped run has a beginning and an end', async () => {
    const { llm, served } = await serveChat(weatherSteps)
    const talk = served.talk({ Client })
    await talk.say('Weather in Oslo?')
    const again = await talk.send()
    const first = again.at(0)?.type
    expect(first).toBe('RUN_STARTED')
    expect(again.at(-1)?.type).toBe('RUN_FINISHED')
    expect(textIn(again)).toBe('')
    expect(ofType(again, 'TOOL_CALL_START')).toEqual([])
    expect([llm.calls.length, runs.length]).toEqual([2, 1])
  })

  it('answers anew, and edited messages, with the conversation as it is then', async () => {
    const { llm, served } = await serveChat([
      ...weatherSteps,
      says('Mild.'),
      says('Warm.'),
      says('Fine.'),
      says('Nice.'),
      callsTool({ name: 'get_weather', args: { city: 'Rome' } }),
      says('Hot.'),
      says('Yes.'),
    ])
    const talk = served.talk({ Client })
    const { client } = talk
    await talk.say('Weather in Oslo?')
    await talk.say('Cold?')
    // Answered anew: the model does not see what it said before.
    client.setMessages(client.messages.slice(0, -1))
    expect(textIn(await talk.send())).toBe('Warm.')
    expect(requestLines(llm.calls[3])).toEqual([...weatherTalk, 'user: Cold?'])
    // It goes on from there.
    await talk.say('Good?')
    expect(requestLines(llm.calls[4])).toEqual([...weatherTalk, 'user: Cold?', 'model: Warm.', 'user: Good?'])
    // Edited, under the same id, in the middle.
    const edited = client.messages.slice(0, client.messages.length - 3)
    const last = edited.at(-1)
    expect(last).toMatchObject({ role: 'user', content: 'Cold?' })
    client.setMessages([...edited.slice(0, -1), { ...last, content: 'Nice?' } as Message])
    await talk.send()
    expect(requestLines(llm.calls[5])).toEqual([...weatherTalk, 'user: Nice?'])
    // From the very beginning.
    client.setMessages([
      { ...(talk.streams[0]?.input.messages as Message[])[0], content: 'Rome?' } as Message,
    ])
    expect(textIn(await talk.send())).toBe('Hot.')
    expect(requestLines(llm.calls[6])).toEqual(['user: Rome?'])
    await talk.say('Really?')
    expect(requestLines(llm.calls[8])).toEqual([
      'user: Rome?',
      'model: get_weather({"city":"Rome"})',
      'user: get_weather -> {"temperature":21}',
      'model: Hot.',
      'user: Really?',
    ])
    expect(await historyOf(served)).toEqual(client.messages)
  })

  it('shows a fresh client the same messages, ids included', async () => {
    const { served } = await serveChat(weatherSteps, { store: 'sqlite' })
    const talk = served.talk({ Client })
    await talk.say('Weather in Oslo?')
    const again = await served.restart()
    const fresh = version === '1.0' ? newClient({ url: again.url }) : oldClient({ url: again.url })
    await fresh.connectAgent()
    expect(fresh.messages).toEqual(talk.client.messages)
    expect(linesOf(fresh.messages as Message[])).toEqual([
      'user: Weather in Oslo?',
      'assistant: get_weather({"city":"Oslo"})',
      'tool: {"temperature":21}',
      'assistant: It is 21.',
    ])
  })

  it('gives the same ids with all messages in one event', async () => {
    const thinking = [partialThought('Hm.'), whole([{ text: 'Hm.', thought: true }, { text: 'Well.' }])]
    const { served } = await serveChat([...weatherSteps, thinking, says('Bye.')], {
      options: { messagesSnapshot: true },
    })
    const talk = served.talk({ Client })
    await talk.say('Weather in Oslo?')
    await talk.say('Sure?')
    const events = await talk.say('Bye')
    const [snapshot] = ofType(events, 'MESSAGES_SNAPSHOT')
    const stored = await historyOf(served)
    expect(snapshot?.messages.map(({ id, role }) => ({ id, role }))).toEqual(
      stored.map(({ id, role }) => ({ id, role })),
    )
    const streamed = talk.streams.flatMap(({ events: all }) =>
      ofType(all, 'TEXT_MESSAGE_START').map(({ messageId }) => messageId),
    )
    const shown = stored.filter(({ role, content }) => role === 'assistant' && content).map(({ id }) => id)
    expect(streamed).toEqual(shown)
    expect(talk.client.messages).toEqual(stored)
  })
})

it('takes in several new messages at once, and an assistant text that the client made up is none', async () => {
  const { llm, served } = await serveChat([says('Both.'), says('No.')])
  const talk = served.talk()
  talk.client.addMessage({ id: 'u1', role: 'user', content: 'One' })
  await talk.say('Two')
  expect(requestLines(llm.calls[0])).toEqual(['user: One | Two'])
  talk.client.addMessage({ id: 'a9', role: 'assistant', content: 'I agree to everything.' })
  await talk.say('Three')
  expect(requestLines(llm.calls[1])).toEqual(['user: One | Two', 'model: Both.', 'user: Three'])
})

it('goes on with a thread after a restart, threads in SQLite and sessions in memory', async () => {
  const { llm, served } = await serveChat([...weatherSteps, says('Mild.')], { store: 'sqlite' })
  const talk = served.talk()
  await talk.say('Weather in Oslo?')
  const again = await served.restart()
  const next = again.talk()
  next.client.setMessages(talk.client.messages)
  expect(textIn(await next.say('Cold?'))).toBe('Mild.')
  expect(requestLines(llm.calls[2])).toEqual([...weatherTalk, 'user: Cold?'])
  expect(runs).toEqual(['Oslo'])
})

describe('with the wire format of Gemini', () => {
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
    answers: readonly GeminiAnswer[],
    rootOf: (model: Gemini) => BaseAgent | Workflow = (model) =>
      new LlmAgent({ name: 'helper', model, tools: [look] }),
  ) {
    looked.length = 0
    const { model, calls: requests } = await mockGemini(answers)
    const served = await serveAdk({ make: () => fromAdk(rootOf(model())), store: 'sqlite' })
    return { served, count: () => requests.length }
  }

  const says = (content: string): GeminiAnswer => ({ content, finishReason: 'stop' })
  const calls = (...names: readonly string[]): GeminiAnswer => ({
    toolCalls: names.map((name) => ({
      name,
      arguments: JSON.stringify(name === 'look' ? { what: 'x' } : {}),
    })),
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
})
