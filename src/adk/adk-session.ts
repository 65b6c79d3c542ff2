import type { Event, RunConfig, Runner } from '@google/adk'
import { linkAbort } from '../core/abort.js'
import { systemClock, type Clock } from '../core/clock.js'
import { closeAll, withStop } from '../core/closing.js'
import { MillraceError } from '../core/errors.js'
import type { Content, SessionKey } from './adk-types.js'
import { attempts, type AttemptsOptions } from './retry/attempts.js'
import { toBackoff, type BackoffOptions } from './retry/backoff.js'
import type { AdkFailure } from './retry/failure.js'
import { Progress } from './retry/progress.js'
import { cleanedUp, type AdkSessionState } from './retry/session-state.js'
import { createTurn } from './retry/turn.js'

export interface AdkSessionOptions extends BackoffOptions {
  /** Used as it is and never changed. Several sessions may share one. */
  readonly runner: Runner
  /** Default: the Runner's. */
  readonly appName?: string
  readonly userId: string
  /** The session must exist: ADK makes none when it runs. */
  readonly sessionId: string
  readonly runConfig?: RunConfig
  /**
   * Whether a failure may pass. `undefined` leaves it to the default. Not asked about aborts, nor when a tool was called
   * and its result is not in the session. What it throws ends the run.
   */
  readonly isRetryable?: (failure: AdkFailure) => boolean | undefined
  /** Told every new state. Must not throw. */
  readonly onStateChange?: (state: AdkSessionState) => void
  /** Told what fails after a run was stopped, when nobody can be told any more. Must not throw. */
  readonly onStrayError?: (error: unknown) => void
  readonly clock?: Clock
  /** How long what is stopped may take to clean up, in milliseconds. Default 1000. */
  readonly graceMs?: number
}

/** What there is to know of a session right now. */
export interface AdkSessionInfo extends SessionKey {
  /** The name of the root agent. */
  readonly agent: string
  readonly state: AdkSessionState
  readonly maxRetries: number
  /** How often the current run, or else the last, was tried again. */
  readonly attempt: number
  /** When it is tried again, in milliseconds since the epoch. Only while it waits for that. */
  readonly nextRetryAt?: number
  /** What the last failed attempt of the current or last run failed with. */
  readonly lastError?: unknown
}

export interface AdkRunOptions {
  /** Ends the run, as ADK does it: without an error. */
  readonly signal?: AbortSignal
  /** Changes the state of the session along with the message, once. */
  readonly stateDelta?: Record<string, unknown>
}

/**
 * An ADK Runner bound to one session, which tries again when a run fails. It yields the Runner's own events. A failure
 * that may pass is followed by an event `RETRY_ATTEMPT`, a pause and another attempt that goes on from what is in the
 * session; after the last one comes `MAX_RETRIES_EXCEEDED`. Other failures are the Runner's: an error event, or thrown.
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
  readonly #progress: Progress
  #runner: Runner | undefined
  /** The run at work. */
  #stream: AsyncGenerator<Event, void> | undefined
  #cleanup: Promise<void> | undefined

  /** Throws INVALID_AGENT, naming the option, when one makes no sense. */
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
    const progress = (this.#progress = new Progress(options.onStateChange))
    const closing = { clock, graceMs, onStrayError }
    this.#attempts = { progress, backoff: toBackoff(options), isRetryable, closing }
    progress.move('ready')
  }

  /**
   * Says something to the agent, and yields the events of its answer. Starts with the first `next()`, which throws
   * THREAD_IS_LOCKED while another run is at work and RUN_CLOSED after `cleanup`. Who stops reading ends the run.
   */
  runAsync(message: string | Content, options: AdkRunOptions = {}): AsyncGenerator<Event, void> {
    const stop = new AbortController()
    const run = this.#run(message, options, { stop, self: () => stream })
    const stream: AsyncGenerator<Event, void> = withStop(run, () =>
      stop.abort(new DOMException('The run was stopped.', 'AbortError')),
    )
    return stream
  }

  /** The same, read to its end. */
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

  /** Ends a run that waits for its next attempt, with the failure it had. Gives whether there was one. */
  cancelRetry(): boolean {
    const { wait } = this.#progress
    wait?.cancel.abort()
    return wait !== undefined
  }

  /** Forgets the retries there were. A run at work has all of them again. */
  reset(): void {
    this.#progress.reset()
  }

  /**
   * Stops the run at work, if any, and then lets go of the Runner. The Runner itself is left as it is: others may use
   * it. Calling this again does nothing.
   */
  cleanup(): Promise<void> {
    return (this.#cleanup ??= this.#cleanUp())
  }

  async #cleanUp(): Promise<void> {
    const stream = this.#stream
    if (stream) {
      await closeAll([stream], this.#attempts.closing)
      // It may not have settled in time.
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
    const turn = createTurn({
      ...this.#key,
      runner,
      message: typeof message === 'string' ? { role: 'user', parts: [{ text: message }] } : message,
      stateDelta,
      runConfig: this.#runConfig,
      signal: stop.signal,
    })
    try {
      yield* attempts(turn, { ...this.#attempts, signal: stop.signal })
    } finally {
      release()
      this.#end(stream)
    }
  }

  #begin(): Runner {
    // From the moment clean-up is asked for: it may still wait for the run before.
    const runner = this.#cleanup ? undefined : this.#runner
    if (!runner) throw cleanedUp()
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
