import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, Store } from '../../threads/contract.js'

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
  const kept = new KeptLease(options)
  return () => kept.letGo()
}

class KeptLease {
  readonly #options: KeepLeaseOptions
  readonly #renewNow = (): void => void this.#renew()
  #isOver = false
  #validUntil: number
  #cancel: () => void

  constructor(options: KeepLeaseOptions) {
    const { clock, leaseMs } = options
    this.#options = options
    this.#validUntil = clock.now() + leaseMs
    this.#cancel = this.#schedule()
  }

  letGo(): void {
    this.#isOver = true
    this.#cancel()
  }

  #schedule(): () => void {
    const { clock, leaseMs } = this.#options
    return clock.schedule(leaseMs / 3, this.#renewNow)
  }

  async #renew(): Promise<void> {
    const { store, lease, leaseMs, clock, onLost, onProblem } = this.#options
    const asked = clock.now()
    try {
      const isOurs = await store.leases.renew(lease, leaseMs)
      this.#validUntil = isOurs ? asked + leaseMs : -Infinity
    } catch (error) {
      if (!this.#isOver) onProblem(error)
    }
    if (this.#isOver) return
    if (clock.now() < this.#validUntil) this.#cancel = this.#schedule()
    else {
      this.#isOver = true
      onLost(new MillraceError('LEASE_LOST', 'The thread was taken over by another process.'))
    }
  }
}
