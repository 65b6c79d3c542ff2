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
