import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import {
  Annotation,
  type BaseCheckpointSaver,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import { parallel } from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { serveGraph, stateOf, type ServeGraphOptions } from '../support/langgraph/serve-graph.js'
import { deferred } from '../support/run-agent.js'
import { clientVersions } from '../support/serve-agents.js'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  count: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }),
  notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  draft: Annotation<string>,
  theme: Annotation<string>,
  role: Annotation<string>,
})
type Values = typeof State.State

/** Serves a graph that counts its turns. `seen` has the state that each turn began with. */
async function serveCounter(options: Partial<ServeGraphOptions> & { isAsking?: boolean } = {}) {
  const { isAsking = false, ...rest } = options
  const seen: Partial<Values>[] = []
  const make = (checkpointer: BaseCheckpointSaver) => {
    const graph = new StateGraph(State)
      .addNode('turn', ({ messages, ...state }) => {
        const answer = isAsking ? interrupt<string, string>('Well?') : 'done'
        seen.push(state)
        return {
          messages: [{ role: 'assistant', content: `${answer} ${state.count}` }],
          ...{
            count: 1,
            notes: [`after ${messages.length}`],
            draft: `${state.draft} by graph`,
            role: 'user',
          },
        }
      })
      .addEdge(START, 'turn')
      .compile({ checkpointer })
    return fromLangGraph(graph, { name: 'counter', privateKeys: ['role'] })
  }
  return { seen, served: await serveGraph({ make, ...rest }) }
}

describe('private keys', () => {
  it('a client cannot write them in the first run, nor over the graph’s own value', async () => {
    const { seen, served } = await serveCounter()
    const talk = served.talk()
    talk.client.setState({ role: 'admin', theme: 'dark' })
    await talk.say('Go')
    talk.client.setState({ ...(talk.client.state as object), role: 'admin' })
    await talk.say('Again')
    expect(seen).toMatchObject([{ theme: 'dark' }, { role: 'user', theme: 'dark' }])
    expect(seen[0]?.role).toBeUndefined()
    expect(talk.client.state).not.toHaveProperty('role')
    expect(await stateOf(served)).not.toHaveProperty('role')
  })

  it('a client cannot write them without a run, nor with an answer', async () => {
    const { seen, served } = await serveCounter({ isAsking: true })
    const talk = served.talk()
    const answer = async () => {
      const [open] = talk.client.pendingInterrupts
      const resume = [{ interruptId: open?.id ?? '', status: 'resolved' as const, payload: 'yes' }]
      await talk.send({ resume })
    }
    await talk.say('Go')
    talk.client.setState({ ...(talk.client.state as object), role: 'admin', theme: 'dark' })
    await answer()
    const theme = { op: 'add', path: '/theme', value: 'light' }
    const forged = [theme, { op: 'add', path: '/role', value: 'admin' }]
    const refused = await served.ask('PATCH /state/thread-1', { body: forged })
    expect(refused).toMatchObject({ status: 422, body: { error: { code: 'INVALID_PATCH' } } })
    expect((await served.ask('PATCH /state/thread-1', { body: [theme] })).status).toBe(200)
    await talk.say('Again')
    await answer()
    expect(seen).toMatchObject([{ theme: 'dark' }, { role: 'user', theme: 'light' }])
    expect(seen[0]?.role).toBeUndefined()
  })

  it('a client cannot write them when it edits', async () => {
    const { seen, served } = await serveCounter()
    const talk = served.talk()
    await talk.say('Go')
    await talk.say('Again')
    talk.client.setMessages(talk.client.messages.slice(0, -1))
    talk.client.setState({ ...(talk.client.state as object), role: 'admin' })
    await talk.send()
    expect(seen[2]).toMatchObject({ role: 'user', count: 1 })
  })
})

describe.each(clientVersions)('with the client $version', ({ Client }) => {
  it.each([
    ['memory', 'memory'],
    ['sqlite', 'sqlite'],
  ] as const)('counters and lists go back with the messages: %s', async (store, checkpoints) => {
    const { seen, served } = await serveCounter({ store, checkpoints })
    const talk = served.talk({ Client })
    const { client } = talk
    for (const text of ['One', 'Two', 'Three']) await talk.say(text)
    const counted = { count: 3, notes: ['after 1', 'after 3', 'after 5'] }
    expect(client.state).toMatchObject(counted)
    client.setMessages(client.messages.slice(0, -1))
    await talk.send()
    expect(seen[3]).toEqual(seen[2])
    expect(client.state).toMatchObject(counted)
    const [first] = client.messages
    client.setMessages([{ ...first, content: 'Uno' } as (typeof client.messages)[number]])
    await talk.send()
    expect(seen[4]).toEqual(seen[0])
    expect(client.state).toMatchObject({ count: 1, notes: ['after 1'] })
    expect(await stateOf(served)).toEqual(client.state)
    await talk.say('Two')
    expect(client.state).toMatchObject({ count: 2, notes: ['after 1', 'after 3'] })
  })

  it('what the client changed stays: with the message that is answered anew, and since', async () => {
    const { seen, served } = await serveCounter()
    const talk = served.talk({ Client })
    const { client } = talk
    const change = (state: object) => client.setState({ ...(client.state as object), ...state })
    await talk.say('One')
    change({ draft: 'mine' })
    await talk.say('Two')
    expect(client.state).toMatchObject({ draft: 'mine by graph', count: 2 })
    client.setMessages(client.messages.slice(0, -1))
    await talk.send()
    expect(seen[2]).toMatchObject({ draft: 'mine', count: 1 })
    change({ theme: 'dark' })
    await talk.say('Three')
    client.setMessages(client.messages.slice(0, -3))
    change({ notes: ['my note'] })
    await talk.send()
    expect(seen[4]).toMatchObject({ draft: 'mine', count: 1, theme: 'dark', notes: ['my note'] })
    expect(client.state).toMatchObject({ count: 2, theme: 'dark', notes: ['my note', 'after 3'] })
  })

  it('what the client changed without a run stays', async () => {
    const { seen, served } = await serveCounter()
    const talk = served.talk({ Client })
    const { client } = talk
    await talk.say('One')
    await talk.say('Two')
    const body = [{ op: 'add', path: '/theme', value: 'dark' }]
    expect((await served.ask('PATCH /state/thread-1', { body })).status).toBe(200)
    client.setMessages(client.messages.slice(0, -1))
    await talk.send()
    expect(seen[2]).toMatchObject({ count: 1, theme: 'dark' })
  })
})

it('what the client changed with an answer stays', async () => {
  const { seen, served } = await serveCounter({ isAsking: true })
  const talk = served.talk()
  const { client } = talk
  const answer = (state: object = {}) => {
    client.setState({ ...(client.state as object), ...state })
    const [open] = client.pendingInterrupts
    return talk.send({ resume: [{ interruptId: open?.id ?? '', status: 'resolved', payload: 'yes' }] })
  }
  await talk.say('One')
  await answer()
  await talk.say('Two')
  await answer({ theme: 'dark' })
  client.setMessages(client.messages.slice(0, -1))
  await talk.send()
  await answer()
  expect(seen[2]).toMatchObject({ count: 1, theme: 'dark' })
})

describe('a value that is not JSON', () => {
  const Rich = Annotation.Root({
    ...MessagesAnnotation.spec,
    index: Annotation<Map<string, number>>({ reducer: (_, b) => b, default: () => new Map() }),
    vault: Annotation<Map<string, number>>({ reducer: (_, b) => b, default: () => new Map() }),
    said: Annotation<BaseMessage[]>({ reducer: (_, b) => b, default: () => [] }),
  })

  it('stays in the graph as it is when the client sends back what it was shown of it', async () => {
    const seen: unknown[][] = []
    const make = (checkpointer: BaseCheckpointSaver) => {
      const graph = new StateGraph(Rich)
        .addNode('turn', ({ index, vault, said }) => {
          seen.push([index, vault, said.map((one) => AIMessage.isInstance(one))])
          const next = new Map([['turns', seen.length]])
          return {
            messages: [new AIMessage('Fine.')],
            index: next,
            vault: next,
            said: [new AIMessage('Hm.')],
          }
        })
        .addEdge(START, 'turn')
        .compile({ checkpointer })
      return fromLangGraph(graph, { name: 'rich', privateKeys: ['vault'] })
    }
    const talk = (await serveGraph({ make })).talk()
    await talk.say('One')
    expect(talk.client.state).toMatchObject({ index: { turns: 1 }, said: [{ role: 'assistant' }] })
    await talk.say('Two')
    const turns = new Map([['turns', 1]])
    expect(seen[1]).toEqual([turns, turns, [true]])
  })
})

it('graphs in parallel lanes keep each other’s part of the state', async () => {
  const first = deferred()
  const lane = (key: 'draft' | 'theme', wait: Promise<void> | undefined) => {
    const Lane = Annotation.Root({ ...MessagesAnnotation.spec, [key]: Annotation<string> })
    const graph = new StateGraph(Lane)
      .addNode('set', async () => {
        await wait
        return { [key]: 'set', messages: [new AIMessage('Set.')] }
      })
      .addNode('end', () => (wait ? {} : (first.resolve(), {})))
      .addEdge(START, 'set')
      .addEdge('set', 'end')
      .compile()
    return fromLangGraph(graph, { name: key, description: `Sets the ${key}.` })
  }
  const make = () =>
    parallel({ name: 'both', agents: [lane('theme', first.promise), lane('draft', undefined)] })
  const served = await serveGraph({ make })
  await served.talk().say('Go')
  expect(await stateOf(served)).toEqual({ draft: 'set', theme: 'set' })
})

it('a key of the graph that a client deletes is back after the next run', async () => {
  const { served } = await serveCounter()
  const talk = served.talk()
  talk.client.setState({ theme: 'dark', own: 1 })
  await talk.say('One')
  const body = [
    { op: 'remove', path: '/theme' },
    { op: 'remove', path: '/own' },
  ]
  expect((await served.ask('PATCH /state/thread-1', { body })).status).toBe(200)
  await talk.say('Two')
  expect(talk.client.state).toMatchObject({ theme: 'dark' })
  expect(talk.client.state).not.toHaveProperty('own')
})
