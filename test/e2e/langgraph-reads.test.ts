import type { RunnableConfig } from '@langchain/core/runnables'
import { interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { expect, it } from 'vitest'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { interruptsIn, serveGraph, textIn } from '../support/langgraph/serve-graph.js'

/** Each read parses the whole conversation. */
class CountingSaver extends MemorySaver {
  reads = 0

  override getTuple(config: RunnableConfig): ReturnType<MemorySaver['getTuple']> {
    this.reads++
    return super.getTuple(config)
  }
}

/** Serves a graph that answers with the number of its messages, and asks before if it is told to. */
async function serveCounting() {
  const saver = new CountingSaver()
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('turn', ({ messages }) => {
      const asks = messages.at(-1)?.text === 'Ask me.'
      const answer = asks ? interrupt<string, string>('Well?') : 'Of'
      return { messages: [{ role: 'assistant', content: `${answer} ${messages.length}.` }] }
    })
    .addEdge(START, 'turn')
    .compile({ checkpointer: saver })
  const served = await serveGraph({ make: () => fromLangGraph(graph, { name: 'counter' }) })
  const talk = served.talk()
  const readsOf = async <T>(work: () => Promise<T>) => {
    const before = saver.reads
    return { result: await work(), reads: saver.reads - before }
  }
  return { graph, talk, readsOf }
}

it('a turn reads the checkpoint as often as the graph alone: once', async () => {
  const { graph, talk, readsOf } = await serveCounting()
  await talk.say('One.')
  const { result: events, reads } = await readsOf(() => talk.say('Two.'))
  expect(textIn(events)).toBe('Of 3.')
  expect(reads).toBe(1)
  const alone = { configurable: { thread_id: 'alone' } }
  const bare = await readsOf(() => graph.invoke({ messages: [{ role: 'user', content: 'One.' }] }, alone))
  expect(bare.reads).toBe(1)
})

it('an answer to an interrupt finds what was written since', async () => {
  const { talk, readsOf } = await serveCounting()
  const [open] = interruptsIn(await talk.say('Ask me.'))
  const resume = [{ interruptId: open?.id ?? '', status: 'resolved' as const, payload: 'Yes, of' }]
  const { result: events, reads } = await readsOf(() => talk.send({ resume }))
  expect(textIn(events)).toBe('Yes, of 1.')
  expect(reads).toBeLessThanOrEqual(3)
  expect(textIn(await talk.say('More.'))).toBe('Of 3.')
})
