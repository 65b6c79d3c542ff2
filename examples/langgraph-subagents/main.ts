/** Graphs inside a graph: each is a subagent with its own messages, and two of them run side by side. */
import assert from 'node:assert/strict'
import { AIMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { run } from 'millrace'
import { fromLangGraph, toChatModel } from 'millrace/langgraph'
import { demoModel } from 'millrace/models'

const model = toChatModel(demoModel({ paceMs: 0 }))

/** An agent as a graph of its own. */
function expert(name: string) {
  return new StateGraph(MessagesAnnotation)
    .addNode('answer', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, 'answer')
    .compile({ name })
}

const team = new StateGraph(MessagesAnnotation)
  .addNode('historian', expert('historian'))
  .addNode('scientist', expert('scientist'))
  .addNode('editor', ({ messages }) => {
    const answers = messages.filter((message) => message.type === 'ai').length
    return { messages: [new AIMessage(`I have heard ${answers} experts.`)] }
  })
  .addEdge(START, 'historian')
  .addEdge(START, 'scientist')
  .addEdge(['historian', 'scientist'], 'editor')
  .addEdge('editor', END)
  .compile()

const names = new Map<string, string>()
const said = new Map<string, string>()
const open: string[] = []
let atOnce = 0
const running = run(fromLangGraph(team, { name: 'team' }), 'Tell me a story.')
for await (const event of running) {
  if (event.type === 'SUBAGENT_STARTED') {
    names.set(event.subagentRunId, event.name)
    open.push(event.name)
    atOnce = Math.max(atOnce, open.length)
  }
  if (event.type === 'SUBAGENT_FINISHED') open.pop()
  if (event.type !== 'TEXT_MESSAGE_CONTENT') continue
  const who = names.get(event.subagentRunId ?? '') ?? 'team'
  said.set(who, (said.get(who) ?? '') + event.delta)
}

for (const [who, text] of said) console.log(`${who}: ${text.slice(0, 60)}`)
assert.deepEqual([...said.keys()].toSorted(), ['historian', 'scientist', 'team'])
assert.equal(atOnce, 2, 'the experts were at work side by side')
assert.equal(said.get('team'), 'I have heard 2 experts.')
assert.equal((await running.result).type, 'completed')
