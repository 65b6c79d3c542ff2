import { beforeEach, expect, test } from 'vitest'
import { failingStore, storeError, type FailingStore } from '../../../test/support/failing-store.js'
import { keyOf } from '../../../test/support/store-contract/rig.js'
import { deferred } from '../../../test/support/run-agent.js'
import { manualClock, type ManualClock } from '../../core/clock.js'
import { createMemoryStore } from '../../threads/memory/store.js'
import type { Lease, Store } from '../../threads/contract.js'
import { keepLease } from './keep-lease.js'

const key = keyOf('t')
const leaseMs = 900
let clock: ManualClock
let failing: FailingStore
let lease: Lease
let lost: string[]
let problems: unknown[]

beforeEach(async () => {
  clock = manualClock()
  failing = failingStore(createMemoryStore({ clock }))
  lease = await take()
  lost = []
  problems = []
})

async function take(): Promise<Lease> {
  const taken = await failing.store.leases.acquire(key, { owner: 'me', ttlMs: leaseMs })
  if (!taken) throw new Error('It is held.')
  return taken
}

function keep(store: Store = failing.store): () => void {
  return keepLease({
    ...{ store, lease, leaseMs, clock },
    onLost: ({ code }) => void lost.push(`${code}@${clock.now()}`),
    onProblem: (error) => void problems.push(error),
  })
}

function renewals(): number {
  return failing.calls.filter((call) => call === 'leases.renew').length
}

test('a lease is renewed at a third of its time, for as long as it is kept', async () => {
  const stop = keep()
  await clock.advance(10_000)
  expect(renewals()).toBe(33)
  expect(await failing.store.leases.isHeld(key)).toBe(true)
  stop()
  expect(clock.pending).toBe(0)
  await clock.advance(leaseMs)
  expect([renewals(), lost, problems]).toEqual([33, [], []])
  expect(await failing.store.leases.isHeld(key)).toBe(false)
})

test('one that was taken over is lost, once', async () => {
  keep()
  await failing.store.leases.release(lease)
  await take()
  await clock.advance(10_000)
  expect([lost, clock.pending]).toEqual([['LEASE_LOST@300'], 0])
})

test('a store that fails for a while is asked again, and told of', async () => {
  keep()
  failing.fail('leases.renew', storeError(), 2)
  await clock.advance(5_000)
  expect([lost, problems.length]).toEqual([[], 2])
})

test('a store that fails for longer than the lease lasts loses it', async () => {
  keep()
  failing.fail('leases.renew', storeError())
  await clock.advance(5_000)
  expect([lost, problems.length, clock.pending]).toEqual([['LEASE_LOST@900'], 3, 0])
})

test('the time of a lease is counted from when it was asked for', async () => {
  const answer = deferred<boolean>()
  keep({ ...failing.store, leases: { ...failing.store.leases, renew: () => answer.promise } })
  await clock.advance(300 + leaseMs)
  answer.resolve(true)
  await clock.advance(0)
  expect(lost).toEqual(['LEASE_LOST@1200'])
})

test('one that is let go while it is renewed is not lost, however that ends', async () => {
  for (const end of ['refused', 'failed'] as const) {
    const answer = deferred<boolean>()
    const stop = keep({ ...failing.store, leases: { ...failing.store.leases, renew: () => answer.promise } })
    await clock.advance(300)
    stop()
    if (end === 'refused') answer.resolve(false)
    else answer.reject(storeError())
    await clock.advance(10_000)
    expect([lost, problems, clock.pending]).toEqual([[], [], 0])
  }
})
