import { FunctionTool, LlmAgent, StreamingMode, type LlmAgentConfig } from '@google/adk'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createClient, idOf, ofType } from '../../test/support/run-agent.js'
import { demoLlm } from './demo-llm.js'
import { fromAdk } from './from-adk.js'
import type { AdkOptions } from './options.js'

const parameters = z.object({ city: z.string(), days: z.number().int().optional() })
const weather = new FunctionTool({
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  parameters,
  execute: ({ city }) => ({ city, temperature: 7 }),
})
const failing = new FunctionTool({
  name: 'send_mail',
  description: 'Sends a mail.',
  parameters: z.object({ to: z.string() }),
  execute: () => Promise.reject(new Error('no route')),
})

function talkTo(config: Partial<LlmAgentConfig> = {}, options: AdkOptions = {}) {
  const model = demoLlm({ paceMs: 0 })
  return createClient(fromAdk(new LlmAgent({ name: 'helper', model, ...config }), options))
}

it('streams what it says', async () => {
  const { events, outcome } = await talkTo().say('Tell me a story.')
  expect(ofType(events, 'TEXT_MESSAGE_CONTENT').length).toBeGreaterThan(10)
  expect(outcome).toMatchObject({ type: 'completed', text: expect.stringMatching(/^Once a mill/) as string })
})

it('says it whole when it is not to stream', async () => {
  const { events } = await talkTo({}, { runConfig: { streamingMode: StreamingMode.NONE } }).say('Hello')
  expect(ofType(events, 'TEXT_MESSAGE_CONTENT')).toHaveLength(1)
})

it('thinks, calls the tool that fits, and tells its result', async () => {
  const { events, outcome } = await talkTo({ tools: [weather, failing] }).say('Is it raining in Oslo?')
  expect(ofType(events, 'REASONING_MESSAGE_CONTENT').length).toBeGreaterThan(1)
  expect(ofType(events, 'TOOL_CALL_ARGS').map(({ delta }) => delta)).toEqual(['{"city":"Oslo"}'])
  expect(outcome).toMatchObject({ text: 'Here is what I found: city is Oslo and temperature is 7.' })
})

it('tells of a tool that failed', async () => {
  const { outcome } = await talkTo({ tools: [failing] }).say('Send a mail to Bob.')
  expect(outcome).toMatchObject({ text: expect.stringContaining('no route') as string })
})

it('knows whose question came last', async () => {
  const client = talkTo({ tools: [weather] })
  await client.say('Is it raining in Oslo?')
  const { outcome } = await client.say('And what is the weather in Bergen?')
  expect(outcome).toMatchObject({ text: 'Here is what I found: city is Bergen and temperature is 7.' })
})

it('tells what a person agreed to', async () => {
  const book = new FunctionTool({
    name: 'book_table',
    description: 'Books a table.',
    parameters: z.object({ people: z.number().int() }),
    requireConfirmation: true,
    execute: ({ people }) => `A table for ${people} is booked.`,
  })
  const client = talkTo({ tools: [book] })
  const asked = await client.say('Book a table for 2.')
  const { outcome } = await client.answer({ [idOf(asked)]: { confirmed: true } })
  expect(outcome).toMatchObject({ text: 'Here is what I found: A table for 2 is booked.' })
})

it('fills in a schema', async () => {
  const { outcome } = await talkTo({ outputSchema: parameters }).say('Tell me about Rome')
  expect(outcome).toMatchObject({ type: 'completed', result: { city: 'Rome' } })
})
