import { createEvent, type Event } from '@google/adk'
import { delay, isAbortError, linkAbort } from '../../core/abort.js'
import { type ClosingOptions, abortable } from '../../core/abortable.js'
import type { Clock } from '../../core/clock.js'
import type { AttemptRunner } from './attempt-runner.js'
import { backoffDelay, type Backoff } from './backoff.js'
import { adkError, isFinishReason, isRetryableFailure, type AdkFailure } from './failures.js'
import type { SessionProgress } from './session-progress.js'

export interface AttemptsOptions {
  readonly progress: SessionProgress
  readonly backoff: Backoff
  readonly isRetryable: ((failure: AdkFailure) => boolean | undefined) | undefined
  readonly signal: AbortSignal
  readonly closing: ClosingOptions & { readonly clock: Clock }
}

/** Tries until the agent has answered or a retry cannot help. Ends without an error when aborted. */
export async function* runAttempts(
  runner: AttemptRunner,
  options: AttemptsOptions,
): AsyncGenerator<Event, void> {
  const { progress, backoff, signal } = options
  for (;;) {
    const tail = new ErrorTail()
    const failure = yield* attemptOnce(runner, tail, options)
    if (!failure) return yield* tail.events
    progress.fail(failure.error)
    const decision = decideNextAttempt(failure, runner, options)
    if (decision === 'retry' && (yield* announceAndWait(tail, options))) continue
    if (signal.aborted) return
    if (decision === 'exhausted') progress.move('failed')
    // The announcement of a retry has shown all but the errors.
    yield* decision === 'retry' ? tail.errors : tail.events
    if (decision !== 'exhausted' && failure.isThrown) throw failure.error
    if (decision === 'exhausted')
      yield retriesExceededEvent({ ...backoff, timestamp: options.closing.clock.now() })
    return
  }
}

/** One attempt. Returns its failure, if it has one. */
async function* attemptOnce(
  runner: AttemptRunner,
  tail: ErrorTail,
  { signal, closing }: AttemptsOptions,
): AsyncGenerator<Event, AdkFailure | undefined> {
  let thrown: { readonly error: unknown } | undefined
  try {
    for await (const event of abortable(runner.start(), { ...closing, signal })) {
      // Not `yield*`: over a plain list it takes three turns of the microtask queue for every event.
      for (const next of tail.push(event)) yield next
    }
  } catch (error) {
    if (signal.aborted && !isAbortError(error, signal)) throw error
    thrown = { error }
  }
  if (signal.aborted) return undefined
  const events = tail.errors
  if (thrown) return { error: thrown.error, isThrown: true, events }
  const last = events.at(-1)
  if (!last) return undefined
  const { errorCode: code = '', errorMessage: message = '' } = last
  return { error: adkError({ code, message }), isThrown: false, events }
}

function decideNextAttempt(
  failure: AdkFailure,
  runner: AttemptRunner,
  { progress, backoff, isRetryable }: AttemptsOptions,
): 'retry' | 'exhausted' | 'give-up' {
  if (runner.hasUnfinishedCalls || isAbortError(failure.error)) return 'give-up'
  if (!(isRetryable?.(failure) ?? isRetryableFailure(failure))) return 'give-up'
  return progress.attempt < backoff.maxRetries ? 'retry' : 'exhausted'
}

/** Announces the next attempt and waits for it. Returns false when the retry is cancelled. */
async function* announceAndWait(
  tail: ErrorTail,
  { progress, backoff, signal, closing: { clock } }: AttemptsOptions,
): AsyncGenerator<Event, boolean> {
  const attempt = ++progress.attempt
  const until = clock.now() + backoffDelay(attempt, backoff)
  const cancel = new AbortController()
  const release = linkAbort(signal, cancel)
  progress.wait = { until, cancel }
  progress.move('retrying')
  try {
    for (const event of tail.events) if (!tail.errors.includes(event)) yield event
    yield retryAttemptEvent({ attempt, maxRetries: backoff.maxRetries, timestamp: clock.now() })
    // The time a slow reader takes counts.
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

/**
 * Buffers error events until their meaning is known. ADK may continue after one, for example after a call of an unknown
 * tool: then content follows, and the error was one event among others.
 */
class ErrorTail {
  #events: Event[] = []

  /** All buffered events, in order. */
  get events(): readonly Event[] {
    return this.#events
  }

  get errors(): readonly Event[] {
    return this.#events.filter(isErrorOnly)
  }

  /** Takes the next event. Returns those that can be shown now. */
  push(event: Event): readonly Event[] {
    const kept = this.#events
    if (isErrorOnly(event) || (kept.length > 0 && !hasContentParts(event))) {
      kept.push(event)
      return []
    }
    if (kept.length === 0) return [event]
    this.#events = []
    return [...kept, event]
  }
}

/** Whether an event has an error and nothing else. */
function isErrorOnly(event: Event): boolean {
  const { errorCode } = event
  return errorCode !== undefined && !hasContentParts(event) && !isFinishReason(errorCode)
}

function hasContentParts({ content }: Event): boolean {
  return (content?.parts?.length ?? 0) > 0
}

interface RetryNotice {
  /** Number of the retry, from 1. */
  readonly attempt: number
  readonly maxRetries: number
  /** Milliseconds since the epoch. */
  readonly timestamp: number
}

/** Announces a retry. It is not stored, and no model sees it. */
function retryAttemptEvent({ attempt, maxRetries, timestamp }: RetryNotice): Event {
  const text = `Retry attempt ${attempt}/${maxRetries} for agent execution`
  return createEvent({
    author: 'system',
    content: { parts: [{ text }] },
    errorCode: 'RETRY_ATTEMPT',
    errorMessage: text,
    timestamp,
  })
}

/** The last event of a run that has no retry left. */
function retriesExceededEvent({ maxRetries, timestamp }: Omit<RetryNotice, 'attempt'>): Event {
  return createEvent({
    author: 'system',
    errorCode: 'MAX_RETRIES_EXCEEDED',
    errorMessage: `Agent execution failed after ${maxRetries} retry attempts`,
    actions: { escalate: true },
    timestamp,
  })
}
