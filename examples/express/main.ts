/**
 * Agents in an Express application, under `/ai`, beside routes of its own and after `express.json()`.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { HttpAgent } from '@ag-ui/client'
import express from 'express'
import { defineAgent } from 'millrace'
import { modelFromEnv } from 'millrace/models'
import { createListener } from 'millrace/node'
import { createServer } from 'millrace/server'

const storyteller = defineAgent({ name: 'storyteller', model: await modelFromEnv() })
const server = createServer({ agents: [storyteller] })

const app = express()
// Their default is 100 kB: too little for clients that send the whole conversation.
app.use(express.json({ limit: '10mb' }))
app.get('/', (_request, response) => void response.send('the application'))
// Express takes the prefix away, so the server needs no `basePath`.
app.use('/ai', createListener(server))
const http = app.listen(0, '127.0.0.1')
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

// First the runs and the store, then the connections.
await server.close()
http.close()
http.closeAllConnections()
