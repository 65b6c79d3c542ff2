/** A client tool. The graph waits for its result deep inside, and resumes there. */
import assert from 'node:assert/strict'
import { HttpAgent } from '@ag-ui/client'
import { AIMessage } from '@langchain/core/messages'
import { MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { clientTools, fromLangGraph, toChatModel } from 'millrace/langgraph'
import { demoModel } from 'millrace/models'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'

let greetings = 0

// Without `keepPosition` a call ends the run, and the whole graph starts again with the result.
const helper = createAgent({
  model: toChatModel(demoModel({ paceMs: 0 })),
  tools: [],
  middleware: [clientTools({ keepPosition: true })],
})

const graph = new StateGraph(MessagesAnnotation)
  .addNode('greet', () => {
    greetings++
    return { messages: [new AIMessage('One moment.')] }
  })
  .addNode('helper', helper.graph)
  .addEdge(START, 'greet')
  .addEdge('greet', 'helper')
  .compile({ checkpointer: new MemorySaver() })

const server = createServer({ agents: [fromLangGraph(graph, { name: 'guide' })] })
const serving = await serve(server, { port: 0 })

const location = {
  name: 'get_location',
  description: 'Tells the location of the user, as the browser knows it.',
  parameters: { type: 'object', properties: {} },
}
const client = new HttpAgent({ url: serving.url, threadId: 'thread-1' })
client.addMessage({ id: 'u1', role: 'user', content: 'Get my location, please.' })
await client.runAgent({ tools: [location] })

const call = client.messages.flatMap((message) =>
  message.role === 'assistant' ? (message.toolCalls ?? []) : [],
)[0]
console.log('called:', call?.function.name)
assert.equal(call?.function.name, 'get_location')

client.addMessage({ id: 't1', role: 'tool', toolCallId: call.id, content: '{"city":"Oslo"}' })
await client.runAgent({ tools: [location] })
const answer = JSON.stringify(client.messages.at(-1)?.content)
console.log('answer:', answer)
assert.match(answer, /Oslo/)
assert.equal(greetings, 1, 'the graph went on where it was')
await serving.close()
