import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFold, type AgUiEvent, type EventOf } from '../../protocol/index.js'
import { createStateRules } from './state-rules.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

const rules = createStateRules({ readOnly: ['plan'], private: ['secret', 'a/b', 'c~d'] })
const { visible, visibleEvent } = rules

describe('who owns a key', () => {
  it.each([
    ['app:x', true, true],
    ['user:x', true, true],
    ['temp:x', true, true],
    ['secret', true, true],
    ['plan', false, true],
    ['open', false, false],
    ['apple', false, false],
    ['x:app:', false, false],
    ['toString', false, false],
  ])('%s', (key, isPrivate, isServerKey) => {
    expect(rules.isPrivate(key)).toBe(isPrivate)
    expect(rules.isServerKey(key)).toBe(isServerKey)
  })

  it('needs no rules of a team to keep the three prefixes private', () => {
    const plain = createStateRules()
    expect(plain.isPrivate('user:name')).toBe(true)
    expect(plain.isServerKey('secret')).toBe(false)
  })
})

describe('the visible and the stored part', () => {
  it('hides private keys and nothing below the top', () => {
    const state = { 'app:a': 1, secret: 2, plan: 3, open: { secret: 4 } }
    expect(visible(state)).toEqual({ plan: 3, open: { secret: 4 } })
    expect(state).toHaveProperty('secret')
  })

  it('gives the same object when there is nothing to hide', () => {
    const state = { plan: 1 }
    expect(visible(state)).toBe(state)
    expect(rules.stored(state)).toBe(state)
  })

  it.each([[[1, 2]], [null], [7], ['text'], [undefined]])('lets %j pass', (state) => {
    expect(visible(state)).toBe(state)
    expect(rules.stored(state)).toBe(state)
  })

  it('stores all but what is for one run', () => {
    expect(rules.stored({ 'temp:a': 1, 'app:b': 2, secret: 3 })).toEqual({ 'app:b': 2, secret: 3 })
  })

  it('keeps a member called __proto__ a member', () => {
    const state: unknown = JSON.parse('{"__proto__":{"polluted":true},"secret":1}')
    const shown = visible(state) as object
    expect(Object.getPrototypeOf(shown)).toBe(Object.prototype)
    expect(Object.keys(shown)).toEqual(['__proto__'])
  })
})

type Delta = EventOf<'STATE_DELTA'>['delta']

const shown = (delta: Delta, state: unknown = {}): AgUiEvent | undefined =>
  visibleEvent({ type: 'STATE_DELTA', delta }, state)

describe('what a client sees of an event', () => {
  it('is a snapshot without private keys', () => {
    const event: AgUiEvent = { type: 'STATE_SNAPSHOT', snapshot: { secret: 1, a: 2 }, timestamp: 5 }
    expect(visibleEvent(event, {})).toEqual({ type: 'STATE_SNAPSHOT', snapshot: { a: 2 }, timestamp: 5 })
  })

  it('is the event itself when there is nothing to hide', () => {
    const events: AgUiEvent[] = [
      { type: 'STATE_SNAPSHOT', snapshot: { a: 2 } },
      { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/a', value: { secret: 1 } }] },
      { type: 'STATE_DELTA', delta: [] },
      { type: 'CUSTOM', name: 'x', value: { secret: 1 } },
    ]
    for (const event of events) expect(visibleEvent(event, {})).toBe(event)
  })

  it('does not hold what it was made from when that would show what is hidden', () => {
    const rawEvent = { secret: 1 }
    const snapshot = visibleEvent({ type: 'STATE_SNAPSHOT', snapshot: { secret: 1 }, rawEvent }, {})
    expect(snapshot).toEqual({ type: 'STATE_SNAPSHOT', snapshot: {} })
  })

  it.each<[string, Delta[number]]>([
    ['in a key', { op: 'add', path: '/secret', value: 1 }],
    ['below a key', { op: 'replace', path: '/secret/deep/0', value: 1 }],
    ['behind an escaped slash', { op: 'remove', path: '/a~1b' }],
    ['behind an escaped tilde', { op: 'remove', path: '/c~0d/x' }],
    ['with a prefix', { op: 'add', path: '/user:name', value: 1 }],
    ['that is only tested', { op: 'test', path: '/secret', value: 1 }],
    ['moved among private keys', { op: 'move', from: '/secret', path: '/app:x' }],
    ['copied from what is visible', { op: 'copy', from: '/a', path: '/secret' }],
  ])('is nothing for a change %s', (_what, operation) => {
    expect(shown([operation])).toBeUndefined()
    const open: Delta[number] = { op: 'add', path: '/a', value: 1 }
    expect(shown([operation, open])).toEqual({ type: 'STATE_DELTA', delta: [open] })
  })

  it('is a removal when something moves out of sight', () => {
    const delta: Delta = [{ op: 'move', from: '/list/0', path: '/secret' }]
    expect(shown(delta)).toEqual({ type: 'STATE_DELTA', delta: [{ op: 'remove', path: '/list/0' }] })
  })

  it('is a filtered value when the root is replaced', () => {
    const delta: Delta = [{ op: 'replace', path: '', value: { secret: 1, a: 2 } }]
    expect(shown(delta, { secret: 1, a: 2 })).toEqual({
      type: 'STATE_DELTA',
      delta: [{ op: 'replace', path: '', value: { a: 2 } }],
    })
  })

  it.each<[string, Delta]>([
    ['a private value is copied into sight', [{ op: 'copy', from: '/secret', path: '/a' }]],
    ['a private value moves into sight', [{ op: 'move', from: '/app:x', path: '/a' }]],
    ['the whole is copied into a part', [{ op: 'copy', from: '', path: '/a' }]],
    ['a part becomes the whole', [{ op: 'move', from: '/a', path: '' }]],
    [
      'the root and a private key change at once',
      [
        { op: 'replace', path: '', value: { a: 1 } },
        { op: 'add', path: '/secret', value: 1 },
      ],
    ],
  ])('is a snapshot when %s', (_what, delta) => {
    const event: AgUiEvent = { type: 'STATE_DELTA', delta, subagentRunId: 's1' }
    expect(visibleEvent(event, { secret: 1, a: 1 })).toEqual({
      type: 'STATE_SNAPSHOT',
      snapshot: { a: 1 },
      subagentRunId: 's1',
    })
  })

  it('is a snapshot when an entry of a list has the name of a private key', () => {
    const numbered = createStateRules({ private: ['0'] })
    const event: AgUiEvent = { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/0', value: 5 }] }
    expect(numbered.visibleEvent(event, [5])).toEqual({ type: 'STATE_SNAPSHOT', snapshot: [5] })
  })
})

describe('a delta as it is shown', () => {
  const pointer = fc.constantFrom(
    '',
    '/a',
    '/a/x',
    '/b',
    '/secret',
    '/secret/x',
    '/app:k',
    '/a~1b',
    '/l/0',
    '/0',
  )
  const value = fc.constantFrom<unknown>(1, null, { x: 1 }, { secret: 1, a: { x: 2 } }, [1, 2])
  const operation = fc.oneof(
    fc.record({ op: fc.constantFrom('add' as const, 'replace' as const), path: pointer, value }),
    fc.record({ op: fc.constant('remove' as const), path: pointer }),
    fc.record({ op: fc.constantFrom('move' as const, 'copy' as const), from: pointer, path: pointer }),
  )
  const state = fc.constantFrom<unknown>(
    { a: { x: 1 }, b: 2, secret: { x: 3, a: 4 }, 'app:k': 5, l: [6, 7] },
    { a: { secret: 1 }, 'a/b': [] },
    [1, { x: 2 }],
    {},
  )
  const listed = createStateRules({ private: ['secret', 'a/b', '0'] })

  it('brings a client from what it saw to what it may see', () => {
    const numRuns = propertyRuns(300)
    let applied = 0
    fc.assert(
      fc.property(state, fc.array(operation, { minLength: 1, maxLength: 4 }), (before, delta) => {
        const event: AgUiEvent = { type: 'STATE_DELTA', delta }
        const full = createFold({ state: before })
        fc.pre(full.apply(event) === undefined)
        applied++
        const client = createFold({ state: listed.visible(before) })
        const seen = listed.visibleEvent(event, full.state)
        if (seen) expect(client.apply(seen)).toBeUndefined()
        expect(client.state).toEqual(listed.visible(full.state))
      }),
      { numRuns, maxSkipsPerRun: 100 },
    )
    expect(applied).toBe(numRuns)
  })
})
