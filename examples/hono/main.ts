/**
 * Agents in a Hono application, under `/ai`, behind middleware of its own. `server.fetch` is a Web handler, so this works
 * wherever Hono does; here the application is called without a port.
 */
import assert from 'node:assert/strict'
import { HttpAgent } from '@ag-ui/client'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { defineAgent } from 'millrace'
import { modelFromEnv } from 'millrace/models'
import { createServer } from 'millrace/server'

const storyteller = defineAgent({ name: 'storyteller', model: await modelFromEnv() })
const server = createServer({ agents: [storyteller], basePath: '/ai' })

const app = new Hono()
app.use(cors({ origin: 'https://app.example.com' }))
app.get('/', (c) => c.text('the application'))
app.all('/ai/*', (c) => server.fetch(c.req.raw))

const origin = { origin: 'https://app.example.com' }
const client = new HttpAgent({
  url: 'http://localhost/ai/agents/storyteller/run',
  threadId: 'thread-1',
  headers: origin,
  fetch: async (url, init) => app.request(url, init),
})
client.addMessage({ id: 'u1', role: 'user', content: 'Tell me a story.' })
let deltas = 0
await client.runAgent(
  {},
  {
    onTextMessageContentEvent: () => {
      deltas++
    },
  },
)
console.log('answer:', client.messages.at(-1)?.content)
assert.ok(deltas > 10, 'the text streams')

const history = await app.request('http://localhost/ai/message_snapshot/thread-1', { headers: origin })
const { messages } = (await history.json()) as { messages: unknown[] }
assert.equal(messages.length, 2)
assert.equal(history.headers.get('access-control-allow-origin'), 'https://app.example.com')
assert.equal(await (await app.request('/')).text(), 'the application')

await server.close()
