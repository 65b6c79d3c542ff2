import type { Lease, Store, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'

type Facts = Pick<ServerContext, 'store' | 'clock' | 'limits' | 'log' | 'owner' | 'isClosing'>

/** A lease under this key says that a process follows a run of another. No agent has a line break in its name. */
function markKey(key: ThreadKey): ThreadKey {
  return { ...key, agent: `${key.agent}\nsubscribers` }
}

/** Whether a process follows the run of a thread that is live in another. */
export function isFollowedElsewhere({ leases }: Pick<Store, 'leases'>, key: ThreadKey): Promise<boolean> {
  return leases.isHeld(markKey(key))
}

/** Tells the process of a run, through the store, that the run is followed from here. */
export class SubscriberMark {
  readonly #server: Facts
  readonly #key: ThreadKey
  #lease: Lease | undefined
  #hasBegun = false
  #isOver = false
  #beating: Promise<void> = Promise.resolve()
  #cancelTimer: () => void = () => undefined

  constructor(server: Facts, key: ThreadKey) {
    this.#server = server
    this.#key = markKey(key)
  }

  /** Sets the mark and keeps it, until `end`. Nobody waits for it: a store that is slow to write must not hold a stream. */
  begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#beat()
  }

  end(): void {
    this.#isOver = true
    this.#cancelTimer()
    if (this.#hasBegun) void this.#beating.then(() => this.#release())
  }

  #beat(): void {
    const { clock, limits } = this.#server
    this.#beating = this.#renew().catch((error: unknown) => this.#report(error))
    this.#cancelTimer = clock.schedule(limits.leaseMs / 3, () => this.#beat())
  }

  /** Takes the mark too when another that had it has left. */
  async #renew(): Promise<void> {
    const { store, limits, owner } = this.#server
    const ttlMs = limits.leaseMs
    if (this.#lease && !(await store.leases.renew(this.#lease, ttlMs))) this.#lease = undefined
    if (!this.#isOver) this.#lease ??= await store.leases.acquire(this.#key, { owner, ttlMs })
  }

  async #release(): Promise<void> {
    // A store that closes drops the lease with its process, or lets it run out.
    if (!this.#lease || this.#server.isClosing()) return
    await this.#server.store.leases.release(this.#lease).catch((error: unknown) => this.#report(error))
  }

  #report(error: unknown): void {
    this.#server.log.warn(
      { ...this.#key, err: error },
      'the process of a run was not told that it is followed',
    )
  }
}
