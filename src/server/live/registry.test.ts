import { describe, expect, test } from 'vitest'
import { deferred, settled } from '../../../test/support/run-agent.js'
import { keyOf } from '../../../test/support/store-contract/rig.js'
import type { ThreadKey } from '../../threads/contract.js'
import { createRunRegistry, type LiveRun, type StartingRuns } from './registry.js'
import { RunFeed } from './run-feed.js'

function runOn(key: ThreadKey): LiveRun {
  const feed = new RunFeed({
    ...{ runId: 'r', firstSeq: 0, bufferBytes: 0, flusher: { flushSoon: () => undefined } },
    log: { append: () => Promise.resolve(), read: () => Promise.resolve([]) },
  })
  return {
    ...{ key, runId: 'r', feed, firstSeq: 0, startedAt: 0, isFirst: false, end: undefined, title: '' },
    start: { messages: [], state: {} },
    ...{ needsSubscriber: false, isAbandoned: false },
    ...{ stop: () => undefined, stopAfterTools: () => undefined, done: Promise.resolve() },
  }
}

describe('live runs', () => {
  test('are found by all parts of their key', () => {
    const registry = createRunRegistry({ runs: 10, runsPerUser: 10 })
    const run = runOn(keyOf('t'))
    registry.add(run)
    expect(registry.get({ ...keyOf('t') })).toBe(run)
    for (const part of ['app', 'user', 'agent', 'thread'])
      expect(registry.get({ ...keyOf('t'), [part]: 'other' })).toBeUndefined()
    expect([registry.size, registry.all()]).toEqual([1, [run]])
  })

  test('are not mixed up when parts of their keys run together', () => {
    const registry = createRunRegistry({ runs: 10, runsPerUser: 10 })
    registry.add(runOn({ app: 'a","b', user: 'c', agent: 'd', thread: 'e' }))
    expect(registry.get({ app: 'a', user: 'b","c', agent: 'd', thread: 'e' })).toBeUndefined()
  })

  test('are forgotten when they are over, unless another has their place by then', () => {
    const registry = createRunRegistry({ runs: 10, runsPerUser: 10 })
    const [first, second] = [runOn(keyOf('t')), runOn(keyOf('t'))]
    registry.add(first)
    registry.add(second)
    registry.remove(first)
    expect(registry.get(keyOf('t'))).toBe(second)
    registry.remove(second)
    registry.remove(second)
    expect(registry.size).toBe(0)
  })
})

describe('slots for runs', () => {
  test('are so many for all, and come back once', () => {
    const registry = createRunRegistry({ runs: 2, runsPerUser: 10 })
    const release = registry.reserve(keyOf('a', { user: 'ann' }))
    registry.reserve(keyOf('b', { user: 'bob' }))
    expect(() => registry.reserve(keyOf('c', { user: 'cid' }))).toThrow(
      expect.objectContaining({ code: 'TOO_MANY_RUNS' }),
    )
    release()
    release()
    registry.reserve(keyOf('c', { user: 'cid' }))
    expect(() => registry.reserve(keyOf('d', { user: 'dot' }))).toThrow('2 runs are live')
  })

  test('are so many for a user of an application', () => {
    const registry = createRunRegistry({ runs: 10, runsPerUser: 1 })
    const release = registry.reserve(keyOf('a', { user: 'ann' }))
    expect(() => registry.reserve(keyOf('b', { user: 'ann', agent: 'other' }))).toThrow('this user')
    registry.reserve(keyOf('b', { user: 'bob' }))
    registry.reserve(keyOf('b', { user: 'ann', app: 'other' }))
    release()
    expect(registry.reserve(keyOf('b', { user: 'ann' }))).toBeInstanceOf(Function)
  })

  test('are not taken by a run that is refused', () => {
    const registry = createRunRegistry({ runs: 1, runsPerUser: 1 })
    const release = registry.reserve(keyOf('a'))
    for (let n = 0; n < 3; n++) expect(() => registry.reserve(keyOf('a'))).toThrow()
    release()
    registry.reserve(keyOf('a'))()
    registry.reserve(keyOf('a'))
  })
})

const startingRuns = (): StartingRuns => createRunRegistry({ runs: 1, runsPerUser: 1 }).starting

function addStarting(starting: StartingRuns, thread: string, runId: string) {
  const ended = deferred()
  const start = ended.promise
  const controller = new AbortController()
  starting.add(start, { key: keyOf(thread), runId, controller })
  return { start, end: () => ended.resolve(), signal: controller.signal }
}

describe('requests that may still become runs', () => {
  test('are there until they are started or refused', async () => {
    const starting = startingRuns()
    const { start, end } = addStarting(starting, 't', 'r')
    expect([starting.size, starting.all()]).toEqual([1, [start]])
    end()
    await settled()
    expect([starting.size, starting.all()]).toEqual([0, []])
  })

  test('are stopped by their run, and by nothing that is another’s', async () => {
    const starting = startingRuns()
    const [one, two, other] = [
      addStarting(starting, 't', 'r1'),
      addStarting(starting, 't', 'r2'),
      addStarting(starting, 'other', 'r2'),
    ]
    const cancelling = starting.cancel(keyOf('t'), 'r2')
    expect([one, two, other].map(({ signal }) => signal.aborted)).toEqual([false, true, false])
    two.end()
    expect(await cancelling).toBe('r2')
    expect(await starting.cancel(keyOf('t'), 'r3')).toBeUndefined()
    for (const part of ['app', 'user', 'agent', 'thread'])
      expect(await starting.cancel({ ...keyOf('t'), [part]: 'another' })).toBeUndefined()
    expect(one.signal.aborted).toBe(false)
  })

  test('are all stopped when no run is named', async () => {
    const starting = startingRuns()
    const both = [addStarting(starting, 't', 'r1'), addStarting(starting, 't', 'r2')]
    for (const { end } of both) end()
    expect(await starting.cancel(keyOf('t'))).toBe('r1')
    expect(both.map(({ signal }) => signal.aborted)).toEqual([true, true])
  })

  test('are settled when their cancellation resolves, also when they are refused', async () => {
    const starting = startingRuns()
    const refusal = deferred()
    const start = refusal.promise.then(() => Promise.reject(new Error('Refused.')))
    starting.add(start, { key: keyOf('t'), runId: 'r', controller: new AbortController() })
    let answer: unknown = 'none yet'
    const cancelling = starting.cancel(keyOf('t')).then((runId) => (answer = runId))
    await settled()
    expect(answer).toBe('none yet')
    refusal.resolve()
    expect(await cancelling).toBe('r')
  })
})
