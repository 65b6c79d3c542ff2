import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMatcher, type MatcherOptions } from './matcher.js'

function matches(pattern: string, line: string, options?: MatcherOptions): boolean {
  return createMatcher(pattern, options).test(line)
}

describe('a pattern', () => {
  test.each([
    ['needle', 'a needle in hay', 'a noodle'],
    ['^import\\s', 'import fs', ' import fs'],
    ['end$', 'the end', 'the end.'],
    ['\\bcat\\b', 'a cat.', 'concat'],
    ['\\Bcat', 'concat', 'a cat'],
    ['(foo|ba[rz])+\\d{2,3}', 'foobaz42', 'foo4'],
    ['a{2}b?c', 'aac', 'ac'],
    ['a{0}b', 'b', 'a'],
    ['a{3,}', 'aaaa', 'aa'],
    ['(?:x|y)z', 'yz', 'xy'],
    ['(?<year>\\d{4})-', '2026-', '226-'],
    ['a*?b', 'aab', 'aaa'],
    ['[^a-c]', 'abcd', 'abc'],
    ['[\\w.-]+@x', 'a.b-c@x', '@x'],
    ['[\\]\\-]', ']', '['],
    ['\\p{Lu}', 'É', 'é'],
    ['\\x41\\u0042\\u{1F600}', 'AB😀', 'AB'],
    ['^.$', '😀', 'ab'],
    ['\\"key\\"\\: \\#', '"key": #', 'key'],
    ['interface {}', 'interface {}', 'interface ()'],
    ['if (.*) {$', 'if (a) {', 'if (a)'],
    ['^$', '', ' '],
    ['(?i)todo', 'ToDo', 'to do'],
    ['価格', '価格は', '価'],
  ])('%s is found in %o and not in %o', (pattern, yes, no) => {
    expect([matches(pattern, yes), matches(pattern, no)]).toEqual([true, false])
  })

  test('can leave letter case aside', () => {
    expect(matches('ÉTÉ [a-z]', 'été Z', { ignoreCase: true })).toBe(true)
    expect(matches('ÉTÉ [a-z]', 'été Z')).toBe(false)
  })

  test.each([
    ['(', /'\(' at 0 that nothing closes/],
    ['a)', /'\)' that nothing opens/],
    ['[a', /'\[' at 0 that nothing closes/],
    ['*a', /'\*' at 0, with nothing to repeat/],
    ['a**', /nothing to repeat/],
    ['^*', /nothing to repeat/],
    ['(?=a)', /looking around is not supported/],
    ['(?<!a)b', /looking around is not supported/],
    ['(a)\\1', /'\\1' at 3: back references are not supported/],
    ['\\q', /there is no such escape/],
    ['a\\', /there is no such escape/],
    ['[[:alpha:]]', /POSIX class/],
    ['[z-a]', /not valid/],
    ['\\p{Nonsense}', /not valid/],
    ['a{3,2}', /numbers in order/],
    ['a{1001}', /at most 1000/],
    ['((a{99}){99}){99}', /too large/],
    ['x'.repeat(1_001), /longer than 1000/],
  ])('%s is refused with a reason', (pattern, reason) => {
    expect(() => createMatcher(pattern)).toThrow(
      expect.objectContaining({ code: 'TOOL_ERROR', message: expect.stringMatching(reason) as string }),
    )
  })
})

describe('a pattern that would never end', () => {
  test.each(['(a+)+$', '(a|aa)+$', '(.*)*x', 'a*a*a*a*a*a*a*a*b', '(a*)*b'])(
    'is answered at once: %s',
    (pattern) => {
      expect(matches(pattern, `${'a'.repeat(50_000)}!`, { maxSteps: 5_000 })).toBe(false)
    },
  )

  test('is given up when it takes too much work', () => {
    const line = Array.from({ length: 5_000 }, (_, index) => 'ab'[((index * index) % 7) & 1]).join('')
    expect(() => matches('(a|b)*a(a|b){500}c', line, { maxSteps: 100_000 })).toThrow(
      expect.objectContaining({ code: 'TOOL_ERROR' }),
    )
  })

  test('goes on when it has learned too much to keep', () => {
    const line = Array.from({ length: 60_000 }, (_, index) => String.fromCodePoint(0x3_0000 + index)).join('')
    expect(matches('x', `${line}x`)).toBe(true)
    expect(matches('x', line)).toBe(false)
  })
})

describe('any pattern', () => {
  const atom = fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^b]', '\\w', '\\W', '\\s', ' ', '\\b', '^', '$')
  const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,2}', '{2,}', '*?')
  const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
    pattern: fc.array(tie('piece'), { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join('')),
    piece: fc.oneof(
      { maxDepth: 2 },
      fc.tuple(atom, quantifier).map(([one, times]) => (/^(\\b|\^|\$)$/.test(one) ? one : one + times)),
      fc.tuple(tie('pattern'), tie('pattern'), quantifier).map(([a, b, times]) => `(${a}|${b})${times}`),
    ),
  }))
  const line = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '-', '😀'), maxLength: 6 })

  test('is found where the engine finds it', () => {
    fc.assert(
      fc.property(pattern, fc.array(line, { maxLength: 5 }), fc.boolean(), (source, lines, ignoreCase) => {
        const native = new RegExp(source, ignoreCase ? 'iu' : 'u')
        const matcher = createMatcher(source, { ignoreCase })
        for (const one of lines) expect([one, matcher.test(one)]).toEqual([one, native.test(one)])
      }),
      { numRuns: 1_000 },
    )
  })
})
