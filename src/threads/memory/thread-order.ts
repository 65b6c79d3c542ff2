import { ownerText, threadKeyText } from '../thread-key.js'
import type { Owner, Page, Thread } from '../contract.js'
import { fromCursor, toCursor, type PageEnd } from '../thread-list.js'

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
      const owner = ownerText(thread.key)
      const own = owners.get(owner) ?? createSorted(compareInOwner)
      own.add(place)
      owners.set(owner, own)
    },
    remove(thread) {
      const place = placeOf(thread)
      all.remove(place)
      const owner = ownerText(thread.key)
      const own = owners.get(owner)
      own?.remove(place)
      if (own?.size === 0) owners.delete(owner)
    },
    page(owner, { limit, cursor }) {
      const from = cursor === undefined ? undefined : { ...fromCursor(cursor), text: '' }
      const own = owners.get(ownerText(owner))
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
  return { updatedAt, thread: key.thread, text: threadKeyText(key) }
}

/** The other way round by id, since pages are read from the end. */
function compareInOwner(a: Place, b: Place): number {
  return a.updatedAt - b.updatedAt || compareText(b.thread, a.thread)
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Values in order. No two of them may compare as equal. */
export interface Sorted<T> {
  readonly size: number
  /** Quick for a value that belongs at the end. */
  add(value: T): void
  /** Removes what compares as equal; does nothing when there is no such value. */
  remove(value: T): void
  /** From the first on. */
  values(): Iterable<T>
  /** From the last on that stands before this one, which need not be there. From the very last without one. */
  backFrom(value?: T): Iterable<T>
}

/** Makes an empty collection. `compare` is as for `sort`. */
export function createSorted<T>(compare: (a: T, b: T) => number): Sorted<T> {
  // Taking a value out of the middle moves all behind it. So it is marked as gone, until half of them are.
  let slots: Slot<T>[] = []
  let gone = 0

  const isBefore = (index: number, value: T): boolean => {
    const other = slots[index]
    return other !== undefined && compare(other.value, value) < 0
  }
  const before = (value: T): number => {
    // Most that come, and most that are looked for, are the latest.
    if (isBefore(slots.length - 1, value)) return slots.length
    let low = 0
    let high = slots.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(middle, value)) low = middle + 1
      else high = middle
    }
    return low
  }
  const slotOf = (value: T, index: number): Slot<T> | undefined => {
    const slot = slots[index]
    return slot !== undefined && compare(slot.value, value) === 0 ? slot : undefined
  }

  return {
    get size() {
      return slots.length - gone
    },
    add(value) {
      const index = before(value)
      const slot = slotOf(value, index)
      if (!slot) return void slots.splice(index, 0, { value, isGone: false })
      if (slot.isGone) gone--
      Object.assign(slot, { value, isGone: false })
    },
    remove(value) {
      const slot = slotOf(value, before(value))
      if (!slot || slot.isGone) return
      slot.isGone = true
      gone++
      if (gone * 2 <= slots.length) return
      slots = slots.filter(({ isGone }) => !isGone)
      gone = 0
    },
    *values() {
      for (const { value, isGone } of slots) if (!isGone) yield value
    },
    *backFrom(value) {
      for (let index = (value === undefined ? slots.length : before(value)) - 1; index >= 0; index--) {
        const slot = slots[index]
        if (slot && !slot.isGone) yield slot.value
      }
    },
  }
}

interface Slot<T> {
  value: T
  isGone: boolean
}
