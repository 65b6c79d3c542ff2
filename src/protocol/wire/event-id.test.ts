import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { text } from '../../../test/e2e/support-arbitraries.js'
import { formatEventId, parseEventId } from './event-id.js'

describe('an event id', () => {
  it('leads back to its run and number', () => {
    fc.assert(
      fc.property(text, fc.maxSafeNat(), (runId, seq) => {
        expect(parseEventId(formatEventId({ runId, seq }))).toEqual({ runId, seq })
      }),
    )
  })

  it('holds no character that HTTP or SSE could stumble over', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
        (runId) => {
          expect(formatEventId({ runId, seq: 0 })).toMatch(/^[\x21-\x7e]+$/)
        },
      ),
    )
  })

  it.each([
    '',
    ':',
    'r',
    '5',
    'r:',
    'r:x',
    'r:-1',
    'r:1.5',
    'r:01',
    'r: 1',
    'r:1e3',
    'r:9007199254740993',
    '%:1',
    'a b:1',
    'a:b:1',
    'r:1\n',
  ])('is malformed: %j', (id) => {
    expect(parseEventId(id)).toBeUndefined()
  })

  it('is read or refused, whatever text it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('%', ':', '1', 'F', 'a', '\ud800') }), (id) => {
        const position = parseEventId(id)
        if (position) expect(formatEventId(position)).toBe(id)
      }),
    )
  })
})
