import { threadKeyText } from '../../threads/thread-key.js'
import type { ThreadKey } from '../../threads/contract.js'

/** What a request is about that may still become a run. */
interface Opening {
  readonly key: ThreadKey
  readonly runId: string
  /** Stops it, and the run that it becomes. */
  readonly controller: AbortController
}

/** The requests that may still become runs: they wait for their thread, or for a hook. */
export interface Openings {
  readonly size: number
  /** What each of them comes to. */
  all(): readonly Promise<unknown>[]
  add(turn: Promise<unknown>, opening: Opening): void
  delete(turn: Promise<unknown>): void
  /** Stops all of them. */
  stop(reason: Error): void
  /**
   * Stops those on a thread, or only the one with this run id. Resolves when they are open or refused, with the id of the
   * first of their runs. Undefined when there is none.
   */
  cancel(key: ThreadKey, runId?: string): Promise<string | undefined>
}

export function createOpenings(): Openings {
  const current = new Map<Promise<unknown>, Opening>()
  return {
    get size() {
      return current.size
    },
    all: () => [...current.keys()],
    add: (turn, opening) => void current.set(turn, opening),
    delete: (turn) => void current.delete(turn),
    stop(reason) {
      for (const { controller } of current.values()) controller.abort(reason)
    },
    async cancel(key, runId) {
      const name = threadKeyText(key)
      const found = [...current].filter(
        ([, opening]) =>
          threadKeyText(opening.key) === name && (runId === undefined || runId === opening.runId),
      )
      for (const [, { controller }] of found) controller.abort()
      await Promise.allSettled(found.map(([turn]) => turn))
      return found[0]?.[1].runId
    },
  }
}
