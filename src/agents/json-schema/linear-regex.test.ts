import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { endsSoon } from '../../../test/support/ends-soon.js'
import { propertyRuns } from '../../../test/support/property-runs.js'
import { compileLinear } from './linear-regex.js'

test.each([
  ['^([a-z]+-?)*[a-z]+$', 'a'],
  ['(a+)+$', 'a'],
  ['(x+x+)+y', 'x'],
  ['^(?=(a|a)*$)(?!(a|aa)+$).*$', 'a'],
  ['(.*)(.*)(.*)(.*)(.*)(.*)b$', 'a'],
])('%s takes linear time', (pattern, char) => {
  const regex = endsSoon(() => compileLinear(pattern))
  expect(endsSoon(() => regex.test(`${char.repeat(50_000)}!`))).toBe(false)
})

describe('it means what it means in JavaScript', () => {
  const atom = fc.constantFrom(
    ...[
      'a',
      'b',
      '.',
      '^',
      '$',
      '\\d',
      '\\D',
      '\\w',
      '\\W',
      '\\s',
      '\\S',
      '\\b',
      '\\B',
      '\\.',
      '\\/',
      '\\n',
      '\\cJ',
    ],
    ...[
      '\\u00e9',
      '\\u{1F600}',
      '\\uD83D\\uDE00',
      '\\x41',
      '\\0',
      '\\p{Lu}',
      '\\P{L}',
      '\\p{Letter}',
      '\\p{Script=Greek}',
    ],
    ...[
      '[ab]',
      '[^ab]',
      '[^]',
      '[]',
      '[a-c\\d]',
      '[\\s-]',
      '[^\\S]',
      '[\\Sx]',
      '[[a]',
      '[(|)]',
      '[\\b]',
      '[^\\]a]',
      '[.^$]',
    ],
  )
  const { pattern } = fc.letrec<{ pattern: string; group: string; term: string }>((tie) => ({
    term: fc
      .tuple(
        fc.oneof({ weight: 3, arbitrary: atom }, tie('group')),
        fc.constantFrom('', '', '*', '+?', '?', '{1,2}'),
      )
      .map(([one, times]) => (/^(?:\^|\$|\\[bB])$/.test(one) ? one : one + times)),
    group: fc
      .tuple(fc.constantFrom('(', '(?:', '(?<n>'), tie('pattern'))
      .map(([opener, inner]) => `${opener}${inner})`),
    pattern: fc
      .array(fc.array(tie('term'), { maxLength: 3 }), { minLength: 1, maxLength: 2 })
      .map((options) => options.map((terms) => terms.join('')).join('|')),
  }))
  const isValid = (source: string): boolean => {
    try {
      return new RegExp(source, 'u') instanceof RegExp
    } catch {
      // Two groups of the same name, for example.
      return false
    }
  }
  const text = fc
    .array(fc.constantFrom(...'abcA1 .-é\n\r\b\0\u2028\u00a0Ωx[](|)^$'.split(''), '\u{1F600}'), {
      maxLength: 6,
    })
    .map((chars) => chars.join(''))

  test('for patterns that have no look-around', () => {
    fc.assert(
      fc.property(pattern.filter(isValid), text, (source, value) => {
        expect([source, value, compileLinear(source).test(value)]).toEqual([
          source,
          value,
          new RegExp(source, 'u').test(value),
        ])
      }),
      { numRuns: propertyRuns(500) },
    )
  })

  test('for look-ahead at the start', () => {
    const ahead = fc
      .tuple(fc.constantFrom('(?=', '(?!'), pattern)
      .map(([opener, inner]) => `${opener}${inner})`)
    const source = fc
      .tuple(fc.array(ahead, { minLength: 1, maxLength: 2 }), pattern)
      .map(([conditions, rest]) => `^${conditions.join('')}(?:${rest})`)
    fc.assert(
      fc.property(source.filter(isValid), text, (source, value) => {
        expect([source, value, compileLinear(source).test(value)]).toEqual([
          source,
          value,
          new RegExp(source, 'u').test(value),
        ])
      }),
      { numRuns: propertyRuns(500) },
    )
  })
})

test.each([
  ['an address of mail', z.email(), 'ada@example.com', '.ada@example.com'],
  ['a host', z.hostname(), 'example.com', '-example.com'],
  ['an id', z.uuid(), '00000000-0000-4000-8000-000000000000', '0'],
  ['an address of IP', z.ipv6(), '::1', '::g'],
])('it takes the pattern that zod writes for %s', (_, schema, right, wrong) => {
  const { pattern = '' } = z.toJSONSchema(schema) as { pattern?: string }
  const regex = compileLinear(pattern)
  expect([regex.test(right), regex.test(wrong)]).toEqual([true, false])
})

test.each([
  ['a(?=b)', 'it looks around'],
  ['^(?:(?!a)b)', 'it looks around'],
  ['^(?=(?=a))b', 'it looks around'],
  ['^(?=a)b|c', 'it looks around'],
  ['(?<=a)b', 'it looks around'],
  ['(?<!a)b', 'it looks around'],
  ['(a)\\1', 'it refers back to a group'],
  ['(?<n>a)\\k<n>', 'it refers back to a group'],
  ['a{1001}', 'RE2 cannot express it (invalid repeat count'],
  ['(', 'it is no regular expression (Invalid regular expression'],
  ['\\-', 'it is no regular expression (Invalid regular expression'],
  ['a'.repeat(5001), 'it is longer than 5000 characters'],
  ['(?:[a-z]{900}[0-9]{900}){1}'.repeat(4), 'it repeats too much'],
])('%s is refused', (pattern, reason) => {
  expect(() => compileLinear(pattern)).toThrow(reason)
})
