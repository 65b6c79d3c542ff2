import { threadKeyText } from '../../threads/thread-key.js'
import type { ThreadKey } from '../../threads/contract.js'

/** The threads on which this server is ending lost runs, so that others who come meanwhile wait for it. */
export interface Recoveries {
  /** Does the work, which holds the thread until it is done. */
  during<T>(key: ThreadKey, work: () => Promise<T>): Promise<T>
  /** Resolves when the work on a thread is done, well or not. Undefined when there is none. */
  over(key: ThreadKey): Promise<void> | undefined
}

export function createRecoveries(): Recoveries {
  const current = new Map<string, Promise<void>>()
  return {
    async during(key, work) {
      const name = threadKeyText(key)
      const result = work()
      const over = result.then(nothing, nothing)
      current.set(name, over)
      try {
        return await result
      } finally {
        if (current.get(name) === over) current.delete(name)
      }
    },
    over: (key) => current.get(threadKeyText(key)),
  }
}

function nothing(): void {
  // Who waits looks for itself.
}
