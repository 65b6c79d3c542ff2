import { delay } from '../../core/abort.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import { serverClosing } from './server-closing.js'

const pollMs = 100

/**
 * Leases a thread, as the server is told to deal with busy ones: throws THREAD_IS_LOCKED at once, or when it is not
 * free in time. Throws SERVER_CLOSING when the server shuts down.
 */
export async function takeLease(
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
    const recovery = recoveries.over(key)
    if (recovery) {
      await recovery
      continue
    }
    if (whenBusy === 'reject') {
      metrics.leaseWait({ outcome: 'refused' }, seconds())
      throw busy(key)
    }
    const left = began + limits.waitMs - clock.now()
    if (left <= 0) {
      metrics.leaseWait({ outcome: 'timeout' }, seconds())
      throw busy(key)
    }
    // Not looked at before: it is made when it is asked for.
    const { signal } = client
    await freed(server, key, { signal, timeoutMs: left })
  }
}

interface Patience {
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/** Resolves when the thread may be free: the run is known here, or somewhere else and has to be asked for. */
async function freed(server: ServerContext, key: ThreadKey, { signal, timeoutMs }: Patience): Promise<void> {
  const { registry, clock, limits, whenBusy } = server
  const other = registry.get(key)
  if (!other) return delay(Math.min(pollMs, timeoutMs), { clock, signal })
  if (whenBusy === 'cancel-previous') other.stop()
  else if (whenBusy === 'preempt') other.stopAfterTools(limits.preemptMs)
  const over = new AbortController()
  const wait = AbortSignal.any([over.signal, signal])
  try {
    await Promise.race([other.done, delay(timeoutMs, { clock, signal: wait })])
  } finally {
    over.abort()
  }
}

function busy({ thread }: ThreadKey): MillraceError {
  return new MillraceError(
    'THREAD_IS_LOCKED',
    `Another run is at work on thread '${thread}'. Wait for it, or cancel it.`,
  )
}
