import { expect, test } from 'vitest'
import { unlessAborted } from './unless-aborted.js'

const never = new Promise<never>(() => undefined)

test('work that is done in time gives its result or its error', async () => {
  const { signal } = new AbortController()
  expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1)
  await expect(unlessAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
})

test('an abort ends the wait with its reason', async () => {
  const controller = new AbortController()
  const waiting = unlessAborted(never, controller.signal)
  const reason = new Error('enough')
  controller.abort(reason)
  await expect(waiting).rejects.toBe(reason)
})

test('nobody waits for work when it is too late, and its failure bothers nobody', async () => {
  await expect(unlessAborted(Promise.reject(new Error('no')), AbortSignal.abort('late'))).rejects.toBe('late')
})
