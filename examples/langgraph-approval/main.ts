/** A graph that interrupts for approval. The answer goes to another server, which shares only the checkpoints. */
import assert from 'node:assert/strict'
import { HttpAgent } from '@ag-ui/client'
import { AIMessage } from '@langchain/core/messages'
import {
  Annotation,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { fromLangGraph } from 'millrace/langgraph'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'

const State = Annotation.Root({ ...MessagesAnnotation.spec, amount: Annotation<number> })

// In memory, so that this needs no database; SqliteSaver and PostgresSaver are used the same way.
const checkpointer = new MemorySaver()
let quotes = 0
const paid: number[] = []

const graph = new StateGraph(State)
  .addNode('quote', () => {
    quotes++
    return { amount: 120 }
  })
  .addNode('pay', ({ amount }) => {
    // The node runs again from its start with the answer, so nothing before the interrupt may have side effects.
    const answer = interrupt<unknown, { approved?: boolean }>({
      reason: 'confirmation',
      message: `Pay ${amount} euros?`,
      responseSchema: { type: 'object', properties: { approved: { type: 'boolean' } } },
    })
    if (answer.approved !== true) return { messages: [new AIMessage('Nothing was paid.')] }
    paid.push(amount)
    return { messages: [new AIMessage(`Paid ${amount} euros.`)] }
  })
  .addEdge(START, 'quote')
  .addEdge('quote', 'pay')
  .compile({ checkpointer })

/** A new server, as after a restart. */
const start = () => serve(createServer({ agents: [fromLangGraph(graph, { name: 'payer' })] }), { port: 0 })

const before = await start()
const client = new HttpAgent({ url: before.url, threadId: 'invoice-7' })
client.addMessage({ id: 'u1', role: 'user', content: 'Pay the invoice.' })
await client.runAgent()
const [open] = client.pendingInterrupts
console.log('interrupt:', open?.message)
assert.equal(open?.message, 'Pay 120 euros?')
assert.deepEqual(paid, [])
await before.close()

const after = await start()
const later = new HttpAgent({ url: after.url, threadId: 'invoice-7', initialMessages: client.messages })
await later.runAgent({
  resume: [{ interruptId: open.id, status: 'resolved', payload: { approved: true } }],
})
const answer = later.messages.at(-1)?.content
console.log('answer:', answer)
assert.equal(answer, 'Paid 120 euros.')
assert.deepEqual([paid, quotes], [[120], 1], 'paid once, and the quote was not made again')
await after.close()
