import { expect, test } from 'vitest'
import { deferred, settled } from '../../../test/support/run-agent.js'
import { ReleaseStack } from './lease.js'

function rig() {
  const released: string[] = []
  const problems: unknown[] = []
  const stack = new ReleaseStack((error) => problems.push(error))
  return { released, problems, stack, release: (name: string) => () => void released.push(name) }
}

test('what was deferred last is released first, each once', async () => {
  const { released, stack, release } = rig()
  for (const name of ['lock', 'lease', 'slot']) stack.defer(release(name))
  await stack.releaseAll()
  await stack.releaseAll()
  expect(released).toEqual(['slot', 'lease', 'lock'])
})

test('each waits for the one before it', async () => {
  const { released, stack, release } = rig()
  const gate = deferred()
  stack.defer(release('lock'))
  stack.defer(() => gate.promise)
  const all = stack.releaseAll()
  await settled()
  expect(released).toEqual([])
  gate.resolve()
  await all
  expect(released).toEqual(['lock'])
})

test('a release that fails is reported, and the rest is released all the same', async () => {
  const { released, problems, stack, release } = rig()
  const [thrown, rejected] = [new Error('thrown'), new Error('rejected')]
  stack.defer(release('lock'))
  stack.defer(() => {
    throw thrown
  })
  stack.defer(() => Promise.reject(rejected))
  stack.defer(release('slot'))
  await stack.releaseAll()
  expect([released, problems]).toEqual([
    ['slot', 'lock'],
    [rejected, thrown],
  ])
})

test('releasing twice at once releases everything once', async () => {
  const { released, stack, release } = rig()
  stack.defer(release('lock'))
  stack.defer(release('lease'))
  await Promise.all([stack.releaseAll(), stack.releaseAll()])
  expect([...released].sort()).toEqual(['lease', 'lock'])
})
