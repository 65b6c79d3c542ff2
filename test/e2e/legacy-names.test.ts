import { HttpAgent as OldHttpAgent } from 'ag-ui-client-0.0.59'
import { expect, it } from 'vitest'
import { defineAgent, defineTool, sequential } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { toAgUi } from '../../src/remote/index.js'
import { ofType } from '../support/run-agent.js'
import { clientVersions, serveAgents, type ClientClass } from '../support/serve-agents.js'

const look = defineTool({ name: 'look', description: 'Looks.', execute: () => 'seen' })

function crew() {
  const scout = defineAgent({
    name: 'scout',
    model: scriptedModel([[{ toolCall: { name: 'look', args: {} } }], 'I see.', 'I see more.', 'I see.']),
    tools: [look],
  })
  const cook = defineAgent({ name: 'cook', model: scriptedModel(['I cook.', 'I cook more.', 'I cook.']) })
  return sequential({ name: 'crew', agents: [scout, cook] })
}

interface Named {
  readonly role: string
  readonly name?: string
  readonly content?: unknown
}

const texts = (messages: readonly Named[]) =>
  messages.flatMap(({ role, name = '', content }) =>
    role === 'assistant' && typeof content === 'string' && content !== '' ? [`${name}: ${content}`] : [],
  )

const OldClient = OldHttpAgent as unknown as ClientClass
const first = ['scout: I see.', 'cook: I cook.']

it('the agents of a team have their names for a client before 1.0', async () => {
  const served = await serveAgents({ agents: [crew()] })
  const talk = served.talk({ Client: OldClient })
  await talk.say('Go.')
  await talk.say('More.')
  const all = [...first, 'scout: I see more.', 'cook: I cook more.']
  expect(texts(talk.client.messages as Named[])).toEqual(all)
  // It is brought up to date, and hears the others then.
  const fresh = served.talk({ Client: OldClient })
  await fresh.say('Once more.')
  expect(texts(fresh.client.messages as Named[]).slice(0, 4)).toEqual(all)
})

it.each(clientVersions)('they have them in what a client of $version loads', async ({ version, Client }) => {
  const served = await serveAgents({ agents: [crew()] })
  await served.talk({ Client }).say('Go.')
  const declared = version === '1.0' ? { protocolVersion: '1.0' } : {}
  const { events } = await served.stream('/connect', { body: { threadId: 'thread-1', ...declared } })
  expect(ofType(events, 'MESSAGES_SNAPSHOT').map(({ messages }) => texts(messages as Named[]))).toEqual([
    first,
  ])
  const { body } = await served.ask('GET /message_snapshot/thread-1')
  expect(texts((body as { readonly messages: readonly Named[] }).messages)).toEqual(first)
})

it('agents of toAgUi have their names on their messages for clients before 1.0', async () => {
  const client = toAgUi(crew(), { clients: '0.0.59' })
  client.addMessage({ id: 'u1', role: 'user', content: 'Go.' })
  await client.runAgent()
  expect(texts(client.messages as Named[])).toEqual(first)
})

it('a message that is rewritten keeps the name of its agent', async () => {
  const busy = { error: { status: 503, message: 'busy' } }
  const retry = { initialDelayMs: 0 }
  const model = scriptedModel([['Half', busy], 'Whole.'])
  const scout = defineAgent({ name: 'scout', model, retry })
  const served = await serveAgents({ agents: [sequential({ name: 'crew', agents: [scout] })] })
  const talk = served.talk({ Client: OldClient })
  const events = await talk.say('Go.')
  expect(ofType(events, 'MESSAGES_SNAPSHOT')).toHaveLength(1)
  expect(texts(talk.client.messages as Named[])).toEqual(['scout: Whole.'])
})
