/** The source of time. Everything that waits takes one, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /**
   * Calls `callback` once, `ms` milliseconds from now and never before this call has returned. Returns a function that
   * cancels the call; cancelling twice or too late does nothing. The callback must not throw.
   */
  schedule(ms: number, callback: () => void): () => void
}

// setTimeout holds the delay in 31 bits and fires at once when it does not fit.
const longestTimeout = 2 ** 31 - 1

/** The real time. Also waits longer than the 24 days a single timer can, and for ever when `ms` is `Infinity`. */
export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(ms, callback) {
    if (ms > longestTimeout) return scheduleFar(ms, callback)
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

function scheduleFar(ms: number, callback: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>
  const wait = (left: number): void => {
    if (left <= longestTimeout) timer = setTimeout(callback, left)
    else timer = setTimeout(wait, longestTimeout, left - longestTimeout)
  }
  wait(ms)
  return () => clearTimeout(timer)
}

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** How many callbacks are scheduled and neither called nor cancelled. */
  readonly pending: number
  /**
   * Moves the time forward and calls what falls due, in order. Promise reactions run before the move, after each
   * callback and before this resolves, so a loop of delays runs as often as the time allows. `advance(0)` only
   * lets promises settle. Needs the real `setTimeout`: do not combine with faked timers.
   */
  advance(ms: number): Promise<void>
}

/** Makes a clock for tests that starts at `now`. */
export function manualClock(now = 0): ManualClock {
  const timers = new Set<{ readonly due: number; readonly callback: () => void }>()

  function nextDue(latest: number) {
    return [...timers].filter(({ due }) => due <= latest).sort((a, b) => a.due - b.due)[0]
  }

  return {
    now: () => now,
    schedule(ms, callback) {
      const timer = { due: now + Math.max(ms, 0), callback }
      timers.add(timer)
      return () => {
        timers.delete(timer)
      }
    },
    get pending() {
      return timers.size
    },
    async advance(ms) {
      const target = now + ms
      await settlePromises()
      for (let timer = nextDue(target); timer !== undefined; timer = nextDue(target)) {
        timers.delete(timer)
        now = timer.due
        timer.callback()
        await settlePromises()
      }
      now = target
    },
  }
}

/** Resolves after every promise reaction that is ready, and those that follow from them. */
function settlePromises(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

/** Resolves after pending timers and sockets had their turn. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve)
    else setTimeout(resolve, 0)
  })
}
