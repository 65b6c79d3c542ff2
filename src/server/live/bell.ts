/** Wakes those who wait for something new, once for all that comes in the same turn. */
export interface Bell {
  /** `now` wakes them at once. */
  ring(now: boolean): void
  /** Resolves at the next ring, or when the signal aborts. */
  heard(signal: AbortSignal): Promise<void>
}

// Behind the promises that are ready: what they bring is heard together. Elsewhere a timer comes closest.
const afterPromises: (callback: () => void) => void =
  typeof process === 'object' && typeof process.nextTick === 'function'
    ? process.nextTick
    : (callback) => setTimeout(callback, 0)

export function createBell(): Bell {
  let waiting = new Set<() => void>()
  let isRinging = false

  const wake = (): void => {
    isRinging = false
    const awake = waiting
    waiting = new Set()
    for (const listener of awake) listener()
  }

  return {
    ring(now) {
      if (waiting.size === 0) return
      if (now) wake()
      else if (!isRinging) {
        isRinging = true
        afterPromises(wake)
      }
    },
    heard(signal) {
      return new Promise((resolve) => {
        const listener = (): void => {
          signal.removeEventListener('abort', listener)
          waiting.delete(listener)
          resolve()
        }
        waiting.add(listener)
        signal.addEventListener('abort', listener)
        if (signal.aborted) listener()
      })
    },
  }
}
