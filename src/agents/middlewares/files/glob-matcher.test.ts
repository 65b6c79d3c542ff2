import { describe, expect, test } from 'vitest'
import { createGlobMatcher } from './glob-matcher.js'

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
  const { test: fits } = createGlobMatcher(glob)
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
    expect(() => createGlobMatcher(glob)).toThrow(expect.objectContaining({ code: 'TOOL_ERROR' }))
  })

  test('with many stars is answered at once', () => {
    expect(createGlobMatcher(`${'*a'.repeat(30)}b`).test('a'.repeat(900))).toBe(false)
  })
})
