import { MillraceError } from '../../core/errors.js'

/**
 * The state of an `AdkSession`. `error`: an attempt has failed and the next step is not decided yet. `retrying`: from the
 * first retry on, while it waits and while it runs. `failed`: no retry is left.
 */
export type AdkSessionState =
  'init' | 'ready' | 'running' | 'error' | 'retrying' | 'failed' | 'cleaning' | 'closed'

const transitions: Readonly<Record<AdkSessionState, readonly AdkSessionState[]>> = {
  init: ['ready'],
  ready: ['running', 'cleaning'],
  running: ['ready', 'error'],
  error: ['retrying', 'failed', 'ready'],
  // A retry that fails stays 'retrying' until the next one.
  retrying: ['retrying', 'ready', 'failed'],
  failed: ['ready'],
  cleaning: ['closed'],
  closed: [],
}

/** The state of a session, and the retries of its current or last run. */
export class SessionProgress {
  state: AdkSessionState = 'init'
  /** Number of retries so far. */
  attempt = 0
  lastError: { readonly error: unknown } | undefined
  /** The announced retry that has not begun yet. */
  wait: { readonly until: number; readonly cancel: AbortController } | undefined
  readonly #onStateChange: ((state: AdkSessionState) => void) | undefined

  constructor(onStateChange: ((state: AdkSessionState) => void) | undefined) {
    this.#onStateChange = onStateChange
  }

  /** Throws RUN_CLOSED after the clean-up; THREAD_IS_LOCKED for any other transition that does not exist. */
  move(to: AdkSessionState): void {
    const from = this.state
    if (!transitions[from].includes(to)) throw refusedTransition(from, to)
    this.state = to
    this.#onStateChange?.(to)
  }

  reset(): void {
    this.attempt = 0
    this.lastError = undefined
  }

  fail(error: unknown): void {
    this.lastError = { error }
    if (this.state === 'running') this.move('error')
  }
}

function refusedTransition(from: AdkSessionState, to: AdkSessionState): MillraceError {
  if (from === 'cleaning' || from === 'closed') return sessionClosed()
  // Only a live run blocks another.
  const message = `The session is '${from}' and cannot be '${to}' now.`
  return new MillraceError('THREAD_IS_LOCKED', message, { details: { from, to } })
}

export function sessionClosed(): MillraceError {
  return new MillraceError('RUN_CLOSED', 'The session was cleaned up: it runs nothing any more.')
}
