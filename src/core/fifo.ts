interface Link<T> {
  readonly value: T
  next?: Link<T>
}

/** A first-in, first-out line in which every step takes the same time, however long the line. */
export interface Fifo<T> {
  readonly size: number
  push(value: T): void
  /** Takes the oldest value, in a box, since the value itself may be `undefined`; no box when the line is empty. */
  shift(): { readonly value: T } | undefined
}

/** Makes an empty line. */
export function createFifo<T>(): Fifo<T> {
  let head: Link<T> | undefined
  let tail: Link<T> | undefined
  let size = 0
  return {
    get size() {
      return size
    },
    push(value) {
      const link: Link<T> = { value }
      if (tail === undefined) head = link
      else tail.next = link
      tail = link
      size += 1
    },
    shift() {
      const link = head
      if (link === undefined) return undefined
      head = link.next
      if (head === undefined) tail = undefined
      size -= 1
      return link
    },
  }
}
