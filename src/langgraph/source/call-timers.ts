import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { CallLimit } from './current-run.js'

export interface CallTimersOptions {
  /** How long a call may take, in milliseconds. */
  readonly timeoutMs: number
  readonly clock: Clock
  /** The most bytes of a result. */
  readonly maxBytes: number | undefined
  /** Called with TOOL_ERROR when the time of a call is over. */
  readonly onTimeout: (error: MillraceError) => void
}

/**
 * The limits for calls of tools in one run of a graph. Tool nodes keep to them by themselves. A tool that the code of a
 * node calls cannot be stopped alone: the graph is.
 */
export class CallTimers implements CallLimit {
  readonly timeoutMs: number
  readonly clock: Clock
  readonly maxBytes: number | undefined
  readonly #onTimeout: CallTimersOptions['onTimeout']
  readonly #limited = new Set<string>()
  readonly #timers = new Map<string, () => void>()

  constructor({ timeoutMs, clock, maxBytes, onTimeout }: CallTimersOptions) {
    this.timeoutMs = timeoutMs
    this.clock = clock
    this.maxBytes = maxBytes
    this.#onTimeout = onTimeout
  }

  addLimited(toolCallId: string): void {
    this.#limited.add(toolCallId)
  }

  start(runId: string, name: string, toolCallId: string | undefined): void {
    const { timeoutMs } = this
    if (timeoutMs === Infinity || (toolCallId !== undefined && this.#limited.has(toolCallId))) return
    const fail = (): void =>
      this.#onTimeout(new MillraceError('TOOL_ERROR', `Tool '${name}' took longer than ${timeoutMs} ms.`))
    this.#timers.set(runId, this.clock.schedule(timeoutMs, fail))
  }

  end(runId: string): void {
    this.#timers.get(runId)?.()
    this.#timers.delete(runId)
  }

  close(): void {
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
  }
}
