import { expect, test } from 'vitest'
import { manualClock } from '../../core/clock.js'
import { Heartbeats } from './heartbeat.js'
import type { Sink } from './sink.js'

function sinkInto(lines: string[]): Sink {
  return {
    signal: new AbortController().signal,
    write: (chunk) => lines.push(String(chunk)) > 0,
    drained: () => Promise.resolve(),
    end: () => undefined,
    destroy: () => undefined,
  }
}

test('a quiet stream gets a heartbeat, one that was written to does not', async () => {
  const clock = manualClock()
  const heartbeats = new Heartbeats(clock, 100)
  const [silent, chatty]: [string[], string[]] = [[], []]
  heartbeats.add(sinkInto(silent), 'beat')
  const stream = heartbeats.add(sinkInto(chatty), 'beat')
  stream.isQuiet = false
  await clock.advance(100)
  expect([silent, chatty]).toEqual([['beat'], []])
  await clock.advance(100)
  expect([silent, chatty]).toEqual([['beat', 'beat'], ['beat']])
})

test('all streams share one timer, which stops with the last of them', async () => {
  const clock = manualClock()
  const heartbeats = new Heartbeats(clock, 100)
  const lines: string[] = []
  const first = heartbeats.add(sinkInto(lines), 'a')
  const second = heartbeats.add(sinkInto(lines), 'b')
  expect([heartbeats.size, clock.pending]).toEqual([2, 1])
  heartbeats.remove(first)
  await clock.advance(100)
  expect([lines, clock.pending]).toEqual([['b'], 1])
  heartbeats.remove(second)
  heartbeats.remove(second)
  expect([heartbeats.size, clock.pending]).toEqual([0, 0])
  heartbeats.add(sinkInto(lines), 'c')
  await clock.advance(100)
  expect(lines).toEqual(['b', 'c'])
})

test('a stream whose client is behind gets no heartbeat meanwhile', async () => {
  const clock = manualClock()
  const heartbeats = new Heartbeats(clock, 100)
  const lines: string[] = []
  const stream = heartbeats.add(sinkInto(lines), 'beat')
  stream.isBlocked = true
  await clock.advance(1000)
  expect(lines).toEqual([])
  stream.isBlocked = false
  await clock.advance(100)
  expect(lines).toEqual(['beat'])
})

test('a format without heartbeats gets none', async () => {
  const clock = manualClock()
  const heartbeats = new Heartbeats(clock, 100)
  const lines: string[] = []
  heartbeats.add(sinkInto(lines), undefined)
  await clock.advance(1000)
  expect(lines).toEqual([])
})
