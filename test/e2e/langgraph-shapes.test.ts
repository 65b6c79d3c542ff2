import { Annotation, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { expect, it } from 'vitest'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { askClient } from '../../src/langgraph/tools/ask-client.js'
import { callPieces, FakeModel } from '../support/langgraph/fake-model.js'
import { clientTool, questionsIn, serveGraph, stateOf, textIn } from '../support/langgraph/serve-graph.js'

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
          .addNode('pick', () => ({ messages: [askClient({ id: 'c1', name: 'pick', args: {} })] }))
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
