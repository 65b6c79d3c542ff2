import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../src/agents/index.js'
import { demoModel, type Model } from '../../src/models/index.js'
import { play } from '../support/run-agent.js'
import { serveAgents } from '../support/serve-agents.js'
import { clients, connect, startMock } from './support-models-providers.js'

const weather = defineTool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: () => ({ sky: 'grey' }),
})

/** Asks an agent with this model; the stream is linted. Gives the text and the arguments of tool calls. */
async function ask(model: Model) {
  const agent = defineAgent({ name: 'concierge', instructions: 'Help guests.', model, tools: [weather] })
  const { events } = await play(agent, 'Is it raining in Oslo?')
  const joined = (type: 'TEXT_MESSAGE_CONTENT' | 'TOOL_CALL_ARGS') =>
    events.map((event) => (event.type === type ? event.delta : '')).join('')
  return { text: joined('TEXT_MESSAGE_CONTENT'), args: joined('TOOL_CALL_ARGS') }
}

test.each(clients)('an agent on $name calls its tool and answers from the result', async (client) => {
  const mock = await startMock({ chunkSize: 4 })
  const toolCalls = [{ id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' }]
  mock.on({ hasToolResult: false }, { reasoning: 'I look.', toolCalls })
  mock.on({ hasToolResult: true }, { content: 'It is grey.' })
  const { model, bodies } = connect(client, mock.url)
  expect(await ask(model)).toEqual({ text: 'It is grey.', args: '{"city":"Oslo"}' })
  expect(bodies).toHaveLength(2)
  expect(JSON.stringify(bodies[1])).toContain('grey')
})

test('an agent on the demo model calls its tool and answers from the result', async () => {
  expect(await ask(demoModel({ paceMs: 0 }))).toEqual({
    text: 'The sky is grey.',
    args: '{"city":"Oslo"}',
  })
})

const address = z.object({ street: z.string(), floor: z.number().nullable() })
const tags = z.record(z.string(), z.string())
const shapes: readonly { what: string; output: z.ZodType; answer: object; warning?: string }[] = [
  {
    what: 'objects in objects and lists',
    output: z.object({ name: z.string(), home: address, others: z.array(address) }),
    answer: { name: 'Ann', home: { street: 'Elm', floor: null }, others: [{ street: 'Oak', floor: 2 }] },
  },
  {
    what: 'alternatives',
    output: z.object({ reached: z.union([address, z.object({ mail: z.email() })]) }),
    answer: { reached: { mail: 'ann@example.org' } },
  },
  {
    what: 'an optional field',
    output: z.object({ home: address.extend({ nick: z.string().optional() }) }),
    answer: { home: { street: 'Elm', floor: 1 } },
    warning: '$.home.nick is optional',
  },
  { what: 'a record', output: z.object({ tags }), answer: { tags: { a: 'b' } }, warning: '$.tags has' },
  {
    what: 'a URL',
    output: z.object({ page: z.url() }),
    answer: { page: 'https://example.org' },
    warning: "$.page has the format 'uri'",
  },
]

describe.each(clients)('an agent on $name', (client) => {
  test.each(shapes)('answers with an output of $what', async ({ output, answer, warning }) => {
    const mock = await startMock()
    mock.on({ predicate: () => true }, { content: JSON.stringify(answer) })
    const { model, warnings } = connect(client, mock.url)
    const served = await serveAgents({ agents: [defineAgent({ name: 'clerk', model, output })] })
    const talk = served.talk()
    const isStrict = client.api === 'chat' || client.api === 'responses'
    for (const question of ['Who is it?', 'And now?'])
      expect((await talk.say(question)).at(-1)).toMatchObject({ type: 'RUN_FINISHED', result: answer })
    // Once, not with every request.
    const loose = warnings.filter((one) => one.includes('strict'))
    expect(loose).toEqual(isStrict && warning !== undefined ? [expect.stringContaining(warning)] : [])
  })
})

test.each(clients)(
  "the client's context reaches $name behind all that stays the same from turn to turn",
  async (client) => {
    const mock = await startMock()
    const toolCalls = [{ id: 'call_1', name: 'get_weather', arguments: '{}' }]
    mock.on({ hasToolResult: false }, { toolCalls })
    mock.on({ hasToolResult: true }, { content: 'Yes.' })
    const { model, bodies } = connect(client, mock.url)
    const agent = defineAgent({ name: 'concierge', instructions: 'Help guests.', model, tools: [weather] })
    const talk = (await serveAgents({ agents: [agent] })).talk()
    const on = (value: string) => ({ context: [{ description: 'The page', value }] })
    await talk.say('Is this open?', on('Pool'))
    await talk.say('And this?', on('Bar'))
    const sent = bodies.map((body) => JSON.stringify(body.messages ?? body.input ?? body.contents))
    expect(sent.map((text) => text.split('The page: Pool').length - 1)).toEqual([1, 1, 0, 0])
    const [question = '', context = ''] = sent[2]?.split('Context from the application') ?? []
    expect(question).toContain('And this?')
    expect(context).toContain('The page: Bar')
    // What stays is told once, and the same each time.
    const told = bodies.map(({ system, instructions, systemInstruction, tools }) =>
      JSON.stringify([system, instructions, systemInstruction, tools]),
    )
    expect(new Set(told).size).toBe(1)
    expect(told.join() + sent.join()).toContain('Help guests.')
  },
)

test('a file handle that the model cannot take is reported, once in a run', async () => {
  const mock = await startMock()
  mock.on({ hasToolResult: false }, { toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: '{}' }] })
  mock.on({ hasToolResult: true }, { content: 'I see.' })
  const [client] = clients
  if (!client) throw new Error('There is no client.')
  const agent = defineAgent({ name: 'concierge', model: connect(client, mock.url).model, tools: [weather] })
  const problems: unknown[] = []
  const warn = (facts: object): void => void problems.push('problem' in facts ? facts.problem : facts)
  const log = { debug: () => undefined, info: () => undefined, warn, error: warn }
  const { client: page } = (await serveAgents({ agents: [agent], log })).talk()
  const source = { type: 'file' as const, value: 'file-2', provider: 'elsewhere' }
  const content = [
    { type: 'text' as const, text: 'Look.' },
    { type: 'document' as const, source },
  ]
  page.addMessage({ id: 'u1', role: 'user', content })
  await page.runAgent()
  expect(problems).toEqual(['A part of type document (from a file) was left out: the model cannot take it.'])
})
