import type { Owner, Page, Thread } from '../contract.js'
import { ownerText, threadKeyText } from '../thread-key.js'
import { fromCursor, toCursor, type PageEnd } from '../thread-list.js'

/** The threads in the order of their last change, for each owner and for all together, by `threadKeyText`. */
export interface ThreadOrder {
  add(thread: Thread): void
  remove(thread: Thread): void
  /** A page of an owner's threads that fit, the latest change first. */
  page(owner: Owner, page: OrderPage): { readonly keys: string[]; readonly cursor?: string }
  /** At most `limit` threads without a change since a time, the oldest first. */
  idle(before: number, limit: number): string[]
}

interface OrderPage extends Page {
  /** Whether the page may have the thread with this `threadKeyText`. Default: all. */
  readonly fits?: (key: string) => boolean
}

interface OrderEntry extends PageEnd {
  readonly key: string
}

export function createThreadOrder(): ThreadOrder {
  const owners = new Map<string, Sorted<OrderEntry>>()
  const all = createSorted<OrderEntry>((a, b) => a.updatedAt - b.updatedAt || compareText(a.key, b.key))

  return {
    add(thread) {
      const entry = toEntry(thread)
      all.add(entry)
      const owner = ownerText(thread.key)
      const own = owners.get(owner) ?? createSorted(compareInOwner)
      own.add(entry)
      owners.set(owner, own)
    },
    remove(thread) {
      const entry = toEntry(thread)
      all.remove(entry)
      const owner = ownerText(thread.key)
      const own = owners.get(owner)
      own?.remove(entry)
      if (own?.size === 0) owners.delete(owner)
    },
    page(owner, { limit, cursor, fits }) {
      const from = cursor === undefined ? undefined : { ...fromCursor(cursor), key: '' }
      const own = owners.get(ownerText(owner))
      return own === undefined ? { keys: [] } : toPage(own.backFrom(from), limit, fits)
    },
    idle(before, limit) {
      const keys: string[] = []
      for (const { updatedAt, key } of all.values()) {
        if (updatedAt >= before || keys.length >= limit) break
        keys.push(key)
      }
      return keys
    },
  }
}

function toPage(
  entries: Iterable<OrderEntry>,
  limit: number,
  fits: OrderPage['fits'] = () => true,
): { keys: string[]; cursor?: string } {
  const keys: string[] = []
  let last: OrderEntry | undefined
  for (const entry of entries) {
    if (!fits(entry.key)) continue
    if (last !== undefined && keys.length >= limit) return { keys, cursor: toCursor(last) }
    keys.push(entry.key)
    last = entry
  }
  return { keys }
}

function toEntry({ key, updatedAt }: Thread): OrderEntry {
  return { updatedAt, thread: key.thread, key: threadKeyText(key) }
}

/** Reversed by id, since pages are read from the end: adding and removing the latest is fastest there. */
function compareInOwner(a: OrderEntry, b: OrderEntry): number {
  return a.updatedAt - b.updatedAt || compareText(b.thread, a.thread)
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Values in order. No two of them may compare as equal. */
interface Sorted<T> {
  readonly size: number
  /** Fast for a value that belongs at the end. */
  add(value: T): void
  /** Removes the value that compares as equal, if any. */
  remove(value: T): void
  values(): Iterable<T>
  /** The values before this one, from the end on. The value need not be there; without one, all values. */
  backFrom(value?: T): Iterable<T>
}

interface Slot<T> {
  value: T
  isRemoved: boolean
}

/** `compare` is as for `sort`. */
export function createSorted<T>(compare: (a: T, b: T) => number): Sorted<T> {
  // Removing from the middle would move all values behind it. So this marks slots, and clears them once half are.
  let slots: Slot<T>[] = []
  let removed = 0

  const isBefore = (index: number, value: T): boolean => {
    const other = slots[index]
    return other !== undefined && compare(other.value, value) < 0
  }
  const indexFor = (value: T): number => {
    // Most added or wanted values are the latest.
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
  const slotAt = (index: number, value: T): Slot<T> | undefined => {
    const slot = slots[index]
    return slot !== undefined && compare(slot.value, value) === 0 ? slot : undefined
  }

  return {
    get size() {
      return slots.length - removed
    },
    add(value) {
      const index = indexFor(value)
      const slot = slotAt(index, value)
      if (!slot) return void slots.splice(index, 0, { value, isRemoved: false })
      if (slot.isRemoved) removed--
      Object.assign(slot, { value, isRemoved: false })
    },
    remove(value) {
      const slot = slotAt(indexFor(value), value)
      if (!slot || slot.isRemoved) return
      slot.isRemoved = true
      removed++
      if (removed * 2 <= slots.length) return
      slots = slots.filter(({ isRemoved }) => !isRemoved)
      removed = 0
    },
    *values() {
      for (const { value, isRemoved } of slots) if (!isRemoved) yield value
    },
    *backFrom(value) {
      for (let index = (value === undefined ? slots.length : indexFor(value)) - 1; index >= 0; index--) {
        const slot = slots[index]
        if (slot && !slot.isRemoved) yield slot.value
      }
    },
  }
}
