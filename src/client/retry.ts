import type { Clock } from '../core/clock.js'
import type { ClientOptions } from './contract.js'

/** The waits between attempts: doubled each time, and shortened at random so that clients do not come back all at once. */
export interface Backoff {
  /** Resolves when it is time for another attempt: earlier when the browser is online again, or the signal aborts. */
  wait(signal: AbortSignal, atLeastMs?: number): Promise<void>
  /** An attempt has succeeded. */
  reset(): void
}

export function createBackoff(clock: Clock, { retry = {}, random = Math.random }: ClientOptions): Backoff {
  const { firstMs = 500, maxMs = 30_000 } = retry
  let failures = 0
  return {
    async wait(signal, atLeastMs = 0) {
      const longest = Math.min(maxMs, firstMs * 2 ** failures++)
      // At least half of it: a server that is down must not be asked without a pause.
      const ms = Math.max(atLeastMs, (longest * (1 + random())) / 2)
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          cancel()
          signal.removeEventListener('abort', wake)
          online?.removeEventListener?.('online', wake)
          resolve()
        }
        const online = atLeastMs > 0 ? undefined : (globalThis as OnlineEvents)
        const cancel = clock.schedule(ms, wake)
        signal.addEventListener('abort', wake)
        online?.addEventListener?.('online', wake)
        if (signal.aborted) wake()
      })
    },
    reset() {
      failures = 0
    },
  }
}

/** Browsers tell when the network is back. */
interface OnlineEvents {
  addEventListener?(type: 'online', listener: () => void): void
  removeEventListener?(type: 'online', listener: () => void): void
}
