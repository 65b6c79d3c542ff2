import { withStop } from '../../core/abortable.js'
import { MillraceError } from '../../core/errors.js'
import { createQueue } from '../../core/queue.js'
import type { AgUiEvent } from '../../protocol/index.js'

export interface RunBufferOptions {
  readonly capacity: number
  /** Called when the reader stops before the end. */
  readonly onAbandoned: () => void
}

/** Buffers the events of a run for its one reader, with back-pressure when the reader is slow. */
export interface RunBuffer {
  /** Returns a promise when the run has to wait before it continues. */
  push(event: AgUiEvent): Promise<void> | undefined
  close(): void
  /** Notes that a caller awaits the result: without a reader, events beyond the buffer are dropped from now on. */
  wantResult(): void
  /** The events. `return()` does not wait for the next one. Throws RUN_CLOSED the second time. */
  read(): AsyncGenerator<AgUiEvent, undefined>
}

export function createRunBuffer({ capacity, onAbandoned }: RunBufferOptions): RunBuffer {
  const queue = createQueue<AgUiEvent>({ capacity })
  const reader = queue[Symbol.asyncIterator]()
  let kept = 0
  let isRead = false
  let isDone = false
  let hasDropped = false
  let wake: () => void = () => undefined
  const readOrAwaited = new Promise<void>((resolve) => (wake = resolve))

  async function* events(): AsyncGenerator<AgUiEvent, undefined> {
    for (;;) {
      const step = await reader.next()
      if (step.done === true) break
      yield step.value
    }
    isDone = true
    if (hasDropped)
      throw new MillraceError('RUN_CLOSED', 'Events were dropped: read the run before its result.')
    return undefined
  }

  async function pushLater(event: AgUiEvent): Promise<void> {
    if (!isRead) await readOrAwaited
    // A reader may have come, or only a caller that awaits the result.
    hasDropped = !isRead
    if (!hasDropped) await queue.push(event)
  }

  return {
    push(event) {
      if (hasDropped) return undefined
      if ((isRead || kept < capacity) && queue.offer(event)) {
        kept++
        return undefined
      }
      return pushLater(event)
    },
    close: () => {
      queue.close()
    },
    wantResult: () => {
      wake()
    },
    read() {
      if (isRead) throw new MillraceError('RUN_CLOSED', 'A run can be read once.')
      isRead = true
      wake()
      return withStop(events(), async () => {
        if (isDone) return
        onAbandoned()
        await reader.return()
      })
    },
  }
}
