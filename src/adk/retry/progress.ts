import { moved, type AdkSessionState } from './session-state.js'

/** Where a session stands, and how far its run has come with its retries. */
export class Progress {
  state: AdkSessionState = 'init'
  /** How often the run was tried again. */
  attempt = 0
  lastError: { readonly error: unknown } | undefined
  /** Set from the moment a retry is announced until it begins. */
  wait: { readonly until: number; readonly cancel: AbortController } | undefined
  readonly #onStateChange: ((state: AdkSessionState) => void) | undefined

  constructor(onStateChange: ((state: AdkSessionState) => void) | undefined) {
    this.#onStateChange = onStateChange
  }

  /** Throws when there is no such move. */
  move(to: AdkSessionState): void {
    this.state = moved(this.state, to)
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
