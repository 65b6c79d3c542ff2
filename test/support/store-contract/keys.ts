import { describe, expect, test } from 'vitest'
import type { ThreadKey } from '../../../src/threads/contract.js'
import { keyOf, lineOf, runOf, type Rig } from './rig.js'

/** Names that a store may confuse with each other, or misread. */
const oddNames = [
  ...['', ' ', 'a', 'A', 'a ', ' a', 'a\u0000', 'a\u0000b', 'a\n', '\t'],
  ...[
    'a/b',
    'a:b',
    'a%2Fb',
    'a%',
    '%',
    '_',
    '*',
    '?',
    'a\\b',
    "a'b",
    'a"b',
    '["a","b"]',
    'a,b',
    'a|b',
    '../a',
  ],
  ...['1', '01', '1.0', '1e0', 'null', 'undefined', 'true', 'NaN'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'],
  ...['é', 'e\u0301', 'ß', 'ss', '你好', '👩‍👩‍👧', '\u202e', '\ufeff', '\uffff', 'İ', 'ı'],
  ...['x'.repeat(5_000), 'x'.repeat(5_001)],
]

const parts = ['app', 'user', 'agent', 'thread'] as const

/** Different keys whose parts make the same text. */
const shifted: ThreadKey[] = ['/', ':', '|', '\u0000', ',', '","'].flatMap((sign) => [
  { app: 'a', user: `b${sign}c`, agent: 'd', thread: 'e' },
  { app: `a${sign}b`, user: 'c', agent: 'd', thread: 'e' },
  { app: 'a', user: 'b', agent: `c${sign}d`, thread: 'e' },
  { app: 'a', user: 'b', agent: 'c', thread: `d${sign}e` },
])

/** A thread is found by its whole key and nothing else. */
export function describeKeys(rig: Rig): void {
  /** Saves a thread for every key and checks that each key has its own. */
  const expectApart = async (keys: readonly ThreadKey[]): Promise<void> => {
    for (const [index, key] of keys.entries()) {
      const lease = await rig.hold(key)
      await rig.store.threads.begin(lease, runOf('r'))
      await rig.store.log.append(lease, { runId: 'r', firstSeq: 0, lines: [lineOf('n', index)] })
      await rig.store.leases.release(lease)
      const thread = await rig.save(key, { title: `title ${index}` })
      expect(thread.version).toBe(1)
    }
    for (const [index, key] of keys.entries()) {
      expect(await rig.stored(key)).toMatchObject({ key, title: `title ${index}`, version: 1 })
      expect(await rig.logOf(key, 'r')).toEqual([{ seq: 0, json: lineOf('n', index) }])
    }
    expect(await rig.store.threads.unfinished()).toEqual(expect.arrayContaining([...keys]))
  }

  describe('a key', () => {
    test.each(parts)('has a thread of its own for each %s, also with an odd name', async (part) => {
      await expectApart(oddNames.map((name) => ({ ...keyOf('t'), [part]: name })))
    })

    test('is not the text of its parts', async () => {
      await expectApart(shifted)
    })

    test.each(['app', 'user', 'agent'] as const)(
      'shows in a list the threads of its %s only',
      async (part) => {
        const owners = ['', 'a', 'A', 'a/b', '%', '_', '__proto__', 'é'].map((name) => ({
          ...keyOf('same'),
          [part]: name,
        }))
        for (const key of owners) await rig.save(key)
        for (const key of owners) {
          const { threads } = await rig.store.threads.list(key, { limit: 100 })
          expect(threads.map((thread) => thread.key)).toEqual([key])
        }
      },
    )

    test('is held apart from the keys beside it', async () => {
      for (const part of parts)
        for (const name of oddNames) {
          const key = { ...keyOf(`of ${part}`), [part]: name }
          expect(await rig.store.leases.isHeld(key)).toBe(false)
          await rig.hold(key)
          expect(await rig.store.leases.isHeld(key)).toBe(true)
        }
    })

    test.each(oddNames.map((name) => [name.slice(0, 20), name]))(
      'may have a run with the id %j',
      async (_, runId) => {
        const key = keyOf('t')
        const lease = await rig.hold(key)
        expect(await rig.logOf(key, runId)).toEqual([])
        await rig.store.threads.begin(lease, runOf(runId))
        await rig.store.log.append(lease, { runId, firstSeq: 0, lines: [lineOf('n', 1)] })
        expect(await rig.logOf(key, runId)).toEqual([{ seq: 0, json: lineOf('n', 1) }])
        expect(await rig.logOf(key, `${runId}x`)).toEqual([])
        expect((await rig.stored(key)).run?.runId).toBe(runId)
      },
    )
  })
}
