import { describe, expect, test } from 'vitest'
import type { Lease, Store } from '../../../src/threads/contract.js'
import { changeOf, keyOf, linesOf, messagesOf, runOf, type Rig } from './rig.js'

const key = keyOf('thread')

/** Every way to write. */
const writes: readonly [string, (store: Store, lease: Lease) => Promise<unknown>][] = [
  ['begin', (store, lease) => store.threads.begin(lease, runOf('late'))],
  ['commit', (store, lease) => store.threads.commit(lease, changeOf({ version: 1, ...lateChange }))],
  ['commit from an old version', (store, lease) => store.threads.commit(lease, changeOf(lateChange))],
  ['remove', (store, lease) => store.threads.remove(lease)],
  ['append', (store, lease) => store.log.append(lease, { runId: 'r1', firstSeq: 2, lines: linesOf('l', 1) })],
  ['append of nothing', (store, lease) => store.log.append(lease, { runId: 'r1', firstSeq: 2, lines: [] })],
]

const lateChange = { title: 'late', run: runOf('late', { status: 'completed' }) }

/** Ways to lose a lease. Each returns the lost lease. */
const losses: readonly [string, (rig: Rig) => Promise<Lease>][] = [
  [
    'was released',
    async (rig) => {
      const lease = await rig.hold(key)
      await rig.store.leases.release(lease)
      return lease
    },
  ],
  [
    'was released before another took the thread',
    async (rig) => {
      const lease = await rig.hold(key)
      await rig.store.leases.release(lease)
      await rig.hold(key, 'process-2')
      return lease
    },
  ],
  [
    'was released before the same owner took the thread again',
    async (rig) => {
      const lease = await rig.hold(key)
      await rig.store.leases.release(lease)
      await rig.hold(key)
      return lease
    },
  ],
  ['has expired before another took the thread', (rig) => expiredAndTaken(rig)],
  [
    'has expired before another took the thread and released it',
    async (rig) => {
      const lease = await expired(rig)
      await rig.store.leases.release(await rig.hold(key, 'process-2'))
      return lease
    },
  ],
]

async function expired(rig: Rig): Promise<Lease> {
  const lease = await rig.store.leases.acquire(key, { owner: 'process-1', ttlMs: 100 })
  if (lease === undefined) throw new Error('The thread is held already.')
  await rig.clock.advance(100)
  return lease
}

async function expiredAndTaken(rig: Rig): Promise<Lease> {
  const lease = await expired(rig)
  await rig.hold(key, 'process-2')
  return lease
}

/** Late writes of owners who no longer hold the thread. */
export function describeFencing(rig: Rig): void {
  const fill = async (): Promise<void> => {
    const lease = await rig.hold(key)
    await rig.store.threads.begin(lease, runOf('r1'))
    await rig.store.log.append(lease, { runId: 'r1', firstSeq: 0, lines: linesOf('l', 2) })
    await rig.store.threads.commit(lease, changeOf({ append: messagesOf('a') }))
    await rig.store.leases.release(lease)
  }

  describe.each(losses)('with a lease that %s', (_, lose) => {
    test.each(writes)('%s is refused and changes nothing', async (_, write) => {
      await fill()
      const before = await rig.stored(key)
      const lease = await lose(rig)
      await expect(write(rig.store, lease)).rejects.toMatchObject({ code: 'LEASE_LOST' })
      expect(await rig.stored(key)).toEqual(before)
      expect(await rig.logOf(key, 'r1')).toHaveLength(2)
      expect(await rig.store.threads.unfinished()).toEqual([key])
    })

    test('nothing is made where nothing was', async () => {
      const lease = await lose(rig)
      await expect(rig.store.threads.begin(lease, runOf('r'))).rejects.toMatchObject({ code: 'LEASE_LOST' })
      await expect(rig.store.threads.commit(lease, changeOf())).rejects.toMatchObject({ code: 'LEASE_LOST' })
      expect(await rig.store.threads.load(key)).toBeUndefined()
    })
  })

  describe('with a lease that has expired and that nobody has taken since', () => {
    test.each(writes.filter(([name]) => !name.includes('old')))('%s is accepted', async (_, write) => {
      await fill()
      await write(rig.store, await expired(rig))
    })
  })

  test('the holder who has taken the thread over can write', async () => {
    await fill()
    await expired(rig)
    const lease = await rig.hold(key, 'process-2')
    expect(await rig.store.threads.commit(lease, changeOf({ version: 1 }))).toBe(2)
  })

  test('a lease on one thread is none on another', async () => {
    const lease = await rig.hold(key)
    const forged = { ...lease, key: keyOf('other') }
    await expect(rig.store.threads.commit(forged, changeOf())).rejects.toMatchObject({ code: 'LEASE_LOST' })
  })
}
