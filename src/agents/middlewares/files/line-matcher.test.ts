import { describe, expect, test } from 'vitest'
import { createMatcher } from './line-matcher.js'

describe('a pattern', () => {
  test.each([
    ['needle', 'a needle in hay', 'a noodle'],
    ['^import\\s', 'import fs', ' import fs'],
    ['\\bcat\\b', 'a cat.', 'concat'],
    ['(foo|ba[rz])+\\d{2,3}', 'foobaz42', 'foo4'],
    ['[[:upper:]]\\p{Greek}', 'Aλ', 'aλ'],
    ['^.$', '😀', 'ab'],
    ['(?i)todo', 'ToDo', 'to do'],
    ['価格', '価格は', '価'],
  ])('%s is found in %o and not in %o', (pattern, yes, no) => {
    const { test: isIn } = createMatcher(pattern)
    expect([isIn(yes), isIn(no)]).toEqual([true, false])
  })

  test('can leave letter case aside', () => {
    expect(createMatcher('ÉTÉ [a-z]', { ignoreCase: true }).test('été Z')).toBe(true)
    expect(createMatcher('ÉTÉ [a-z]').test('été Z')).toBe(false)
  })

  test.each(['(', 'a)', '[a', '*a', '(?=a)', '(?<!a)b', '(a)\\1', '\\q', 'a{1001}', 'x'.repeat(1_001)])(
    '%s is refused with a reason',
    (pattern) => {
      expect(() => createMatcher(pattern)).toThrow(
        expect.objectContaining({ code: 'TOOL_ERROR', message: expect.stringMatching(/pattern/) as string }),
      )
    },
  )

  test.each(['(a+)+$', '(a|aa)+$', '(.*)*x', 'a*a*a*a*a*a*a*a*b', '(a*)*b'])(
    'that would never end in another engine is answered: %s',
    (pattern) => {
      expect(createMatcher(pattern).test(`${'a'.repeat(20_000)}!`)).toBe(false)
    },
  )
})
