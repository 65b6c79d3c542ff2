import { MessagesAnnotation, START, StateGraph, type BaseCheckpointSaver } from '@langchain/langgraph'
import { tool } from '@langchain/core/tools'
import { createAgent, humanInTheLoopMiddleware, type AgentMiddleware } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { clientTools, fromLangGraph } from '../../src/langgraph/index.js'
import { callChunks, type ModelStep } from '../support/langgraph/fake-model.js'
import {
  agentModel,
  clientTool,
  historyOf,
  interruptsIn,
  promptText,
  serveGraph,
} from '../support/langgraph/serve-graph.js'
import { ofType } from '../support/run-agent.js'

/** Agents as nodes of a graph, as teams are built with LangGraph: they share the messages of the graph. */

const done: string[] = []
const pay = tool(
  ({ what }: { what: string }) => {
    done.push(what)
    return `paid ${what}`
  },
  { name: 'pay', description: 'Pays.', schema: z.object({ what: z.string() }) },
)

function member(steps: readonly ModelStep[]) {
  const model = agentModel(steps)
  const review = humanInTheLoopMiddleware({ interruptOn: { pay: true } } as never)
  const middleware = [clientTools(), review as AgentMiddleware]
  return { model, node: createAgent({ model, tools: [pay], middleware }).graph }
}

const after = (node: Member['node'], checkpointer: BaseCheckpointSaver) =>
  new StateGraph(MessagesAnnotation).addNode('ann', node).addEdge(START, 'ann').compile({ checkpointer })

const beside = (left: Member['node'], right: Member['node'], checkpointer: BaseCheckpointSaver) =>
  new StateGraph(MessagesAnnotation)
    .addNode('ann', left)
    .addNode('bob', right)
    .addEdge(START, 'ann')
    .addEdge(START, 'bob')
    .compile({ checkpointer })

type Member = ReturnType<typeof member>

describe('a graph of agents', () => {
  it('remembers what its agents have said', async () => {
    const ann = member([['Hello.'], ['Bye.']])
    const served = await serveGraph({ make: (saver) => fromLangGraph(after(ann.node, saver), { name: 'g' }) })
    const talk = served.talk()
    await talk.say('Hi')
    await talk.say('See you')
    expect(promptText(ann.model.calls.at(-1))).toEqual(['human: Hi', 'ai: Hello.', 'human: See you'])
    expect(talk.client.messages.map(({ content }) => content)).toEqual(['Hi', 'Hello.', 'See you', 'Bye.'])
  })

  it('remembers what its agents have said at the same time', async () => {
    const [ann, bob] = [member([['Ann.'], ['Ann again.']]), member([['Bob.'], ['Bob again.']])]
    const served = await serveGraph({
      make: (saver) => fromLangGraph(beside(ann.node, bob.node, saver), { name: 'g' }),
    })
    const talk = served.talk()
    await talk.say('Hi')
    await talk.say('Again')
    const prompt = ['human: Hi', 'ai: Ann.', 'ai: Bob.', 'human: Again']
    expect(promptText(ann.model.calls.at(-1)).toSorted()).toEqual(prompt.toSorted())
    expect(promptText(bob.model.calls.at(-1)).toSorted()).toEqual(prompt.toSorted())
    expect(await historyOf(served)).toHaveLength(6)
  })

  it('remembers without a checkpointer what its agents have said, as steps', async () => {
    const ann = member([['Hello.'], ['Bye.']])
    const graph = new StateGraph(MessagesAnnotation).addNode('ann', ann.node).addEdge(START, 'ann').compile()
    const served = await serveGraph({ make: () => fromLangGraph(graph, { name: 'g', subgraphs: 'steps' }) })
    const talk = served.talk()
    await talk.say('Hi')
    await talk.say('See you')
    expect(promptText(ann.model.calls.at(-1))).toEqual(['human: Hi', 'ai: Hello.', 'human: See you'])
  })

  it('goes on with the result of a client tool that an agent has called', async () => {
    const ann = member([callChunks('c1', 'choose', { n: 1 }), ['You chose blue.']])
    const served = await serveGraph({ make: (saver) => fromLangGraph(after(ann.node, saver), { name: 'g' }) })
    const talk = served.talk()
    const tools = [clientTool('choose')]
    await talk.say('Ask me', { tools })
    const events = await talk.answer({ c1: 'blue' }, { tools })
    expect(promptText(ann.model.calls.at(-1))).toEqual(['human: Ask me', 'ai: choose({"n":1})', 'tool: blue'])
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
  })

  it('goes back with an edited message', async () => {
    const ann = member([['Hello.'], ['Fine.'], ['Better.']])
    const served = await serveGraph({ make: (saver) => fromLangGraph(after(ann.node, saver), { name: 'g' }) })
    const talk = served.talk()
    await talk.say('Hi')
    await talk.say('How are you?')
    talk.client.setMessages(talk.client.messages.slice(0, 2))
    await talk.say('And now?')
    expect(promptText(ann.model.calls.at(-1))).toEqual(['human: Hi', 'ai: Hello.', 'human: And now?'])
  })

  it('names the call that a review in an agent is about', async () => {
    done.length = 0
    const ann = member([callChunks('p1', 'pay', { what: 'rent' }), ['Ann is done.']])
    const bob = member([callChunks('p2', 'pay', { what: 'tax' }), ['Bob is done.']])
    const served = await serveGraph({
      make: (saver) => fromLangGraph(beside(ann.node, bob.node, saver), { name: 'g' }),
    })
    const talk = served.talk()
    const interrupts = interruptsIn(await talk.say('Pay'))
    expect(interrupts.map(({ toolCallId }) => toolCallId).toSorted()).toEqual(['p1', 'p2'])
    const resume = interrupts.map(({ id }) => ({
      ...{ interruptId: id, status: 'resolved' as const, payload: { type: 'approve' } },
    }))
    const events = await talk.send({ resume })
    expect(
      ofType(events, 'TOOL_CALL_RESULT')
        .map(({ toolCallId }) => toolCallId)
        .toSorted(),
    ).toEqual(['p1', 'p2'])
    expect(done.toSorted()).toEqual(['rent', 'tax'])
  })
})
