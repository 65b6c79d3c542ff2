import { delay } from '../../core/abort.js'
import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, Store, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'

const pollMs = 100

/**
 * Leases a thread. `whenBusy` decides about a thread that is leased already: THREAD_IS_LOCKED at once, or when it is not
 * free in time. Throws SERVER_CLOSING when the server shuts down.
 */
export async function acquireLease(
  server: ServerContext,
  key: ThreadKey,
  client: { readonly signal: AbortSignal },
): Promise<Lease> {
  const { store, clock, limits, owner, metrics, whenBusy, isClosing, recoveries } = server
  const began = clock.now()
  const seconds = (): number => (clock.now() - began) / 1000
  const terms = { owner, ttlMs: limits.leaseMs }
  for (;;) {
    if (isClosing()) throw serverClosing()
    const lease = await store.leases.acquire(key, terms)
    if (lease) {
      metrics.leaseWait({ outcome: 'acquired' }, seconds())
      return lease
    }
    const recovery = recoveries.current(key)
    if (recovery) {
      await recovery
      continue
    }
    if (whenBusy === 'reject') {
      metrics.leaseWait({ outcome: 'refused' }, seconds())
      throw threadIsLocked(key)
    }
    const timeoutMs = began + limits.waitMs - clock.now()
    if (timeoutMs <= 0) {
      metrics.leaseWait({ outcome: 'timeout' }, seconds())
      throw threadIsLocked(key)
    }
    // Read here and not earlier: the getter makes the signal.
    const { signal } = client
    await waitUntilFree(server, key, { signal, timeoutMs })
  }
}

interface WaitOptions {
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** Resolves when the thread may be free. Awaits the end of a live run; polls for a run of another process. */
async function waitUntilFree(
  server: ServerContext,
  key: ThreadKey,
  { signal, timeoutMs }: WaitOptions,
): Promise<void> {
  const { registry, clock, limits, whenBusy } = server
  const live = registry.get(key)
  if (!live) return delay(Math.min(pollMs, timeoutMs), { clock, signal })
  if (whenBusy === 'cancel-previous') live.stop()
  else if (whenBusy === 'preempt') live.stopAfterTools(limits.preemptMs)
  const free = new AbortController()
  const wait = AbortSignal.any([free.signal, signal])
  try {
    await Promise.race([live.done, delay(timeoutMs, { clock, signal: wait })])
  } finally {
    free.abort()
  }
}

/** The 409 of a busy thread. */
function threadIsLocked({ thread }: ThreadKey): MillraceError {
  return new MillraceError(
    'THREAD_IS_LOCKED',
    `Thread '${thread}' has another live run. Wait for it, or cancel it.`,
  )
}

/** Refuses a request that comes while the server shuts down. */
export function serverClosing(): MillraceError {
  return new MillraceError('SERVER_CLOSING', 'The server is shutting down. Try again soon.')
}

export interface RenewLeaseOptions {
  readonly store: Store
  readonly lease: Lease
  readonly leaseMs: number
  readonly clock: Clock
  /** Called once when another process has the thread. */
  readonly onLost: (error: MillraceError) => void
  /** Called when the store fails. */
  readonly onProblem: (error: unknown) => void
}

/** Renews a lease until it is stopped. If the store fails, tries again until the lease runs out. */
export class LeaseRenewal {
  readonly #options: RenewLeaseOptions
  readonly #renewNow = (): void => void this.#renew()
  #isOver = false
  #validUntil: number
  #cancel: () => void

  constructor(options: RenewLeaseOptions) {
    const { clock, leaseMs } = options
    this.#options = options
    this.#validUntil = clock.now() + leaseMs
    this.#cancel = this.#schedule()
  }

  stop(): void {
    this.#isOver = true
    this.#cancel()
  }

  /**
   * Throws LEASE_LOST when the lease has run out by this process's own clock. A process that was suspended learns it here,
   * before the store can tell.
   */
  assertValid(): void {
    const { clock, onLost } = this.#options
    if (clock.now() < this.#validUntil) return
    const error = leaseLost()
    if (!this.#isOver) {
      this.stop()
      onLost(error)
    }
    throw error
  }

  #schedule(): () => void {
    const { clock, leaseMs } = this.#options
    return clock.schedule(leaseMs / 3, this.#renewNow)
  }

  async #renew(): Promise<void> {
    const { store, lease, leaseMs, clock, onLost, onProblem } = this.#options
    const requested = clock.now()
    try {
      const isOurs = await store.leases.renew(lease, leaseMs)
      this.#validUntil = isOurs ? requested + leaseMs : -Infinity
    } catch (error) {
      if (!this.#isOver) onProblem(error)
    }
    if (this.#isOver) return
    if (clock.now() < this.#validUntil) this.#cancel = this.#schedule()
    else {
      this.#isOver = true
      onLost(leaseLost())
    }
  }
}

function leaseLost(): MillraceError {
  return new MillraceError('LEASE_LOST', 'The thread was taken over by another process.')
}

type Release = () => void | Promise<void>

/** What a run holds while it is live: its slot, its lease, the application's lock. Released last in, first out. */
export class ReleaseStack {
  readonly #onProblem: (error: unknown) => void
  #last: Deferred | undefined

  /** `onProblem` gets the error of a release that failed. The others are called all the same. */
  constructor(onProblem: (error: unknown) => void) {
    this.#onProblem = onProblem
  }

  defer(release: Release): void {
    this.#last = { release, before: this.#last }
  }

  /** Calls each release once. Never rejects. */
  async releaseAll(): Promise<void> {
    for (let deferred = this.#last; deferred; deferred = this.#last) {
      this.#last = deferred.before
      try {
        await deferred.release()
      } catch (error) {
        this.#onProblem(error)
      }
    }
  }
}

interface Deferred {
  readonly release: Release
  readonly before: Deferred | undefined
}
