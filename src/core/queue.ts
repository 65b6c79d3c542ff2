import { withStop } from './abortable.js'

export interface QueueOptions {
  /** How many items may wait to be read. With 0 every push waits until its own item is taken. */
  readonly capacity: number
}

/**
 * The bounded queue from any number of producers to one consumer. Nothing is dropped while the consumer stays: a producer
 * waits while the queue is full, and producers wait in order.
 */
export interface Queue<T> {
  /**
   * Resolves with true when the queue has taken the item, with false when it never will: it was closed before, or the
   * consumer left. Items are delivered in the order of the calls. Never rejects.
   */
  push(item: T): Promise<boolean>
  /** Takes the item if the queue is not full, without the cost of a promise. Otherwise returns false and does nothing. */
  offer(item: T): boolean
  /** Ends the stream after all items pushed so far, those of waiting producers included. */
  close(): void
  /** Like `close`, and then throws. False when the consumer cannot get the error: it left, or the end was set. */
  fail(error: unknown): boolean
  /** The consumer's side, the same one at every call. Its `return()` discards unread items and an error. */
  [Symbol.asyncIterator](): AsyncGenerator<T, void>
}

export function createQueue<T>({ capacity }: QueueOptions): Queue<T> {
  // All items pushed and not read. Those beyond the capacity are not taken yet: their producers are in `waiting`.
  const items = createFifo<T>()
  const waiting = createFifo<(taken: boolean) => void>()
  let end: { readonly error?: unknown } | undefined
  let wake: (() => void) | undefined

  function finish(how: { readonly error?: unknown }): boolean {
    if (end !== undefined) return false
    end = how
    wake?.()
    return true
  }

  function leave() {
    finish({})
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) next.value(false)
  }

  function change(): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve
    })
  }

  async function* read(): AsyncGenerator<T, void> {
    for (;;) {
      const item = items.shift()
      waiting.shift()?.value(true)
      if (item !== undefined) yield item.value
      else if (end === undefined) await change()
      else if ('error' in end) throw end.error
      else return
    }
  }

  const consumer = withStop(read(), leave)
  return {
    push(item) {
      if (end !== undefined) return Promise.resolve(false)
      return new Promise((taken) => {
        items.push(item)
        if (items.size <= capacity) taken(true)
        else waiting.push(taken)
        wake?.()
      })
    },
    offer(item) {
      if (end !== undefined || items.size >= capacity) return false
      items.push(item)
      wake?.()
      return true
    },
    close: () => void finish({}),
    fail: (error) => finish({ error }),
    [Symbol.asyncIterator]: () => consumer,
  }
}

interface Link<T> {
  readonly value: T
  next?: Link<T>
}

/** An unbounded first-in, first-out list in which every step takes constant time. */
export interface Fifo<T> {
  readonly size: number
  push(value: T): void
  /** Takes the oldest value, in a box, since the value itself may be `undefined`; no box when the list is empty. */
  shift(): { readonly value: T } | undefined
}

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
