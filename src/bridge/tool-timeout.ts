import { linkAbort, untilAborted } from '../core/abort.js'
import type { Clock } from '../core/clock.js'
import { MillraceError } from '../core/errors.js'

export interface ToolTimeoutOptions {
  /** The name of the tool. */
  readonly name: string
  readonly timeoutMs: number
  readonly clock: Clock
  /** The signal of the run. */
  readonly signal: AbortSignal | undefined
}

/**
 * Runs a tool with a time limit. At the limit its signal aborts and the call rejects with TOOL_ERROR at once, also when
 * the tool never settles. When the run is stopped instead, the tool may clean up for the run's grace time.
 */
export async function withToolTimeout<T>(
  work: (signal: AbortSignal) => PromiseLike<T>,
  { name, timeoutMs, clock, signal }: ToolTimeoutOptions,
): Promise<T> {
  const limit = new AbortController()
  const stop = new AbortController()
  const cancel = clock.schedule(timeoutMs, () => {
    limit.abort(new MillraceError('TOOL_ERROR', `Tool '${name}' took longer than ${timeoutMs} ms.`))
  })
  stop.signal.addEventListener('abort', cancel)
  const releases = [linkAbort(signal, stop), linkAbort(limit.signal, stop)]
  try {
    return await untilAborted(work(stop.signal), limit.signal)
  } finally {
    cancel()
    for (const release of releases) release()
  }
}
