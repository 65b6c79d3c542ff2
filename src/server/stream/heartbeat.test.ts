import { expect, test } from 'vitest'
import { manualClock } from '../../core/clock.js'
import { createHeart } from './heartbeat.js'
import type { Sink } from './sink.js'

function sinkInto(lines: string[]): Sink {
  return {
    gone: new AbortController().signal,
    write: (chunk) => lines.push(String(chunk)) > 0,
    drained: () => Promise.resolve(),
    end: () => undefined,
    destroy: () => undefined,
  }
}

test('a silent stream gets a sign of life, one that speaks does not', async () => {
  const clock = manualClock()
  const heart = createHeart(clock, 100)
  const [silent, chatty]: [string[], string[]] = [[], []]
  heart.keep(sinkInto(silent), 'beat')
  const beat = heart.keep(sinkInto(chatty), 'beat')
  beat.wrote()
  await clock.advance(100)
  expect([silent, chatty]).toEqual([['beat'], []])
  await clock.advance(100)
  expect([silent, chatty]).toEqual([['beat', 'beat'], ['beat']])
})

test('all streams share one timer, which is gone with the last of them', async () => {
  const clock = manualClock()
  const heart = createHeart(clock, 100)
  const lines: string[] = []
  const beats = [heart.keep(sinkInto(lines), 'a'), heart.keep(sinkInto(lines), 'b')]
  expect([heart.size, clock.pending]).toEqual([2, 1])
  beats[0]?.stop()
  await clock.advance(100)
  expect([lines, clock.pending]).toEqual([['b'], 1])
  beats[1]?.stop()
  beats[1]?.stop()
  expect([heart.size, clock.pending]).toEqual([0, 0])
  heart.keep(sinkInto(lines), 'c')
  await clock.advance(100)
  expect(lines).toEqual(['b', 'c'])
})

test('a stream that waits for its client gets none meanwhile', async () => {
  const clock = manualClock()
  const heart = createHeart(clock, 100)
  const lines: string[] = []
  const beat = heart.keep(sinkInto(lines), 'beat')
  beat.waits(true)
  await clock.advance(1000)
  expect(lines).toEqual([])
  beat.waits(false)
  await clock.advance(100)
  expect(lines).toEqual(['beat'])
})

test('a format without signs of life gets none', async () => {
  const clock = manualClock()
  const heart = createHeart(clock, 100)
  const lines: string[] = []
  heart.keep(sinkInto(lines), undefined)
  await clock.advance(1000)
  expect(lines).toEqual([])
})
