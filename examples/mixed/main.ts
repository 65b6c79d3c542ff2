/**
 * Agents of four runtimes in one tree: the kit, Google ADK, LangGraph, and a remote AG-UI endpoint. They run side by side
 * under a supervisor, which reads what all of them report. Two raise interrupts at the same time.
 */
import assert from 'node:assert/strict'
import { HttpAgent } from '@ag-ui/client'
import { FunctionTool, LlmAgent, LogLevel, setLogLevel } from '@google/adk'
import { AIMessage } from '@langchain/core/messages'
import { END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { defineAgent, parallel, run } from 'millrace'
import { demoLlm, fromAdk } from 'millrace/adk'
import { fromLangGraph } from 'millrace/langgraph'
import { scriptedModel, type ModelRequest } from 'millrace/models'
import { serve } from 'millrace/node'
import { supervisor } from 'millrace/prebuilt'
import { fromAgUi } from 'millrace/remote'
import { createServer } from 'millrace/server'
import { z } from 'zod'

setLogLevel(LogLevel.WARN)

const packer = defineAgent({ name: 'packer', model: scriptedModel(['The bags are packed.']) })

const bookTable = new FunctionTool({
  name: 'book_table',
  description: 'Books a table in a restaurant.',
  parameters: z.object({ restaurant: z.string(), people: z.number() }),
  requireConfirmation: true,
  execute: ({ restaurant }) => `A table at ${restaurant} is booked.`,
})
const waiter = fromAdk(new LlmAgent({ name: 'waiter', model: demoLlm(), tools: [bookTable] }))

const driver = fromLangGraph(
  new StateGraph(MessagesAnnotation)
    .addNode('ask', () => {
      const time: unknown = interrupt({ message: 'When do you want to leave?' })
      return { messages: [new AIMessage(`The car comes at ${String(time)}.`)] }
    })
    .addEdge(START, 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer: new MemorySaver() }),
  { name: 'driver' },
)

const weather = defineAgent({ name: 'weather', model: scriptedModel(['It will be sunny.']) })
const elsewhere = await serve(createServer({ agents: [weather] }), { port: 0 })
const remote = fromAgUi(new HttpAgent({ url: elsewhere.url }), { name: 'forecast' })

// A script replaces the model: it transfers first, and reports when the others are done.
const lead = scriptedModel(({ messages }: ModelRequest) => {
  const heard = messages.flatMap(({ content }) =>
    typeof content === 'string' ? (/^For context: \[\w+\] said: (.*)/.exec(content)?.[1] ?? []) : [],
  )
  if (heard.length > 0) return heard.join(' ')
  return [{ toolCall: { name: 'transfer_to_agent', args: { agent_name: 'crew' } } }]
})
const crew = parallel({
  name: 'crew',
  description: 'Gets everything ready for an evening out.',
  agents: [packer, waiter, driver, remote],
})
const evening = supervisor({ name: 'evening', model: lead, workers: [crew] })

const first = await run(evening, 'Book a table for 2 at Maaemo.').result
assert.equal(first.type, 'interrupted')
for (const { message } of first.interrupts) console.log('asked:', message)
assert.equal(first.interrupts.length, 2)

const resume = first.interrupts.map(({ id, toolCallId }) => ({
  interruptId: id,
  status: 'resolved' as const,
  payload: toolCallId === undefined ? 'seven' : { approved: true },
}))
const second = await run(evening, { resume }, { checkpoint: first.checkpoint }).result
assert.equal(second.type, 'completed')
console.log(second.text)
assert.match(second.text, /bags are packed.*Maaemo is booked.*car comes at seven.*sunny/s)
await elsewhere.close()
