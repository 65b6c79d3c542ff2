/**
 * Existing ADK sessions: a session service of the team's own, here with JSON files, and a conversation that a Runner had
 * before there was a server. Any `BaseSessionService` works; for example the one for databases:
 *
 *     import { DatabaseSessionService } from '@google/adk' // with @mikro-orm/postgresql installed
 *     fromAdk(agent, { sessionService: new DatabaseSessionService('postgresql://localhost/agents') })
 */
import assert from 'node:assert/strict'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpAgent, type Message } from '@ag-ui/client'
import { FunctionTool, LlmAgent, Runner } from '@google/adk'
import { demoLlm, fromAdk } from 'millrace/adk'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { z } from 'zod'
import { JsonSessions } from './json-sessions.js'

const weather = new FunctionTool({
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }, tool) => {
    tool?.state.set('lastCity', city)
    return { city, temperature: 7 }
  },
})
const guide = new LlmAgent({
  name: 'guide',
  model: process.env.GEMINI_API_KEY ? 'gemini-2.5-flash' : demoLlm(),
  instruction: 'Look the weather up, never guess it.',
  tools: [weather],
})
const folder = await mkdtemp(join(tmpdir(), 'adk-sessions-'))

// Before: a Runner alone.
const sessionService = new JsonSessions(folder)
const key = { appName: 'tours', userId: 'local', sessionId: 'oslo' }
await sessionService.createSession(key)
const runner = new Runner({ appName: 'tours', agent: guide, sessionService })
const newMessage = { role: 'user', parts: [{ text: 'What is the weather in Oslo?' }] }
for await (const { author, content } of runner.runAsync({ ...key, newMessage }))
  console.log(`${author ?? ''}:`, content?.parts?.[0]?.text ?? '(a tool)')

// Now: a server over the same files. The session is a thread, with its messages and state.
const agent = fromAdk(guide, { appName: 'tours', sessionService: new JsonSessions(folder) })
const serving = await serve(createServer({ agents: [agent] }), { port: 0 })
const get = async (path: string) => (await fetch(serving.url + path)).json()
const { messages } = (await get('/message_snapshot/oslo')) as { messages: Message[] }
assert.deepEqual(
  messages.map(({ role }) => role).filter((role) => role !== 'reasoning'),
  ['user', 'assistant', 'tool', 'assistant'],
)
assert.deepEqual(await get('/state_snapshot/oslo'), {
  type: 'STATE_SNAPSHOT',
  snapshot: { lastCity: 'Oslo' },
})

// The conversation goes on, and the files contain the rest.
const client = new HttpAgent({ url: serving.url, threadId: 'oslo', initialMessages: messages })
client.addMessage({ id: 'u2', role: 'user', content: 'And is it warm in Bergen?' })
await client.runAgent()
const answer = JSON.stringify(client.messages.at(-1)?.content)
console.log('guide:', answer)
assert.match(answer, /Bergen/)
const { events = [], state } = (await new JsonSessions(folder).getSession(key)) ?? {}
assert.deepEqual(state, { lastCity: 'Bergen' })
assert.equal(events.filter(({ author }) => author === 'user').length, 2, 'each message is stored once')
await serving.close()
