import { isAbortError, linkAbort } from './abort.js'
import { closeAll, withStop, type ClosingOptions } from './abortable.js'
import { createFifo } from './queue.js'

/** Starts one stream of a merge. The signal aborts when the merge ends before the lane does. */
export type MergedLane<T, R> = (signal: AbortSignal) => AsyncGenerator<T, R>

/** An item of a merge and the lane it came from, as an index into the lanes. */
export interface MergedItem<T> {
  readonly lane: number
  readonly value: T
}

export interface MergeOptions extends ClosingOptions {
  readonly signal?: AbortSignal
}

/**
 * Runs lanes side by side and yields their items in the order in which they settle. It reads the next item of a lane
 * only when the last one was delivered and the consumer wants more, so no lane runs ahead of a slow consumer or
 * crowds out the others. Returns the lanes' return values, in the order of the lanes.
 *
 * When a lane throws, `signal` aborts or the consumer leaves, all lanes are aborted, then closed; their `finally`
 * blocks have the grace time, then the merge continues without them. The consumer gets the lane's error or the signal's
 * reason as it is; the errors of other lanes go to `onStrayError`. A `next()` that is pending when the consumer calls
 * `return()` or `throw()` rejects with an `AbortError`.
 */
export function merge<T, R>(
  lanes: readonly MergedLane<T, R>[],
  options: MergeOptions,
): AsyncGenerator<MergedItem<T>, R[]> {
  const stop = new AbortController()
  const onStrayError = (error: unknown) => {
    if (!isAbortError(error, stop.signal)) options.onStrayError(error)
  }
  return withStop(readLanes(lanes, stop, { ...options, onStrayError }), () => {
    stop.abort()
  })
}

interface RunningLane<T, R> {
  readonly index: number
  readonly source: AsyncGenerator<T, R>
  /** One for each lane, since Node warns of a leak when more than ten lanes listen to one signal. */
  readonly controller: AbortController
}

async function* readLanes<T, R>(
  lanes: readonly MergedLane<T, R>[],
  stop: AbortController,
  options: MergeOptions,
): AsyncGenerator<MergedItem<T>, R[]> {
  const { signal } = stop
  const running = new Set<RunningLane<T, R>>()
  const steps = createSteps<T, R>(signal)
  const returned: R[] = []
  const abortLanes = () => {
    for (const { controller } of running) controller.abort(signal.reason)
  }
  signal.addEventListener('abort', abortLanes)
  const release = linkAbort(options.signal, stop)
  try {
    for (const [index, start] of lanes.entries()) {
      signal.throwIfAborted()
      const controller = new AbortController()
      const lane = { index, source: start(controller.signal), controller }
      running.add(lane)
      steps.begin(lane)
    }
    while (running.size > 0) {
      const { lane, result } = await steps.next()
      const item = await result
      if (item.done === true) {
        returned[lane.index] = item.value
        running.delete(lane)
      } else {
        yield { lane: lane.index, value: item.value }
        signal.throwIfAborted()
        steps.begin(lane)
      }
    }
    return returned
  } finally {
    release()
    stop.abort()
    // Again, for a lane that was not in the set yet because the abort came while it started.
    abortLanes()
    for (const result of steps.unread) result.catch(options.onStrayError)
    await closeAll(
      Array.from(running, ({ source }) => source),
      options,
    )
  }
}

interface Step<T, R> {
  readonly lane: RunningLane<T, R>
  readonly result: Promise<IteratorResult<T, R>>
}

/** Reads items of lanes and returns them in the order in which they settle. */
function createSteps<T, R>(signal: AbortSignal) {
  const unread = new Set<Step<T, R>['result']>()
  const settled = createFifo<Step<T, R>>()
  let wake: (() => void) | undefined
  signal.addEventListener('abort', () => wake?.())

  return {
    /** Requested results that are not returned yet, settled or not. */
    unread,
    begin(lane: RunningLane<T, R>) {
      const result = lane.source.next()
      const settle = () => {
        settled.push({ lane, result })
        wake?.()
      }
      unread.add(result)
      result.then(settle, settle)
    },
    /** Waits for the next step that has settled. Throws the signal's reason when that comes first. */
    async next(): Promise<Step<T, R>> {
      for (;;) {
        signal.throwIfAborted()
        const step = settled.shift()?.value
        if (step !== undefined) {
          unread.delete(step.result)
          return step
        }
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
