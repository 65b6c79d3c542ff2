/**
 * Agents in a Fastify application, under `/ai`. Fastify parses bodies before a route sees them.
 */
import assert from 'node:assert/strict'
import { HttpAgent } from '@ag-ui/client'
import fastify from 'fastify'
import { defineAgent } from 'millrace'
import { modelFromEnv } from 'millrace/models'
import { createListener } from 'millrace/node'
import { createServer } from 'millrace/server'

const storyteller = defineAgent({ name: 'storyteller', model: await modelFromEnv() })
const server = createServer({ agents: [storyteller], basePath: '/ai' })
const listener = createListener(server)

const app = fastify({ bodyLimit: 10 * 1024 * 1024 })
app.get('/', () => 'the application')
app.all('/ai/*', (request, reply) => {
  // From here on the response is the server's.
  reply.hijack()
  listener(Object.assign(request.raw, { body: request.body }), reply.raw)
})
// Before Fastify waits for open connections, so that runs can end.
app.addHook('preClose', () => server.close())
const url = await app.listen({ port: 0, host: '127.0.0.1' })

const client = new HttpAgent({ url: `${url}/ai/agents/storyteller/run`, threadId: 'thread-1' })
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

const { messages } = (await (await fetch(`${url}/ai/message_snapshot/thread-1`)).json()) as {
  messages: unknown[]
}
assert.equal(messages.length, 2)
assert.equal(await (await fetch(url)).text(), 'the application')

await app.close()
