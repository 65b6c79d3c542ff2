import { useSyncExternalStore } from 'react'

const query = window.matchMedia('(max-width: 820px)')

/** Whether the page has room for one pane only. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => query.matches)
}

function subscribe(listener: () => void): () => void {
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}
