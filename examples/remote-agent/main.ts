/**
 * An agent on another server, as a subagent of ours. It may be written in any language: all we know is its URL. It raises
 * an interrupt before it pays; the client gets the interrupt, and the answer goes back to the remote agent.
 */
import assert from 'node:assert/strict'
import { HttpAgent } from '@ag-ui/client'
import { agentTool, defineAgent, defineTool } from 'millrace'
import { scriptedModel } from 'millrace/models'
import { serve } from 'millrace/node'
import { fromAgUi } from 'millrace/remote'
import { createServer } from 'millrace/server'
import { z } from 'zod'

const paid: number[] = []

const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount in euros.',
  input: z.object({ amount: z.number() }),
  async execute({ amount }, ctx) {
    const answer = await ctx.interrupt({
      message: `Pay ${amount} euros?`,
      responseSchema: z.object({ approved: z.boolean() }),
    })
    if (answer.status === 'cancelled' || !answer.payload.approved) return 'The user does not want to pay.'
    paid.push(amount)
    return 'paid'
  },
})

// The other side. Scripts replace the models.
const cashier = defineAgent({
  name: 'cashier',
  model: scriptedModel([[{ toolCall: { name: 'pay', args: { amount: 120 } } }], 'The 120 euros are paid.']),
  tools: [pay],
})
const elsewhere = await serve(createServer({ agents: [cashier] }), { port: 0 })

// Our side.
const remote = fromAgUi(new HttpAgent({ url: elsewhere.url }), {
  name: 'cashier',
  description: 'Pays invoices.',
  // A Millrace server goes on with a run when its reader hangs up, unless it is cancelled.
  async cancel({ agent, threadId }) {
    const headers = { 'content-type': 'application/json' }
    await fetch(`${agent.url}/cancel`, { method: 'POST', headers, body: JSON.stringify({ threadId }) })
  },
})
const secretary = defineAgent({
  name: 'secretary',
  model: scriptedModel([
    [{ toolCall: { name: 'cashier', args: { request: 'Pay invoice 7.' } } }],
    'Invoice 7 is settled.',
  ]),
  tools: [agentTool(remote)],
})
const ours = await serve(createServer({ agents: [secretary] }), { port: 0 })

const client = new HttpAgent({ url: ours.url, threadId: 'office' })
client.addMessage({ id: 'u1', role: 'user', content: 'Settle invoice 7.' })
await client.runAgent()
const [interrupt] = client.pendingInterrupts
console.log('interrupt:', interrupt?.message)
assert.equal(interrupt?.message, 'Pay 120 euros?')
assert.deepEqual(paid, [])

await client.runAgent({
  resume: [{ interruptId: interrupt.id, status: 'resolved', payload: { approved: true } }],
})
const said = client.messages.flatMap(({ role, content }) =>
  role === 'assistant' && content ? [content] : [],
)
console.log('said:', said)
assert.deepEqual(said, ['The 120 euros are paid.', 'Invoice 7 is settled.'])
assert.deepEqual(paid, [120])
await ours.close()
await elsewhere.close()
