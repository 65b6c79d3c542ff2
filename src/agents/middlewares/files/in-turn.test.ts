import { expect, test } from 'vitest'
import { deferred, settled } from '../../../../test/support/run-agent.js'
import { createTurns } from './in-turn.js'

test('work of one key waits for its turn, also behind work that failed', async () => {
  const inTurn = createTurns()
  const log: string[] = []
  const gate = deferred()
  const first = inTurn('a', async () => {
    log.push('first')
    await gate.promise
    throw new Error('first failed')
  })
  const second = inTurn('a', () => Promise.resolve(log.push('second')))
  const other = inTurn('b', () => Promise.resolve(log.push('other')))
  await other
  await settled()
  expect(log).toEqual(['first', 'other'])
  gate.resolve()
  await expect(first).rejects.toThrow('first failed')
  await second
  expect(log).toEqual(['first', 'other', 'second'])
})
