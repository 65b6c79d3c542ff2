import { MemorySaver } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { expect, it } from 'vitest'
import { clientContext, clientTools, fromLangGraph, toChatModel } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { serveAgents } from '../support/serve-agents.js'
import { eventsTo, newClient } from './support-clients.js'

it('a LangChain agent reads the context of the page behind the last message, and no thread keeps it', async () => {
  const model = scriptedModel(['Hello, Bob.', 'A dot.', 'As before.'])
  const agent = createAgent({
    model: toChatModel(model),
    middleware: [clientTools(), clientContext()],
    checkpointer: new MemorySaver(),
  })
  const { url } = await serveAgents({ agents: [fromLangGraph(agent.graph, { name: 'guide' })] })
  const client = newClient({ url })
  const events = eventsTo(client)
  const context = [{ description: 'Name of the user', value: 'Bob' }]
  client.addMessage({ id: 'u1', role: 'user', content: 'Who am I?' })
  await client.runAgent({ context })
  client.addMessage({
    ...{ id: 'u2', role: 'user' },
    content: [
      { type: 'text', text: 'And this?' },
      { type: 'image', source: { type: 'data', value: 'aW1hZ2U=', mimeType: 'image/png' } },
    ],
  })
  await client.runAgent({ context })
  client.addMessage({ id: 'u3', role: 'user', content: 'Without context?' })
  await client.runAgent()
  const users = model.requests.map(({ messages }) =>
    messages.filter(({ role }) => role === 'user').map(({ content }) => content),
  )
  const told = 'Context from the application, as it is now:\nName of the user: Bob'
  expect(users[0]).toEqual([`Who am I?\n\n${told}`])
  expect(users[1]?.[0]).toBe('Who am I?')
  expect(users[1]?.[1]).toMatchObject([{ text: 'And this?' }, { type: 'image' }, { text: told }])
  expect(JSON.stringify(users[2])).not.toContain('Bob')
  expect(events.filter(({ type }) => type === 'RUN_FINISHED')).toHaveLength(3)
  expect(JSON.stringify(client.messages.filter(({ role }) => role === 'user'))).not.toContain('Bob')
})
