import { beforeEach, describe, expect, test } from 'vitest'
import { deferred, settled } from '../../../test/support/run-agent.js'
import { manualClock, type ManualClock } from '../../core/clock.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { writeWithBackPressure, type StreamEnd } from './back-pressure.js'
import { type FrameBatch, createFraming, type Framing } from './framing.js'
import { Heartbeats } from './heartbeat.js'
import type { Sink } from './sink.js'

let clock: ManualClock
let heartbeats: Heartbeats
let framing: Framing

beforeEach(async () => {
  clock = manualClock()
  heartbeats = new Heartbeats(clock, 1_000)
  framing = await createFraming('sse', { legacy: false })
})

function word(name: string): FrameBatch {
  const event: AgUiEvent = { type: 'CUSTOM', name, value: 0 }
  return { events: [event] }
}

/** Notes what is written. `room` is how much it takes before it is full. */
function createSink(room = Infinity) {
  const calls: string[] = []
  const connection = new AbortController()
  let drain = deferred()
  let left = room
  const sink: Sink = {
    signal: connection.signal,
    write(chunk) {
      const [, name] = /"name":"(\w+)"/u.exec(String(chunk)) ?? []
      calls.push(name ?? 'beat')
      left -= 1
      return left > 0
    },
    drained: () => drain.promise,
    end: () => void calls.push('end'),
    destroy: () => void calls.push('destroy'),
  }
  const empty = (): void => {
    left = room
    drain.resolve()
    drain = deferred()
  }
  const disconnect = (): void => {
    connection.abort()
    empty()
  }
  return { sink, calls, empty, disconnect }
}

function write(source: AsyncIterable<FrameBatch>, sink: Sink): Promise<StreamEnd> {
  return writeWithBackPressure(source, { sink, framing, heartbeats, clock, stallMs: 500 })
}

/** A source that counts what was taken from it, and says when it was closed. */
function counted(...names: readonly string[]) {
  const use = { taken: 0, isClosed: false }
  async function* batches(): AsyncGenerator<FrameBatch> {
    try {
      for (const name of names) {
        use.taken++
        yield await Promise.resolve(word(name))
      }
    } finally {
      use.isClosed = true
    }
  }
  return { use, source: batches() }
}

describe('a client that reads', () => {
  test('gets all there is, and then the end', async () => {
    const { sink, calls } = createSink()
    expect(await write(counted('a', 'b').source, sink)).toBe('end')
    expect(calls).toEqual(['a', 'b', 'end'])
    expect([heartbeats.size, clock.pending]).toEqual([0, 0])
  })

  test('is not written to for nothing', async () => {
    const { sink, calls } = createSink()
    async function* empty(): AsyncGenerator<FrameBatch> {
      yield await Promise.resolve({ events: [] })
    }
    await write(empty(), sink)
    expect(calls).toEqual(['end'])
  })

  test('gets heartbeats while it is quiet, and none otherwise', async () => {
    const { sink, calls } = createSink()
    const gate = deferred()
    async function* slow(): AsyncGenerator<FrameBatch> {
      yield word('a')
      await gate.promise
      yield word('b')
    }
    const ended = write(slow(), sink)
    await clock.advance(2_000)
    expect(calls).toEqual(['a', 'beat'])
    gate.resolve()
    await ended
    expect(calls).toEqual(['a', 'beat', 'b', 'end'])
  })
})

describe('a client that is slow', () => {
  test('holds the source back until it has caught up, even if that takes longer than the stall limit', async () => {
    const { sink, calls, empty } = createSink(1)
    const { use, source } = counted('a', 'b', 'c')
    const ended = write(source, sink)
    for (const count of [1, 2, 3]) {
      await clock.advance(400)
      expect(use.taken).toBe(count)
      empty()
    }
    expect(await ended).toBe('end')
    expect(calls).toEqual(['a', 'b', 'c', 'end'])
    expect(clock.pending).toBe(0)
  })

  test('is disconnected when it takes nothing for too long, and the source is closed', async () => {
    const { sink, calls } = createSink(1)
    const { use, source } = counted('a', 'b')
    const ended = write(source, sink)
    await clock.advance(499)
    expect(calls).toEqual(['a'])
    await clock.advance(1)
    expect(await ended).toBe('stalled')
    expect(calls).toEqual(['a', 'destroy'])
    expect([use.isClosed, heartbeats.size, clock.pending]).toEqual([true, 0, 0])
  })
})

test('a heartbeat never lands inside an event that is written in pieces', async () => {
  const { sink, empty } = createSink(1)
  const written: string[] = []
  const noted: Sink = { ...sink, write: (chunk) => written.push(String(chunk)) > 0 && sink.write(chunk) }
  const large: AgUiEvent = { type: 'CUSTOM', name: 'a', value: '.'.repeat(200_000) }
  async function* source(): AsyncGenerator<FrameBatch> {
    yield await Promise.resolve({ events: [large] })
  }
  const ended = writeWithBackPressure(source(), { sink: noted, framing, heartbeats, clock, stallMs: 30_000 })
  while (heartbeats.size > 0) {
    await clock.advance(2_500)
    empty()
    await settled()
  }
  expect(await ended).toBe('end')
  expect(written.length).toBeGreaterThan(2)
  expect(written.join('')).toBe(`data: ${JSON.stringify(large)}\n\n`)
})

describe('a client that disconnects', () => {
  test('while it is behind ends the stream, without an end to the response', async () => {
    const { sink, calls, disconnect } = createSink(1)
    const { use, source } = counted('a', 'b', 'c')
    const ended = write(source, sink)
    await settled()
    disconnect()
    expect(await ended).toBe('client')
    expect(calls).toEqual(['a'])
    expect([use.isClosed, heartbeats.size, clock.pending]).toEqual([true, 0, 0])
  })

  test('while it is quiet ends the stream when the source does', async () => {
    const { sink, calls, disconnect } = createSink()
    async function* waits(): AsyncGenerator<FrameBatch> {
      yield word('a')
      await new Promise<void>((resolve) => sink.signal.addEventListener('abort', resolve))
    }
    const ended = write(waits(), sink)
    await settled()
    disconnect()
    expect(await ended).toBe('client')
    expect(calls).toEqual(['a'])
  })
})

test('a source that throws makes it reject, and leaves nothing behind', async () => {
  const { sink } = createSink()
  async function* breaks(): AsyncGenerator<FrameBatch> {
    yield await Promise.resolve(word('a'))
    throw new Error('broken')
  }
  await expect(write(breaks(), sink)).rejects.toThrow('broken')
  expect([heartbeats.size, clock.pending]).toEqual([0, 0])
})
