import type { Clock } from '../../core/clock.js'

/** How often something may happen, by key. Forgets the keys used least recently, so its memory is bounded. */
export interface Rate {
  /** Milliseconds until the key may go on; 0 when it may now. Counts nothing. */
  wait(key: string): number
  /** Counts for the key, whether it may go on or not. What is too much delays the next. */
  add(key: string, count: number): void
}

const minuteMs = 60_000
/** Who was quiet may have this much of its rate at once. */
const burstMs = 10_000
/** Twice as many keys are remembered at most. */
const maxRecent = 20_000

const unlimited: Rate = { wait: () => 0, add: () => undefined }

/**
 * A leaky bucket for each key, held as one number: the time at which it will be empty. A key without one is empty, so a key
 * that is forgotten has only its rate back.
 */
export function createRate(perMinute: number, clock: Clock): Rate {
  if (perMinute === Infinity) return unlimited
  const eachMs = minuteMs / perMinute
  // One is always allowed at once, also at a rate of one in an hour.
  const toleranceMs = Math.max(0, burstMs - eachMs)
  let emptyAt = new Map<string, number>()
  let before = new Map<string, number>()
  let latest = -Infinity

  const now = (): number => {
    const time = clock.now()
    // A clock that was set back would lock everybody out until it is where it was.
    if (time < latest) {
      emptyAt = new Map()
      before = new Map()
    }
    return (latest = time)
  }
  const emptyAtOf = (key: string): number => emptyAt.get(key) ?? before.get(key) ?? -Infinity

  return {
    wait: (key) => Math.max(0, emptyAtOf(key) - now() - toleranceMs),
    add(key, count) {
      const from = Math.max(now(), emptyAtOf(key))
      if (emptyAt.size >= maxRecent && !emptyAt.has(key)) {
        before = emptyAt
        emptyAt = new Map()
      }
      emptyAt.set(key, from + count * eachMs)
    },
  }
}
