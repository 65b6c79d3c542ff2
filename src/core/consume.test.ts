import { expect, it } from 'vitest'
import { manualClock } from './clock.js'
import { consume } from './consume.js'

function rig() {
  const clock = manualClock()
  const controller = new AbortController()
  const strays: unknown[] = []
  const options = {
    signal: controller.signal,
    clock,
    graceMs: 100,
    onStrayError: (e: unknown) => strays.push(e),
  }
  return { clock, controller, strays, options }
}

async function* words(...all: string[]): AsyncGenerator<string, number> {
  for (const word of all) yield await Promise.resolve(word)
  return all.length
}

it('takes all items in order and gives what the source returns', async () => {
  const taken: string[] = []
  const end = await consume(words('a', 'b', 'c'), (word) => void taken.push(word), rig().options)
  expect([taken, end]).toEqual([['a', 'b', 'c'], 3])
})

it('waits between items when it is told to', async () => {
  const order: string[] = []
  const take = async (word: string): Promise<void> => {
    order.push(`${word} begins`)
    await Promise.resolve()
    order.push(`${word} ends`)
  }
  await consume(words('a', 'b'), take, rig().options)
  expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends'])
})

it('rejects with the reason at once when the source never settles, after the grace time', async () => {
  const { clock, controller, options } = rig()
  const never: AsyncIterator<string, number> = {
    next: () => new Promise(() => undefined),
    return: () => new Promise(() => undefined),
  }
  const consumed = consume(never, () => undefined, options)
  const seen = consumed.catch((error: unknown) => error)
  controller.abort('enough')
  await clock.advance(100)
  expect(await seen).toBe('enough')
  expect(clock.pending).toBe(0)
})

it('lets a source that is stopped clean up before it rejects, and takes nothing more', async () => {
  const { controller, options } = rig()
  const taken: string[] = []
  let isClean = false
  async function* endless(): AsyncGenerator<string, number> {
    try {
      for (;;) yield await Promise.resolve('x')
    } finally {
      await Promise.resolve()
      isClean = true
    }
  }
  const consumed = consume(
    endless(),
    (word) => {
      taken.push(word)
      if (taken.length === 3) controller.abort('enough')
      return undefined
    },
    options,
  )
  await expect(consumed).rejects.toBe('enough')
  expect([taken.length, isClean]).toEqual([3, true])
})

it.each([
  ['says nothing', () => undefined],
  ['waits for promises alone', () => Promise.resolve()],
])('lets timers have their turn while a source never waits and its taker %s', async (_name, take) => {
  const { controller, options } = rig()
  async function* endless(): AsyncGenerator<string, number> {
    for (;;) yield await Promise.resolve('x')
  }
  setTimeout(() => controller.abort('enough'), 20)
  let count = 0
  const consumed = consume(
    endless(),
    () => {
      // The loop would never end otherwise.
      if (++count > 5_000_000) throw new Error('No timer has had its turn.')
      return take()
    },
    options,
  )
  await expect(consumed).rejects.toBe('enough')
})

it('never starts a source when it is too late', async () => {
  const { controller, options } = rig()
  controller.abort('before')
  let isStarted = false
  const source: AsyncIterator<string, number> = {
    next: () => {
      isStarted = true
      return Promise.resolve({ done: true, value: 0 })
    },
  }
  await expect(consume(source, () => undefined, options)).rejects.toBe('before')
  expect(isStarted).toBe(false)
})

it('closes the source when an item cannot be taken', async () => {
  let isClosed = false
  async function* source(): AsyncGenerator<string, number> {
    try {
      yield await Promise.resolve('a')
      return 1
    } finally {
      isClosed = true
    }
  }
  const take = (): undefined => {
    throw new Error('no')
  }
  await expect(consume(source(), take, rig().options)).rejects.toThrow('no')
  expect(isClosed).toBe(true)
})

it('passes an error of the source on, and reports one that comes after it was stopped', async () => {
  const failing = async function* (): AsyncGenerator<string, number> {
    yield await Promise.resolve('a')
    throw new Error('broken')
  }
  await expect(consume(failing(), () => undefined, rig().options)).rejects.toThrow('broken')

  const { controller, options, strays } = rig()
  const late: AsyncIterator<string, number> = {
    next: () => {
      controller.abort('enough')
      return Promise.reject(new Error('late'))
    },
  }
  await expect(consume(late, () => undefined, options)).rejects.toBe('enough')
  expect(strays).toEqual([new Error('late')])
})

it('leaves no listener behind', async () => {
  const { options } = rig()
  const listeners = { add: 0, remove: 0 }
  const signal = new Proxy(options.signal, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name === 'addEventListener') listeners.add++
      if (name === 'removeEventListener') listeners.remove++
      return value.bind(target) as unknown
    },
  })
  await consume(words('a'), () => undefined, { ...options, signal })
  expect(listeners).toEqual({ add: 1, remove: 1 })
})
