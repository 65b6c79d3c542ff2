import { useSyncExternalStore } from 'react'

const listeners = new Set<() => void>()
let version = 0

/** Tells the other tabs of this browser. */
const tabs = new BroadcastChannel('millrace.threads')
tabs.onmessage = () => changed()

/** Somebody else may have changed them while the page was not looked at. */
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) changed()
})

/** Says that the list of threads is out of date: a run has ended, a thread has a new name. */
export const threadsChanged = {
  notify(): void {
    tabs.postMessage('changed')
    changed()
  },
  /** Another number after each change. */
  use: (): number => useSyncExternalStore(subscribe, () => version),
}

function changed(): void {
  version++
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
