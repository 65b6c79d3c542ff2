import { describe, expect, test } from 'vitest'
import type { Lease } from '../../../src/threads/contract.js'
import { changeOf, keyOf, type Rig } from './rig.js'

const key = keyOf('thread')

/** Who may change a thread, and for how long. */
export function describeLeases(rig: Rig): void {
  const acquire = (owner: string, ttlMs = 1_000): Promise<Lease | undefined> =>
    rig.store.leases.acquire(key, { owner, ttlMs })
  const acquired = async (owner: string, ttlMs = 1_000): Promise<Lease> => {
    const lease = await acquire(owner, ttlMs)
    if (lease === undefined) throw new Error(`${owner} did not get the thread.`)
    return lease
  }
  const isHeld = (): Promise<boolean> => rig.store.leases.isHeld(key)

  describe('a lease', () => {
    test('says whose it is and on what', async () => {
      const lease = await acquired('a')
      expect(lease).toEqual({ key, owner: 'a', token: lease.token })
      expect(Number.isSafeInteger(lease.token)).toBe(true)
    })

    test('keeps everybody else from the thread, and its owner too', async () => {
      await acquired('a')
      expect(await acquire('b')).toBeUndefined()
      expect(await acquire('a')).toBeUndefined()
    })

    test('makes no thread', async () => {
      await acquired('a')
      expect(await rig.store.threads.load(key)).toBeUndefined()
      expect(await rig.store.threads.list(key, { limit: 10 })).toEqual({ threads: [] })
    })

    test('ends when its time is over, not before', async () => {
      await acquired('a')
      await rig.clock.advance(999)
      expect(await acquire('b')).toBeUndefined()
      expect(await isHeld()).toBe(true)
      await rig.clock.advance(1)
      expect(await isHeld()).toBe(false)
      expect(await acquire('b')).toBeDefined()
    })

    test('ends when it is released', async () => {
      const lease = await acquired('a')
      await rig.store.leases.release(lease)
      expect(await isHeld()).toBe(false)
      expect(await acquire('b')).toBeDefined()
    })

    test('ends with a commit that says so', async () => {
      const lease = await acquired('a')
      expect(await rig.store.threads.commit(lease, changeOf(), { release: true })).toBe(1)
      expect(await isHeld()).toBe(false)
      expect(await rig.store.leases.renew(lease, 1_000)).toBe(false)
      await rig.store.leases.release(lease)
      expect(await acquire('b')).toBeDefined()
    })

    test('stays when such a commit is refused', async () => {
      const lease = await acquired('a')
      const refused = rig.store.threads.commit(lease, changeOf({ version: 7 }), { release: true })
      await expect(refused).rejects.toMatchObject({ code: 'VERSION_CONFLICT' })
      expect(await isHeld()).toBe(true)
      expect(await rig.store.threads.commit(lease, changeOf())).toBe(1)
    })

    test('is held while it runs only', async () => {
      expect(await isHeld()).toBe(false)
      await acquired('a')
      expect(await isHeld()).toBe(true)
    })

    test('lasts, when renewed, from then on', async () => {
      const lease = await acquired('a')
      await rig.clock.advance(900)
      expect(await rig.store.leases.renew(lease, 1_000)).toBe(true)
      await rig.clock.advance(999)
      expect(await acquire('b')).toBeUndefined()
      await rig.clock.advance(1)
      expect(await acquire('b')).toBeDefined()
    })

    test('can be renewed after its time when nobody has taken the thread since', async () => {
      const lease = await acquired('a')
      await rig.clock.advance(5_000)
      expect(await rig.store.leases.renew(lease, 1_000)).toBe(true)
      expect(await isHeld()).toBe(true)
      expect(await acquire('b')).toBeUndefined()
    })

    test('cannot be renewed once it is lost, and does not end the one that has followed', async () => {
      const lost = await acquired('a')
      await rig.clock.advance(1_000)
      await acquired('b')
      expect(await rig.store.leases.renew(lost, 60_000)).toBe(false)
      await rig.store.leases.release(lost)
      expect(await isHeld()).toBe(true)
      await rig.clock.advance(1_000)
      expect(await isHeld()).toBe(false)
      expect(await rig.store.leases.renew(lost, 60_000)).toBe(false)
    })

    test('is lost also to a later lease of the same owner', async () => {
      const lost = await acquired('a')
      await rig.clock.advance(1_000)
      const next = await acquired('a')
      await rig.store.leases.release(lost)
      expect(await rig.store.leases.renew(lost, 60_000)).toBe(false)
      expect(await isHeld()).toBe(true)
      expect(await rig.store.leases.renew(next, 60_000)).toBe(true)
    })

    test('cannot be renewed once it is released, and may be released twice', async () => {
      const lease = await acquired('a')
      await rig.store.leases.release(lease)
      await rig.store.leases.release(lease)
      expect(await rig.store.leases.renew(lease, 1_000)).toBe(false)
      expect(await isHeld()).toBe(false)
    })

    test('stays when its thread is removed', async () => {
      const lease = await acquired('a')
      await rig.store.threads.commit(lease, changeOf())
      await rig.store.threads.remove(lease)
      expect(await acquire('b')).toBeUndefined()
      expect(await rig.store.leases.renew(lease, 1_000)).toBe(true)
    })
  })

  describe('the token of a lease', () => {
    test('grows after a release, after the time is over, and after the thread was removed', async () => {
      const tokens: number[] = []
      const next = async (): Promise<Lease> => {
        const lease = await acquired('a')
        tokens.push(lease.token)
        return lease
      }
      await rig.store.leases.release(await next())
      await next()
      await rig.clock.advance(1_000)
      const remover = await next()
      await rig.store.threads.commit(remover, changeOf())
      await rig.store.threads.remove(remover)
      await rig.store.leases.release(remover)
      await next()
      expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b))
      expect(tokens).toHaveLength(4)
    })

    test('does not grow by a renewal', async () => {
      const lease = await acquired('a')
      await rig.store.leases.renew(lease, 1_000)
      await rig.store.threads.commit(lease, changeOf())
      expect((await rig.stored(key)).version).toBe(1)
    })
  })

  test.each([2, 50])('of %i who want a thread at once exactly one gets it', async (count) => {
    const wishes = Array.from({ length: count }, (_, index) => acquire(`process-${index}`))
    const leases = (await Promise.all(wishes)).filter((lease) => lease !== undefined)
    expect(leases).toHaveLength(1)
    for (const lease of leases) expect(await rig.store.leases.renew(lease, 1_000)).toBe(true)
  })
}
