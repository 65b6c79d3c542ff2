import { MillraceError } from '../core/errors.js'
import { jsonSize } from '../core/json-size.js'

export interface ResultSizeOptions {
  /** The name of the tool. */
  readonly name: string
  /** The most that the result may have, in characters of its JSON. Default: no limit. */
  readonly maxBytes: number | undefined
}

/**
 * Throws TOOL_ERROR for a result that is too large. The model gets the error in its place, and not a part of the result: cut JSON
 * and cut images cannot be read, and a model takes a part for the whole.
 */
export function assertResultSize(result: unknown, { name, maxBytes = Infinity }: ResultSizeOptions): void {
  if (maxBytes === Infinity || jsonSize(result, maxBytes) <= maxBytes) return
  throw new MillraceError(
    'TOOL_ERROR',
    `Tool '${name}' has run, but its result is larger than ${maxBytes} bytes and was left out. Ask it for less. If it has changed something, that is done: do not repeat it.`,
  )
}
