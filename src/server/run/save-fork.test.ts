import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { createServerContext } from '../../../test/support/server-context.js'
import { changeOf, hold, keyOf, runOf } from '../../../test/support/store-contract/rig.js'
import { shorthand, talk } from '../../../test/support/talk.js'
import type { Thread, ThreadChange, ThreadKey } from '../../threads/contract.js'
import { defaultLimits, type ThreadRules } from '../contract.js'
import { createHousekeeping } from '../retention/housekeeping.js'
import { saveFork } from './save-fork.js'

function setUp({ rules = {} }: { readonly rules?: ThreadRules } = {}) {
  const made = createServerContext()
  const { clock } = made
  const { store, owner, log } = made.server
  const housekeeping = createHousekeeping({
    ...{ agents: new Map(), store, rules, owner, leaseMs: 15_000, clock, log },
  })
  const server = { ...made.server, housekeeping }

  async function save(key: ThreadKey, change: Partial<ThreadChange> = {}): Promise<Thread> {
    const lease = await hold(store, key)
    const version = (await store.threads.load(key))?.version ?? 0
    await store.threads.commit(lease, changeOf({ version, append: talk('u1 a1'), ...change }))
    await store.leases.release(lease)
    const saved = await store.threads.load(key)
    if (!saved) throw new Error('It is not stored.')
    return saved
  }

  /** Keeps a thread as a run does that has leased it, and gives the id of what is kept. */
  async function fork(thread: Thread): Promise<string> {
    const lease = await hold(store, thread.key)
    const change = { keep: 0, append: [] }
    const plan = { messages: [], change, state: {}, catchUp: [], resume: [], pendingToolCalls: [] }
    const { catchUp } = await saveFork(server, thread, { type: 'run', fork: true, ...plan })
    await store.leases.release(lease)
    const [event] = catchUp
    if (event?.type !== 'CUSTOM') throw new Error('The plan does not tell.')
    return (event.value as { threadId: string }).threadId
  }

  const remove = async (name: string): Promise<void> => {
    const lease = await hold(store, keyOf(name))
    await store.threads.remove(lease)
    await store.leases.release(lease)
  }
  const load = (name: string) => store.threads.load(keyOf(name))
  const names = async () =>
    (await store.threads.idle(clock.now() + 1, 100)).map(({ key }) => key.thread).toSorted()
  return { store, clock, save, fork, remove, load, names }
}

const messagesOf = (thread: Thread | undefined): readonly Message[] => thread?.messages ?? []

describe('what an edit cuts off', () => {
  test('is kept with its messages, state, title and open calls of the client', async () => {
    const { save, fork, load } = setUp()
    const pendingToolCalls = [{ id: 'c1', name: 'tool_c1' }]
    const thread = await save(keyOf('t'), {
      ...{ append: talk('u1 a1(c1)'), state: { a: 1 }, title: 'Hello', pendingToolCalls },
    })
    expect(await fork(thread)).toBe('t~1')
    const { messages, state } = thread
    expect(await load('t~1')).toMatchObject({
      ...{ messages, state, title: 'Hello', forkedFrom: 't', pendingToolCalls, interrupts: [] },
    })
  })

  test('is kept once when the run that cut it was lost before it began', async () => {
    const { save, fork, load, names } = setUp()
    const thread = await save(keyOf('t'))
    expect([await fork(thread), await fork(thread)]).toEqual(['t~1', 't~1'])
    expect((await load('t~1'))?.version).toBe(1)
    expect(await names()).toEqual(['t', 't~1'])
  })

  test('is kept beside what an earlier thread of the same id has left', async () => {
    const { save, fork, load, remove } = setUp()
    await fork(await save(keyOf('t')))
    await remove('t')
    expect(await fork(await save(keyOf('t'), { append: talk('u2 a2') }))).toBe('t~2')
    await remove('t')
    expect(await fork(await save(keyOf('t'), { append: talk('u3 a3') }))).toBe('t~3')
    const kept = await Promise.all(['t~1', 't~2', 't~3'].map(load))
    expect(kept.map((thread) => shorthand(messagesOf(thread)))).toEqual(['u1 a1', 'u2 a2', 'u3 a3'])
  })

  test('is kept beside one with the same messages and another state', async () => {
    const { save, fork } = setUp()
    await save(keyOf('t~1'), { forkedFrom: 't', state: { of: 'the first' } })
    expect(await fork(await save(keyOf('t'), { state: { of: 'the second' } }))).toBe('t~1-2')
  })

  test('is kept beside a thread that the user has named so', async () => {
    const { save, fork, load } = setUp()
    await save(keyOf('t~1'))
    expect(await fork(await save(keyOf('t')))).toBe('t~1-2')
    expect((await load('t~1'))?.forkedFrom).toBeUndefined()
  })

  test('is kept beside a thread that is in use, or whose first run has not ended', async () => {
    const { store, save, fork, load } = setUp()
    const lease = await hold(store, keyOf('t~1'))
    await store.threads.begin(lease, runOf('r'))
    const thread = await save(keyOf('t'))
    expect(await fork(thread)).toBe('t~1-2')
    await store.leases.release(lease)
    expect(await fork(thread)).toBe('t~1-2')
    expect(await load('t~1')).toMatchObject({ version: 0, run: { status: 'running' } })
  })
})

describe('the id of what is kept', () => {
  const { idLength } = defaultLimits

  test('is no longer than ids may be', async () => {
    const { save, fork, load } = setUp()
    const long = 'x'.repeat(idLength)
    await save(keyOf(`${'x'.repeat(idLength - 2)}~1`))
    const next = await fork(await save(keyOf(long), { append: talk('u2') }))
    expect(next).toBe(`${'x'.repeat(idLength - 4)}~1-2`)
    expect((await load(next))?.forkedFrom).toBe(long)
  })

  test('does not confuse two threads whose long ids begin alike', async () => {
    const { save, fork } = setUp()
    const [one, two] = ['1', '2'].map((end) => 'x'.repeat(idLength - 1) + end)
    const first = await fork(await save(keyOf(one ?? '')))
    expect(await fork(await save(keyOf(two ?? '')))).not.toBe(first)
  })

  test('is not cut in the middle of a character', async () => {
    const { save, fork } = setUp()
    const id = await fork(await save(keyOf(`${'x'.repeat(idLength - 3)}😀y`)))
    expect(id).toBe(`${'x'.repeat(idLength - 3)}~1`)
  })
})

describe('a limit of threads for each user', () => {
  test('holds for what is kept too', async () => {
    const { clock, save, fork, names } = setUp({ rules: { maxPerUser: 3 } })
    for (const name of ['a', 'b', 'c']) {
      await save(keyOf(name))
      await clock.advance(1000)
    }
    for (const text of ['u2', 'u3', 'u4']) {
      await fork(await save(keyOf('c'), { keep: 0, append: talk(text) }))
      await clock.advance(1000)
    }
    expect(await names()).toEqual(['b', 'c', 'c~4'])
  })

  test('lets the edited thread stay, also when it is all there is', async () => {
    const { save, fork, names } = setUp({ rules: { maxPerUser: 1 } })
    await fork(await save(keyOf('t')))
    expect(await names()).toEqual(['t', 't~1'])
  })
})
