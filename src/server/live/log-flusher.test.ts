import { expect, test } from 'vitest'
import { manualClock } from '../../core/clock.js'
import { createLogFlusher } from './log-flusher.js'

function rig() {
  const clock = manualClock()
  const problems: unknown[] = []
  const flusher = createLogFlusher(clock, (error) => problems.push(error))
  const calls: string[] = []
  const writer = (name: string) => ({
    flush: () => Promise.resolve(void calls.push(`${name}@${clock.now()}`)),
  })
  return { clock, problems, flusher, calls, writer }
}

test('all that is due is written together, each once', async () => {
  const { clock, flusher, calls, writer } = rig()
  const [a, b] = [writer('a'), writer('b')]
  flusher.flushSoon(a)
  flusher.flushSoon(a)
  await clock.advance(50)
  flusher.flushSoon(b)
  expect([calls, clock.pending]).toEqual([[], 1])
  await clock.advance(50)
  expect(calls).toEqual(['a@100', 'b@100'])
})

test('there is no timer while nothing is to be written, and a new one for what comes later', async () => {
  const { clock, flusher, calls, writer } = rig()
  expect(clock.pending).toBe(0)
  const a = writer('a')
  flusher.flushSoon(a)
  await clock.advance(150)
  expect(clock.pending).toBe(0)
  flusher.flushSoon(a)
  await clock.advance(100)
  expect(calls).toEqual(['a@100', 'a@250'])
})

test('a flush that a flush requests comes with the next', async () => {
  const { clock, flusher, calls, writer } = rig()
  const b = writer('b')
  flusher.flushSoon({
    flush() {
      flusher.flushSoon(b)
      return Promise.resolve()
    },
  })
  await clock.advance(100)
  expect(calls).toEqual([])
  await clock.advance(100)
  expect(calls).toEqual(['b@200'])
})

test('a flush that fails is reported, and the others go on', async () => {
  const { clock, problems, flusher, calls, writer } = rig()
  const full = new Error('full')
  flusher.flushSoon({ flush: () => Promise.reject(full) })
  flusher.flushSoon(writer('b'))
  await clock.advance(100)
  expect([problems, calls]).toEqual([[full], ['b@100']])
})
