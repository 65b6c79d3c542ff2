import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let version = 0

/** Says that the list of threads is out of date: a run has ended, a thread has a new name. */
export const threadsChanged = {
  notify(): void {
    version++
    for (const listener of listeners) listener()
  },
  /** Another number after each change. */
  use: (): number => useSyncExternalStore(subscribe, () => version),
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
