import { systemClock, type Clock } from './clock.js'

/** Whether an error only says that work was aborted: by its name, or because it is the reason of `signal`. */
export function isAbortError(error: unknown, signal?: AbortSignal): boolean {
  if (signal?.aborted === true && error === signal.reason) return true
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'AbortError'
}

/**
 * Makes `child` abort when `parent` does, with the same reason; at once when the parent has aborted already. Returns a
 * function that ends the link. Call it when the child's work is over: a long-lived parent keeps every child in memory.
 *
 * @example
 * const child = new AbortController()
 * const release = linkAbort(parent, child)
 * try {
 *   await work(child.signal)
 * } finally {
 *   release()
 * }
 */
export function linkAbort(parent: AbortSignal | undefined, child: AbortController): () => void {
  const forward = () => {
    child.abort(parent?.reason)
  }
  if (parent?.aborted === true) forward()
  else parent?.addEventListener('abort', forward, { once: true })
  return () => parent?.removeEventListener('abort', forward)
}

export interface DelayOptions {
  readonly clock?: Clock
  readonly signal?: AbortSignal
}

/** Resolves after `ms` milliseconds. Rejects with the signal's reason as soon as it aborts. Leaves nothing behind. */
export async function delay(ms: number, { clock = systemClock, signal }: DelayOptions = {}): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve) => {
    const wake = () => {
      cancel()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const cancel = clock.schedule(ms, wake)
    signal?.addEventListener('abort', wake)
  })
  signal?.throwIfAborted()
}

/** Waits for `work`, or throws the signal's reason as soon as it aborts. The work continues; its outcome is ignored. */
export async function untilAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  await new Promise<void>((resolve) => {
    const wake = (): void => {
      signal.removeEventListener('abort', wake)
      resolve()
    }
    signal.addEventListener('abort', wake)
    work.then(wake, wake)
    if (signal.aborted) wake()
  })
  signal.throwIfAborted()
  return work
}
