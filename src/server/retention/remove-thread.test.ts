import { beforeEach, describe, expect, test } from 'vitest'
import { changeOf, hold, keyOf, messagesOf, runOf, stored } from '../../../test/support/store-contract/rig.js'
import { manualClock, type ManualClock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { createMemoryStore } from '../../threads/memory/store.js'
import type { Store, Thread } from '../../threads/contract.js'
import { removeThread, type RemoveThreadOptions } from './remove-thread.js'

const key = keyOf('t')
const start = { keep: 0, append: messagesOf('m1'), state: {}, clientTools: [] }
let clock: ManualClock
let store: Store
let problems: unknown[]

beforeEach(() => {
  clock = manualClock(1_000)
  store = createMemoryStore({ clock })
  problems = []
})

function remove(given: Partial<RemoveThreadOptions> = {}): ReturnType<typeof removeThread> {
  const onProblem = (problem: unknown) => void problems.push(problem)
  return removeThread({
    ...{ store, key, clock, onProblem },
    ...{ owner: 'keeper', leaseMs: 300, reason: 'idle', ...given },
  })
}

async function save(): Promise<void> {
  const lease = await hold(store, key)
  const run = runOf('r1', { status: 'completed', endedAt: 900, nextSeq: 4 })
  await store.threads.commit(lease, changeOf({ append: messagesOf('m1', 'm2'), title: 'Oslo', run }))
  await store.leases.release(lease)
}

/** Notes that a run has begun, in a process that is gone by now. */
async function loseRun(): Promise<void> {
  const lease = await hold(store, key)
  await store.threads.begin(lease, runOf('r2', { start }))
  await store.leases.release(lease)
}

function storeLosesLease(): Store {
  const lost = new MillraceError('LEASE_LOST', 'Taken over.')
  return { ...store, threads: { ...store.threads, remove: () => Promise.reject(lost) } }
}

describe('a thread that is to be removed', () => {
  test('is removed, and its lease is free', async () => {
    await save()
    expect(await remove()).toBe('removed')
    expect(await store.threads.load(key)).toBeUndefined()
    expect(await store.leases.isHeld(key)).toBe(false)
    expect(clock.pending).toBe(0)
  })

  test('is left alone while somebody is at work on it', async () => {
    await save()
    const lease = await hold(store, key)
    expect(await remove()).toBe('busy')
    expect((await stored(store, key)).version).toBe(1)
    expect(await store.leases.renew(lease, 1_000)).toBe(true)
  })

  test('is missing when there is none, and its lease is free', async () => {
    expect(await remove()).toBe('missing')
    expect(await store.leases.isHeld(key)).toBe(false)
  })

  test('is missing for housekeeping when nothing was committed to it', async () => {
    await loseRun()
    expect(await remove({ reason: 'idle' })).toBe('missing')
    expect((await stored(store, key)).run?.runId).toBe('r2')
  })

  test('can be removed on request when nothing was committed to it', async () => {
    await loseRun()
    expect(await remove({ reason: 'request' })).toBe('removed')
    expect(await store.threads.load(key)).toBeUndefined()
  })

  test('is spared when it is no longer due, without a call of onThreadRemoved', async () => {
    await save()
    const heard: Thread[] = []
    const rules = { onThreadRemoved: (thread: Thread) => void heard.push(thread) }
    expect(await remove({ rules, isStillDue: ({ version }) => version > 1 })).toBe('spared')
    expect(heard).toEqual([])
    expect((await stored(store, key)).version).toBe(1)
    expect(await store.leases.isHeld(key)).toBe(false)
  })

  test('is busy when its lease was taken over before the removal', async () => {
    await save()
    expect(await remove({ store: storeLosesLease() })).toBe('busy')
  })

  test('releases its lease when the store fails, and rejects', async () => {
    await save()
    const error = new MillraceError('STORE_ERROR', 'No disk.')
    const broken: Store = { ...store, threads: { ...store.threads, load: () => Promise.reject(error) } }
    await expect(remove({ store: broken })).rejects.toBe(error)
    expect(await store.leases.isHeld(key)).toBe(false)
    expect(clock.pending).toBe(0)
  })

  test('is removed also when its lease cannot be released', async () => {
    await save()
    const error = new MillraceError('STORE_ERROR', 'No disk.')
    const broken: Store = { ...store, leases: { ...store.leases, release: () => Promise.reject(error) } }
    expect(await remove({ store: broken })).toBe('removed')
    expect(problems).toEqual([error])
  })
})

describe('onThreadRemoved', () => {
  test('gets the whole thread and the reason, while the thread can still be loaded', async () => {
    await save()
    await loseRun()
    const whole = await store.threads.load(key)
    const calls: unknown[] = []
    await remove({
      reason: 'too-many',
      rules: {
        async onThreadRemoved(thread, reason) {
          calls.push(thread, reason, (await stored(store, thread.key)).messages.length)
        },
      },
    })
    expect(calls).toEqual([whole, 'too-many', 2])
    expect(await store.threads.load(key)).toBeUndefined()
  })

  test.each([
    ['throws', (): void => raise(new Error('Not this one.'))],
    ['rejects', () => Promise.reject(new Error('Not this one.'))],
  ])('spares the thread when it %s, and the error is reported', async (_, onThreadRemoved) => {
    await save()
    expect(await remove({ rules: { onThreadRemoved } })).toBe('spared')
    expect(problems).toEqual([new Error('Not this one.')])
    expect((await stored(store, key)).version).toBe(1)
    expect(await store.leases.isHeld(key)).toBe(false)
  })

  test('may take longer than a lease lasts, and the thread stays leased', async () => {
    await save()
    let finish = (): void => undefined
    const archived = new Promise<void>((resolve) => (finish = resolve))
    const removing = remove({ rules: { onThreadRemoved: () => archived } })
    await clock.advance(2_000)
    expect(await store.leases.isHeld(key)).toBe(true)
    finish()
    expect(await removing).toBe('removed')
    expect(clock.pending).toBe(0)
  })

  test('is followed by no removal when the lease could not be kept and another has the thread', async () => {
    await save()
    const error = new MillraceError('STORE_ERROR', 'No disk.')
    const broken: Store = { ...store, leases: { ...store.leases, renew: () => Promise.reject(error) } }
    let finish = (): void => undefined
    const archived = new Promise<void>((resolve) => (finish = resolve))
    const removing = remove({ store: broken, rules: { onThreadRemoved: () => archived } })
    await clock.advance(2_000)
    const lease = await hold(store, key, 'another')
    finish()
    expect(await removing).toBe('busy')
    expect(problems).toContain(error)
    expect(await store.leases.renew(lease, 1_000)).toBe(true)
    expect((await stored(store, key)).version).toBe(1)
  })
})

function raise(error: Error): never {
  throw error
}
