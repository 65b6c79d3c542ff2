import { isAbortError } from '../core/abort.js'
import { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/is-record.js'

/** What a graph has thrown, with a code where its meaning is known. */
export function graphError(error: unknown, signal: AbortSignal): unknown {
  if (MillraceError.isInstance(error) || isAbortError(error, signal)) return error
  const code = isRecord(error) ? error.lc_error_code : undefined
  const message = error instanceof Error ? error.message : String(error)
  if (code === 'GRAPH_RECURSION_LIMIT')
    return new MillraceError(
      'MAX_ITERATIONS',
      'The graph has taken more steps than `recursionLimit` allows.',
      {
        cause: error,
      },
    )
  if (message.includes('No checkpointer set'))
    return new MillraceError(
      'INVALID_AGENT',
      'The graph stops to ask, which needs a checkpointer: compile it with one.',
      { cause: error },
    )
  return error
}
