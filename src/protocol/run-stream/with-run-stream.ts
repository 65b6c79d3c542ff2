import { isAbortError } from '../../core/abort.js'
import { abortable } from '../../core/abortable.js'
import { withStop, type ClosingOptions } from '../../core/closing.js'
import type { AgentEvent, AgUiEvent, RunEnd, RunStream, RunStreamOptions } from '../contract.js'
import { createRunStream } from './run-stream.js'

export interface WithRunStreamOptions extends Omit<RunStreamOptions, 'emit'>, ClosingOptions {
  /** Ends the run as cancelled. The source is closed and given its grace time, whether or not it reacts. */
  readonly signal?: AbortSignal
}

/**
 * Makes the loose events of a generator a strict stream from RUN_STARTED to the one terminal event: RUN_FINISHED with
 * what the source returns (nothing means success), RUN_ERROR when it throws or writes an invalid event, cancelled when
 * the signal aborts. Returns what the client then holds.
 *
 * A consumer that stops early closes the source and gets no further events.
 */
export function withRunStream(
  source: AsyncGenerator<AgentEvent, RunEnd | undefined>,
  { signal = new AbortController().signal, ...options }: WithRunStreamOptions,
): AsyncGenerator<AgUiEvent, RunStream['fold']> {
  const agent = abortable(source, { ...options, signal })

  async function* relay(): AsyncGenerator<AgUiEvent, RunStream['fold']> {
    const written: AgUiEvent[] = []
    const stream = createRunStream({ ...options, emit: (event) => written.push(event) })
    try {
      for (;;) {
        yield* written.splice(0)
        const step = await agent.next()
        if (step.done === true) {
          stream.finish(step.value ?? { type: 'success' })
          break
        }
        stream.write(step.value)
      }
    } catch (error) {
      if (signal.aborted && isAbortError(error, signal)) stream.finish({ type: 'cancelled' })
      else stream.fail(error)
    } finally {
      await agent.return(undefined)
    }
    yield* written
    return stream.fold
  }

  return withStop(relay(), async () => {
    await agent.return(undefined)
  })
}
