import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { sequentialIds } from '../../core/ids.js'
import { scriptedModel, type ScriptedModel } from '../../models/index.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { assertValidStream } from '../../testing/index.js'
import type { Agent } from '../contract.js'
import { defineAgent, userMessage } from '../chat/chat-agent.js'
import { defineTool } from '../tools/define-tool.js'
import { type RunFields, type RunOptions, run } from '../run/run.js'
import { offloadResults } from './offload-results.js'
import { repairToolCalls } from './repair-tool-calls.js'
import { summarizeHistory } from './summarize/summarize-history.js'

/** Runs to the end, and checks what the client was sent. */
async function runThrough(
  agent: Agent,
  messages: readonly Message[],
  { resume = [], ...options }: RunOptions & Pick<RunFields, 'resume'> = {},
) {
  const input = { threadId: 't', runId: `r${resume.length}`, messages, resume }
  const running = run(agent, input, { newId: sequentialIds(), ...options })
  const events: AgUiEvent[] = []
  for await (const event of running) events.push(event)
  assertValidStream(events, { input })
  return { events, outcome: await running.result }
}

/** What the model read in the messages of its n-th request. */
function read(model: ScriptedModel, index: number): (Message['content'] | undefined)[] {
  return model.requests[index]?.messages.map(({ content }) => content) ?? []
}

test('a call that was never answered is answered for the model', async () => {
  const model = scriptedModel(['As you like.'])
  const agent = defineAgent({ name: 'concierge', model, middlewares: [repairToolCalls()] })
  const call = { id: 'c1', type: 'function', function: { name: 'book', arguments: '{}' } } as const
  const { outcome } = await runThrough(agent, [
    { id: 'u1', role: 'user', content: 'Book.' },
    { id: 'a1', role: 'assistant', toolCalls: [call] },
    { id: 'u2', role: 'user', content: 'No, wait.' },
  ])
  expect(outcome).toMatchObject({ type: 'completed', text: 'As you like.' })
  const cancelled = 'The call of book was cancelled: it was not carried out and has no result.'
  expect(read(model, 0).slice(0, 4)).toEqual(['Book.', undefined, cancelled, 'No, wait.'])
})

test('a large result is shown in part, and the model reads the rest', async () => {
  const rows = 'row '.repeat(100)
  const query = defineTool({ name: 'query', description: 'Queries.', execute: () => rows })
  const model = scriptedModel([
    [{ toolCall: { id: 'c1', name: 'query' } }],
    [{ toolCall: { id: 'c2', name: 'read_result', args: { key: 'c1-1', offset: 392 } } }],
    'Rows.',
  ])
  const offload = offloadResults({ maxChars: 100, previewChars: 8, newId: sequentialIds() })
  const agent = defineAgent({ name: 'analyst', model, tools: [query], middlewares: [offload] })
  const { outcome, events } = await runThrough(agent, [userMessage('How many?', 'u1')])
  expect(outcome).toMatchObject({ type: 'completed', text: 'Rows.' })
  expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['query', 'read_result'])
  const results = events.flatMap((event) => (event.type === 'TOOL_CALL_RESULT' ? [event.content] : []))
  expect(results).toEqual([
    expect.stringContaining('It is stored under the key c1-1.'),
    'row row \n[characters 392 to 400 of 400; this is the end]',
  ])
  expect(read(model, 2)).toEqual(expect.arrayContaining(results))
})

describe('a long conversation', () => {
  const summarize = summarizeHistory({
    maxTokens: 200,
    keepTokens: 30,
    userTokens: 10,
    inputTokens: 400,
    prompt: 'Sum up.',
  })
  const history: Message[] = Array.from({ length: 30 }, (_, index) => ({
    id: `m${index}`,
    role: index % 2 === 0 ? 'assistant' : 'user',
    content: `${index} `.padEnd(40, 'x'),
  }))

  test('is summarized by the model of the agent, unseen by the client, and both calls are paid for', async () => {
    const model = scriptedModel([
      ['They talked.', { usage: { inputTokens: 90, outputTokens: 3 } }],
      ['Fine.', { usage: { inputTokens: 60, outputTokens: 2 } }],
    ])
    const agent = defineAgent({ name: 'concierge', model, middlewares: [summarize] })
    const { outcome, events } = await runThrough(agent, history)
    expect(events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT')).toMatchObject([{ delta: 'Fine.' }])
    expect(outcome.messages.map(({ id }) => id).slice(0, 30)).toEqual(history.map(({ id }) => id))
    expect(outcome.usage).toMatchObject([{ inputTokens: 150, outputTokens: 5 }])
    expect(model.requests[1]?.messages.map(({ id }) => id)).toEqual(['m26:summary', 'm27', 'm28', 'm29'])
  })

  test('is summarized again when the first attempt failed', async () => {
    const model = scriptedModel([[{ error: { status: 503 } }], [''], 'They talked.', 'Fine.'])
    const retry = { initialDelayMs: 0 }
    const agent = defineAgent({ name: 'concierge', model, retry, middlewares: [summarize] })
    const { outcome } = await runThrough(agent, history)
    expect(outcome).toMatchObject({ type: 'completed', text: 'Fine.' })
  })

  test('keeps its summary while the run waits for an answer', async () => {
    const book = defineTool({
      name: 'book',
      description: 'Books.',
      execute: async (_, ctx) => (await ctx.interrupt({ message: 'Really?' })).status,
    })
    const model = scriptedModel(['They talked.', [{ toolCall: { id: 'c1', name: 'book' } }], 'Booked.'])
    const agent = defineAgent({ name: 'concierge', model, tools: [book], middlewares: [summarize] })
    const { outcome: paused } = await runThrough(agent, history)
    if (paused.type !== 'interrupted') throw new Error(`the run is ${paused.type}`)
    const checkpoint: unknown = JSON.parse(JSON.stringify(paused.checkpoint))
    const resume = paused.interrupts.map(({ id }) => ({ interruptId: id, status: 'resolved' as const }))
    const { outcome } = await runThrough(agent, paused.messages, { resume, checkpoint })
    expect(outcome).toMatchObject({ type: 'completed', text: 'Booked.' })
    expect(model.requests).toHaveLength(3)
    expect(model.requests[2]?.messages[0]?.id).toBe('m26:summary')
  })
})
