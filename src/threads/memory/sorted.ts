/** Values in order. No two of them may compare as equal. */
export interface Sorted<T> {
  readonly size: number
  /** Quick for a value that belongs at the end. */
  add(value: T): void
  /** Removes what compares as equal; does nothing when there is no such value. */
  remove(value: T): void
  at(index: number): T | undefined
  /** How many values stand before this one, which need not be there. */
  before(value: T): number
}

/** Makes an empty collection. `compare` is as for `sort`. */
export function createSorted<T>(compare: (a: T, b: T) => number): Sorted<T> {
  const values: T[] = []

  const isBefore = (index: number, value: T): boolean => {
    const other = values[index]
    return other !== undefined && compare(other, value) < 0
  }
  const before = (value: T): number => {
    // Most that come, and most that are looked for, are the latest.
    if (isBefore(values.length - 1, value)) return values.length
    let low = 0
    let high = values.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(middle, value)) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    get size() {
      return values.length
    },
    add(value) {
      values.splice(before(value), 0, value)
    },
    remove(value) {
      const index = before(value)
      const found = values[index]
      if (found !== undefined && compare(found, value) === 0) values.splice(index, 1)
    },
    at: (index) => values[index],
    before,
  }
}
