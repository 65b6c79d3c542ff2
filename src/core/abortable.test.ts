import { getEventListeners } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { delay } from './abort.js'
import { abortable } from './abortable.js'
import { manualClock } from './clock.js'

const reason = new Error('the user pressed stop')
const graceMs = 100

function never(): Promise<never> {
  return new Promise(() => undefined)
}

/** A wrapped source, with everything a test may want to move or look at. */
function setup<T, R>(source: AsyncIterator<T, R>) {
  const stop = new AbortController()
  const clock = manualClock()
  const stray: unknown[] = []
  const stream = abortable(source, {
    signal: stop.signal,
    graceMs,
    clock,
    onStrayError: (error) => stray.push(error),
  })
  const listeners = () => getEventListeners(stop.signal, 'abort').length
  return { stop, clock, stray, stream, listeners }
}

interface SourceOptions {
  readonly items?: readonly string[]
  /** What happens after the last item. */
  readonly end?: () => Promise<string>
  /** What happens in the `finally` block. */
  readonly close?: () => void | Promise<void>
}

async function* createSource({ items = [], end = never, close }: SourceOptions) {
  try {
    yield* items
    return await end()
  } finally {
    await close?.()
  }
}

describe('while nothing goes wrong', () => {
  test('passes items and the returned value on, with one listener from the first item to the end', async () => {
    const { stream, listeners } = setup(
      createSource({ items: ['a', 'b'], end: () => Promise.resolve('end') }),
    )
    expect(listeners()).toBe(0)
    for (const value of ['a', 'b']) {
      expect(await stream.next()).toEqual({ done: false, value })
      expect(listeners()).toBe(1)
    }
    expect(await stream.next()).toEqual({ done: true, value: 'end' })
    expect(listeners()).toBe(0)
  })

  test('passes an error of the source on and leaves no listener', async () => {
    const { stream, listeners, stray } = setup(
      createSource({ end: () => Promise.reject(new Error('model failed')) }),
    )
    await expect(stream.next()).rejects.toThrow('model failed')
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    expect(listeners()).toBe(0)
    expect(stray).toEqual([])
  })
})

describe('when the signal aborts', () => {
  test('rejects a pending next at once with the reason, although the source never settles', async () => {
    const { stream, stop, listeners } = setup(createSource({}))
    const pending = stream.next()
    stop.abort(reason)
    await expect(pending).rejects.toBe(reason)
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    expect(listeners()).toBe(0)
  })

  test('closes the source at once when it comes between two items, and rejects the following next', async () => {
    const close = vi.fn()
    const { stream, stop, clock } = setup(createSource({ items: ['a', 'b'], close }))
    await stream.next()
    stop.abort(reason)
    await clock.advance(0)
    expect(close).toHaveBeenCalledTimes(1)
    await expect(stream.next()).rejects.toBe(reason)
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  test('asks the source for nothing more but closes it, also before the first item', async () => {
    const source = { next: vi.fn(never), return: vi.fn(never) }
    const { stream, stop } = setup(source)
    stop.abort(reason)
    await expect(stream.next()).rejects.toBe(reason)
    expect(source.next).not.toHaveBeenCalled()
    expect(source.return).toHaveBeenCalledTimes(1)
  })

  test('reports an error that the source throws too late', async () => {
    const late = new Error('socket hung up')
    const source = createSource({
      end: async () => {
        await delay(50, { clock })
        throw late
      },
    })
    const { stream, stop, clock, stray } = setup(source)
    const pending = stream.next()
    await clock.advance(0)
    stop.abort(reason)
    await expect(pending).rejects.toBe(reason)
    expect(stray).toEqual([])
    await clock.advance(50)
    expect(stray).toEqual([late])
  })

  test('reports an error that the source throws even after the grace time', async () => {
    const late = new Error('socket hung up')
    const source = createSource({
      items: ['a'],
      close: async () => {
        await delay(graceMs + 1, { clock })
        throw late
      },
    })
    const { stream, stop, clock, stray } = setup(source)
    await stream.next()
    stop.abort(reason)
    await clock.advance(graceMs)
    expect(stray).toEqual([])
    await clock.advance(1)
    expect(stray).toEqual([late])
  })

  test('does not report a source that ends with the abort itself', async () => {
    const source = createSource({ end: () => delay(50, { clock, signal: stop.signal }).then(() => 'end') })
    const { stream, stop, clock, stray } = setup(source)
    const pending = stream.next()
    await clock.advance(0)
    stop.abort(reason)
    await expect(pending).rejects.toBe(reason)
    await clock.advance(50)
    expect(stray).toEqual([])
  })
})

describe('when the consumer leaves', () => {
  test('waits for the source to close', async () => {
    const close = vi.fn()
    const source = createSource({
      items: ['a', 'b'],
      close: async () => {
        await delay(graceMs - 1, { clock })
        close()
      },
    })
    const { stream, clock, listeners } = setup(source)
    const left = (async () => {
      for await (const _item of stream) break
      return close.mock.calls.length
    })()
    await clock.advance(graceMs)
    expect(await left).toBe(1)
    expect(clock.pending).toBe(0)
    expect(listeners()).toBe(0)
  })

  test('goes on after the grace time when the source never closes', async () => {
    const { stream, clock } = setup(createSource({ items: ['a'], close: never }))
    await stream.next()
    const returned = vi.fn()
    void stream.return('left').then(returned)
    await clock.advance(graceMs - 1)
    expect(returned).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(returned).toHaveBeenCalledWith({ done: true, value: 'left' })
  })

  test('does not wait behind a pending next', async () => {
    const { stream, clock, listeners } = setup(createSource({}))
    const pending = stream.next()
    const returned = stream.return('left')
    await expect(pending).rejects.toHaveProperty('name', 'AbortError')
    await clock.advance(graceMs)
    expect(await returned).toEqual({ done: true, value: 'left' })
    expect(listeners()).toBe(0)
  })

  test('closes the source also when it leaves before the first item', async () => {
    const source = {
      next: vi.fn(never),
      return: vi.fn(() => Promise.resolve({ done: true as const, value: 0 })),
    }
    await setup(source).stream.return(0)
    expect(source.return).toHaveBeenCalledTimes(1)
  })

  test('closes the source when it throws, and gives it back its own error', async () => {
    const close = vi.fn()
    const { stream } = setup(createSource({ items: ['a'], close }))
    await stream.next()
    await expect(stream.throw(reason)).rejects.toBe(reason)
    expect(close).toHaveBeenCalledTimes(1)
  })

  test('reports an error of the clean-up, since the consumer waits for no more', async () => {
    const broken = new Error('cannot close')
    const { stream, stray } = setup(createSource({ items: ['a'], close: () => Promise.reject(broken) }))
    await stream.next()
    expect(await stream.return('left')).toEqual({ done: true, value: 'left' })
    expect(stray).toEqual([broken])
  })

  test('accepts a source that cannot be closed', async () => {
    const { stream } = setup<string, string>({ next: () => Promise.resolve({ done: false, value: 'a' }) })
    await stream.next()
    expect(await stream.return('left')).toEqual({ done: true, value: 'left' })
  })
})
