import { expect, it, vi } from 'vitest'
import { EventQueue } from './event-queue.js'

const done = { done: true, value: undefined }

async function all<T>(queue: EventQueue<T>): Promise<T[]> {
  const read: T[] = []
  for await (const event of { [Symbol.asyncIterator]: () => queue }) read.push(event)
  return read
}

/** Lets all that can go on go on. */
const idle = () => new Promise((resolve) => setImmediate(resolve))

it('gives all events in order, and then ends as it was ended', async () => {
  const queue = new EventQueue<number>({ capacity: 8 })
  for (const event of [1, 2, 3]) void queue.put(event)
  queue.close()
  void queue.put(4)
  queue.fail(new Error('too late'))
  expect(await all(queue)).toEqual([1, 2, 3])
  expect(await queue.next()).toEqual(done)

  const failing = new EventQueue<number>({ capacity: 8 })
  void failing.put(1)
  failing.fail(new Error('torn'))
  expect((await failing.next()).value).toBe(1)
  await expect(failing.next()).rejects.toThrow('torn')
})

it('gives an event to a reader that waits, and the end too', async () => {
  const queue = new EventQueue<number>({ capacity: 0 })
  const reads = [queue.next(), queue.next(), queue.next()]
  expect(queue.put(1)).toBeUndefined()
  expect(queue.put(2)).toBeUndefined()
  queue.close()
  expect(await Promise.all(reads)).toEqual([{ done: false, value: 1 }, { done: false, value: 2 }, done])
})

it('makes the producer wait from its capacity on, until half of it is left', async () => {
  const queue = new EventQueue<number>({ capacity: 4 })
  for (const event of [1, 2, 3, 4]) expect(queue.put(event)).toBeUndefined()
  expect(queue.waitForSpace()).toBeUndefined()
  let goesOn = 0
  void queue.put(5)?.then(() => goesOn++)
  void queue.waitForSpace()?.then(() => goesOn++)
  for (const _ of [1, 2]) await queue.next()
  await idle()
  expect(goesOn).toBe(0)
  await queue.next()
  await idle()
  expect(goesOn).toBe(2)
  expect(queue.waitForSpace()).toBeUndefined()
})

it('fails when a producer that does not wait puts more than the limit', async () => {
  const queue = new EventQueue<number>({ capacity: 1, limit: 2 })
  for (const event of [1, 2, 3, 4]) void queue.put(event)
  expect([await queue.next(), await queue.next()]).toMatchObject([{ value: 1 }, { value: 2 }])
  await expect(queue.next()).rejects.toThrow('More than 2 events of the agent wait to be read.')
})

it('drops what is unread when it is told to, and lets the producer go on', async () => {
  const queue = new EventQueue<number>({ capacity: 1 })
  for (const event of [1, 2, 3]) void queue.put(event)
  await queue.next()
  const space = queue.waitForSpace()
  expect(space).toBeInstanceOf(Promise)
  queue.drop()
  await space
  expect(queue.put(4)).toBeUndefined()
  expect(queue.waitForSpace()).toBeUndefined()
  expect(await queue.next()).toEqual(done)
})

it('asks how to end each time, and gives what that throws', async () => {
  const onEnd = vi.fn(() => Promise.reject(new Error('aborted')))
  const queue = new EventQueue<number>({ capacity: 1, onEnd })
  const read = queue.next()
  queue.drop()
  await expect(read).rejects.toThrow('aborted')
  await expect(queue.next()).rejects.toThrow('aborted')
  expect(onEnd).toHaveBeenCalledTimes(2)
})

it('tells a producer when the reader is done with what was put so far', async () => {
  const queue = new EventQueue<number>({ capacity: 8 })
  const told: string[] = []
  void queue.put(1)
  void queue.put(2)
  void queue.whenRead().then(() => told.push('both'))
  await queue.next()
  await queue.next()
  await idle()
  expect(told).toEqual([])
  // It asks for the next, so it is done with the second.
  const next = queue.next()
  await idle()
  expect(told).toEqual(['both'])
  void queue.whenRead().then(() => told.push('a reader that waits'))
  await idle()
  expect(told).toEqual(['both', 'a reader that waits'])
  void queue.put(3)
  void queue.whenRead().then(() => told.push('the end'))
  expect(await next).toEqual({ done: false, value: 3 })
  await idle()
  expect(told).toHaveLength(2)
  queue.close()
  await idle()
  expect(told.at(-1)).toBe('the end')
})
