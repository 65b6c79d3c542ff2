import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { toPromise } from '../../core/to-promise.js'
import type { Lease, Leases } from '../contract.js'
import { copyThreadKey, threadKeyText } from '../thread-key.js'

export interface MemoryLeases extends Leases {
  /**
   * Throws LEASE_LOST if the lease was released or the thread leased again. An expired lease counts until another takes
   * the thread: its late write does no harm.
   */
  assertCurrent(lease: Lease): void
  /** Releases a lease at once. */
  drop(lease: Lease): void
}

interface CurrentLease {
  readonly lease: Lease
  expiresAt: number
}

export function createMemoryLeases(clock: Clock): MemoryLeases {
  const current = new Map<string, CurrentLease>()
  // One count for all threads grows for each of them, and needs no entries for released threads.
  let lastToken = 0

  const find = (lease: Lease): CurrentLease | undefined => {
    const entry = current.get(threadKeyText(lease.key))
    return entry?.lease.token === lease.token ? entry : undefined
  }
  const isHeld = (text: string): boolean => {
    const entry = current.get(text)
    return entry !== undefined && clock.now() < entry.expiresAt
  }
  const drop = (lease: Lease): void => {
    if (find(lease) !== undefined) current.delete(threadKeyText(lease.key))
  }

  return {
    acquire: (key, { owner, ttlMs }) =>
      toPromise(() => {
        const text = threadKeyText(key)
        if (isHeld(text)) return undefined
        lastToken += 1
        const lease = Object.freeze({ key: copyThreadKey(key), owner, token: lastToken })
        current.set(text, { lease, expiresAt: clock.now() + ttlMs })
        return lease
      }),
    renew: (lease, ttlMs) =>
      toPromise(() => {
        const entry = find(lease)
        if (entry === undefined) return false
        entry.expiresAt = clock.now() + ttlMs
        return true
      }),
    release: (lease) => toPromise(() => drop(lease)),
    isHeld: (key) => toPromise(() => isHeld(threadKeyText(key))),
    drop,
    assertCurrent(lease) {
      if (find(lease) !== undefined) return
      throw new MillraceError('LEASE_LOST', 'The lease was released, or the thread was taken over since.', {
        details: { key: lease.key, owner: lease.owner },
      })
    },
  }
}
