import { linkAbort } from '../../core/abort.js'
import { abortable } from '../../core/abortable.js'
import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { ToolContext } from '../contract.js'

export interface TimeLimitOptions {
  readonly ctx: ToolContext
  /** Of the tool, for the error. */
  readonly name: string
  readonly timeoutMs: number
  readonly clock: Clock
}

/**
 * Runs a tool with a limit: `run` gets a context whose signal also aborts when the time is over. Then the stream throws
 * TOOL_ERROR at once, also while the tool never settles. When the run is stopped, the tool is told, and whoever reads
 * the stream decides how long it may take to clean up.
 */
export async function* withTimeLimit(
  run: (ctx: ToolContext) => AsyncGenerator<unknown, unknown>,
  { ctx, name, timeoutMs, clock }: TimeLimitOptions,
): AsyncGenerator<unknown, unknown> {
  const limit = new AbortController()
  const stop = new AbortController()
  const cancel = clock.schedule(timeoutMs, () => {
    limit.abort(new MillraceError('TOOL_ERROR', `Tool '${name}' took longer than ${timeoutMs} ms.`))
  })
  stop.signal.addEventListener('abort', cancel)
  const releases = [linkAbort(ctx.signal, stop), linkAbort(limit.signal, stop)]
  try {
    // Inherited, not copied: members such as `state` are live.
    const limited = Object.create(ctx, { signal: { value: stop.signal, enumerable: true } }) as ToolContext
    // What a tool says after it was stopped helps nobody: the reason it was stopped is already told.
    return yield* abortable(run(limited), { signal: limit.signal, clock, onStrayError: () => undefined })
  } finally {
    cancel()
    for (const release of releases) release()
  }
}
