import {
  Annotation,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph'
import { expect, it } from 'vitest'
import { fromLangGraph, type LangGraphOptions } from '../../src/langgraph/index.js'
import { FakeModel, type ModelStep } from '../support/langgraph/fake-model.js'
import { asked, historyOf, stateOf, textIn } from '../support/langgraph/serve-graph.js'
import { linesOf, serveAgents } from '../support/serve-agents.js'
import { newClient, oldClient } from './support-clients.js'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  word: Annotation<string>,
  secret: Annotation<string>,
  notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})
const identify = (request: Request) => ({ user: request.headers.get('x-user') ?? 'nobody' })
const ann = { 'x-user': 'ann' }
const bob = { 'x-user': 'bob' }

function chat(steps: readonly ModelStep[], checkpointer: BaseCheckpointSaver) {
  const model = new FakeModel(steps)
  const seen: unknown[] = []
  const graph = new StateGraph(State)
    .addNode('agent', async ({ messages, word }) => {
      seen.push(word)
      return { messages: [await model.invoke(messages)], notes: ['turn'], secret: 's3cret' }
    })
    .addEdge(START, 'agent')
    .compile({ checkpointer })
  return { model, graph, seen }
}

const shared: LangGraphOptions = {
  name: 'helper',
  threadId: ({ threadId }) => threadId,
  privateKeys: ['secret'],
}

async function serveShared(steps: readonly ModelStep[]) {
  const checkpointer = new MemorySaver()
  const { model, graph, seen } = chat(steps, checkpointer)
  const served = await serveAgents({ agents: [fromLangGraph(graph, shared)], identify })
  const config = { configurable: { thread_id: 'made-elsewhere' } }
  return {
    ...{ model, graph, seen, served, config, checkpointer },
    sayElsewhere: (content: string) => graph.invoke({ messages: [{ role: 'user', content }] }, config),
  }
}

it('a thread that was made elsewhere is read, by clients old and new', async () => {
  const { served, sayElsewhere } = await serveShared([['Found.']])
  await sayElsewhere('Look')
  const messages = await historyOf(served, 'made-elsewhere', ann)
  expect(linesOf(messages)).toEqual(['user: Look', 'assistant: Found.'])
  expect(await stateOf(served, 'made-elsewhere', ann)).toEqual({ notes: ['turn'] })
  for (const makeClient of [newClient, oldClient]) {
    const client = makeClient({ url: served.url, threadId: 'made-elsewhere', headers: ann })
    await client.connectAgent()
    expect(client.messages).toEqual(messages)
    expect(client.state).toEqual({ notes: ['turn'] })
  }
})

it('it is gone on with by a client that has read it, and elsewhere again', async () => {
  const { model, served, sayElsewhere, graph, config } = await serveShared([['Found.'], ['Yes.'], ['Here.']])
  await sayElsewhere('Look')
  const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
  talk.client.setMessages(await historyOf(served, 'made-elsewhere', ann))
  expect(textIn(await talk.say('Sure?'))).toBe('Yes.')
  const first = ['human: Look', 'ai: Found.', 'human: Sure?']
  expect(asked(model.calls[1])).toEqual(first)
  await sayElsewhere('And here?')
  expect(asked(model.calls[2])).toEqual([...first, 'ai: Yes.', 'human: And here?'])
  expect((await graph.getState(config)).values).toMatchObject({ notes: ['turn', 'turn', 'turn'] })
})

it('it is gone on with by a client that knows nothing of it', async () => {
  const { model, served, sayElsewhere } = await serveShared([['Found.'], ['Yes.']])
  await sayElsewhere('Look')
  const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
  expect(textIn(await talk.say('Sure?'))).toBe('Yes.')
  expect(asked(model.calls[1])).toEqual(['human: Look', 'ai: Found.', 'human: Sure?'])
  expect(linesOf(talk.client.messages)[0]).toBe('user: Look')
})

it('what was said elsewhere meanwhile stays, and the client gets it, each in its place', async () => {
  const { model, served, sayElsewhere } = await serveShared([['Found.'], ['There.'], ['Yes.'], ['Bye.']])
  const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
  await talk.say('Look')
  await sayElsewhere('Meanwhile')
  expect(textIn(await talk.say('And?'))).toBe('Yes.')
  const lines = ['user: Look', 'assistant: Found.', 'user: Meanwhile', 'assistant: There.', 'user: And?']
  expect(asked(model.calls[2])).toEqual(
    lines.map((line) => line.replace('user:', 'human:').replace('assistant:', 'ai:')),
  )
  expect(linesOf(await historyOf(served, 'made-elsewhere', ann))).toEqual([...lines, 'assistant: Yes.'])
  expect(linesOf(talk.client.messages)).toEqual([...lines, 'assistant: Yes.'])
  await talk.say('Bye')
  expect(model.calls[3]).toHaveLength(7)
})

it('messages that were added to the state elsewhere stay', async () => {
  const { model, served, graph, config } = await serveShared([['Found.'], ['Yes.']])
  const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
  await talk.say('Look')
  await graph.updateState(config, { messages: [{ role: 'assistant', content: 'By the way.' }] })
  await graph.updateState(config, { notes: ['seen'] })
  await talk.say('And?')
  expect(asked(model.calls[1])).toEqual(['human: Look', 'ai: Found.', 'ai: By the way.', 'human: And?'])
})

it('a client that changes what was before that leaves it behind', async () => {
  const { model, served, sayElsewhere } = await serveShared([['Found.'], ['There.'], ['Yes.']])
  const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
  await talk.say('Look')
  await sayElsewhere('Meanwhile')
  const [first] = talk.client.messages
  talk.client.setMessages([{ id: first?.id ?? '', role: 'user', content: 'Other' }])
  await talk.send()
  expect(asked(model.calls[2])).toEqual(['human: Other'])
})

it('what a run has left behind that was cancelled, or failed, is its own: an edit takes its place', async () => {
  const { model, served } = await serveShared([['Found.'], [new Error('broken')], ['Yes.']])
  const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
  await talk.say('Look')
  const before = [...talk.client.messages]
  await talk.say('Wrong').catch(() => undefined)
  talk.client.setMessages(before)
  await talk.say('Right')
  expect(asked(model.calls[2])).toEqual(['human: Look', 'ai: Found.', 'human: Right'])
})

it('what is deleted is deleted from the checkpointer', async () => {
  const { served, graph, config } = await serveShared([['Found.'], ['Anew.']])
  const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
  await talk.say('Look')
  expect((await graph.getState(config)).next).toEqual([])
  const { status } = await served.ask('DELETE /thread/made-elsewhere', { headers: ann })
  expect(status).toBeLessThan(300)
  expect((await graph.getState(config)).values).toEqual({})
})

it('a state that is changed without a run reaches the checkpointer, and the next run', async () => {
  const { served, graph, config, seen } = await serveShared([['One.'], ['Two.']])
  const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
  await talk.say('Look')
  const { status } = await served.ask('PATCH /state/made-elsewhere', {
    headers: ann,
    body: [
      { op: 'add', path: '/word', value: 'new' },
      { op: 'replace', path: '/notes', value: ['mine'] },
    ],
  })
  expect(status).toBe(200)
  expect((await graph.getState(config)).values).toMatchObject({
    word: 'new',
    notes: ['mine'],
    secret: 's3cret',
  })
  await talk.say('Again')
  expect(seen).toEqual([undefined, 'new'])
  expect(await stateOf(served, 'made-elsewhere', ann)).toEqual({ word: 'new', notes: ['mine', 'turn'] })
})

it('the same thread id of two users and of two agents are four threads', async () => {
  const checkpointer = new MemorySaver()
  const steps = ['1', '2', '3', '4'].map((text) => [text])
  const [a, b] = [chat(steps, checkpointer), chat(steps, checkpointer)]
  const agents = [fromLangGraph(a.graph, { name: 'a' }), fromLangGraph(b.graph, { name: 'b' })] as const
  const served = await serveAgents({ agents, identify })
  for (const [agent, model] of [
    ['a', a.model],
    ['b', b.model],
  ] as const)
    for (const headers of [ann, bob]) {
      const client = newClient({ url: `${served.url}/agents/${agent}`, headers })
      client.addMessage({ id: 'u1', role: 'user', content: `${agent} ${headers['x-user']}` })
      await client.runAgent()
      expect(asked(model.calls.at(-1))).toEqual([`human: ${agent} ${headers['x-user']}`])
    }
  const threads = Object.keys(checkpointer.storage)
  expect(new Set(threads).size).toBe(4)
})
