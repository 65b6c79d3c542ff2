import { MillraceError } from '../../core/errors.js'

/** What refuses work that comes while the server shuts down. */
export function serverClosing(): MillraceError {
  return new MillraceError('SERVER_CLOSING', 'The server is shutting down. Try again soon.')
}
