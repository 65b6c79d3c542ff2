import type { Event, RunConfig, Runner } from '@google/adk'
import { linkAbort } from '../../core/abort.js'
import { systemClock, type Clock } from '../../core/clock.js'
import { closeAll, withStop } from '../../core/abortable.js'
import { MillraceError } from '../../core/errors.js'
import type { Content, SessionKey } from '../adk-types.js'
import { AttemptRunner } from './attempt-runner.js'
import { runAttempts, type AttemptsOptions } from './attempts.js'
import { toBackoff, type BackoffOptions } from './backoff.js'
import type { AdkFailure } from './failures.js'
import { sessionClosed, SessionProgress, type AdkSessionState } from './session-progress.js'

export interface AdkSessionOptions extends BackoffOptions {
  /** Never changed. Several sessions may share one. */
  readonly runner: Runner
  /** Default: the Runner's. */
  readonly appName?: string
  readonly userId: string
  /** The session must exist: ADK creates none when it runs. */
  readonly sessionId: string
  readonly runConfig?: RunConfig
  /**
   * Whether to retry after a failure. `undefined` leaves it to the default. Not called after aborts, nor when a tool was
   * called and its result is not in the session. If it throws, the run ends with that error.
   */
  readonly isRetryable?: (failure: AdkFailure) => boolean | undefined
  /** Called with every new state. Must not throw. */
  readonly onStateChange?: (state: AdkSessionState) => void
  /** Called with errors of a run that was stopped and has no reader any more. Must not throw. */
  readonly onStrayError?: (error: unknown) => void
  readonly clock?: Clock
  /** How long a stopped run may take to clean up, in milliseconds. Default 1000. */
  readonly graceMs?: number
}

/** The current facts about a session. */
export interface AdkSessionInfo extends SessionKey {
  /** The name of the root agent. */
  readonly agent: string
  readonly state: AdkSessionState
  readonly maxRetries: number
  /** Retries of the current or last run. */
  readonly attempt: number
  /** Time of the next retry, in milliseconds since the epoch. Only while the run waits for it. */
  readonly nextRetryAt?: number
  /** Error of the last failed attempt of the current or last run. */
  readonly lastError?: unknown
}

export interface AdkRunOptions {
  /** Ends the run without an error, as ADK does. */
  readonly signal?: AbortSignal
  /** Changes the session's state along with the message, once. */
  readonly stateDelta?: Record<string, unknown>
}

/**
 * An ADK Runner bound to one session, which retries failed runs. It yields the Runner's own events. After a retryable
 * failure come an event `RETRY_ATTEMPT`, a delay and another attempt that continues from the session; after the
 * last attempt comes `MAX_RETRIES_EXCEEDED`. Other failures are the Runner's: an error event, or thrown.
 *
 * @example
 * const session = new AdkSession({ runner, userId: 'ada', sessionId: 's1' })
 * for await (const event of session.runAsync('Hello')) show(event)
 */
export class AdkSession {
  readonly #key: SessionKey
  readonly #agent: string
  readonly #runConfig: RunConfig | undefined
  readonly #attempts: Omit<AttemptsOptions, 'signal'>
  readonly #progress: SessionProgress
  #runner: Runner | undefined
  /** The current run. */
  #stream: AsyncGenerator<Event, void> | undefined
  #cleanup: Promise<void> | undefined

  /** Throws INVALID_AGENT, naming the option, for an option that makes no sense. */
  constructor(options: AdkSessionOptions) {
    const { runner, appName = runner.appName, userId, sessionId, runConfig, isRetryable } = options
    const { clock = systemClock, graceMs = 1000, onStrayError = () => undefined } = options
    for (const [name, value] of Object.entries({ appName, userId, sessionId })) {
      if (!value) throw new MillraceError('INVALID_AGENT', `An ADK session needs the option '${name}'.`)
    }
    this.#key = { appName, userId, sessionId }
    this.#agent = runner.agent.name
    this.#runConfig = runConfig
    this.#runner = runner
    const progress = (this.#progress = new SessionProgress(options.onStateChange))
    const closing = { clock, graceMs, onStrayError }
    this.#attempts = { progress, backoff: toBackoff(options), isRetryable, closing }
    progress.move('ready')
  }

  /**
   * Sends a message to the agent and yields the events of its answer. The first `next()` starts the run; it throws
   * THREAD_IS_LOCKED while another run is live and RUN_CLOSED after `cleanup`. A reader that stops ends the run.
   */
  runAsync(message: string | Content, options: AdkRunOptions = {}): AsyncGenerator<Event, void> {
    const stop = new AbortController()
    const run = this.#run(message, options, { stop, self: () => stream })
    const stream: AsyncGenerator<Event, void> = withStop(run, () =>
      stop.abort(new DOMException('The run was stopped.', 'AbortError')),
    )
    return stream
  }

  /** Like `runAsync`, read to its end. */
  async run(message: string | Content, options?: AdkRunOptions): Promise<Event[]> {
    const events: Event[] = []
    for await (const event of this.runAsync(message, options)) events.push(event)
    return events
  }

  info(): AdkSessionInfo {
    const { state, attempt, wait, lastError } = this.#progress
    const { maxRetries } = this.#attempts.backoff
    return {
      ...this.#key,
      agent: this.#agent,
      state,
      maxRetries,
      attempt,
      ...(wait && { nextRetryAt: wait.until }),
      ...(lastError && { lastError: lastError.error }),
    }
  }

  /** Whether a run can start now. */
  isReady(): boolean {
    return this.#progress.state === 'ready' && !this.#cleanup
  }

  /** Ends a run that waits for a retry, with the failure it had. Returns whether there was one. */
  cancelRetry(): boolean {
    const { wait } = this.#progress
    wait?.cancel.abort()
    return wait !== undefined
  }

  /** Sets the number of retries to 0. The current run may use all of them again. */
  reset(): void {
    this.#progress.reset()
  }

  /**
   * Stops the current run, if any, and then releases the Runner. Does not close the Runner: others may use it.
   * A second call does nothing.
   */
  cleanup(): Promise<void> {
    return (this.#cleanup ??= this.#cleanUp())
  }

  async #cleanUp(): Promise<void> {
    const stream = this.#stream
    if (stream) {
      await closeAll([stream], this.#attempts.closing)
      // The run may not have settled in time.
      this.#end(stream)
    }
    this.#progress.move('cleaning')
    this.#runner = undefined
    this.#progress.move('closed')
  }

  async *#run(
    message: string | Content,
    { signal, stateDelta }: AdkRunOptions,
    { stop, self }: { readonly stop: AbortController; readonly self: () => AsyncGenerator<Event, void> },
  ): AsyncGenerator<Event, void> {
    const runner = this.#begin()
    const stream = (this.#stream = self())
    const release = linkAbort(signal, stop)
    const attempts = new AttemptRunner({
      ...this.#key,
      runner,
      message: typeof message === 'string' ? { role: 'user', parts: [{ text: message }] } : message,
      stateDelta,
      runConfig: this.#runConfig,
      signal: stop.signal,
    })
    try {
      yield* runAttempts(attempts, { ...this.#attempts, signal: stop.signal })
    } finally {
      release()
      this.#end(stream)
    }
  }

  #begin(): Runner {
    // A clean-up may still wait for the previous run.
    const runner = this.#cleanup ? undefined : this.#runner
    if (!runner) throw sessionClosed()
    this.#progress.move('running')
    this.#progress.reset()
    return runner
  }

  #end(stream: AsyncGenerator<Event, void>): void {
    if (this.#stream !== stream) return
    this.#stream = undefined
    this.#progress.move('ready')
  }
}
