import { HumanMessage, RemoveMessage } from '@langchain/core/messages'
import {
  Annotation,
  interrupt,
  MessagesAnnotation,
  REMOVE_ALL_MESSAGES,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { expect, it } from 'vitest'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { awaitClientResult } from '../../src/langgraph/tools/client-tools.js'
import { callPieces, FakeModel } from '../support/langgraph/fake-model.js'
import {
  asked,
  clientTool,
  historyOf,
  questionsIn,
  serveGraph,
  stateOf,
  stepsIn,
  textIn,
} from '../support/langgraph/serve-graph.js'
import { linesOf } from '../support/serve-agents.js'

it('a graph whose state has no messages runs on its state alone', async () => {
  const State = Annotation.Root({ topic: Annotation<string>, outline: Annotation<string[]> })
  const served = await serveGraph({
    make: (checkpointer) =>
      fromLangGraph(
        new StateGraph(State)
          .addNode('plan', ({ topic }) => ({ outline: [`${topic} 1`, `${topic} 2`] }))
          .addEdge(START, 'plan')
          .compile({ checkpointer }),
        { name: 'planner' },
      ),
  })
  const talk = served.talk()
  for (const topic of ['Sea', 'Sky']) {
    talk.client.setState({ ...(talk.client.state as object), topic })
    const events = await talk.say('Go')
    expect(events.at(-1)?.type).toBe('RUN_FINISHED')
    expect(await stateOf(served)).toEqual({ topic, outline: [`${topic} 1`, `${topic} 2`] })
  }
})

it('a question beside a call of a client tool: both are answered', async () => {
  const model = new FakeModel([callPieces('c1', 'pick', {})])
  const served = await serveGraph({
    store: 'sqlite',
    checkpoints: 'sqlite',
    make: (checkpointer) =>
      fromLangGraph(
        new StateGraph(MessagesAnnotation)
          .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
          .addNode('pick', () => ({ messages: [awaitClientResult({ id: 'c1', name: 'pick', args: {} })] }))
          .addNode('ask', () => ({
            messages: [{ role: 'assistant', content: `Said ${interrupt<string, string>('Sure?')}.` }],
          }))
          .addEdge(START, 'agent')
          .addEdge('agent', 'pick')
          .addEdge('agent', 'ask')
          .compile({ checkpointer }),
        { name: 'helper' },
      ),
  })
  const tools = [clientTool('pick')]
  const talk = served.talk()
  const questions = questionsIn(await talk.say('Go', { tools }))
  expect(questions).toMatchObject([{ message: 'Sure?' }])
  const next = (await served.restart()).talk()
  next.client.setMessages(talk.client.messages)
  const resume = [{ interruptId: questions[0]?.id ?? '', status: 'resolved' as const, payload: 'yes' }]
  const events = await next.answer({ c1: 'red' }, { tools, resume })
  expect(textIn(events)).toBe('Said yes.')
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
})

it('a graph that speaks in the name of a person is not taken back by the next turn', async () => {
  const model = new FakeModel([['Draft.'], ['Better.'], ['Bye.']])
  const say = async ({ messages }: typeof MessagesAnnotation.State) => ({
    messages: [await model.invoke(messages)],
  })
  const served = await serveGraph({
    make: (checkpointer) =>
      fromLangGraph(
        new StateGraph(MessagesAnnotation)
          .addNode('write', say)
          .addNode('review', () => ({ messages: [{ role: 'user', content: 'Shorter.' }] }))
          .addNode('rewrite', say)
          .addEdge(START, 'write')
          .addConditionalEdges('write', ({ messages }) => (messages.length > 3 ? '__end__' : 'review'))
          .addEdge('review', 'rewrite')
          .compile({ checkpointer }),
        { name: 'writer' },
      ),
  })
  const talk = served.talk()
  await talk.say('Write')
  const lines = ['user: Write', 'assistant: Draft.', 'assistant: Better.']
  expect(linesOf(await historyOf(served))).toEqual(lines)
  await talk.say('Thanks')
  expect(asked(model.calls[2])).toEqual([
    'human: Write',
    'ai: Draft.',
    'human: Shorter.',
    'ai: Better.',
    'human: Thanks',
  ])
})

it('a graph that puts a summary in the place of its messages keeps it, and clients keep theirs', async () => {
  const model = new FakeModel([['One.'], ['Two.'], ['Three.']])
  const served = await serveGraph({
    make: (checkpointer) =>
      fromLangGraph(
        new StateGraph(MessagesAnnotation)
          .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
          .addNode('sum', ({ messages }) => {
            if (messages.length < 4) return {}
            const all = new RemoveMessage({ id: REMOVE_ALL_MESSAGES })
            return { messages: [all, new HumanMessage('Summary.'), ...messages.slice(-1)] }
          })
          .addEdge(START, 'agent')
          .addEdge('agent', 'sum')
          .compile({ checkpointer }),
        { name: 'helper' },
      ),
  })
  const talk = served.talk()
  for (const text of ['First', 'Second', 'Third']) await talk.say(text)
  expect(asked(model.calls[2])).toEqual(['human: Summary.', 'ai: Two.', 'human: Third'])
  expect(linesOf(await historyOf(served))).toEqual([
    ...['user: First', 'assistant: One.', 'user: Second', 'assistant: Two.'],
    ...['user: Third', 'assistant: Three.'],
  ])
})

it('graphs inside a graph can be shown by their steps alone', async () => {
  const model = new FakeModel([['Inner.'], ['Outer.']])
  const say = async ({ messages }: typeof MessagesAnnotation.State) => ({
    messages: [await model.invoke(messages)],
  })
  const served = await serveGraph({
    make: (checkpointer) => {
      const inner = new StateGraph(MessagesAnnotation)
        .addNode('look', say)
        .addNode('ask', () => ({
          messages: [{ role: 'assistant', content: `Took ${interrupt<string, string>('Which?')}.` }],
        }))
        .addEdge(START, 'look')
        .addEdge('look', 'ask')
        .compile({ name: 'Finder' })
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('find', inner)
        .addNode('tell', say)
        .addEdge(START, 'find')
        .addEdge('find', 'tell')
        .compile({ checkpointer })
      return fromLangGraph(graph, { name: 'helper', subgraphs: 'steps' })
    },
  })
  const talk = served.talk()
  const first = await talk.say('Go')
  const [question] = questionsIn(first)
  expect(stepsIn(first)).toEqual(['find', 'Finder/look', 'Finder/ask'])
  const resume = [{ interruptId: question?.id ?? '', status: 'resolved' as const, payload: 'one' }]
  const second = await talk.send({ resume })
  expect(stepsIn(second)).toEqual(['find', 'Finder/ask', 'tell'])
  for (const event of [...first, ...second]) expect(event).not.toHaveProperty('subagentRunId')
  expect(linesOf(await historyOf(served))).toEqual([
    'user: Go',
    'assistant: Inner.',
    'assistant: Took one.',
    'assistant: Outer.',
  ])
  await talk.say('Again').catch(() => undefined)
  expect(asked(model.calls[2])).toEqual([
    'human: Go',
    'ai: Inner.',
    'ai: Took one.',
    'ai: Outer.',
    'human: Again',
  ])
})
