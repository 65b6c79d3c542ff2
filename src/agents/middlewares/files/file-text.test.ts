import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cutLine, decodeText, editText, formatLines, splitLines } from './file-text.js'

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
    expect(formatLines(text, options)).toBe(expected)
  })

  test('of an empty file say so', () => {
    expect(formatLines('', all)).toBe('[The file is empty.]')
  })
})

describe('an edit', () => {
  test.each([
    ['one of one', 'a b c', { oldText: 'b', newText: 'x' }, 'a x c', 1],
    ['nothing in its place', 'a b c', { oldText: ' b', newText: '' }, 'a c', 1],
    ['all', 'a b a', { oldText: 'a', newText: 'x', replaceAll: true }, 'x b x', 2],
    ['all of one', 'a b', { oldText: 'a', newText: 'x', replaceAll: true }, 'x b', 1],
    ['what looks like a pattern', 'a.c abc', { oldText: 'a.c', newText: '$& $1 $$' }, '$& $1 $$ abc', 1],
    [
      'lines that end with CR LF',
      'a\r\nb\r\nc',
      { oldText: 'a\nb', newText: 'x\ny\n' },
      'x\r\ny\r\n\r\nc',
      1,
    ],
    ['what overlaps itself', 'aaa', { oldText: 'aa', newText: 'b' }, 'ba', 1],
  ])('replaces %s', (_, text, edit, expected, count) => {
    expect(editText(text, edit)).toEqual({ text: expected, count })
  })

  test.each([
    ['is not there', 'a b', { oldText: 'c', newText: 'x' }, /not there/],
    ['is there in other letters', 'a b', { oldText: 'A', newText: 'x' }, /not there/],
    ['is there twice', 'a b a', { oldText: 'a', newText: 'x' }, /there 2 times/],
    ['is empty', 'a b', { oldText: '', newText: 'x' }, /is empty/],
    ['does not change', 'a b', { oldText: 'a', newText: 'a' }, /the same/],
    ['is not there with plain line ends', 'a\r\nb', { oldText: 'b\na', newText: 'x' }, /not there/],
  ])('refuses a text that %s', (_, text, edit, reason) => {
    expect(() => editText(text, edit)).toThrow(
      expect.objectContaining({ code: 'TOOL_ERROR', message: expect.stringMatching(reason) as string }),
    )
  })

  describe('any text', () => {
    const piece = fc.string({
      unit: fc.constantFrom('a', 'b', '$', '&', '\\', '\n', '\r\n', '😀'),
      maxLength: 6,
    })

    test('keeps everything around the one place that is replaced', () => {
      fc.assert(
        fc.property(piece, piece, piece, (before, after, newText) => {
          const oldText = '[old]'
          expect(editText(before + oldText + after, { oldText, newText })).toEqual({
            text: before + newText + after,
            count: 1,
          })
        }),
      )
    })

    test('changes in the given number of places, and back again', () => {
      fc.assert(
        fc.property(fc.array(piece, { minLength: 2, maxLength: 5 }), (pieces) => {
          const there = editText(pieces.join('[old]'), {
            oldText: '[old]',
            newText: '[new]',
            replaceAll: true,
          })
          expect(there).toEqual({ text: pieces.join('[new]'), count: pieces.length - 1 })
          const back = editText(there.text, { oldText: '[new]', newText: '[old]', replaceAll: true })
          expect(back.text).toBe(pieces.join('[old]'))
        }),
      )
    })

    test('is changed only when the old text is in it, once', () => {
      fc.assert(
        fc.property(
          piece,
          piece.filter((text) => text !== '' && !text.includes('\n')),
          (text, oldText) => {
            const count = text.split(oldText).length - 1
            const edit = () => editText(text, { oldText, newText: '' })
            if (count === 1) expect(edit().text).toHaveLength(text.length - oldText.length)
            else expect(edit).toThrow(expect.objectContaining({ code: 'TOOL_ERROR' }))
          },
        ),
      )
    })
  })
})
