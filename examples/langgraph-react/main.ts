/** A LangGraph ReAct agent behind a server, and an AG-UI client that uses it. */
import assert from 'node:assert/strict'
import { HttpAgent } from '@ag-ui/client'
import { tool } from '@langchain/core/tools'
import { MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { fromLangGraph, toChatModel } from 'millrace/langgraph'
import { demoModel } from 'millrace/models'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { z } from 'zod'

const weather = tool(({ city }) => ({ city, temperature: 7, sky: 'rain' }), {
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  schema: z.object({ city: z.string() }),
})

// Any LangChain chat model. This one needs no key.
const model = toChatModel(demoModel({ paceMs: 0 })).bindTools([weather])

const graph = new StateGraph(MessagesAnnotation)
  .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode('tools', new ToolNode([weather]))
  .addEdge(START, 'agent')
  .addConditionalEdges('agent', toolsCondition)
  .addEdge('tools', 'agent')
  .compile({ checkpointer: new MemorySaver() })

const server = createServer({ agents: [fromLangGraph(graph, { name: 'guide' })] })
const serving = await serve(server, { port: 0 })

const seen: string[] = []
const client = new HttpAgent({ url: serving.url, threadId: 'thread-1' })
client.addMessage({ id: 'u1', role: 'user', content: 'What is the weather in Oslo?' })
await client.runAgent({}, { onEvent: ({ event }) => void seen.push(event.type) })

const answer = JSON.stringify(client.messages.at(-1)?.content)
console.log('answer:', answer)
assert.match(answer, /7|rain/)
assert.ok(seen.includes('TOOL_CALL_RESULT'), 'the tool was called')
assert.ok(seen.filter((type) => type === 'TEXT_MESSAGE_CONTENT').length > 1, 'the answer was streamed')
assert.equal(seen.filter((type) => type === 'STEP_STARTED').length, 3, 'agent, tools, agent')
await serving.close()
