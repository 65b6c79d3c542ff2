import { toJsonSafe } from './json-safe.js'

export interface VisibleState {
  /** A value as JSON can carry it; what cannot be is left out, and reported once for each place. */
  readonly safe: (value: unknown, what: string) => unknown
  /** What clients may see of a graph's state. Undefined when it is no state. */
  of(values: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined
}

export function createVisibleState(
  isPrivate: (key: string) => boolean,
  report: (problem: string) => void,
): VisibleState {
  const told = new Set<string>()
  const leftOut = (path: string, what: string): void => {
    // Entries of a list are alike: one stands for all.
    const place = path.replaceAll(/\[\d+\]/g, '[]')
    if (told.has(place)) return
    told.add(place)
    report(`${path} is ${what}, not JSON; it was left out`)
  }
  const safe = (value: unknown, what: string): unknown => toJsonSafe(value, what, leftOut)

  return {
    safe,
    of(values) {
      // Questions also come where states come, in the place of one.
      if ('__interrupt__' in values && Object.keys(values).length === 1) return undefined
      const shown = Object.entries(values).filter(([key]) => !isHidden(key) && !isPrivate(key))
      return safe(Object.fromEntries(shown), 'state') as Record<string, unknown>
    },
  }
}

/** Messages are no part of the state that clients share. Names like `__interrupt__` are LangGraph's own. */
function isHidden(key: string): boolean {
  return key === 'messages' || key.startsWith('__')
}
