import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { manualClock } from './clock.js'
import { createFifo, createQueue, type Queue } from './queue.js'

/** Lets every promise reaction that is ready run. */
const settle = () => manualClock().advance(0)

async function readAll<T>(queue: Queue<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of queue) items.push(item)
  return items
}

describe('push', () => {
  test('takes items while there is room and makes the next one wait', async () => {
    const queue = createQueue<string>({ capacity: 2 })
    const pushed = [vi.fn(), vi.fn(), vi.fn()]
    for (const [index, done] of pushed.entries()) void queue.push(`item ${index}`).then(done)
    await settle()
    expect(pushed.map((done) => done.mock.calls)).toEqual([[[true]], [[true]], []])
    const reader = queue[Symbol.asyncIterator]()
    expect(await reader.next()).toEqual({ done: false, value: 'item 0' })
    expect(pushed[2]).toHaveBeenCalledWith(true)
  })

  test('waits for its own item to be taken when the capacity is 0', async () => {
    const queue = createQueue<string>({ capacity: 0 })
    const done = vi.fn()
    void queue.push('a').then(done)
    await settle()
    expect(done).not.toHaveBeenCalled()
    expect(await queue[Symbol.asyncIterator]().next()).toEqual({ done: false, value: 'a' })
    expect(done).toHaveBeenCalledWith(true)
  })

  test('wakes a consumer that waits', async () => {
    const queue = createQueue<string | undefined>({ capacity: 1 })
    const pending = queue[Symbol.asyncIterator]().next()
    await settle()
    expect(await queue.push(undefined)).toBe(true)
    expect(await pending).toEqual({ done: false, value: undefined })
  })

  test('is refused once the queue is closed', async () => {
    const queue = createQueue<string>({ capacity: 1 })
    queue.close()
    expect(await queue.push('late')).toBe(false)
    expect(await readAll(queue)).toEqual([])
  })
})

describe('offer', () => {
  test('takes an item while there is room, and leaves the queue alone when there is none', async () => {
    const queue = createQueue<number>({ capacity: 2 })
    expect([1, 2, 3].map((item) => queue.offer(item))).toEqual([true, true, false])
    queue.close()
    expect(queue.offer(4)).toBe(false)
    const read: number[] = []
    for await (const item of queue) read.push(item)
    expect(read).toEqual([1, 2])
  })

  test('wakes a consumer that waits', async () => {
    const queue = createQueue<number>({ capacity: 1 })
    const next = queue[Symbol.asyncIterator]().next()
    expect(queue.offer(7)).toBe(true)
    expect(await next).toEqual({ done: false, value: 7 })
  })
})

describe('the end', () => {
  test('comes after all items, also those that still waited for room at the close', async () => {
    const queue = createQueue<number>({ capacity: 1 })
    const pushed = [queue.push(1), queue.push(2), queue.push(3)]
    queue.close()
    expect(await readAll(queue)).toEqual([1, 2, 3])
    expect(await Promise.all(pushed)).toEqual([true, true, true])
  })

  test('is an error, after all items, when the queue failed', async () => {
    const queue = createQueue<number>({ capacity: 1 })
    void queue.push(1)
    void queue.push(2)
    expect(queue.fail(new Error('producer failed'))).toBe(true)
    const reader = queue[Symbol.asyncIterator]()
    expect(await reader.next()).toEqual({ done: false, value: 1 })
    expect(await reader.next()).toEqual({ done: false, value: 2 })
    await expect(reader.next()).rejects.toThrow('producer failed')
    expect(await reader.next()).toEqual({ done: true, value: undefined })
  })

  test('may be the error undefined', async () => {
    const queue = createQueue<number>({ capacity: 1 })
    queue.fail(undefined)
    await expect(readAll(queue)).rejects.toBeUndefined()
  })

  test('wakes a consumer that waits', async () => {
    const closed = createQueue<number>({ capacity: 1 })
    const failed = createQueue<number>({ capacity: 1 })
    const readers = [readAll(closed), readAll(failed)]
    await settle()
    closed.close()
    failed.fail(new Error('producer failed'))
    expect(await Promise.allSettled(readers)).toMatchObject([
      { status: 'fulfilled', value: [] },
      { status: 'rejected', reason: { message: 'producer failed' } },
    ])
  })

  test('is decided once, and whoever fails too late is told so', async () => {
    const queue = createQueue<number>({ capacity: 1 })
    queue.close()
    queue.close()
    expect(queue.fail(new Error('too late'))).toBe(false)
    expect(await readAll(queue)).toEqual([])
  })
})

describe('a consumer that leaves', () => {
  test('releases the producers that wait and refuses the later ones', async () => {
    const queue = createQueue<number>({ capacity: 1 })
    const pushed = [queue.push(1), queue.push(2), queue.push(3), queue.push(4)]
    for await (const _item of queue) break
    expect(await Promise.all(pushed)).toEqual([true, true, false, false])
    expect(await queue.push(5)).toBe(false)
    expect(queue.fail(new Error('nobody listens'))).toBe(false)
    expect(await readAll(queue)).toEqual([])
  })

  test('releases the producers also when it never read an item', async () => {
    const queue = createQueue<number>({ capacity: 0 })
    const pushed = queue.push(1)
    await queue[Symbol.asyncIterator]().return()
    expect(await pushed).toBe(false)
  })

  test('need not wait for the next item', async () => {
    const reader = createQueue<number>({ capacity: 1 })[Symbol.asyncIterator]()
    const pending = reader.next()
    expect(await reader.return()).toEqual({ done: true, value: undefined })
    expect(await pending).toEqual({ done: true, value: undefined })
  })
})

test('keeps the order of the calls, loses nothing and never holds more than its capacity', async () => {
  const script = fc.array(fc.constantFrom('push', 'read'), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(fc.nat(4), script, async (capacity, steps) => {
      const queue = createQueue<number>({ capacity })
      const reader = queue[Symbol.asyncIterator]()
      const reads: Promise<unknown>[] = []
      let pushed = 0
      let taken = 0
      for (const step of steps) {
        if (step === 'read') reads.push(reader.next())
        else void queue.push(pushed++).then((ok) => (taken += ok ? 1 : 0))
        for (let turn = 0; turn < 10; turn++) await Promise.resolve()
        expect(taken).toBe(Math.min(pushed, reads.length + capacity))
      }
      queue.close()
      const read = await Promise.all(reads)
      const rest = await readAll(queue)
      const values = Array.from({ length: pushed }, (_, value) => value)
      const delivered = values.slice(0, reads.length).map((value) => ({ done: false, value }))
      expect(read.slice(0, pushed)).toEqual(delivered)
      expect(rest).toEqual(values.slice(reads.length))
      expect(taken).toBe(pushed)
    }),
  )
})

describe('a fifo', () => {
  test('behaves like an array that is pushed to and shifted from', () => {
    const command = fc.oneof(
      fc.record({ push: fc.option(fc.nat(), { nil: undefined }) }),
      fc.constant('shift' as const),
    )
    fc.assert(
      fc.property(fc.array(command), (commands) => {
        const fifo = createFifo<number | undefined>()
        const model: (number | undefined)[] = []
        for (const step of commands) {
          if (step !== 'shift') {
            fifo.push(step.push)
            model.push(step.push)
          } else {
            const isEmpty = model.length === 0
            const taken = fifo.shift()
            if (isEmpty) expect(taken).toBeUndefined()
            else expect(taken).toHaveProperty('value', model.shift())
          }
          expect(fifo.size).toBe(model.length)
        }
      }),
    )
  })
})
