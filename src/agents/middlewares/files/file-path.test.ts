import { expect, test } from 'vitest'
import { toFilePath, toNamedPath } from './file-path.js'

test.each([
  ['a.md', 'a.md'],
  ['./a/b.md', 'a/b.md'],
  ['a//b/./c/', 'a/b/c'],
  ['', ''],
  ['.', ''],
  ['./', ''],
  ['...', '...'],
  ['a..b', 'a..b'],
  ['été/😀', 'été/😀'],
])('the path %o is %o', (path, expected) => {
  expect(toFilePath(path)).toBe(expected)
})

test.each([
  ['/etc/passwd', /absolute/],
  ['/', /absolute/],
  ['C:/windows', /absolute/],
  ['c:\\windows', /absolute/],
  ['..', /'\.\.'/],
  ['a/../../b', /'\.\.'/],
  ['a/..', /'\.\.'/],
  ['a\\b', /backslash/],
  ['a\0b', /control character/],
  ['a\nb', /control character/],
  ['a/'.repeat(501), /too long/],
])('the path %o is refused', (path, reason) => {
  expect(() => toFilePath(path)).toThrow(
    expect.objectContaining({ code: 'TOOL_ERROR', message: expect.stringMatching(reason) as string }),
  )
})

test('the top folder is no file', () => {
  expect(toNamedPath('a')).toBe('a')
  expect(() => toNamedPath('./')).toThrow(/empty/)
})
