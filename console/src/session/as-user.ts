import { useSyncExternalStore } from 'react'

const key = 'millrace.as-user'
const listeners = new Set<() => void>()

/** The user whose data an operator looks at, in this tab. Undefined: their own. */
export const asUser = {
  get: (): string | undefined => sessionStorage.getItem(key) ?? undefined,
  set(user: string | undefined): void {
    if (user === undefined) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, user)
    for (const listener of listeners) listener()
  },
  use: (): string | undefined => useSyncExternalStore(subscribe, asUser.get),
}

/** The header that says so. It holds text of any language. */
export function asUserHeader(user: string | undefined): Readonly<Record<string, string>> {
  return user === undefined ? {} : { 'millrace-as-user': encodeURIComponent(user) }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
