import { copyThreadKey, threadKeyText } from '../thread-key.js'
import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, Leases } from '../contract.js'
import { toPromise } from '../../core/to-promise.js'

/** Leases of one process, and the check that every write makes. */
export interface MemoryLeases {
  readonly leases: Leases
  /**
   * Throws LEASE_LOST when the lease was released or another was given since. One whose time is over is good as long
   * as nobody has taken the thread: there is no one whom a late write could disturb.
   */
  assertCurrent(lease: Lease): void
  /** What `release` does, at once. */
  drop(lease: Lease): void
}

interface Held {
  readonly lease: Lease
  /** The first moment at which somebody else may have the thread. */
  until: number
}

/** Makes the leases of a store. `clock` says when they are over. */
export function createMemoryLeases(clock: Clock): MemoryLeases {
  const current = new Map<string, Held>()
  // One count for all threads grows for each of them too, and nothing need be kept of threads that are let go.
  let lastToken = 0

  const currentOf = (lease: Lease): Held | undefined => {
    const held = current.get(threadKeyText(lease.key))
    return held?.lease.token === lease.token ? held : undefined
  }
  const isHeld = (key: string): boolean => {
    const held = current.get(key)
    return held !== undefined && clock.now() < held.until
  }

  const drop = (lease: Lease): void => {
    if (currentOf(lease) !== undefined) current.delete(threadKeyText(lease.key))
  }

  const leases: Leases = {
    acquire: (key, { owner, ttlMs }) =>
      toPromise(() => {
        const text = threadKeyText(key)
        if (isHeld(text)) return undefined
        lastToken += 1
        const lease = Object.freeze({ key: copyThreadKey(key), owner, token: lastToken })
        current.set(text, { lease, until: clock.now() + ttlMs })
        return lease
      }),
    renew: (lease, ttlMs) =>
      toPromise(() => {
        const held = currentOf(lease)
        if (held === undefined) return false
        held.until = clock.now() + ttlMs
        return true
      }),
    release: (lease) => toPromise(() => drop(lease)),
    isHeld: (key) => toPromise(() => isHeld(threadKeyText(key))),
  }
  return {
    leases,
    drop,
    assertCurrent(lease) {
      if (currentOf(lease) !== undefined) return
      throw new MillraceError('LEASE_LOST', 'The lease was released, or the thread was taken over since.', {
        details: { key: lease.key, owner: lease.owner },
      })
    },
  }
}
