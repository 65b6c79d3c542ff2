import { getEventListeners } from 'node:events'
import { beforeEach, describe, expect, test } from 'vitest'
import { failingStore, storeError, type FailingStore } from '../../../test/support/failing-store.js'
import { deferred } from '../../../test/support/run-agent.js'
import { createServerContext } from '../../../test/support/server-context.js'
import { hold, keyOf } from '../../../test/support/store-contract/rig.js'
import { manualClock, type ManualClock } from '../../core/clock.js'
import { createMemoryStore } from '../../threads/memory/store.js'
import type { Lease, Store } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { LiveRun } from '../live/registry.js'
import { RunFeed } from '../live/run-feed.js'
import { acquireLease, LeaseRenewal } from './lease.js'

const key = keyOf('t')

function rig(whenBusy: ServerContext['whenBusy'], isClosing: () => boolean = () => false) {
  const under = createServerContext({ whenBusy, isClosing })
  const request = new AbortController()
  const { server } = under
  return { ...under, request, take: () => acquireLease(server, key, request) }
}

/** A run on the thread that ends when it is stopped, or when `finish` is called. */
async function addLiveRun({ store, registry }: ServerContext) {
  const lease = await hold(store, key)
  const done = deferred()
  const stops: unknown[] = []
  const feed = new RunFeed({
    ...{ runId: 'r', firstSeq: 0, bufferBytes: 0, flusher: { flushSoon: () => undefined } },
    log: { append: () => Promise.resolve(), read: () => Promise.resolve([]) },
  })
  const finish = async (): Promise<void> => {
    registry.remove(run)
    await store.leases.release(lease)
    done.resolve()
  }
  const run: LiveRun = {
    ...{ key, runId: 'r', feed, firstSeq: 0, startedAt: 0, isFirst: false, end: undefined, title: '' },
    start: { messages: [], state: {} },
    ...{ needsSubscriber: false, isAbandoned: false },
    stop(reason) {
      stops.push(reason)
      void finish()
    },
    stopAfterTools(timeoutMs) {
      stops.push(timeoutMs)
      void finish()
    },
    done: done.promise,
  }
  registry.add(run)
  return { finish, stops }
}

const locked = { code: 'THREAD_IS_LOCKED' }

test('a thread that is free is leased at once', async () => {
  const { server, take } = rig('reject')
  expect(await take()).toMatchObject({ key, owner: 'server-1' })
  expect(server.metrics.render()).toContain('lease_wait_seconds_count{outcome="acquired"} 1')
})

test('a busy thread is refused at once where the server does not wait', async () => {
  const { server, clock, take } = rig('reject')
  await hold(server.store, key)
  await expect(take()).rejects.toMatchObject(locked)
  expect(clock.pending).toBe(0)
  expect(server.metrics.render()).toContain('lease_wait_seconds_count{outcome="refused"} 1')
})

describe('where the server waits', () => {
  test('it gets the thread when the run here is over, and no timer is left', async () => {
    const { server, clock, take, request } = rig('wait')
    const { finish, stops } = await addLiveRun(server)
    const taken = take()
    await clock.advance(5_000)
    await finish()
    expect(await taken).toMatchObject({ key })
    expect([clock.pending, stops]).toEqual([0, []])
    expect(getEventListeners(request.signal, 'abort')).toHaveLength(0)
    expect(server.metrics.render()).toContain('lease_wait_seconds_sum{outcome="acquired"} 5')
  })

  test('it polls a thread that another process has leased', async () => {
    const { server, clock, take } = rig('wait')
    const lease = await hold(server.store, key)
    const taken = take()
    await clock.advance(1_050)
    await server.store.leases.release(lease)
    await clock.advance(50)
    expect(await taken).toMatchObject({ key })
    expect(clock.pending).toBe(0)
  })

  test('it gives up when its time is over', async () => {
    for (const isHere of [true, false]) {
      const { server, clock, take } = rig('wait')
      if (isHere) await addLiveRun(server)
      else await hold(server.store, key)
      const taken = expect(take()).rejects.toMatchObject(locked)
      await clock.advance(server.limits.waitMs)
      await taken
      expect(clock.pending).toBe(0)
      expect(server.metrics.render()).toContain('lease_wait_seconds_count{outcome="timeout"} 1')
    }
  })

  test('it gives up when its client goes away', async () => {
    for (const isHere of [true, false]) {
      const { server, clock, take, request } = rig('wait')
      if (isHere) await addLiveRun(server)
      else await hold(server.store, key)
      const taken = expect(take()).rejects.toThrow('gone')
      await clock.advance(1)
      request.abort(new Error('gone'))
      await taken
      expect(clock.pending).toBe(0)
      expect(getEventListeners(request.signal, 'abort')).toHaveLength(0)
    }
  })

  test('many requests get it one after the other', async () => {
    const { server, clock, take } = rig('wait')
    const { finish } = await addLiveRun(server)
    let got = 0
    const all = [1, 2, 3].map(async () => {
      const lease = await take()
      got++
      await clock.advance(0)
      await server.store.leases.release(lease)
    })
    await clock.advance(0)
    await finish()
    await clock.advance(0)
    expect(got).toBe(1)
    await clock.advance(1_000)
    await Promise.all(all)
    expect(got).toBe(3)
  })
})

test('where a new run has the right of way, the one before it is stopped', async () => {
  const { server, take } = rig('cancel-previous')
  const { stops } = await addLiveRun(server)
  expect(await take()).toMatchObject({ key })
  expect(stops).toEqual([undefined])
})

test('where a new run preempts the one before it, that one stops after its tools', async () => {
  const { server, take } = rig('preempt')
  const { stops } = await addLiveRun(server)
  expect(await take()).toMatchObject({ key })
  expect(stops).toEqual([server.limits.preemptMs])
})

test('a request that waits is refused when the server shuts down', async () => {
  let isClosing = false
  const { server, clock, take } = rig('wait', () => isClosing)
  const { finish } = await addLiveRun(server)
  const taken = expect(take()).rejects.toMatchObject({ code: 'SERVER_CLOSING' })
  await clock.advance(0)
  isClosing = true
  await finish()
  await taken
  expect(await server.store.leases.isHeld(key)).toBe(false)
})

test('a lost run that is being ended is waited for, also where the server does not wait', async () => {
  const { server, take } = rig('reject')
  const lease = await hold(server.store, key)
  const gate = deferred()
  const recovery = server.recoveries.during(key, async () => {
    await gate.promise
    await server.store.leases.release(lease)
  })
  const taken = take()
  gate.resolve()
  await recovery
  expect(await taken).toMatchObject({ key })
})

describe('the renewal of a lease', () => {
  const leaseMs = 900
  let clock: ManualClock
  let failing: FailingStore
  let lease: Lease
  let lost: string[]
  let problems: unknown[]

  beforeEach(async () => {
    clock = manualClock()
    failing = failingStore(createMemoryStore({ clock }))
    lease = await acquire()
    lost = []
    problems = []
  })

  async function acquire(): Promise<Lease> {
    const taken = await failing.store.leases.acquire(key, { owner: 'me', ttlMs: leaseMs })
    if (!taken) throw new Error('It is leased.')
    return taken
  }

  function renew(store: Store = failing.store): LeaseRenewal {
    return new LeaseRenewal({
      ...{ store, lease, leaseMs, clock },
      onLost: ({ code }) => void lost.push(`${code}@${clock.now()}`),
      onProblem: (error) => void problems.push(error),
    })
  }

  function renewals(): number {
    return failing.calls.filter((call) => call === 'leases.renew').length
  }

  test('a lease is renewed at a third of its time, until that is stopped', async () => {
    const renewal = renew()
    await clock.advance(10_000)
    expect(renewals()).toBe(33)
    expect(await failing.store.leases.isHeld(key)).toBe(true)
    renewal.stop()
    expect(clock.pending).toBe(0)
    await clock.advance(leaseMs)
    expect([renewals(), lost, problems]).toEqual([33, [], []])
    expect(await failing.store.leases.isHeld(key)).toBe(false)
  })

  test('one that was taken over is lost, once', async () => {
    renew()
    await failing.store.leases.release(lease)
    await acquire()
    await clock.advance(10_000)
    expect([lost, clock.pending]).toEqual([['LEASE_LOST@300'], 0])
  })

  test('a store that fails for a while is asked again, and the failure is reported', async () => {
    renew()
    failing.fail('leases.renew', storeError(), 2)
    await clock.advance(5_000)
    expect([lost, problems.length]).toEqual([[], 2])
  })

  test('a store that fails for longer than the lease lasts loses it', async () => {
    renew()
    failing.fail('leases.renew', storeError())
    await clock.advance(5_000)
    expect([lost, problems.length, clock.pending]).toEqual([['LEASE_LOST@900'], 3, 0])
  })

  test('the time of a lease counts from its request', async () => {
    const answer = deferred<boolean>()
    renew({ ...failing.store, leases: { ...failing.store.leases, renew: () => answer.promise } })
    await clock.advance(300 + leaseMs)
    answer.resolve(true)
    await clock.advance(0)
    expect(lost).toEqual(['LEASE_LOST@1200'])
  })

  test('a process that was suspended knows by its own clock that its lease has run out', async () => {
    let suspendedMs = 0
    const renewal = new LeaseRenewal({
      ...{ store: failing.store, lease, leaseMs, onProblem: (error) => void problems.push(error) },
      clock: { ...clock, now: () => clock.now() + suspendedMs },
      onLost: ({ code }) => void lost.push(code),
    })
    await clock.advance(600)
    expect(() => renewal.assertValid()).not.toThrow()
    suspendedMs = leaseMs
    const codes = [1, 2].map(() => codeOf(() => renewal.assertValid()))
    expect(codes).toEqual(['LEASE_LOST', 'LEASE_LOST'])
    expect([lost, clock.pending]).toEqual([['LEASE_LOST'], 0])
  })

  test('one that is stopped while it is renewed is not lost, however that ends', async () => {
    for (const end of ['refused', 'failed'] as const) {
      const answer = deferred<boolean>()
      const renewal = renew({
        ...failing.store,
        leases: { ...failing.store.leases, renew: () => answer.promise },
      })
      await clock.advance(300)
      renewal.stop()
      if (end === 'refused') answer.resolve(false)
      else answer.reject(storeError())
      await clock.advance(10_000)
      expect([lost, problems, clock.pending]).toEqual([[], [], 0])
    }
  })
})

function codeOf(act: () => void): unknown {
  try {
    act()
    return undefined
  } catch (error) {
    return (error as { readonly code?: unknown }).code
  }
}
