import { MillraceError } from '../../core/errors.js'
import { createQueue } from '../../core/queue.js'

/** How much may wait in a line. */
export interface LineOptions {
  readonly signal: AbortSignal
  /** From how many events on who can wait should wait. Default 256. */
  readonly comfortable?: number
  /** How many events of those who cannot wait are kept. With one more the line fails. Default 100,000. */
  readonly limit?: number
}

/**
 * From an Observable, which cannot be told to wait, to one reader. What feeds the Observable may be able to wait: it asks
 * for `room`.
 */
export interface Line {
  readonly put: (event: unknown) => void
  readonly close: () => void
  readonly fail: (error: unknown) => void
  /** A promise to wait for, while the reader is behind. Never rejects; resolves when the reader has left too. */
  readonly room: () => Promise<void> | undefined
  /** Throws the signal's reason as soon as it aborts, and gives nothing that came before then and was not read. */
  readonly events: AsyncGenerator<unknown, void>
}

export function createLine({ signal, comfortable = 256, limit = 100_000 }: LineOptions): Line {
  const queue = createQueue<unknown>({ capacity: limit })
  let waiting = 0
  let isLeft = false
  let full: { readonly promise: Promise<void>; readonly end: () => void } | undefined

  function relax(): void {
    full?.end()
    full = undefined
  }

  function stop(): void {
    queue.close()
    relax()
  }

  async function* read(): AsyncGenerator<unknown, void> {
    signal.throwIfAborted()
    signal.addEventListener('abort', stop)
    try {
      for await (const event of queue) {
        signal.throwIfAborted()
        if (--waiting <= comfortable / 2) relax()
        yield event
      }
      signal.throwIfAborted()
    } finally {
      isLeft = true
      signal.removeEventListener('abort', stop)
      relax()
    }
  }

  return {
    put(event) {
      if (queue.offer(event)) waiting++
      else if (!isLeft && !signal.aborted) queue.fail(tooMany(limit))
    },
    close: () => queue.close(),
    fail: (error) => void queue.fail(error),
    room() {
      if (waiting < comfortable || isLeft || signal.aborted) return undefined
      full ??= promiseWithEnd()
      return full.promise
    },
    events: read(),
  }
}

function promiseWithEnd() {
  let end: () => void = () => undefined
  const promise = new Promise<void>((resolve) => (end = resolve))
  return { promise, end: () => end() }
}

function tooMany(limit: number): MillraceError {
  return new MillraceError('AGENT_ERROR', `More than ${limit} events of the agent wait to be read.`)
}
