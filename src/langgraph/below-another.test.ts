import { interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { expect, it } from 'vitest'
import { asked } from '../../test/support/langgraph/serve-graph.js'
import { FakeModel } from '../../test/support/langgraph/fake-model.js'
import { createClient, idOf, interruptsOf, ofType } from '../../test/support/run-agent.js'
import type { Agent, Control, Interrupted, RunContext } from '../agents/index.js'
import { merge } from '../core/merge.js'
import type { AgentEvent } from '../protocol/index.js'
import { fromLangGraph } from './from-langgraph.js'

/** Runs one agent in several lanes beside each other. */
function lanesOf(agent: Agent, count: number): Agent {
  async function* run(ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
    const { clock, graceMs } = ctx.services
    const lanes = Array.from(
      { length: count },
      (_, n) => (signal: AbortSignal) => ctx.delegate(agent, { segment: `${n}`, isLane: true, signal }),
    )
    const merged = merge(lanes, { signal: ctx.signal, clock, graceMs, onStrayError: () => undefined })
    let step = await merged.next()
    for (; step.done !== true; step = await merged.next()) yield step.value.value
    const ended = step.value
    const asking = ended.filter((control): control is Interrupted => control.type === 'interrupted')
    if (asking.length === 0) return { type: 'done' }
    return {
      type: 'interrupted',
      openInterrupts: asking.flatMap(({ openInterrupts }) => openInterrupts),
      frames: Object.assign({}, ...asking.map(({ frames }) => frames)) as Interrupted['frames'],
    }
  }
  return { name: 'root', description: '', run }
}

const chat = (model: FakeModel, checkpointer: MemorySaver) =>
  new StateGraph(MessagesAnnotation)
    .addNode('talk', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, 'talk')
    .compile({ checkpointer })

it('two lanes of one graph each have a thread of their own, and go on in it with the next run', async () => {
  const model = new FakeModel([['A.'], ['B.'], ['C.'], ['D.']])
  const checkpointer = new MemorySaver()
  const client = createClient(lanesOf(fromLangGraph(chat(model, checkpointer), { name: 'expert' }), 2))
  await client.say('First')
  expect(model.calls.map(asked)).toEqual([['human: First'], ['human: First']])
  expect(Object.keys(checkpointer.storage)).toHaveLength(2)
  const { outcome } = await client.say('Second')
  expect(outcome.type).toBe('completed')
  expect(Object.keys(checkpointer.storage)).toHaveLength(2)
  const [one, other] = model.calls.slice(2).map(asked)
  // What the other lane has said is known by now.
  expect(one).toEqual(['human: First', 'ai: A.', 'ai: B.', 'human: Second'])
  expect(other).toEqual(['human: First', 'ai: B.', 'ai: A.', 'human: Second'])
})

it('a child that is called in turn goes on in its own thread, and hears the others', async () => {
  const [first, second] = [new FakeModel([['A.'], ['C.']]), new FakeModel([['B.'], ['D.']])]
  const checkpointer = new MemorySaver()
  const children = [
    fromLangGraph(chat(first, checkpointer), { name: 'first' }),
    fromLangGraph(chat(second, checkpointer), { name: 'second' }),
  ]
  async function* run(ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
    for (const child of children) yield* ctx.delegate(child, { segment: 'turn' })
    return { type: 'done' }
  }
  const client = createClient({ name: 'root', description: '', run })
  await client.say('One')
  await client.say('Two')
  expect(asked(first.calls[1])).toEqual([
    'human: One',
    'ai: A.',
    'human: For context: [second] said: B.',
    'human: Two',
  ])
  expect(asked(second.calls[1])).toEqual([
    'human: One',
    'human: For context: [first] said: A.',
    'ai: B.',
    'human: Two',
    'human: For context: [first] said: C.',
  ])
})

it('questions of two lanes of one graph are answered each in its own', async () => {
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('ask', () => ({
      messages: [{ role: 'assistant', content: `Got ${interrupt<string, string>('Well?')}.` }],
    }))
    .addEdge(START, 'ask')
    .compile({ checkpointer: new MemorySaver() })
  const client = createClient(lanesOf(fromLangGraph(graph, { name: 'expert' }), 2))
  const played = await client.say('Go')
  const questions = interruptsOf(played)
  expect(questions.map(({ message }) => message)).toEqual(['Well?', 'Well?'])
  const [one, other] = questions.map(({ id }) => id)
  expect(one).not.toBe(other)
  const half = await client.answer({ [one ?? '']: 'x' })
  expect(idOf(half)).toBe(other)
  const last = await client.answer({ [other ?? '']: 'y' })
  const said = [...half.events, ...last.events]
  expect(ofType(said, 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta)).toEqual(['Got x.', 'Got y.'])
})
