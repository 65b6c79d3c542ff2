import { getEventListeners } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { delay, isAbortError, linkAbort, untilAborted } from './abort.js'
import { manualClock } from './clock.js'

const reason = new Error('the user pressed stop')

function listeners(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length
}

describe('isAbortError', () => {
  test('knows abort errors by their name', () => {
    expect(isAbortError(new DOMException('stop', 'AbortError'))).toBe(true)
    expect(isAbortError(Object.assign(new Error('stop'), { name: 'AbortError' }))).toBe(true)
  })

  test('knows the reason of an aborted signal, whatever it is', () => {
    expect(isAbortError('stop', AbortSignal.abort('stop'))).toBe(true)
    expect(isAbortError(reason, AbortSignal.abort(reason))).toBe(true)
  })

  test('takes nothing else for an abort', () => {
    const signal = new AbortController().signal
    for (const value of [reason, 'AbortError', undefined, null, {}]) {
      expect(isAbortError(value)).toBe(false)
      expect(isAbortError(value, signal)).toBe(false)
      expect(isAbortError(value, AbortSignal.abort('other'))).toBe(false)
    }
  })
})

describe('linkAbort', () => {
  test('aborts the child with the reason of the parent', () => {
    const parent = new AbortController()
    const child = new AbortController()
    linkAbort(parent.signal, child)
    expect(child.signal.aborted).toBe(false)
    parent.abort(reason)
    expect(child.signal.reason).toBe(reason)
  })

  test('aborts the child at once when the parent has aborted already', () => {
    const child = new AbortController()
    linkAbort(AbortSignal.abort(reason), child)
    expect(child.signal.reason).toBe(reason)
  })

  test('leaves no listener on the parent once released, and the child is then on its own', () => {
    const parent = new AbortController()
    const child = new AbortController()
    const release = linkAbort(parent.signal, child)
    expect(listeners(parent.signal)).toBe(1)
    release()
    expect(listeners(parent.signal)).toBe(0)
    parent.abort()
    expect(child.signal.aborted).toBe(false)
  })

  test('does not abort the parent when the child aborts', () => {
    const parent = new AbortController()
    const child = new AbortController()
    linkAbort(parent.signal, child)
    child.abort()
    expect(parent.signal.aborted).toBe(false)
  })

  test('does nothing without a parent', () => {
    const child = new AbortController()
    linkAbort(undefined, child)()
    expect(child.signal.aborted).toBe(false)
  })
})

describe('delay', () => {
  test('resolves when the time has passed and leaves no listener', async () => {
    const clock = manualClock()
    const { signal } = new AbortController()
    const done = vi.fn()
    void delay(10, { clock, signal }).then(done)
    await clock.advance(9)
    expect(done).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(done).toHaveBeenCalledTimes(1)
    expect(listeners(signal)).toBe(0)
  })

  test('rejects with the reason as soon as the signal aborts and leaves no timer', async () => {
    const clock = manualClock()
    const stop = new AbortController()
    const waiting = delay(10, { clock, signal: stop.signal })
    stop.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    expect(clock.pending).toBe(0)
    expect(listeners(stop.signal)).toBe(0)
  })

  test('does not begin when the signal has aborted already', async () => {
    const clock = manualClock()
    await expect(delay(10, { clock, signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(clock.pending).toBe(0)
  })
})

describe('untilAborted', () => {
  const never = new Promise<never>(() => undefined)
  const reason = new Error('stopped')

  describe('work until an abort', () => {
    test('gives what the work gives, and leaves nothing on the signal', async () => {
      const { signal } = new AbortController()
      const added = vi.spyOn(signal, 'addEventListener')
      const removed = vi.spyOn(signal, 'removeEventListener')
      expect(await untilAborted(Promise.resolve(1), signal)).toBe(1)
      await expect(untilAborted(Promise.reject(reason), signal)).rejects.toBe(reason)
      expect(removed.mock.calls).toEqual(added.mock.calls)
      expect(added).toHaveBeenCalledTimes(2)
    })

    test('ends with the reason of the signal, also when that came before', async () => {
      const controller = new AbortController()
      const pending = untilAborted(never, controller.signal)
      controller.abort(reason)
      await expect(pending).rejects.toBe(reason)
      await expect(untilAborted(never, controller.signal)).rejects.toBe(reason)
    })
  })

  test('the failure of work that nobody waits for any more bothers nobody', async () => {
    await expect(untilAborted(Promise.reject(new Error('no')), AbortSignal.abort('late'))).rejects.toBe(
      'late',
    )
  })
})
