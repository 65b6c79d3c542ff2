import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { changeOf, hold, keyOf, messagesOf, runOf } from '../../../test/support/store-contract/rig.js'
import { manualClock, type ManualClock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { createMemoryStore } from '../../threads/memory/store.js'
import { createSqliteStore } from '../../threads/sqlite/store.js'
import type { Store, ThreadChange, ThreadKey, ThreadStore } from '../../threads/contract.js'
import type { Logger, RemovalReason, ThreadRules } from '../contract.js'
import { createHousekeeping, type Housekeeping } from './housekeeping.js'

const minute = 60_000
const waiting = { interrupts: [{ id: 'i', reason: 'question' }] }
const owner = keyOf('')
let clock: ManualClock
let store: Store
let logged: { readonly level: string; readonly facts: object }[]

const stores: readonly (readonly [string, (clock: ManualClock) => Store | Promise<Store>])[] = [
  ['memory', (clock) => createMemoryStore({ clock })],
  ['SQLite', (clock) => createSqliteStore({ path: ':memory:', clock })],
]

function keep(rules: ThreadRules, over: Partial<ThreadStore> = {}): Housekeeping {
  const level = (name: string) => (facts: object) => void logged.push({ level: name, facts })
  const log: Logger = {
    debug: level('debug'),
    info: level('info'),
    warn: level('warn'),
    error: level('error'),
  }
  const given = { ...store, threads: { ...store.threads, ...over } }
  return createHousekeeping({
    store: given,
    agents: new Map(),
    rules,
    owner: 'keeper',
    leaseMs: 15_000,
    clock,
    log,
  })
}

async function save(key: ThreadKey, change: Partial<ThreadChange> = {}): Promise<void> {
  const lease = await hold(store, key)
  const version = (await store.threads.load(key))?.version ?? 0
  await store.threads.commit(lease, changeOf({ version, ...change }))
  await store.leases.release(lease)
}

/** Saves threads a minute apart. */
async function saveInTurn(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await save(keyOf(name), name.startsWith('waiting') ? waiting : {})
    await clock.advance(minute)
  }
}

async function saveMany(count: number, change: (index: number) => Partial<ThreadChange>): Promise<void> {
  for (let index = 0; index < count; index++) await save(keyOf(`t${index}`), change(index))
}

/** The names of all threads that are left, in order. */
async function left(): Promise<string[]> {
  const all = await store.threads.idle(clock.now() + 1, 1e6)
  return all.map(({ key }) => key.thread).sort()
}

/** A sweep of several pages lets others work in between, in the clock's time. */
async function sweepAll(housekeeping: Housekeeping): Promise<number> {
  let removed: number | undefined
  const sweeping = housekeeping.sweep().then((count) => (removed = count))
  // A store may take a turn for each write.
  while (removed === undefined) {
    await clock.advance(0)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return sweeping
}

describe.each(stores)('with threads in %s', (_, open) => {
  beforeEach(async () => {
    clock = manualClock(1_700_000_000_000)
    store = await open(clock)
    logged = []
  })

  afterEach(() => store.close())

  describe('a sweep', () => {
    test('is never made and removes nothing unless the rules say so', async () => {
      await saveInTurn('a', 'waiting')
      const housekeeping = keep({})
      expect(clock.pending).toBe(0)
      await clock.advance(1e12)
      expect(await housekeeping.sweep()).toBe(0)
      await housekeeping.makeRoom(owner, 'new')
      expect(await left()).toEqual(['a', 'waiting'])
    })

    test('takes an infinite time for none', async () => {
      await saveInTurn('a', 'waiting')
      const housekeeping = keep({ idleTimeoutMs: Infinity, waitingTimeoutMs: Infinity })
      expect(clock.pending).toBe(0)
      await clock.advance(1e12)
      expect(await housekeeping.sweep()).toBe(0)
    })

    test('removes threads of all owners that have been idle for too long, and no others', async () => {
      await save(keyOf('a', { user: 'somebody', app: 'other' }))
      await saveInTurn('b', 'c', 'd')
      const housekeeping = keep({ idleTimeoutMs: minute })
      expect(await housekeeping.sweep()).toBe(3)
      expect(await left()).toEqual(['d'])
      expect(logged).toEqual([{ level: 'info', facts: { removed: 3 } }])
    })

    test('spares threads that wait for a person or for a result, however long', async () => {
      const pendingToolCalls = [{ id: 'x', name: 'pick' }]
      await save(keyOf('call'), { pendingToolCalls })
      await saveInTurn('idle', 'waiting')
      await clock.advance(1e12)
      expect(await keep({ idleTimeoutMs: minute }).sweep()).toBe(1)
      expect(await left()).toEqual(['call', 'waiting'])
    })

    test('spares a fork with an open call only if somebody returned to it', async () => {
      const kept = { forkedFrom: 'c', pendingToolCalls: [{ id: 'x', name: 'pick' }] }
      await save(keyOf('c~1'), kept)
      await save(keyOf('c~2'), kept)
      await clock.advance(1)
      await save(keyOf('c~2'), kept)
      await clock.advance(60 * minute)
      expect(await keep({ idleTimeoutMs: minute }).sweep()).toBe(1)
      expect(await left()).toEqual(['c~2'])
    })

    test('removes threads that have waited for too long when there is a limit of that', async () => {
      const reasons: unknown[] = []
      const onThreadRemoved = ({ key }: { key: ThreadKey }, reason: RemovalReason) =>
        void reasons.push([key.thread, reason])
      await saveInTurn('idle', 'waiting')
      const housekeeping = keep({ idleTimeoutMs: minute, waitingTimeoutMs: 60 * minute, onThreadRemoved })
      await clock.advance(10 * minute)
      await housekeeping.sweep()
      expect(await left()).toEqual(['waiting'])
      await clock.advance(60 * minute)
      await housekeeping.sweep()
      expect(await left()).toEqual([])
      expect(reasons).toEqual([
        ['idle', 'idle'],
        ['waiting', 'waiting-too-long'],
      ])
    })

    test('can remove what waits for too long and leave what is idle', async () => {
      await saveInTurn('idle', 'waiting')
      const housekeeping = keep({ waitingTimeoutMs: minute })
      await clock.advance(minute)
      expect(await housekeeping.sweep()).toBe(1)
      expect(await left()).toEqual(['idle'])
    })

    test('spares a thread on which a run is at work', async () => {
      await saveInTurn('a')
      const lease = await hold(store, keyOf('a'))
      await store.threads.begin(lease, runOf('r'))
      const housekeeping = keep({ idleTimeoutMs: minute })
      await clock.advance(60 * minute)
      expect(await housekeeping.sweep()).toBe(0)
      await store.leases.release(lease)
      expect(await housekeeping.sweep()).toBe(1)
    })

    test('counts from the start of a run that was lost', async () => {
      await saveInTurn('a')
      const housekeeping = keep({ idleTimeoutMs: 10 * minute })
      await clock.advance(60 * minute)
      const lease = await hold(store, keyOf('a'))
      await store.threads.begin(lease, runOf('r', { startedAt: clock.now() }))
      await store.leases.release(lease)
      expect(await housekeeping.sweep()).toBe(0)
      await clock.advance(11 * minute)
      await housekeeping.sweep()
      expect(await left()).toEqual([])
    })

    test('spares a thread that was used between the list and its removal', async () => {
      await saveInTurn('a', 'b', 'c')
      const housekeeping = keep(
        { idleTimeoutMs: minute },
        {
          async idle(before, limit) {
            const found = await store.threads.idle(before, limit)
            await save(keyOf('a'), { append: messagesOf('m') })
            return found
          },
        },
      )
      expect(await housekeeping.sweep()).toBe(1)
      expect(await left()).toEqual(['a', 'c'])
    })

    test('spares a thread that onThreadRemoved throws for, says so, and goes on', async () => {
      await saveInTurn('a', 'b', 'c')
      const error = new Error('Keep it.')
      const onThreadRemoved = ({ key }: { key: ThreadKey }) => {
        if (key.thread === 'a') throw error
      }
      expect(await keep({ idleTimeoutMs: minute, onThreadRemoved }).sweep()).toBe(1)
      expect(await left()).toEqual(['a', 'c'])
      const facts = { ...keyOf('a'), reason: 'idle', err: error }
      expect(logged).toContainEqual({ level: 'warn', facts })
    })

    test('goes on after a thread that the store cannot remove', async () => {
      await saveInTurn('a', 'b', 'c')
      const remove: ThreadStore['remove'] = (lease) =>
        lease.key.thread === 'a' ? Promise.reject(new Error('Broken.')) : store.threads.remove(lease)
      expect(await keep({ idleTimeoutMs: minute }, { remove }).sweep()).toBe(1)
      expect(await left()).toEqual(['a', 'c'])
      expect(logged.map(({ level }) => level)).toEqual(['warn', 'info'])
    })
  })

  describe('a sweep of many threads', () => {
    /** Notes how many threads are asked for, and how many come. */
    function watched(pages: [number, number][]): Partial<ThreadStore> {
      return {
        async idle(before, limit) {
          const page = await store.threads.idle(before, limit)
          pages.push([limit, page.length])
          return page
        },
      }
    }

    test('goes by pages, so that never all are in memory', async () => {
      await saveMany(2_500, () => ({}))
      await clock.advance(2)
      const pages: [number, number][] = []
      expect(await sweepAll(keep({ idleTimeoutMs: 1 }, watched(pages)))).toBe(2_500)
      expect(await left()).toEqual([])
      expect(pages.length).toBeGreaterThan(5)
      expect(Math.max(...pages.map(([, length]) => length))).toBeLessThan(500)
    })

    test('looks at each thread that stays only once, and finds those behind it', async () => {
      await saveMany(1_000, (index) => (index % 10 === 9 ? {} : waiting))
      await clock.advance(2)
      const asked: string[] = []
      const onThreadRemoved = ({ key }: { key: ThreadKey }) => {
        asked.push(key.thread)
        if (asked.length % 2 === 0) throw new Error('Keep it.')
      }
      const pages: [number, number][] = []
      expect(await sweepAll(keep({ idleTimeoutMs: 1, onThreadRemoved }, watched(pages)))).toBe(50)
      expect(new Set(asked).size).toBe(100)
      expect(asked).toHaveLength(100)
      expect(pages.length).toBeLessThan(10)
    })

    test('ends when all stay', async () => {
      await saveMany(300, () => ({}))
      await clock.advance(2)
      const remove = () => Promise.reject(new Error('Broken.'))
      expect(await sweepAll(keep({ idleTimeoutMs: 1 }, { remove }))).toBe(0)
    })

    test('stops at the thread it is at when housekeeping is closed', async () => {
      await saveMany(150, () => ({}))
      await clock.advance(2)
      let count = 0
      const onThreadRemoved = async () => {
        count += 1
        if (count === 3) closed = housekeeping.close()
        await Promise.resolve()
      }
      let closed: Promise<void> | undefined
      const housekeeping = keep({ idleTimeoutMs: 1, onThreadRemoved })
      expect(await housekeeping.sweep()).toBe(3)
      await closed
      expect(await left()).toHaveLength(147)
      expect(clock.pending).toBe(0)
    })

    test('lets others work between two pages, and can be closed there', async () => {
      await saveMany(150, () => ({}))
      await clock.advance(2)
      let pages = 0
      const idle: ThreadStore['idle'] = (before, limit) => {
        pages += 1
        return store.threads.idle(before, limit)
      }
      let removed = 0
      const remove: ThreadStore['remove'] = async (lease) => {
        await store.threads.remove(lease)
        removed += 1
      }
      const housekeeping = keep({ idleTimeoutMs: 1 }, { idle, remove })
      const sweeping = housekeeping.sweep()
      // The timer of the sweeps to come, and the one between the pages.
      while (removed < 100 || clock.pending < 2) await new Promise((resolve) => setImmediate(resolve))
      await housekeeping.close()
      expect(await sweeping).toBe(100)
      expect(pages).toBe(1)
      expect(clock.pending).toBe(0)
    })
  })

  describe('sweeps', () => {
    test('come every five minutes', async () => {
      await saveInTurn('a')
      keep({ idleTimeoutMs: 1 })
      await clock.advance(5 * minute - 1)
      expect(await left()).toEqual(['a'])
      await clock.advance(1)
      expect(await left()).toEqual([])
      await saveInTurn('b')
      await clock.advance(4 * minute)
      expect(await left()).toEqual([])
    })

    test('come as often as the rules say', async () => {
      await saveInTurn('a')
      keep({ waitingTimeoutMs: 10 * minute, idleTimeoutMs: 10, sweepEveryMs: 20 })
      await clock.advance(20)
      expect(await left()).toEqual([])
    })

    test('never overlap: a second call joins the sweep under way', async () => {
      await saveInTurn('a', 'b')
      let lists = 0
      let finish = (): void => undefined
      const idle: ThreadStore['idle'] = async (before, limit) => {
        lists += 1
        await new Promise<void>((resolve) => (finish = resolve))
        return store.threads.idle(before, limit)
      }
      const housekeeping = keep({ idleTimeoutMs: 1, sweepEveryMs: minute }, { idle })
      await clock.advance(10 * minute)
      const [first, second] = [housekeeping.sweep(), housekeeping.sweep()]
      expect(lists).toBe(1)
      finish()
      expect(await Promise.all([first, second])).toEqual([2, 2])
      await clock.advance(minute)
      expect(lists).toBe(2)
    })

    test('go on after one that failed', async () => {
      await saveInTurn('a')
      const error = new MillraceError('STORE_ERROR', 'No disk.')
      let failures = 2
      const idle: ThreadStore['idle'] = (before, limit) =>
        failures-- > 0 ? Promise.reject(error) : store.threads.idle(before, limit)
      keep({ idleTimeoutMs: 1, sweepEveryMs: minute }, { idle })
      await clock.advance(2 * minute)
      expect(logged).toEqual(Array(2).fill({ level: 'error', facts: { err: error } }))
      await clock.advance(minute)
      expect(await left()).toEqual([])
    })

    test('reject for the caller when the threads cannot be listed', async () => {
      const error = new MillraceError('STORE_ERROR', 'No disk.')
      const housekeeping = keep({ idleTimeoutMs: 1 }, { idle: () => Promise.reject(error) })
      await expect(housekeeping.sweep()).rejects.toBe(error)
    })

    test('are over after close', async () => {
      await saveInTurn('a')
      const housekeeping = keep({ idleTimeoutMs: 1 })
      await housekeeping.close()
      expect(clock.pending).toBe(0)
      expect(await housekeeping.sweep()).toBe(0)
      expect(await left()).toEqual(['a'])
    })

    test('are over after a close during one that fails', async () => {
      let fail = (): void => undefined
      const idle = (): Promise<never> =>
        new Promise((_, reject) => (fail = () => reject(new Error('No disk.'))))
      const housekeeping = keep({ idleTimeoutMs: 1, sweepEveryMs: minute }, { idle })
      await clock.advance(minute)
      const closed = housekeeping.close()
      fail()
      await closed
      await clock.advance(0)
      expect(clock.pending).toBe(0)
    })
  })

  describe('room for a new thread', () => {
    test('is there while the limit is not reached', async () => {
      await saveInTurn('a', 'b')
      await keep({ maxPerUser: 3 }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['a', 'b'])
    })

    test('is made by removing the thread that was not used for longest', async () => {
      await saveInTurn('c', 'b', 'a')
      const removed: unknown[] = []
      const onThreadRemoved: ThreadRules['onThreadRemoved'] = ({ key }, reason) =>
        void removed.push([key.thread, reason])
      await keep({ maxPerUser: 3, onThreadRemoved }).makeRoom(owner, 'new')
      expect(removed).toEqual([['c', 'too-many']])
      expect(await left()).toEqual(['a', 'b'])
      expect(logged).toEqual([])
    })

    test('is made by removing several when the limit was set later', async () => {
      await saveInTurn('a', 'b', 'c', 'd')
      await keep({ maxPerUser: 2 }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['d'])
    })

    const fork = { forkedFrom: 'c' }

    test('is made by unused forks before any other thread, the oldest first', async () => {
      await saveInTurn('a', 'b', 'c')
      for (const name of ['c~1', 'c~2', 'c~3']) {
        await save(keyOf(name), fork)
        await clock.advance(minute)
      }
      await keep({ maxPerUser: 5 }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['a', 'b', 'c', 'c~3'])
      await keep({ maxPerUser: 3 }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['b', 'c'])
    })

    test('is not made first by a fork that somebody returned to', async () => {
      await saveInTurn('a', 'b')
      await save(keyOf('c~1'), fork)
      await clock.advance(1)
      await save(keyOf('c~1'), { append: messagesOf('m') })
      await keep({ maxPerUser: 3 }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['b', 'c~1'])
    })

    test('is made by an unused fork, also when a thread was removed before', async () => {
      await save(keyOf('gone'))
      await keep({ idleTimeoutMs: -1 }).sweep()
      await saveInTurn('a')
      await save(keyOf('c~1'), fork)
      await keep({ maxPerUser: 2 }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['a'])
    })

    test('is made by an unused fork, also when a call was open in it', async () => {
      await saveInTurn('a')
      await save(keyOf('c~1'), { ...fork, pendingToolCalls: [{ id: 'x', name: 'pick' }] })
      await keep({ maxPerUser: 2 }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['a'])
    })

    test('is made among more threads than one page has', async () => {
      await saveMany(250, () => ({}))
      await clock.advance(1)
      await save(keyOf('t249'))
      await keep({ maxPerUser: 2 }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['t249'])
    })

    test('is not needed by a stored thread', async () => {
      await saveInTurn('a', 'b', 'c')
      await keep({ maxPerUser: 2 }).makeRoom(owner, 'a')
      expect(await left()).toEqual(['a', 'b', 'c'])
    })

    test('takes nothing from other users, agents and applications', async () => {
      for (const other of [{ user: 'x' }, { agent: 'x' }, { app: 'x' }]) await save(keyOf('theirs', other))
      await saveInTurn('a')
      await keep({ maxPerUser: 1 }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['theirs', 'theirs', 'theirs'])
    })

    test('is made by the oldest that neither runs nor waits', async () => {
      await saveInTurn('running', 'waiting', 'a', 'b')
      await store.threads.begin(await hold(store, keyOf('running')), runOf('r'))
      await keep({ maxPerUser: 4 }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['b', 'running', 'waiting'])
    })

    test('is made by a thread whose run was lost, as old as that run', async () => {
      await saveInTurn('lost', 'a', 'b')
      const lease = await hold(store, keyOf('lost'))
      await store.threads.begin(lease, runOf('r', { startedAt: clock.now() }))
      await store.leases.release(lease)
      await keep({ maxPerUser: 3 }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['b', 'lost'])
      await keep({ maxPerUser: 1 }).makeRoom(owner, 'new')
      expect(await left()).toEqual([])
    })

    test('is not made when all run or wait: the new thread is allowed, with a warning', async () => {
      await saveInTurn('running', 'waiting')
      await store.threads.begin(await hold(store, keyOf('running')), runOf('r'))
      await keep({ maxPerUser: 2 }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['running', 'waiting'])
      const facts = { app: 'app', user: 'user', agent: 'agent', maxPerUser: 2, excess: 1 }
      expect(logged).toEqual([{ level: 'warn', facts }])
    })

    test('is made by the next thread when one was used meanwhile, or is spared', async () => {
      await saveInTurn('used', 'dear', 'a', 'b')
      const list: ThreadStore['list'] = async (whose, page) => {
        const found = await store.threads.list(whose, page)
        await save(keyOf('used'))
        return found
      }
      const onThreadRemoved: ThreadRules['onThreadRemoved'] = ({ key }) => {
        if (key.thread === 'dear') throw new Error('Keep it.')
      }
      await keep({ maxPerUser: 4, onThreadRemoved }, { list }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['b', 'dear', 'used'])
    })

    test('is there when somebody else has removed a thread meanwhile', async () => {
      await saveInTurn('a', 'b')
      const list: ThreadStore['list'] = async (whose, page) => {
        const found = await store.threads.list(whose, page)
        const lease = await hold(store, keyOf('a'))
        await store.threads.remove(lease)
        await store.leases.release(lease)
        return found
      }
      await keep({ maxPerUser: 2 }, { list }).makeRoom(owner, 'new')
      expect(await left()).toEqual(['b'])
    })
  })
})
