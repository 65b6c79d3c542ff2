/**
 * Tools that are answered later: one that the page executes, and a long-running tool of ADK whose result the client sends when
 * somebody has done the work. Both leave the run; the next one brings the result.
 */
import assert from 'node:assert/strict'
import { HttpAgent, type Message } from '@ag-ui/client'
import { LlmAgent, LongRunningFunctionTool } from '@google/adk'
import { demoLlm, fromAdk } from 'millrace/adk'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { z } from 'zod'

const requestRefund = new LongRunningFunctionTool({
  name: 'request_refund',
  description: 'Asks the back office for a refund.',
  parameters: z.object({ order: z.string() }),
  execute: () => undefined,
})
const clerk = new LlmAgent({
  name: 'clerk',
  model: process.env.GEMINI_API_KEY ? 'gemini-2.5-flash' : demoLlm(),
  instruction: 'Use the tools. Say what they return.',
  tools: [requestRefund],
})
const serving = await serve(createServer({ agents: [fromAdk(clerk)] }), { port: 0 })
const client = new HttpAgent({ url: serving.url, threadId: 'thread-1' })

/** The calls of the last assistant message. */
function openCalls() {
  const last = client.messages.findLast(
    (message): message is Message & { role: 'assistant' } => message.role === 'assistant',
  )
  return last?.toolCalls ?? []
}

// A tool of the page.
const pickColour = {
  name: 'pick_colour',
  description: 'Lets the user pick a colour.',
  parameters: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
}
client.addMessage({ id: 'u1', role: 'user', content: 'Let me pick_colour for "the wall".' })
await client.runAgent({ tools: [pickColour] })
const [picked] = openCalls()
assert.equal(picked?.function.name, 'pick_colour')
client.addMessage({ id: 't1', role: 'tool', toolCallId: picked.id, content: 'green' })
await client.runAgent({ tools: [pickColour] })
console.log('answer:', client.messages.at(-1)?.content)
assert.match(JSON.stringify(client.messages.at(-1)), /green/)

// A long-running tool of the agent: the thread waits, for days if need be.
client.addMessage({ id: 'u2', role: 'user', content: 'Make a request_refund for "order-7".' })
await client.runAgent()
const [refund] = openCalls()
assert.equal(refund?.function.name, 'request_refund')
const { threads } = (await (await fetch(`${serving.url}/thread/list`)).json()) as {
  threads: { status: string }[]
}
assert.equal(threads[0]?.status, 'waiting-for-tools')
client.addMessage({ id: 't2', role: 'tool', toolCallId: refund.id, content: '{"status":"approved"}' })
await client.runAgent()
console.log('answer:', client.messages.at(-1)?.content)
assert.match(JSON.stringify(client.messages.at(-1)), /approved/)
await serving.close()
