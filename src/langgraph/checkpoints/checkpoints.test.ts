import type { EventEmitter } from 'node:events'
import type { Message } from '@ag-ui/core'
import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import {
  Annotation,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph'
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPostgres, type Postgres } from '../../../test/support/postgres.js'
import { deleteCheckpoints, savedState, storedMessages, writeCheckpointState } from './checkpoints.js'
import { storedInterrupts } from './stored-interrupts.js'
import { markCheckpoint, unseenMessages } from './marks.js'
import { prepareGraphInput } from '../input/prepare-input.js'
import { toAgui } from '../messages/to-agui.js'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  city: Annotation<string>(),
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})

/** A graph that writes a numbered message in two nodes at once. The state makes it fail or raise an interrupt. */
function build(checkpointer?: BaseCheckpointSaver) {
  const seen: string[][] = []
  let isBroken = true
  const graph = new StateGraph(State)
    .addNode('echo', ({ messages }) => {
      seen.push(messages.map(({ text }) => text))
      const id = `a${seen.length}`
      const text = messages.at(-1)?.text ?? ''
      if (text === 'fail' && isBroken) {
        isBroken = false
        throw new Error('Broken')
      }
      const said = text === 'ask' ? String(interrupt('Sure?')) : `${text}!`
      return { messages: [new AIMessage({ id, content: said })], log: [id] }
    })
    .addNode('left', () => ({}))
    .addNode('right', () => ({}))
    .addEdge(START, 'echo')
    .addEdge('echo', 'left')
    .addEdge('echo', 'right')
    .compile(checkpointer ? { checkpointer } : {})
  return { graph, seen }
}

let postgres: Postgres
const open: (() => Promise<void>)[] = []
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(async () => {
  for (const close of open) await close()
  await postgres.stop()
})

const savers: Record<string, () => Promise<BaseCheckpointSaver>> = {
  memory: () => Promise.resolve(new MemorySaver()),
  sqlite: () => Promise.resolve(SqliteSaver.fromConnString(':memory:')),
  postgres: async () => {
    const saver = PostgresSaver.fromConnString(await postgres.database(`checkpoints_${open.length}`))
    // Its sockets may outlive `end` by a moment, and the server ends them then.
    const { pool } = saver as unknown as { pool: EventEmitter }
    pool.on('error', () => undefined)
    open.push(() => saver.end())
    await saver.setup()
    return saver
  },
}

const user = (id: string, content = id): Message => ({ id, role: 'user', content })

/** A thread, and a graph that runs on it as the agent does. */
function converse({ graph, seen }: ReturnType<typeof build>, threadId = 't') {
  const config = { configurable: { thread_id: threadId } }
  const thread = async (): Promise<Message[]> => toAgui(storedMessages(await savedState(graph, config)))
  const run = async (messages: Message[]): Promise<void> => {
    const prepared = await prepareGraphInput(graph, config, { messages })
    if (prepared.type === 'wait') throw new Error('It waits.')
    const input = prepared.messages ? { messages: [...prepared.messages] as BaseMessage[] } : null
    await graph.invoke(input, prepared.config)
  }
  return { graph, config, thread, run, seen, say: async (one: Message) => run([...(await thread()), one]) }
}

const ids = (messages: readonly Message[]) => messages.map(({ id }) => id)

describe.each(Object.keys(savers))('with the %s saver', (name) => {
  const make = async () => converse(build(await savers[name]?.()))

  it('remembers a thread until it is forgotten', async () => {
    const { graph, config, thread, say } = await make()
    expect(await thread()).toEqual([])
    expect(await savedState(graph, config)).toBeUndefined()
    await say(user('u1', 'Hello'))
    await say(user('u2', 'Again'))
    expect(await thread()).toEqual([
      user('u1', 'Hello'),
      { id: 'a1', role: 'assistant', content: 'Hello!' },
      user('u2', 'Again'),
      { id: 'a2', role: 'assistant', content: 'Again!' },
    ])
    await deleteCheckpoints(graph, 't')
    expect(await thread()).toEqual([])
  })

  it('goes back to before a message that was edited, and on from there', async () => {
    const { thread, run, say, seen } = await make()
    await say(user('u1'))
    await say(user('u2'))
    await run([...(await thread()).slice(0, 2), user('u2', 'other')])
    expect(seen.at(-1)).toEqual(['u1', 'u1!', 'other'])
    expect(ids(await thread())).toEqual(['u1', 'a1', 'u2', 'a3'])
  })

  it('gives another answer when the last one was taken away', async () => {
    const { thread, run, say, seen } = await make()
    await say(user('u1'))
    await run((await thread()).slice(0, 1))
    expect(seen).toEqual([['u1'], ['u1']])
    expect(ids(await thread())).toEqual(['u1', 'a2'])
  })

  it('knows what clients have never seen, from what they have cut off', async () => {
    const { graph, config, say, run, seen } = await make()
    await say(user('u1'))
    // The graph keeps `a1` for itself.
    await markCheckpoint(graph, config, { shown: new Set(['u1']) })
    expect(await unseenMessages(graph, config)).toEqual({ own: new Set(['a1']), foreign: new Set() })
    await run([user('u1'), user('u2')])
    expect(seen.at(-1)).toEqual(['u1', 'u1!', 'u2'])
    expect(await unseenMessages(graph, config)).toEqual({
      own: new Set(['a1']),
      foreign: new Set(['u2', 'a2']),
    })
    await markCheckpoint(graph, config, { shown: new Set(['u1', 'a1', 'u2', 'a2']) })
    await graph.updateState(config, { log: ['elsewhere'] }, 'left')
    expect(await unseenMessages(graph, config)).toEqual({ own: new Set(), foreign: new Set() })
    await run([user('u1'), user('u3')])
    expect(seen.at(-1)).toEqual(['u1', 'u3'])
  })

  it('follows its own past, not the branches that were given up', async () => {
    const { thread, run, say, seen } = await make()
    await say(user('u1'))
    await say(user('u2'))
    await run([user('u1')])
    await say(user('v2'))
    expect(ids(await thread())).toEqual(['u1', 'a3', 'v2', 'a4'])
    await run([user('u1')])
    expect(seen.at(-1)).toEqual(['u1'])
    expect(ids(await thread())).toEqual(['u1', 'a5'])
  })

  it('goes on where it has failed', async () => {
    const { thread, run, say } = await make()
    await expect(say(user('u1', 'fail'))).rejects.toThrow('Broken')
    await run([user('u1', 'fail')])
    expect(ids(await thread())).toEqual(['u1', 'a2'])
  })

  it('takes over a state that was changed meanwhile, as it is', async () => {
    const { graph, config, say, thread } = await make()
    expect(await writeCheckpointState(graph, config, { city: 'Bern' })).toBe(true)
    expect(await savedState(graph, config)).toBeUndefined()
    await say(user('u1'))
    expect(await writeCheckpointState(graph, config, { city: 'Bern', log: ['x'] })).toBe(true)
    const saved = await savedState(graph, config)
    expect(saved?.values).toMatchObject({ city: 'Bern', log: ['x'] })
    expect(saved?.next).toEqual([])
    await say(user('u2'))
    expect(ids(await thread())).toEqual(['u1', 'a1', 'u2', 'a2'])
    expect((await savedState(graph, config))?.values).toMatchObject({ city: 'Bern', log: ['x', 'a2'] })
  })

  it('does not touch a graph that waits for an answer', async () => {
    const { graph, config, say } = await make()
    await say(user('u1', 'ask'))
    expect(await writeCheckpointState(graph, config, { city: 'Bern' })).toBe(false)
    const checkpointer = graph.checkpointer as BaseCheckpointSaver
    expect(await storedInterrupts(checkpointer, config)).toMatchObject([{ value: 'Sure?', answersBefore: 0 }])
  })
})

it('gives a graph without a memory the whole thread', async () => {
  const { graph, config, run, seen } = converse(build())
  expect(await savedState(graph, config)).toBeUndefined()
  await run([user('u1'), { id: 'a1', role: 'assistant', content: 'Hi' }, user('u2')])
  expect(seen).toEqual([['u1', 'Hi', 'u2']])
  expect(await writeCheckpointState(graph, config, { city: 'Bern' })).toBe(true)
  await deleteCheckpoints(graph, 't')
})

it('begins anew with the thread when the past is gone', async () => {
  const { graph, config, run, say, thread } = converse(build(new MemorySaver()))
  await say(user('u1'))
  // Such a checkpoint has no past.
  const moved = { configurable: { thread_id: 'moved' } }
  await graph.updateState(
    moved,
    { messages: storedMessages(await savedState(graph, config)) as BaseMessage[] },
    '__start__',
  )
  const other = converse({ graph, seen: [] }, 'moved')
  await other.run([user('v1')])
  expect(ids(await other.thread())).toEqual(['v1', 'a2'])
  await run([...(await thread()), user('u2')])
  expect(ids(await thread())).toEqual(['u1', 'a1', 'u2', 'a3'])
})
