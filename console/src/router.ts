import { useSyncExternalStore } from 'react'

/** Where the page is. Kept in the hash, so every place can be linked to and the server has one file to serve. */
export type Route =
  | { readonly page: 'chat'; readonly agent?: string; readonly threadId?: string }
  | { readonly page: 'runs' }
  | { readonly page: 'agents'; readonly agent?: string }
  | { readonly page: 'inspect'; readonly source: string; readonly event?: number; readonly beside?: string }

/** The address of a place, for links. */
export function hrefOf(route: Route): string {
  switch (route.page) {
    case 'chat':
      return path('chat', route.agent, route.threadId)
    case 'runs':
      return path('runs')
    case 'agents':
      return path('agents', route.agent)
    case 'inspect': {
      const query = new URLSearchParams()
      if (route.source !== '') query.set('source', route.source)
      if (route.event !== undefined) query.set('event', String(route.event))
      if (route.beside !== undefined) query.set('beside', route.beside)
      return `${path('inspect')}${query.size > 0 ? `?${query.toString()}` : ''}`
    }
  }
}

/** Goes to a place. `replace` leaves no entry in the history. */
export function go(route: Route, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, '', hrefOf(route))
    window.dispatchEvent(new HashChangeEvent('hashchange'))
  } else location.hash = hrefOf(route)
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash)
  return parseHash(hash)
}

function parseHash(hash: string): Route {
  const [address = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [page, ...rest] = address.split('/').map(decode)
  const query = new URLSearchParams(search)
  switch (page) {
    case 'runs':
      return { page }
    case 'agents':
      return { page, ...(rest[0] ? { agent: rest[0] } : {}) }
    case 'inspect': {
      const event = Number.parseInt(query.get('event') ?? '', 10)
      const beside = query.get('beside')
      return {
        ...{ page, source: query.get('source') ?? '' },
        ...(Number.isNaN(event) ? {} : { event }),
        ...(beside === null ? {} : { beside }),
      }
    }
    default: {
      const [agent, threadId] = rest
      return { page: 'chat', ...(agent ? { agent } : {}), ...(threadId ? { threadId } : {}) }
    }
  }
}

function path(...parts: readonly (string | undefined)[]): string {
  return `#/${parts.flatMap((part) => (part === undefined ? [] : [encodeURIComponent(part)])).join('/')}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('hashchange', listener)
  return () => window.removeEventListener('hashchange', listener)
}
