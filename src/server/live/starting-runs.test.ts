import { describe, expect, test } from 'vitest'
import { deferred, settled } from '../../../test/support/run-agent.js'
import { keyOf } from '../../../test/support/store-contract/rig.js'
import { createOpenings, type Openings } from './starting-runs.js'

function open(openings: Openings, thread: string, runId: string) {
  const ended = deferred()
  const turn = ended.promise
  const controller = new AbortController()
  openings.add(turn, { key: keyOf(thread), runId, controller })
  return { turn, end: () => ended.resolve(), signal: controller.signal }
}

describe('requests that may still become runs', () => {
  test('are there until they are taken out', () => {
    const openings = createOpenings()
    const { turn } = open(openings, 't', 'r')
    expect([openings.size, openings.all()]).toEqual([1, [turn]])
    openings.delete(turn)
    expect([openings.size, openings.all()]).toEqual([0, []])
  })

  test('are stopped by their run, and by nothing that is another’s', async () => {
    const openings = createOpenings()
    const [one, two, other] = [
      open(openings, 't', 'r1'),
      open(openings, 't', 'r2'),
      open(openings, 'other', 'r2'),
    ]
    const cancelling = openings.cancel(keyOf('t'), 'r2')
    expect([one, two, other].map(({ signal }) => signal.aborted)).toEqual([false, true, false])
    two.end()
    expect(await cancelling).toBe('r2')
    expect(await openings.cancel(keyOf('t'), 'r3')).toBeUndefined()
    for (const part of ['app', 'user', 'agent', 'thread'])
      expect(await openings.cancel({ ...keyOf('t'), [part]: 'another' })).toBeUndefined()
    expect(one.signal.aborted).toBe(false)
  })

  test('are all stopped when no run is named', async () => {
    const openings = createOpenings()
    const both = [open(openings, 't', 'r1'), open(openings, 't', 'r2')]
    for (const { end } of both) end()
    expect(await openings.cancel(keyOf('t'))).toBe('r1')
    expect(both.map(({ signal }) => signal.aborted)).toEqual([true, true])
  })

  test('are waited for by who stops them, also when they are refused', async () => {
    const openings = createOpenings()
    const refusal = deferred()
    const turn = refusal.promise.then(() => Promise.reject(new Error('Refused.')))
    openings.add(turn, { key: keyOf('t'), runId: 'r', controller: new AbortController() })
    let answer: unknown = 'none yet'
    const cancelling = openings.cancel(keyOf('t')).then((runId) => (answer = runId))
    await settled()
    expect(answer).toBe('none yet')
    refusal.resolve()
    expect(await cancelling).toBe('r')
  })
})
