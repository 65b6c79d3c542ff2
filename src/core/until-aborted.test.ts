import { describe, expect, test, vi } from 'vitest'
import { untilAborted } from './until-aborted.js'

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
  await expect(untilAborted(Promise.reject(new Error('no')), AbortSignal.abort('late'))).rejects.toBe('late')
})
