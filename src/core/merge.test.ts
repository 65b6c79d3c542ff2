import { getEventListeners } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { delay } from './abort.js'
import { manualClock, type Clock } from './clock.js'
import { merge, type MergedLane } from './merge.js'
import { createQueue } from './queue.js'

const reason = new Error('the user pressed stop')
const graceMs = 100

function never(): Promise<never> {
  return new Promise(() => undefined)
}

/** A merge of lanes, with everything a test may want to move or look at. */
function setup<T, R>(makeLanes: (clock: Clock) => readonly MergedLane<T, R>[]) {
  const clock = manualClock()
  const stop = new AbortController()
  const stray: unknown[] = []
  const onStrayError = (error: unknown) => stray.push(error)
  const stream = merge(makeLanes(clock), { signal: stop.signal, graceMs, clock, onStrayError })
  const listeners = () => getEventListeners(stop.signal, 'abort').length
  return { clock, stop, stray, stream, listeners }
}

interface LaneOptions {
  readonly items?: readonly string[]
  /** What happens after the last item. */
  readonly end?: (signal: AbortSignal) => Promise<string>
  /** What happens in the `finally` block. */
  readonly close?: (signal: AbortSignal) => unknown
}

function lane({ items = [], end = never, close }: LaneOptions): MergedLane<string, string> {
  return async function* (signal) {
    try {
      yield* items
      return await end(signal)
    } finally {
      await close?.(signal)
    }
  }
}

const throws = (error: unknown) => async () => {
  await Promise.resolve()
  throw error
}

describe('while nothing goes wrong', () => {
  test('yields items in the order in which they settle and returns what the lanes returned, in lane order', async () => {
    const feeds = [createQueue<string>({ capacity: 9 }), createQueue<string>({ capacity: 9 })] as const
    const { stream, clock, listeners, stray } = setup(() =>
      feeds.map(
        (feed, index) =>
          async function* () {
            yield* feed
            return `end ${index}`
          },
      ),
    )
    const seen: unknown[] = []
    const result = (async () => {
      for (;;) {
        const { done, value } = await stream.next()
        if (done === true) return value
        seen.push(value)
      }
    })()
    for (const [index, value] of [
      [1, 'b'],
      [0, 'a'],
      [1, 'c'],
      [1, 'd'],
    ] as const) {
      void feeds[index].push(value)
      await clock.advance(0)
    }
    feeds[1].close()
    await clock.advance(0)
    feeds[0].close()
    expect(await result).toEqual(['end 0', 'end 1'])
    expect(seen).toEqual([
      { lane: 1, value: 'b' },
      { lane: 0, value: 'a' },
      { lane: 1, value: 'c' },
      { lane: 1, value: 'd' },
    ])
    expect([listeners(), clock.pending, stray]).toEqual([0, 0, []])
  })

  test('returns nothing when there are no lanes', async () => {
    expect(await setup(() => []).stream.next()).toEqual({ done: true, value: [] })
  })

  test('starts nothing before the first item is asked for', () => {
    const start = vi.fn(lane({}))
    const { listeners } = setup(() => [start])
    expect(start).not.toHaveBeenCalled()
    expect(listeners()).toBe(0)
  })

  test('asks a lane for its next item only when the one before was delivered and another is wanted', async () => {
    const produced: string[] = []
    const counting = (name: string): MergedLane<string, never> =>
      async function* () {
        for (let n = 1; ; n++) {
          await Promise.resolve()
          produced.push(`${name}${n}`)
          yield `${name}${n}`
        }
      }
    const { stream, clock } = setup(() => [counting('a'), counting('b')])
    expect(await stream.next()).toEqual({ done: false, value: { lane: 0, value: 'a1' } })
    await clock.advance(0)
    expect(produced).toEqual(['a1', 'b1'])
    expect(await stream.next()).toEqual({ done: false, value: { lane: 1, value: 'b1' } })
    await clock.advance(0)
    expect(produced).toEqual(['a1', 'b1', 'a2'])
    await stream.return([])
  })

  test('lets no lane crowd out the others', async () => {
    const endless: MergedLane<number, never> = async function* () {
      for (let n = 0; ; n++) yield await Promise.resolve(n)
    }
    const { stream } = setup(() => [endless, endless, endless])
    const counts = [0, 0, 0]
    for (let n = 0; n < 30; n++) {
      const { value } = await stream.next()
      if ('lane' in value) counts[value.lane] = (counts[value.lane] ?? 0) + 1
    }
    expect(counts).toEqual([10, 10, 10])
    await stream.return([])
  })
})

describe('when it ends before its time', () => {
  /** One lane that has just yielded, one that waits; both note what they see in the order they see it. */
  function watched() {
    const log: string[] = []
    const close = (name: string) => async (signal: AbortSignal) => {
      await Promise.resolve()
      log.push(`${name} closed, ${signal.aborted ? 'aborted' : 'not aborted'}`)
    }
    const waits = (signal: AbortSignal) => delay(1_000, { clock: manualClock(), signal }).then(() => '')
    const lanes = [
      lane({ items: ['a', 'b'], close: close('first') }),
      lane({ end: waits, close: close('second') }),
    ]
    return { log, lanes }
  }
  const bothClosed = ['first closed, aborted', 'second closed, aborted']

  test('by a lane that throws, it aborts the others, waits for their clean-up and throws that very error', async () => {
    const { log, lanes } = watched()
    const failure = new Error('lane failed')
    const { stream, stray, listeners, clock } = setup(() => [...lanes, lane({ end: throws(failure) })])
    expect(await stream.next()).toEqual({ done: false, value: { lane: 0, value: 'a' } })
    await expect(stream.next()).rejects.toBe(failure)
    expect(log.sort()).toEqual(bothClosed)
    expect([listeners(), clock.pending, stray]).toEqual([0, 0, []])
  })

  test('by a lane that cannot start, it closes the lanes started before', async () => {
    const { log, lanes } = watched()
    const failure = new Error('cannot start')
    const { stream } = setup(() => [
      ...lanes,
      () => {
        throw failure
      },
    ])
    await expect(stream.next()).rejects.toBe(failure)
    expect(log.sort()).toEqual(bothClosed)
  })

  test('by a consumer that leaves, it waits for the clean-up of all lanes', async () => {
    const { log, lanes } = watched()
    const { stream, stray, listeners } = setup(() => lanes)
    for await (const _item of stream) break
    expect(log.sort()).toEqual(bothClosed)
    expect([listeners(), stray]).toEqual([0, []])
  })

  test('by a consumer that throws, it gives the consumer its own error back', async () => {
    const { log, lanes } = watched()
    const { stream } = setup(() => lanes)
    await stream.next()
    await expect(stream.throw(reason)).rejects.toBe(reason)
    expect(log.sort()).toEqual(bothClosed)
  })

  test('by an abort while the consumer waits, it throws the reason after the clean-up', async () => {
    const { log, lanes } = watched()
    const { stream, stop, stray, listeners } = setup(() => lanes.slice(1))
    const pending = stream.next()
    stop.abort(reason)
    await expect(pending).rejects.toBe(reason)
    expect(log).toEqual(['second closed, aborted'])
    expect([listeners(), stray]).toEqual([0, []])
  })

  test('by an abort while the consumer holds an item, lanes are aborted at once and the next read throws', async () => {
    const { log, lanes } = watched()
    const { stream, stop, clock } = setup(() => lanes)
    await stream.next()
    stop.abort(reason)
    await clock.advance(0)
    expect(log).toEqual(['second closed, aborted'])
    await expect(stream.next()).rejects.toBe(reason)
    expect(log.sort()).toEqual(bothClosed)
  })

  test('by an abort before the first read, it starts no lane', async () => {
    const start = vi.fn(lane({}))
    const { stream, stop } = setup(() => [start])
    stop.abort(reason)
    await expect(stream.next()).rejects.toBe(reason)
    expect(start).not.toHaveBeenCalled()
  })

  test('by an abort during the start, it aborts that lane too and starts no other', async () => {
    const { log, lanes } = watched()
    const start = vi.fn(lane({}))
    const { stream, stop } = setup(() => [
      (signal) => {
        stop.abort(reason)
        return (lanes[1] ?? start)(signal)
      },
      start,
    ])
    await expect(stream.next()).rejects.toBe(reason)
    expect(start).not.toHaveBeenCalled()
    expect(log).toEqual(['second closed, aborted'])
  })
})

describe('when lanes do not let go', () => {
  test('goes on after the grace time, whatever ended it', async () => {
    const stuck = [lane({ items: ['a'], close: never }), lane({})]
    const { stream: left, clock: first } = setup(() => stuck)
    await left.next()
    const returned = left.return([])
    const { stream: aborted, clock: second, stop } = setup(() => stuck)
    await aborted.next()
    const pending = aborted.next()
    stop.abort(reason)
    const outcomes = Promise.allSettled([returned, pending])
    for (const clock of [first, second]) {
      await clock.advance(graceMs - 1)
      expect(clock.pending).toBe(1)
      await clock.advance(1)
      expect(clock.pending).toBe(0)
    }
    expect(await outcomes).toEqual([
      { status: 'fulfilled', value: { done: true, value: [] } },
      { status: 'rejected', reason },
    ])
  })

  test('does not make the consumer wait behind a pending read', async () => {
    const { stream, clock } = setup(() => [lane({}), lane({})])
    const outcomes = Promise.allSettled([stream.next(), stream.return([])])
    await clock.advance(graceMs)
    expect(await outcomes).toMatchObject([
      { status: 'rejected', reason: { name: 'AbortError' } },
      { status: 'fulfilled', value: { done: true, value: [] } },
    ])
  })

  test('drops an item that a lane yields after the end, and still closes that lane', async () => {
    const close = vi.fn()
    const { stream, clock } = setup((time) => [
      async function* () {
        try {
          await delay(10, { clock: time })
          yield 'too late'
        } finally {
          close()
        }
      },
    ])
    const outcomes = Promise.allSettled([stream.next(), stream.return([])])
    await clock.advance(10)
    expect(close).toHaveBeenCalledTimes(1)
    expect(await outcomes).toMatchObject([
      { reason: { name: 'AbortError' } },
      { value: { done: true, value: [] } },
    ])
  })
})

describe('errors that the consumer cannot be given', () => {
  const failure = new Error('lane failed')
  const other = new Error('other lane failed')

  test('of a lane that fails together with the first are reported', async () => {
    const { stream, stray } = setup(() => [lane({ end: throws(failure) }), lane({ end: throws(other) })])
    await expect(stream.next()).rejects.toBe(failure)
    expect(stray).toEqual([other])
  })

  test('of a lane that failed unread when the consumer left or the signal aborted are reported', async () => {
    const lanes = [lane({ items: ['a'] }), lane({ end: throws(other) })]
    const { stream: left, clock, stray: strayOfLeft } = setup(() => lanes)
    await left.next()
    await clock.advance(0)
    await left.return([])
    expect(strayOfLeft).toEqual([other])

    const { stream: aborted, stop, stray } = setup(() => lanes)
    await aborted.next()
    await clock.advance(0)
    stop.abort(reason)
    await expect(aborted.next()).rejects.toBe(reason)
    expect(stray).toEqual([other])
  })

  test('of a clean-up are reported, and the first error stays what it was', async () => {
    const { stream, stray } = setup(() => [
      lane({ items: ['a', 'b'], close: throws(other) }),
      lane({ end: throws(failure) }),
    ])
    await stream.next()
    await expect(stream.next()).rejects.toBe(failure)
    expect(stray).toEqual([other])
  })

  test('that come after the grace time are reported, from a read and from a clean-up alike', async () => {
    const late = (error: unknown) => async () => {
      await delay(graceMs + 1, { clock: time })
      throw error
    }
    const time = manualClock()
    const { stream, clock, stray } = setup(() => [
      lane({ items: ['a'], close: late(failure) }),
      lane({ end: late(other) }),
    ])
    await stream.next()
    const returned = stream.return([])
    await clock.advance(graceMs)
    await returned
    expect(stray).toEqual([])
    await time.advance(graceMs + 1)
    expect(stray).toEqual([other, failure])
  })
})

test('gives every lane a signal of its own', async () => {
  const signals = new Set<AbortSignal>()
  const lanes = Array.from({ length: 12 }, () => (signal: AbortSignal) => {
    signals.add(signal)
    return lane({ end: () => Promise.resolve('end') })(signal)
  })
  await setup(() => lanes).stream.next()
  expect(signals.size).toBe(12)
  expect([...signals].some((signal) => signal.aborted)).toBe(false)
})
