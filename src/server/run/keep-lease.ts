import { MillraceError } from '../../core/errors.js'
import type { Lease } from '../../threads/store.js'
import type { ServerContext } from '../context.js'

export interface KeepLeaseOptions {
  readonly server: ServerContext
  readonly lease: Lease
  /** Called once when the thread is no longer ours. */
  readonly onLost: (error: MillraceError) => void
}

/** Renews a lease until the answer is called. A store that fails for a while is asked again until the lease runs out. */
export function keepLease({ server, lease, onLost }: KeepLeaseOptions): () => void {
  const { store, clock, limits } = server
  const { leaseMs } = limits
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
      server.log.warn({ ...lease.key, err: error }, 'a lease could not be renewed')
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
