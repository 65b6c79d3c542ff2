import { describe, expect, test } from 'vitest'
import { keyOf } from '../../../test/support/store-contract/rig.js'
import type { ThreadKey } from '../../threads/contract.js'
import { createFeed } from './feed.js'
import type { LiveRun } from './live-run.js'
import { createRegistry } from './registry.js'

function runOn(key: ThreadKey): LiveRun {
  const feed = createFeed({
    ...{ runId: 'r', firstSeq: 0, bufferBytes: 0, flushSoon: () => undefined },
    append: () => Promise.resolve(),
    read: () => Promise.resolve([]),
  })
  return {
    ...{ key, runId: 'r', feed, firstSeq: 0, startedAt: 0, isFirst: false },
    start: { messages: [], state: {} },
    ...{ stop: () => undefined, stopAfterTools: () => undefined, done: Promise.resolve() },
  }
}

describe('the runs at work', () => {
  test('are found by all parts of their key', () => {
    const registry = createRegistry({ runs: 10, runsPerUser: 10 })
    const run = runOn(keyOf('t'))
    registry.add(run)
    expect(registry.get({ ...keyOf('t') })).toBe(run)
    for (const part of ['app', 'user', 'agent', 'thread'])
      expect(registry.get({ ...keyOf('t'), [part]: 'other' })).toBeUndefined()
    expect([registry.size, registry.all()]).toEqual([1, [run]])
  })

  test('are not mixed up when parts of their keys run together', () => {
    const registry = createRegistry({ runs: 10, runsPerUser: 10 })
    registry.add(runOn({ app: 'a","b', user: 'c', agent: 'd', thread: 'e' }))
    expect(registry.get({ app: 'a', user: 'b","c', agent: 'd', thread: 'e' })).toBeUndefined()
  })

  test('are forgotten when they are over, unless another has their place by then', () => {
    const registry = createRegistry({ runs: 10, runsPerUser: 10 })
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

describe('places for runs', () => {
  test('are so many for all, and come back once', () => {
    const registry = createRegistry({ runs: 2, runsPerUser: 10 })
    const release = registry.reserve(keyOf('a', { user: 'ann' }))
    registry.reserve(keyOf('b', { user: 'bob' }))
    expect(() => registry.reserve(keyOf('c', { user: 'cid' }))).toThrow(
      expect.objectContaining({ code: 'TOO_MANY_RUNS' }),
    )
    release()
    release()
    registry.reserve(keyOf('c', { user: 'cid' }))
    expect(() => registry.reserve(keyOf('d', { user: 'dot' }))).toThrow('2 runs are at work')
  })

  test('are so many for a user of an application', () => {
    const registry = createRegistry({ runs: 10, runsPerUser: 1 })
    const release = registry.reserve(keyOf('a', { user: 'ann' }))
    expect(() => registry.reserve(keyOf('b', { user: 'ann', agent: 'other' }))).toThrow('this user')
    registry.reserve(keyOf('b', { user: 'bob' }))
    registry.reserve(keyOf('b', { user: 'ann', app: 'other' }))
    release()
    expect(registry.reserve(keyOf('b', { user: 'ann' }))).toBeInstanceOf(Function)
  })

  test('are not taken by a run that is refused', () => {
    const registry = createRegistry({ runs: 1, runsPerUser: 1 })
    const release = registry.reserve(keyOf('a'))
    for (let n = 0; n < 3; n++) expect(() => registry.reserve(keyOf('a'))).toThrow()
    release()
    registry.reserve(keyOf('a'))()
    registry.reserve(keyOf('a'))
  })
})
