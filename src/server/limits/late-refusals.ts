import { delay } from '../../core/abort.js'
import type { Clock } from '../../core/clock.js'

/** Short against any `Retry-After`, long against the time that a refusal takes. */
const lateByMs = 250
/** Refusals that wait cost memory. One more is answered at once. */
const maxWaiting = 1_000

/**
 * Lets a refusal for its rate wait a little. Who ignores it on a few connections then costs next to nothing; answered at once,
 * thousands of refusals in a second take the time of everybody else.
 */
export function createLateRefusals(clock: Clock): () => Promise<void> {
  let waiting = 0
  return async () => {
    if (waiting >= maxWaiting) return
    waiting++
    await delay(lateByMs, { clock })
    waiting--
  }
}
