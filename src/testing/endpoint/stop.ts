import { linkAbort } from '../../core/abort.js'
import type { Clock } from '../../core/clock.js'
import type { LintRule } from '../lint-rules.js'

/** Why an exchange came to an early end. */
export class Stop extends Error {
  readonly rule: LintRule

  constructor(rule: LintRule, message: string) {
    super(message)
    this.rule = rule
  }
}

/** What ends the work early. */
export interface DeadlineOptions {
  readonly clock: Clock
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
}

/**
 * Runs `work` with a controller that aborts when the time is up or the caller gives up, and in any case once the work
 * is done, so that no connection outlives it.
 */
export async function withDeadline<T>(
  { clock, signal, timeoutMs }: DeadlineOptions,
  work: (stop: AbortController) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const stop = new AbortController()
  const release = linkAbort(signal, stop)
  const cancel = clock.schedule(timeoutMs, () => {
    stop.abort(new Stop('http-timeout', `the run did not end within ${timeoutMs} ms`))
  })
  try {
    return await work(stop)
  } finally {
    cancel()
    release()
    stop.abort()
  }
}
