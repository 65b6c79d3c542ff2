import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { deferred } from '../../../test/support/run-agent.js'
import { createServerContext } from '../../../test/support/server-context.js'
import { hold, keyOf } from '../../../test/support/store-contract/rig.js'
import type { ServerContext } from '../context.js'
import { createFeed } from '../live/feed.js'
import type { LiveRun } from '../live/live-run.js'
import { takeLease } from './take-lease.js'

const key = keyOf('t')

function rig(whenBusy: ServerContext['whenBusy'], isClosing: () => boolean = () => false) {
  const under = createServerContext({ whenBusy, isClosing })
  const request = new AbortController()
  const { server } = under
  return { ...under, request, take: () => takeLease(server, key, request) }
}

/** A run on the thread that ends when it is stopped, or when `finish` is called. */
async function atWork({ store, registry }: ServerContext) {
  const lease = await hold(store, key)
  const done = deferred()
  const stops: unknown[] = []
  const feed = createFeed({
    ...{ runId: 'r', firstSeq: 0, bufferBytes: 0, flushSoon: () => undefined },
    append: () => Promise.resolve(),
    read: () => Promise.resolve([]),
  })
  const finish = async (): Promise<void> => {
    registry.remove(run)
    await store.leases.release(lease)
    done.resolve()
  }
  const run: LiveRun = {
    ...{ key, runId: 'r', feed, firstSeq: 0, startedAt: 0, isFirst: false },
    start: { messages: [], state: {} },
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
    const { finish, stops } = await atWork(server)
    const taken = take()
    await clock.advance(5_000)
    await finish()
    expect(await taken).toMatchObject({ key })
    expect([clock.pending, stops]).toEqual([0, []])
    expect(getEventListeners(request.signal, 'abort')).toHaveLength(0)
    expect(server.metrics.render()).toContain('lease_wait_seconds_sum{outcome="acquired"} 5')
  })

  test('it asks again and again for one that is held elsewhere', async () => {
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
      if (isHere) await atWork(server)
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
      if (isHere) await atWork(server)
      else await hold(server.store, key)
      const taken = expect(take()).rejects.toThrow('gone')
      await clock.advance(1)
      request.abort(new Error('gone'))
      await taken
      expect(clock.pending).toBe(0)
      expect(getEventListeners(request.signal, 'abort')).toHaveLength(0)
    }
  })

  test('of many who wait, one after the other gets it', async () => {
    const { server, clock, take } = rig('wait')
    const { finish } = await atWork(server)
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
  const { stops } = await atWork(server)
  expect(await take()).toMatchObject({ key })
  expect(stops).toEqual([undefined])
})

test('where a new run preempts the one before it, that is asked to stop after its tools', async () => {
  const { server, take } = rig('preempt')
  const { stops } = await atWork(server)
  expect(await take()).toMatchObject({ key })
  expect(stops).toEqual([server.limits.preemptMs])
})

test('who waits is told when the server shuts down, and gets nothing', async () => {
  let isClosing = false
  const { server, clock, take } = rig('wait', () => isClosing)
  const { finish } = await atWork(server)
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
