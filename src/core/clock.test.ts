import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { delay } from './abort.js'
import { manualClock, systemClock } from './clock.js'

describe('systemClock', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('tells the time of day', () => {
    vi.setSystemTime(1_234)
    expect(systemClock.now()).toBe(1_234)
  })

  test('calls back once when the time has come', () => {
    const callback = vi.fn()
    systemClock.schedule(10, callback)
    vi.advanceTimersByTime(9)
    expect(callback).not.toHaveBeenCalled()
    vi.advanceTimersByTime(100)
    expect(callback).toHaveBeenCalledTimes(1)
  })

  test('does not call back after it was cancelled', () => {
    const callback = vi.fn()
    const cancel = systemClock.schedule(10, callback)
    cancel()
    cancel()
    vi.advanceTimersByTime(100)
    expect(callback).not.toHaveBeenCalled()
  })

  test('waits longer than one timer can', () => {
    const callback = vi.fn()
    const sixtyDays = 60 * 24 * 60 * 60 * 1000
    systemClock.schedule(sixtyDays, callback)
    vi.advanceTimersByTime(sixtyDays - 1)
    expect(callback).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(callback).toHaveBeenCalledTimes(1)
  })

  test('can cancel a wait that is longer than one timer after the first timer has passed', () => {
    const callback = vi.fn()
    const cancel = systemClock.schedule(Infinity, callback)
    vi.advanceTimersByTime(2 ** 32)
    expect(vi.getTimerCount()).toBe(1)
    cancel()
    expect(vi.getTimerCount()).toBe(0)
    expect(callback).not.toHaveBeenCalled()
  })
})

describe('manualClock', () => {
  test('stands still until it is moved', async () => {
    const clock = manualClock(500)
    expect(clock.now()).toBe(500)
    await clock.advance(25)
    expect(clock.now()).toBe(525)
  })

  test('calls what falls due in order of time, then of scheduling, each at its own time', async () => {
    const clock = manualClock()
    const calls: string[] = []
    const note = (name: string) => () => calls.push(`${name}@${clock.now()}`)
    clock.schedule(30, note('late'))
    clock.schedule(10, note('first'))
    clock.schedule(10, note('second'))
    clock.schedule(31, note('too late'))
    await clock.advance(30)
    expect(calls).toEqual(['first@10', 'second@10', 'late@30'])
    expect(clock.pending).toBe(1)
  })

  test('treats a time in the past as now', async () => {
    const clock = manualClock()
    const callback = vi.fn()
    clock.schedule(-5, callback)
    expect(callback).not.toHaveBeenCalled()
    await clock.advance(0)
    expect(callback).toHaveBeenCalledTimes(1)
    expect(clock.now()).toBe(0)
  })

  test('does not call back after it was cancelled', async () => {
    const clock = manualClock()
    const callback = vi.fn()
    const cancel = clock.schedule(10, callback)
    cancel()
    expect(clock.pending).toBe(0)
    await clock.advance(10)
    expect(callback).not.toHaveBeenCalled()
  })

  test('lets a loop of delays go round as often as the time allows', async () => {
    const clock = manualClock()
    const beats: number[] = []
    const stop = new AbortController()
    const loop = (async () => {
      for (;;) {
        await delay(15, { clock, signal: stop.signal })
        beats.push(clock.now())
      }
    })()
    await clock.advance(50)
    expect(beats).toEqual([15, 30, 45])
    stop.abort('enough')
    await expect(loop).rejects.toBe('enough')
  })
})
