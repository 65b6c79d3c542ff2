/**
 * An agent behind a server, and two people who use it with the AG-UI client. The server identifies them by their tokens,
 * keeps their threads apart in a file, and hides the agent's reasoning.
 */
import assert from 'node:assert/strict'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpAgent, type Message } from '@ag-ui/client'
import { defineAgent, defineTool } from 'millrace'
import { modelFromEnv } from 'millrace/models'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { createSqliteStore } from 'millrace/sqlite'
import { z } from 'zod'

const weather = defineTool({
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, temperature: 7, sky: 'rain' }),
})

const concierge = defineAgent({
  name: 'concierge',
  instructions: 'Help guests. Look the weather up, never guess it.',
  model: await modelFromEnv(),
  tools: [weather],
})

const file = join(await mkdtemp(join(tmpdir(), 'server-')), 'threads.db')
const users = new Map([
  ['Bearer a-secret', { user: 'ada' }],
  ['Bearer another', { user: 'bob' }],
])

const server = createServer({
  agents: [concierge],
  store: await createSqliteStore({ path: file }),
  identify: (request) => users.get(request.headers.get('authorization') ?? ''),
  hooks: {
    event: (event) => (event.type.startsWith('REASONING') ? undefined : event),
  },
})
const serving = await serve(server, { port: 0 })
const { url } = serving

// Ada sends a message.
const headers = { authorization: 'Bearer a-secret' }
const seen = new Set<string>()
const ada = new HttpAgent({ url, threadId: 'thread-1', headers })
ada.addMessage({ id: 'u1', role: 'user', content: 'What is the weather in Oslo?' })
await ada.runAgent({}, { onEvent: ({ event }) => void seen.add(event.type) })
console.log('answer:', ada.messages.at(-1)?.content)
assert.ok(seen.has('TOOL_CALL_RESULT'), 'the tool was called')
assert.ok(!seen.has('REASONING_START'), 'thoughts do not leave the server')

// On another device she finds the thread and goes on.
const history = `${url}/message_snapshot/thread-1`
const { messages } = (await (await fetch(history, { headers })).json()) as { messages: Message[] }
const tablet = new HttpAgent({ url, threadId: 'thread-1', headers, initialMessages: messages })
assert.deepEqual(tablet.messages, ada.messages)
tablet.addMessage({ id: 'u2', role: 'user', content: 'Is it raining in Bergen?' })
await tablet.runAgent()
console.log('answer:', tablet.messages.at(-1)?.content)

// Bob cannot see her thread, and a stranger sees nothing at all.
const statusFor = async (authorization: string) =>
  (await fetch(history, { headers: { authorization } })).status
assert.equal(await statusFor('Bearer a-secret'), 200)
assert.equal(await statusFor('Bearer another'), 404)
assert.equal(await statusFor('Bearer a-guess'), 401)

// Live runs may finish; then the file is closed.
await serving.close()
await assert.rejects(fetch(`${url}/healthz`))
