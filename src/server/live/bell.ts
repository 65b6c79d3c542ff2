import { afterPromises } from './turn.js'

/** Wakes those who wait for something new, once for all that comes in the same turn. */
export interface Bell {
  /** `now` wakes them at once. */
  ring(now: boolean): void
  /** Resolves at the next ring. */
  heard(): Promise<void>
}

/** `onRing` is called first, whether anybody waits or not. */
export function createBell(onRing: () => void): Bell {
  let waiting: (() => void)[] = []
  let isRinging = false

  const wake = (): void => {
    isRinging = false
    onRing()
    const awake = waiting
    waiting = []
    for (const listener of awake) listener()
  }

  return {
    ring(now) {
      if (now) wake()
      else if (!isRinging) {
        isRinging = true
        afterPromises(wake)
      }
    },
    heard: () => new Promise((resolve) => waiting.push(resolve)),
  }
}
