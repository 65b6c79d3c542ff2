import { LLMock } from '@copilotkit/aimock'
import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { tool } from '@langchain/core/tools'
import type { BaseCheckpointSaver } from '@langchain/langgraph'
import { ChatGoogleGenerativeAI } from '@langchain/google-genai'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent } from 'langchain'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { historyOf, serveGraph, textIn } from '../support/langgraph/serve-graph.js'
import { ofType, resultsIn } from '../support/run-agent.js'
import { linesOf } from '../support/serve-agents.js'

type Fixture = Parameters<LLMock['on']>[1]

const mocks = new Set<LLMock>()

afterEach(async () => {
  const all = [...mocks]
  mocks.clear()
  await Promise.all(all.map((mock) => mock.stop()))
})

const look = tool(({ what }) => `found ${what}`, {
  name: 'look',
  description: 'Looks.',
  schema: z.object({ what: z.string() }),
})

/** The real clients of the providers, talking to a mock of the service. */
const providers: Readonly<Record<string, (url: string) => BaseChatModel>> = {
  'OpenAI chat': (url) =>
    new ChatOpenAI({
      ...{ model: 'gpt-4o', apiKey: 'test', maxRetries: 0, streaming: true },
      configuration: { baseURL: `${url}/v1` },
    }),
  'OpenAI responses': (url) =>
    new ChatOpenAI({
      ...{ model: 'gpt-5-mini', apiKey: 'test', maxRetries: 0, streaming: true, useResponsesApi: true },
      configuration: { baseURL: `${url}/v1` },
    }),
  Anthropic: (url) =>
    new ChatAnthropic({
      ...{ model: 'claude-sonnet-4-5', apiKey: 'test', maxRetries: 0, streaming: true },
      anthropicApiUrl: url,
    }),
  Gemini: (url) =>
    new ChatGoogleGenerativeAI({
      ...{ model: 'gemini-2.5-flash', apiKey: 'test', maxRetries: 0, streaming: true },
      baseUrl: url,
    }),
}

async function serveMocked(create: (url: string) => BaseChatModel, answers: readonly Fixture[]) {
  const mock = await LLMock.create({ port: 0, chunkSize: 4 })
  mocks.add(mock)
  let count = 0
  const next = () => answers[count++] ?? { content: 'Too often.', finishReason: 'stop' }
  mock.on({}, next as Fixture)
  const make = (checkpointer: BaseCheckpointSaver) =>
    fromLangGraph(createAgent({ model: create(mock.url), tools: [look], checkpointer }).graph, {
      name: 'helper',
    })
  return { served: await serveGraph({ make, store: 'sqlite', checkpoints: 'sqlite' }), count: () => count }
}

const says = (content: string): Fixture => ({ content })
const calls: Fixture = { toolCalls: [{ name: 'look', arguments: '{"what":"x"}' }] }

describe.each(Object.entries(providers))('%s', (name, create) => {
  it('streams a text, runs a tool, and goes on with the conversation after a restart', async () => {
    const { served, count } = await serveMocked(create, [calls, says('I have found it.'), says('Bye then.')])
    const talk = served.talk()
    const events = await talk.say('Look')
    expect(textIn(events)).toBe('I have found it.')
    expect(ofType(events, 'TEXT_MESSAGE_CONTENT').length).toBeGreaterThan(1)
    expect(ofType(events, 'TEXT_MESSAGE_START')).toHaveLength(1)
    expect(resultsIn(events)).toHaveLength(1)
    const again = await served.restart()
    expect(await historyOf(again)).toEqual(talk.client.messages)
    const next = again.talk()
    next.client.setMessages(talk.client.messages)
    expect(textIn(await next.say('Bye'))).toBe('Bye then.')
    expect(count()).toBe(3)
    expect(linesOf(next.client.messages)).toEqual([
      'user: Look',
      'assistant: look({"what":"x"})',
      'tool: found x',
      'assistant: I have found it.',
      'user: Bye',
      'assistant: Bye then.',
    ])
  })

  it('a service that is out of quota is one error without its secrets, and the thread goes on', async () => {
    const { served } = await serveMocked(create, [
      { error: { message: 'quota-secret', type: 'rate_limit_error' }, status: 429 },
      says('Back.'),
    ])
    const talk = served.talk()
    await talk.say('Go').catch(() => undefined)
    const events = talk.streams[0]?.events ?? []
    expect(ofType(events, 'RUN_ERROR')).toHaveLength(1)
    expect(JSON.stringify(events)).not.toContain('quota-secret')
    expect(textIn(await talk.say('Again'))).toBe('Back.')
  })

  // LangChain's client for Chat Completions does not read what other services add to it.
  if (name === 'OpenAI chat') return

  it('reasoning is shown before the text', async () => {
    const { served } = await serveMocked(create, [
      { content: 'Two.', reasoning: 'One and one.' },
      says('Sure.'),
    ])
    const talk = served.talk()
    const events = await talk.say('Add')
    expect(
      ofType(events, 'REASONING_MESSAGE_CONTENT')
        .map(({ delta }) => delta)
        .join(''),
    ).toBe('One and one.')
    expect(textIn(events)).toBe('Two.')
    expect(textIn(await talk.say('Sure?'))).toBe('Sure.')
    expect(await historyOf(served)).toEqual(talk.client.messages)
  })
})
