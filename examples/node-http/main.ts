/**
 * Agents in an application on `node:http`, under `/ai`. For a server with nothing but agents, `serve` is shorter.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HttpAgent } from '@ag-ui/client'
import { defineAgent } from 'millrace'
import { modelFromEnv } from 'millrace/models'
import { createListener } from 'millrace/node'
import { createServer } from 'millrace/server'

const storyteller = defineAgent({ name: 'storyteller', model: await modelFromEnv() })
const server = createServer({ agents: [storyteller], basePath: '/ai' })
const listener = createListener(server)

const http = createHttpServer((request, response) => {
  if (request.url?.startsWith('/ai/') === true) listener(request, response)
  else response.end('the application')
})
http.listen(0, '127.0.0.1')
await once(http, 'listening')
const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`

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

await server.close()
http.close()
http.closeAllConnections()
