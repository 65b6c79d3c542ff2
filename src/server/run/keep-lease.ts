import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, Store } from '../../threads/store.js'

export interface KeepLeaseOptions {
  readonly store: Store
  readonly lease: Lease
  readonly leaseMs: number
  readonly clock: Clock
  /** Called once when the thread is no longer ours. */
  readonly onLost: (error: MillraceError) => void
  /** Told when the store could not be asked. */
  readonly onProblem: (error: unknown) => void
}

/** Renews a lease until the answer is called. A store that fails for a while is asked again until the lease runs out. */
export function keepLease(options: KeepLeaseOptions): () => void {
  const { store, lease, leaseMs, clock, onLost, onProblem } = options
  let isOver = false
  let validUntil = clock.now() + leaseMs
  let cancel: () => void

  const lost = (): void => {
    isOver = true
    onLost(new MillraceError('LEASE_LOST', 'The thread was taken over by another process.'))
  }
  const renew = async (): Promise<void> => {
    const asked = clock.now()
    try {
      const isOurs = await store.leases.renew(lease, leaseMs)
      validUntil = isOurs ? asked + leaseMs : -Infinity
    } catch (error) {
      if (!isOver) onProblem(error)
    }
    if (isOver) return
    if (clock.now() >= validUntil) lost()
    else schedule()
  }
  const schedule = (): void => {
    cancel = clock.schedule(leaseMs / 3, () => void renew())
  }
  schedule()
  return () => {
    isOver = true
    cancel()
  }
}
