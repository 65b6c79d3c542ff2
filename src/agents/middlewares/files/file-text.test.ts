import { describe, expect, test } from 'vitest'
import { cutLine, decodeText, numberLines, splitLines } from './file-text.js'

describe('bytes', () => {
  test.each([
    ['a text', Buffer.from('été 😀\n'), 'été 😀\n'],
    ['a text with a mark at its beginning', Buffer.from('\uFEFFa'), '\uFEFFa'],
    ['nothing', Buffer.from(''), ''],
    ['zeros', Buffer.from('a\0b'), undefined],
    ['what is not UTF-8', Buffer.from([0x61, 0xff, 0x62]), undefined],
    ['a character that is cut off', Buffer.from('é').subarray(0, 1), undefined],
  ])('of %s', (_, bytes, text) => {
    expect(decodeText(bytes)).toBe(text)
  })
})

test.each([
  ['a\nb', ['a', 'b']],
  ['a\r\nb\r\n', ['a', 'b']],
  ['\n', ['']],
  ['', []],
  ['\uFEFFa\n\n', ['a', '']],
])('the lines of %o are %o', (text, lines) => {
  expect(splitLines(text)).toEqual(lines)
})

test('a long line is cut, but no character is', () => {
  expect(cutLine('12345', 5)).toBe('12345')
  expect(cutLine('123456', 5)).toBe('12345... [cut]')
  expect(cutLine('1😀2', 2)).toBe('1😀... [cut]')
})

describe('numbered lines', () => {
  const text = 'one\ntwo\nthree\nfour\n'
  const all = { offset: 1, limit: 10, maxChars: 1_000 }

  test.each([
    ['all', all, '     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour'],
    [
      'some',
      { ...all, offset: 2, limit: 2 },
      '     2\ttwo\n     3\tthree\n[Lines 2 to 3 of 4. Go on with offset 4.]',
    ],
    ['the last', { ...all, offset: 4, limit: 1 }, '     4\tfour'],
    ['none behind the end', { ...all, offset: 5 }, '[The file ends at line 4.]'],
    [
      'what has room',
      { ...all, maxChars: 22 },
      '     1\tone\n     2\ttwo\n[Lines 1 to 2 of 4. Go on with offset 3.]',
    ],
    ['one at least', { ...all, maxChars: 1 }, '     1\tone\n[Lines 1 to 1 of 4. Go on with offset 2.]'],
  ])('are %s', (_, options, expected) => {
    expect(numberLines(text, options)).toBe(expected)
  })

  test('of an empty file say so', () => {
    expect(numberLines('', all)).toBe('[The file is empty.]')
  })
})
