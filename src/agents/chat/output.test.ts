import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { endsSoon } from '../../../test/support/ends-soon.js'
import { createClient, play } from '../../../test/support/run-agent.js'
import { scriptedModel } from '../../models/index.js'
import { defineTool } from '../tools/define-tool.js'
import { defineAgent, type AgentOptions } from './chat-agent.js'
import { createOutput } from './output.js'

const output = z.object({ city: z.string(), days: z.number().default(1) })

function agentOf(script: Parameters<typeof scriptedModel>[0], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(script)
  return { model, agent: defineAgent({ name: 'a', model, output, ...options }) }
}

describe('structured output', () => {
  test('is the result of the run, as the schema gives it', async () => {
    const { agent, model } = agentOf(['{"city":"Oslo"}'])
    const { events, outcome } = await play(agent, 'Where?')
    expect(outcome).toMatchObject({
      type: 'completed',
      result: { city: 'Oslo', days: 1 },
      text: '{"city":"Oslo"}',
    })
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', result: { city: 'Oslo', days: 1 } })
    expect(model.requests[0]?.output?.schema).toMatchObject({ type: 'object', required: ['city'] })
  })

  test('that does not fit is named by its field, also in the middle of a text', async () => {
    const { agent, model } = agentOf(['Here it is: {"city":7}. Good?', '{"city":"Oslo"}'])
    expect((await play(agent, 'Where?')).outcome).toMatchObject({ result: { city: 'Oslo' } })
    expect(model.requests[1]?.messages.at(-1)?.content).toContain('$.city')
  })

  test.each([
    'Sure!\n```json\n{"city":"Oslo"}\n```\nAnything else?',
    'It is {"city":"Oslo"}.',
    '```json\n{"city":"Oslo"}\n```',
    '```\n{"city":"Oslo"}```\n',
    '  {"city":"Oslo"} ',
  ])('may come as %j', async (text) => {
    expect((await play(agentOf([text]).agent, 'Where?')).outcome).toMatchObject({
      result: { city: 'Oslo' },
    })
  })

  test('may be described by plain JSON Schema', async () => {
    const { agent } = agentOf(['{"a":1}'], { output: { type: 'object', required: ['a'] } })
    expect((await play(agent, 'Where?')).outcome).toMatchObject({ result: { a: 1 } })
  })

  test('comes after the tools, whose turns are not judged by it', async () => {
    const look = defineTool({ name: 'look', description: 'Looks.', execute: () => 'Oslo' })
    const { agent, model } = agentOf([['Let me look.', { toolCall: { name: 'look' } }], '{"city":"Oslo"}'], {
      tools: [look],
      outputKey: 'where',
      middlewares: [{ onEnd: ({ result }, { values }) => expect(values.get('where')).toBe(result) }],
    })
    expect((await play(agent, 'Where?')).outcome).toMatchObject({
      type: 'completed',
      result: { city: 'Oslo' },
    })
    expect(model.requests).toHaveLength(2)
  })

  test('that does not fit is requested again, with the reason', async () => {
    const { agent, model } = agentOf(['Oslo, I think.', '{"city":7}', '{"city":"Oslo"}', '{"city":"Bergen"}'])
    const client = createClient(agent)
    expect((await client.say('Where?')).outcome).toMatchObject({
      type: 'completed',
      result: { city: 'Oslo' },
    })
    const asked = model.requests.map(({ messages }) => messages.map(({ role, content }) => [role, content]))
    expect(asked[1]).toEqual([
      ['user', 'Where?'],
      ['assistant', 'Oslo, I think.'],
      ['user', expect.stringContaining('not JSON') as string],
    ])
    expect(asked[2]?.at(-1)).toEqual(['user', expect.stringContaining('$.city') as string])
    const ids = model.requests[2]?.messages.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids?.length)
    await client.say('And now?')
    expect(model.requests[3]?.messages.map(({ content }) => content)).toEqual([
      ...['Where?', '{"city":"Oslo"}', 'And now?'],
    ])
  })

  test('that never fits fails the run, without a result', async () => {
    const { agent, model } = agentOf(['no', 'no', 'no'])
    const { events, outcome } = await play(agent, 'Where?')
    expect(outcome).toMatchObject({
      type: 'failed',
      error: { code: 'MODEL_ERROR', message: expect.stringContaining('after 3 attempts') as string },
    })
    expect(events.at(-1)?.type).toBe('RUN_ERROR')
    expect(model.requests).toHaveLength(3)
  })

  test('is judged after the verdict of the agent, which may reject it first', async () => {
    const { agent } = agentOf(['{"city":"Oslo"}', 'no', '{"city":"Bergen"}'], {
      retry: {
        verdict: ({ answer }) =>
          answer?.text.includes('Oslo') === true
            ? { retry: true, reason: 'elsewhere', delayMs: 0 }
            : 'accept',
      },
    })
    expect((await play(agent, 'Where?')).outcome).toMatchObject({ result: { city: 'Bergen' } })
  })
})

test.each([
  ['a fence that never closes', '```', ' '],
  ['lists that never close', '[', '['],
  ['objects that never close', '', '{"a":'],
])('%s is looked for in linear time', async (_, start, piece) => {
  const output = createOutput({ type: 'object' }, 'a')
  let parsed: Promise<unknown> = Promise.resolve()
  endsSoon(() => {
    parsed = output.parse(start + piece.repeat(300_000))
    parsed.catch(() => undefined)
  })
  await expect(parsed).rejects.toThrow('The answer is not JSON.')
})
