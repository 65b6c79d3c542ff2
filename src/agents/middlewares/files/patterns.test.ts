import { describe, expect, test } from 'vitest'
import { endsSoon } from '../../../../test/support/ends-soon.js'
import { compileGlob, compileRegex } from './patterns.js'

describe('a glob', () => {
  const paths = [
    'a.ts',
    'b.tsx',
    'src/a.ts',
    'src/x/c.ts',
    'src/x/y/d.md',
    '.env',
    'a,b.txt',
    'src/[z].ts',
    'été.md',
  ]

  function found(glob: string): string[] {
    const fits = compileGlob(glob)
    return paths.filter((path) => fits(path))
  }

  describe('the pattern', () => {
    test.each([
      ['*.ts', ['a.ts']],
      ['*', ['a.ts', 'b.tsx', '.env', 'a,b.txt', 'été.md']],
      ['**', paths],
      ['**/*', paths],
      ['**/*.ts', ['a.ts', 'src/a.ts', 'src/x/c.ts', 'src/[z].ts']],
      ['src/**', ['src/a.ts', 'src/x/c.ts', 'src/x/y/d.md', 'src/[z].ts']],
      ['src/**/*.md', ['src/x/y/d.md']],
      ['src/**/c.ts', ['src/x/c.ts']],
      ['src/*/c.ts', ['src/x/c.ts']],
      ['{a,b}.{ts,tsx}', ['a.ts', 'b.tsx']],
      ['{src/**/,}a.ts', ['a.ts', 'src/a.ts']],
      ['?.ts', ['a.ts']],
      ['[a-c].ts*', ['a.ts', 'b.tsx']],
      ['[!a].ts*', ['b.tsx']],
      ['src[!x]a.ts', []],
      ['a,b.txt', ['a,b.txt']],
      ['src/\\[z\\].ts', ['src/[z].ts']],
      ['.env', ['.env']],
      ['xenv', []],
      ['?t?.md', ['été.md']],
    ])('%s finds %o', (glob, expected) => {
      expect(found(glob)).toEqual(expected)
    })

    test.each(['', '{a', 'a}', '[z-a]'])('%o is refused', (glob) => {
      expect(() => compileGlob(glob)).toThrow(expect.objectContaining({ code: 'TOOL_ERROR' }))
    })

    test('with many stars is answered at once', () => {
      expect(compileGlob(`${'*a'.repeat(30)}b`)('a'.repeat(900))).toBe(false)
    })
  })
})

describe('a regular expression', () => {
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
      const isIn = compileRegex(pattern)
      expect([isIn(yes), isIn(no)]).toEqual([true, false])
    })

    test('can leave letter case aside', () => {
      expect(compileRegex('ÉTÉ [a-z]', { ignoreCase: true })('été Z')).toBe(true)
      expect(compileRegex('ÉTÉ [a-z]')('été Z')).toBe(false)
    })

    test.each(['(', 'a)', '[a', '*a', '(?=a)', '(?<!a)b', '(a)\\1', '\\q', 'a{1001}', 'x'.repeat(1_001)])(
      '%s is refused with a reason',
      (pattern) => {
        expect(() => compileRegex(pattern)).toThrow(
          expect.objectContaining({
            code: 'TOOL_ERROR',
            message: expect.stringMatching(/pattern/) as string,
          }),
        )
      },
    )

    test.each(['(a+)+$', '(a|aa)+$', '(.*)*x', 'a*a*a*a*a*a*a*a*b', '(a*)*b'])(
      'that would never end in another engine is answered: %s',
      (pattern) => {
        expect(compileRegex(pattern)(`${'a'.repeat(20_000)}!`)).toBe(false)
      },
    )
  })
})

test('a long glob is refused before it is read', () => {
  expect(() => endsSoon(() => compileGlob('['.repeat(300_000)))).toThrow('longer than 1000 characters')
})
