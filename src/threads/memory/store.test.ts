import { getEventListeners } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { describeStoreContract } from '../../../test/support/store-contract.js'
import { manualClock } from '../../core/clock.js'
import { createMemoryStore } from './store.js'
import type { Lease, Store, Thread, ThreadChange, ThreadKey } from '../contract.js'

describeStoreContract(
  'a store in memory',
  (clock) => {
    const store = createMemoryStore({ clock })
    return Promise.resolve({ store, cleanUp: () => store.close() })
  },
  { outlivesProcess: false },
)

const key: ThreadKey = { app: 'app', user: 'user', agent: 'agent', thread: 'thread' }
const nothing: ThreadChange = {
  version: 0,
  keep: 0,
  append: [],
  state: {},
  interrupts: [],
  pendingToolCalls: [],
}

async function acquire(store: Store): Promise<Lease> {
  const lease = await store.leases.acquire(key, { owner: 'me', ttlMs: 1_000 })
  if (lease === undefined) throw new Error('The thread is held already.')
  return lease
}

async function loaded(store: Store): Promise<Thread> {
  const thread = await store.threads.load(key)
  if (thread === undefined) throw new Error('The thread is not stored.')
  return thread
}

test('a fork has the messages of the other thread themselves, not copies', async () => {
  const store = createMemoryStore()
  const append = [{ id: 'm', role: 'user' as const, content: 'Hello' }]
  await store.threads.commit(await acquire(store), { ...nothing, append })
  const fork = { ...key, thread: 'fork' }
  const lease = await store.leases.acquire(fork, { owner: 'me', ttlMs: 1_000 })
  if (lease === undefined) throw new Error('The fork is held already.')
  await store.threads.commit(lease, { ...nothing, keep: 1, forkedFrom: 'thread' })
  expect((await store.threads.load(fork))?.messages).toBe((await loaded(store)).messages)
})

describe('a thread loaded from memory', () => {
  const change: ThreadChange = {
    ...nothing,
    append: [{ id: 'm', role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    state: { list: [{ a: 1 }] },
    checkpoint: { frames: [] },
    interrupts: [{ id: 'i', reason: 'question' }],
    pendingToolCalls: [{ id: 'c', name: 'pick' }],
    run: { runId: 'r', status: 'running', startedAt: 0, nextSeq: 0 },
  }
  const changes: [string, (thread: Thread) => unknown][] = [
    ['itself', (thread) => Object.assign(thread, { title: 'x' })],
    ['key', (thread) => Object.assign(thread.key, { user: 'x' })],
    ['messages', (thread) => (thread.messages as unknown[]).push(1)],
    ['message', (thread) => Object.assign(thread.messages[0] ?? {}, { id: 'x' })],
    ['content', (thread) => (thread.messages[0]?.content as unknown[]).pop()],
    ['state', (thread) => Object.assign((thread.state as { list: object[] }).list[0] ?? {}, { a: 2 })],
    ['checkpoint', (thread) => (thread.checkpoint as { frames: unknown[] }).frames.push(1)],
    ['interrupts', (thread) => Object.assign(thread.interrupts[0] ?? {}, { id: 'x' })],
    ['pending calls', (thread) => (thread.pendingToolCalls as unknown[]).pop()],
    ['run', (thread) => Object.assign(thread.run ?? {}, { status: 'failed' })],
  ]

  test.each(changes)('cannot be changed: %s', async (_, attempt) => {
    const store = createMemoryStore()
    const lease = await acquire(store)
    await store.threads.commit(lease, structuredClone(change))
    const thread = await loaded(store)
    expect(() => attempt(structuredClone(thread))).not.toThrow()
    expect(() => attempt(thread)).toThrow(TypeError)
    expect(await loaded(store)).toMatchObject({ messages: change.append, state: change.state })
  })

  test('is the stored one, not a copy, and shares what has not changed with the next', async () => {
    const store = createMemoryStore()
    const lease = await acquire(store)
    await store.threads.commit(lease, structuredClone(change))
    const first = await loaded(store)
    expect(await loaded(store)).toBe(first)
    await store.threads.commit(lease, { ...nothing, version: 1, keep: 1, state: first.state })
    const second = await loaded(store)
    expect(second.messages).toBe(first.messages)
    expect(second.state).toBe(first.state)
  })

  test('stays as it was when the thread goes on', async () => {
    const store = createMemoryStore()
    const lease = await acquire(store)
    await store.threads.commit(lease, structuredClone(change))
    const first = await loaded(store)
    const copy = structuredClone(first)
    await store.threads.commit(lease, { ...nothing, version: 1, keep: 1, append: [...change.append] })
    await store.threads.begin(lease, { runId: 'r2', status: 'running', startedAt: 1, nextSeq: 0 })
    await store.threads.remove(lease)
    expect(first).toEqual(copy)
  })

  test('may have a state that is nested deeper than the stack', async () => {
    const store = createMemoryStore()
    let state: unknown = []
    for (let depth = 0; depth < 100_000; depth++) state = [state]
    await store.threads.commit(await acquire(store), { ...nothing, state })
    expect(Object.isFrozen((await loaded(store)).state)).toBe(true)
  })

  test('takes a list of new messages as it is when the caller goes on with the list', async () => {
    const store = createMemoryStore()
    const append = [...change.append]
    await store.threads.commit(await acquire(store), { ...nothing, append })
    append.pop()
    expect((await loaded(store)).messages).toHaveLength(1)
  })
})

describe('who waits for a run in memory', () => {
  test('waits until there are events of this run after the known one', async () => {
    const clock = manualClock()
    const store = createMemoryStore({ clock })
    const lease = await acquire(store)
    const told = vi.fn()
    const stop = new AbortController()
    await store.log.append(lease, { runId: 'r1', firstSeq: 0, lines: ['{}'] })
    const waiting = store.log.changed(key, { runId: 'r1', after: 0 }, stop.signal).then(told)
    await store.log.append(lease, { runId: 'r2', firstSeq: 0, lines: ['{}'] })
    await clock.advance(60_000)
    expect(told).not.toHaveBeenCalled()
    expect(clock.pending).toBe(0)
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1)
    await store.log.append(lease, { runId: 'r1', firstSeq: 1, lines: ['{}'] })
    await waiting
    expect(told).toHaveBeenCalledTimes(1)
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0)
  })
})
