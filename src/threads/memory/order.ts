import { textOfKey } from '../key-text.js'
import type { Page } from '../store.js'
import type { Owner, Thread } from '../thread.js'
import { fromCursor, toCursor, type PageEnd } from '../cursor.js'
import { textOfOwner } from './keys.js'
import { createSorted, type Sorted } from './sorted.js'

/** The threads by the time of their last change, for each owner and for all together. Knows them by `textOfKey`. */
export interface ThreadOrder {
  add(thread: Thread): void
  remove(thread: Thread): void
  /** A page of an owner's threads, those changed last first. */
  page(owner: Owner, page: Page): { readonly keys: string[]; readonly cursor?: string }
  /** At most `limit` threads that were changed before a time, the oldest first. */
  idle(before: number, limit: number): string[]
}

interface Place extends PageEnd {
  readonly text: string
}

/** Makes an empty order. */
export function createThreadOrder(): ThreadOrder {
  const owners = new Map<string, Sorted<Place>>()
  const all = createSorted<Place>((a, b) => a.updatedAt - b.updatedAt || compareText(a.text, b.text))

  return {
    add(thread) {
      const place = placeOf(thread)
      all.add(place)
      const owner = textOfOwner(thread.key)
      const own = owners.get(owner) ?? createSorted(compareInOwner)
      own.add(place)
      owners.set(owner, own)
    },
    remove(thread) {
      const place = placeOf(thread)
      all.remove(place)
      const owner = textOfOwner(thread.key)
      const own = owners.get(owner)
      own?.remove(place)
      if (own?.size === 0) owners.delete(owner)
    },
    page(owner, { limit, cursor }) {
      const from = cursor === undefined ? undefined : { ...fromCursor(cursor), text: '' }
      const own = owners.get(textOfOwner(owner))
      return own === undefined ? { keys: [] } : pageOf(own.backFrom(from), limit)
    },
    idle(before, limit) {
      const keys: string[] = []
      for (const { updatedAt, text } of all.values()) {
        if (updatedAt >= before || keys.length >= limit) break
        keys.push(text)
      }
      return keys
    },
  }
}

/** The latest stand last, where they come and go most quickly, and are given first. */
function pageOf(places: Iterable<Place>, limit: number): { keys: string[]; cursor?: string } {
  const keys: string[] = []
  let last: Place | undefined
  for (const place of places) {
    if (last !== undefined && keys.length >= limit) return { keys, cursor: toCursor(last) }
    keys.push(place.text)
    last = place
  }
  return { keys }
}

function placeOf({ key, updatedAt }: Thread): Place {
  return { updatedAt, thread: key.thread, text: textOfKey(key) }
}

/** The other way round by id, since pages are read from the end. */
function compareInOwner(a: Place, b: Place): number {
  return a.updatedAt - b.updatedAt || compareText(b.thread, a.thread)
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
