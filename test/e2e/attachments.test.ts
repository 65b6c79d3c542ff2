import { LlmAgent } from '@google/adk'
import type { ContentPart } from '@ag-ui/core'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import { fromAdk } from '../../src/adk/index.js'
import { defineAgent, type Agent } from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel, type ModelRequest } from '../../src/models/index.js'
import { says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { FakeModel } from '../support/langgraph/fake-model.js'
import { ask, historyOf, serving } from './support-server.js'
import { openStream } from './support-stream.js'

const data = (value: string, mimeType: string) => ({ type: 'data' as const, value, mimeType })

/** What a page of CopilotKit sends: files as data, with their names. */
const fromCopilotKit: readonly ContentPart[] = [
  { type: 'text', text: 'Look.' },
  { type: 'image', source: data('aW1hZ2U=', 'image/png'), metadata: { filename: 'a.png' } },
  { type: 'audio', source: data('c291bmQ=', 'audio/mpeg'), metadata: { filename: 'b.mp3' } },
  { type: 'document', source: data('JVBERg==', 'application/pdf'), metadata: { filename: 'c.pdf' } },
]

/** What a page of assistant-ui sends: also addresses, of an image without its type. */
const fromAssistantUi: readonly ContentPart[] = [
  { type: 'text', text: 'Look.' },
  { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } },
  { type: 'audio', source: data('c291bmQ=', 'audio/mp3') },
  { type: 'document', source: data('dGV4dA==', 'text/plain'), metadata: { filename: 'c.txt' } },
]

/** Clients before 1.0 have one kind of part for all files. */
const fromOldClients = [
  { type: 'text', text: 'Look.' },
  { type: 'binary', mimeType: 'image/png', data: 'aW1hZ2U=', filename: 'a.png' },
  { type: 'binary', mimeType: 'audio/mpeg', data: 'c291bmQ=', filename: 'b.mp3' },
  { type: 'binary', mimeType: 'application/pdf', data: 'JVBERg==', filename: 'c.pdf' },
]

function bodyOf(content: unknown) {
  return {
    ...{ threadId: 'thread-1', runId: 'run-1', tools: [], context: [], state: {}, forwardedProps: {} },
    messages: [{ id: 'u1', role: 'user', content }],
  }
}

async function send(agent: Agent, content: unknown, path = '/copilotkit/agent/default/run') {
  const { url } = await serving({ agents: [agent], copilotKit: true })
  await (await openStream(url + path, { body: bodyOf(content) })).whole()
  return url
}

function kitAgent() {
  const seen: ModelRequest[] = []
  const model = scriptedModel((request) => {
    seen.push(request)
    return 'I see.'
  })
  return { agent: defineAgent({ name: 'viewer', model }), content: () => seen[0]?.messages[0]?.content }
}

describe('attachments', () => {
  it.each([
    ['CopilotKit', fromCopilotKit, fromCopilotKit],
    ['assistant-ui', fromAssistantUi, fromAssistantUi],
    ['clients before 1.0', fromOldClients, fromCopilotKit],
  ])('of %s reach the model of a kit agent, and stay in the history', async (_name, content, expected) => {
    for (const path of ['/run', '/copilotkit/agent/viewer/run']) {
      const { agent, content: seen } = kitAgent()
      const url = await send(agent, content, path)
      expect(seen()).toEqual(expected)
      expect((await historyOf(url))[0]?.content).toEqual(expected)
    }
  })

  it('reach the model of an ADK agent', async () => {
    const llm = new ScriptedLlm([says('I see.')])
    await send(fromAdk(new LlmAgent({ name: 'viewer', model: llm })), fromCopilotKit)
    expect(llm.calls[0]?.at(-1)?.parts).toMatchObject([
      { text: 'Look.' },
      { inlineData: { data: 'aW1hZ2U=', mimeType: 'image/png' } },
      { inlineData: { data: 'c291bmQ=', mimeType: 'audio/mpeg' } },
      { inlineData: { data: 'JVBERg==', mimeType: 'application/pdf' } },
    ])
  })

  it('reach the model of a graph', async () => {
    const model = new FakeModel([['I see.']])
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('answer', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, 'answer')
      .compile()
    await send(fromLangGraph(graph, { name: 'viewer' }), fromCopilotKit)
    expect(model.calls[0]?.at(-1)?.content).toMatchObject([
      { type: 'text', text: 'Look.' },
      { type: 'image', data: 'aW1hZ2U=', mimeType: 'image/png' },
      { type: 'audio', data: 'c291bmQ=', mimeType: 'audio/mpeg' },
      { type: 'file', data: 'JVBERg==', mimeType: 'application/pdf' },
    ])
  })

  it('that are too large are refused with words that say how large they may be', async () => {
    const { agent } = kitAgent()
    const { url } = await serving({ agents: [agent], copilotKit: true, limits: { bodyBytes: 1000 } })
    const body = bodyOf([{ type: 'image', source: data('A'.repeat(2000), 'image/png') }])
    for (const path of ['/run', '/copilotkit/agent/viewer/run', '/copilotkit/agent/viewer/suggest'])
      expect(await ask(url + path, { body })).toMatchObject({
        status: 413,
        body: {
          error: { code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining('1000 bytes') as string },
        },
      })
  })
})
