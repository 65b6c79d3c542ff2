/** A LangChain agent whose tool calls a person reviews: one is approved, one is edited. */
import assert from 'node:assert/strict'
import { HttpAgent } from '@ag-ui/client'
import { tool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent, humanInTheLoopMiddleware, type AgentMiddleware } from 'langchain'
import { fromLangGraph, toChatModel } from 'millrace/langgraph'
import { scriptedModel } from 'millrace/models'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { z } from 'zod'

const sent: string[] = []
const sendMail = tool(
  ({ to }) => {
    sent.push(to)
    return `Sent to ${to}.`
  },
  { name: 'send_mail', description: 'Sends a mail.', schema: z.object({ to: z.string() }) },
)

// A model that makes two tool calls at once, so that there are two decisions.
const model = scriptedModel([
  [
    { toolCall: { id: 'c1', name: 'send_mail', args: { to: 'ann' } } },
    { toolCall: { id: 'c2', name: 'send_mail', args: { to: 'everybody' } } },
  ],
  'Both mails are out.',
])

// The cast is only needed with `exactOptionalPropertyTypes`, which LangChain's type does not support.
const reviewed = humanInTheLoopMiddleware as unknown as (options: object) => AgentMiddleware

const agent = createAgent({
  model: toChatModel(model),
  tools: [sendMail],
  middleware: [reviewed({ interruptOn: { send_mail: true } })],
  checkpointer: new MemorySaver(),
})

const server = createServer({ agents: [fromLangGraph(agent, { name: 'secretary' })] })
const serving = await serve(server, { port: 0 })

const client = new HttpAgent({ url: serving.url, threadId: 'thread-1' })
client.addMessage({ id: 'u1', role: 'user', content: 'Send the mails.' })
await client.runAgent()

// One interrupt for each call, with the schema of its answer.
const interrupts = client.pendingInterrupts
for (const { toolCallId, reason } of interrupts) console.log('interrupt:', toolCallId, reason)
assert.deepEqual(
  interrupts.map(({ toolCallId }) => toolCallId),
  ['c1', 'c2'],
)
assert.deepEqual(sent, [])

const decisions = [
  { type: 'approve' },
  { type: 'edit', editedAction: { name: 'send_mail', args: { to: 'bob' } } },
]
await client.runAgent({
  resume: interrupts.map(({ id }, index) => ({
    interruptId: id,
    status: 'resolved' as const,
    payload: decisions[index],
  })),
})
console.log('sent to:', sent.join(', '))
assert.deepEqual(sent, ['ann', 'bob'])
assert.equal(client.messages.at(-1)?.content, 'Both mails are out.')
await serving.close()
