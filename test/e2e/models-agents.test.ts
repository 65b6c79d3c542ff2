import { expect, test } from 'vitest'
import { defineAgent, defineTool } from '../../src/agents/index.js'
import { demoModel, type Model } from '../../src/models/index.js'
import { play } from '../support/run-agent.js'
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
    text: 'Here is what I found: sky is grey.',
    args: '{"city":"Oslo"}',
  })
})
