import { expect, test } from 'vitest'
import { deferred, settled } from '../../../test/support/run-agent.js'
import { createHolds } from './release-stack.js'

function rig() {
  const freed: string[] = []
  const problems: unknown[] = []
  const holds = createHolds((error) => problems.push(error))
  return { freed, problems, holds, release: (name: string) => () => void freed.push(name) }
}

test('what was taken last is given back first, each once', async () => {
  const { freed, holds, release } = rig()
  for (const name of ['lock', 'lease', 'place']) holds.add(release(name))
  holds.add(undefined)
  await holds.free()
  await holds.free()
  expect(freed).toEqual(['place', 'lease', 'lock'])
})

test('each waits for the one before it', async () => {
  const { freed, holds, release } = rig()
  const gate = deferred()
  holds.add(release('lock'))
  holds.add(() => gate.promise)
  const all = holds.free()
  await settled()
  expect(freed).toEqual([])
  gate.resolve()
  await all
  expect(freed).toEqual(['lock'])
})

test('what cannot be given back is told of, and the rest is given back all the same', async () => {
  const { freed, problems, holds, release } = rig()
  const [thrown, rejected] = [new Error('thrown'), new Error('rejected')]
  holds.add(release('lock'))
  holds.add(() => {
    throw thrown
  })
  holds.add(() => Promise.reject(rejected))
  holds.add(release('place'))
  await holds.free()
  expect([freed, problems]).toEqual([
    ['place', 'lock'],
    [rejected, thrown],
  ])
})

test('two who free at once give everything back once', async () => {
  const { freed, holds, release } = rig()
  holds.add(release('lock'))
  holds.add(release('lease'))
  await Promise.all([holds.free(), holds.free()])
  expect([...freed].sort()).toEqual(['lease', 'lock'])
})
