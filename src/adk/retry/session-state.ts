import { MillraceError } from '../../core/errors.js'

/**
 * Where an `AdkSession` stands. `error`: an attempt has failed, and what to do is being decided. `retrying`: from the
 * first retry on, while it waits and while it runs. `failed`: no retry is left.
 */
export type AdkSessionState =
  'init' | 'ready' | 'running' | 'error' | 'retrying' | 'failed' | 'cleaning' | 'closed'

const moves: Readonly<Record<AdkSessionState, readonly AdkSessionState[]>> = {
  init: ['ready'],
  ready: ['running', 'cleaning'],
  running: ['ready', 'error'],
  error: ['retrying', 'failed', 'ready'],
  // Once more: a retry that fails is still part of the retrying.
  retrying: ['retrying', 'ready', 'failed'],
  failed: ['ready'],
  cleaning: ['closed'],
  closed: [],
}

/**
 * The next state. Throws for a move there is none of: RUN_CLOSED when the session was cleaned up, THREAD_IS_LOCKED
 * otherwise, since what is asked for too early is asked for while a run is at work.
 */
export function moved(from: AdkSessionState, to: AdkSessionState): AdkSessionState {
  if (moves[from].includes(to)) return to
  if (from === 'cleaning' || from === 'closed') throw cleanedUp()
  throw new MillraceError('THREAD_IS_LOCKED', `The session is '${from}' and cannot be '${to}' now.`, {
    details: { from, to },
  })
}

/** The refusal of whatever is asked for after the end. */
export function cleanedUp(): MillraceError {
  return new MillraceError('RUN_CLOSED', 'The session was cleaned up: it runs nothing any more.')
}
