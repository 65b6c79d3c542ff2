import type { Event } from '@google/adk'
import { delay, isAbortError, linkAbort } from '../../core/abort.js'
import { abortable } from '../../core/abortable.js'
import type { Clock } from '../../core/clock.js'
import type { ClosingOptions } from '../../core/closing.js'
import { adkError } from '../adk-error.js'
import { pauseBefore, type Backoff } from './backoff.js'
import { isPassing, type AdkFailure } from './failure.js'
import { createHeldErrors, type HeldErrors } from './held-errors.js'
import type { Progress } from './progress.js'
import { exhaustedEvent, retryEvent } from './retry-events.js'
import type { Turn } from './turn.js'

export interface AttemptsOptions {
  readonly progress: Progress
  readonly backoff: Backoff
  readonly isRetryable: ((failure: AdkFailure) => boolean | undefined) | undefined
  readonly signal: AbortSignal
  readonly closing: ClosingOptions & { readonly clock: Clock }
}

/** Tries until the agent has answered, or there is no point in trying again. Ends without an error when aborted. */
export async function* attempts(turn: Turn, options: AttemptsOptions): AsyncGenerator<Event, void> {
  const { progress, backoff, signal } = options
  for (;;) {
    const held = createHeldErrors()
    const failure = yield* tryOnce(turn, held, options)
    if (!failure) return yield* held.events
    progress.fail(failure.error)
    const decision = decide(failure, turn, options)
    if (decision === 'retry' && (yield* untilRetry(held, options))) continue
    if (signal.aborted) return
    if (decision === 'exhausted') progress.move('failed')
    // What else was held back was shown along with the retry.
    yield* decision === 'retry' ? held.errors : held.events
    if (decision !== 'exhausted' && failure.isThrown) throw failure.error
    if (decision === 'exhausted') yield exhaustedEvent({ ...backoff, timestamp: options.closing.clock.now() })
    return
  }
}

/** One attempt. Gives how it failed, if it did. */
async function* tryOnce(
  turn: Turn,
  held: HeldErrors,
  { signal, closing }: AttemptsOptions,
): AsyncGenerator<Event, AdkFailure | undefined> {
  let thrown: { readonly error: unknown } | undefined
  try {
    for await (const event of abortable(turn.attempt(), { ...closing, signal })) {
      // Not `yield*`: over a plain list it takes three turns of the microtask queue for every event.
      for (const shown of held.take(event)) yield shown
    }
  } catch (error) {
    if (signal.aborted && !isAbortError(error, signal)) throw error
    thrown = { error }
  }
  if (signal.aborted) return undefined
  const events = held.errors
  if (thrown) return { error: thrown.error, isThrown: true, events }
  const last = events.at(-1)
  if (!last) return undefined
  const { errorCode: code = '', errorMessage: message = '' } = last
  return { error: adkError({ code, message }), isThrown: false, events }
}

function decide(
  failure: AdkFailure,
  turn: Turn,
  { progress, backoff, isRetryable }: AttemptsOptions,
): 'retry' | 'exhausted' | 'stay' {
  if (turn.hasOpenCalls || isAbortError(failure.error)) return 'stay'
  if (!(isRetryable?.(failure) ?? isPassing(failure))) return 'stay'
  return progress.attempt < backoff.maxRetries ? 'retry' : 'exhausted'
}

/** Announces the next attempt and waits for it. False when it was called off. */
async function* untilRetry(
  held: HeldErrors,
  { progress, backoff, signal, closing: { clock } }: AttemptsOptions,
): AsyncGenerator<Event, boolean> {
  const attempt = ++progress.attempt
  const until = clock.now() + pauseBefore(attempt, backoff)
  const cancel = new AbortController()
  const release = linkAbort(signal, cancel)
  progress.wait = { until, cancel }
  progress.move('retrying')
  try {
    for (const event of held.events) if (!held.errors.includes(event)) yield event
    yield retryEvent({ attempt, maxRetries: backoff.maxRetries, timestamp: clock.now() })
    // A reader that takes its time has waited already.
    await delay(Math.max(until - clock.now(), 0), { clock, signal: cancel.signal })
    return true
  } catch (error) {
    if (!cancel.signal.aborted) throw error
    return false
  } finally {
    progress.wait = undefined
    release()
  }
}
