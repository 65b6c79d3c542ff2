import { describe, expect, test } from 'vitest'
import { parseFrontMatter } from './front-matter.js'

const read = (...lines: string[]) => {
  const { fields } = parseFrontMatter(['---', ...lines, '---', 'Body.'].join('\n'))
  return Object.fromEntries([...fields].map(([key, { text }]) => [key, text]))
}

describe('front matter', () => {
  test('stands before the body', () => {
    const { fields, body } = parseFrontMatter('\uFEFF---\r\nname: a\r\n---\r\n\r\n# Title\r\n---\r\nmore\r\n')
    expect([...fields]).toEqual([['name', { text: 'a' }]])
    expect(body).toBe('# Title\n---\nmore')
  })

  test.each<[string, string[], Record<string, string | undefined>]>([
    ['plain', ['a: one two', 'b-c: 3'], { a: 'one two', 'b-c': '3' }],
    ['a colon in it', ['a: use when: asked'], { a: 'use when: asked' }],
    ['a comment', ['# first', 'a: C# code # a comment', '', 'b: # none'], { a: 'C# code', b: '' }],
    ['single quotes', [`a: 'it''s # "so"' # comment`], { a: `it's # "so"` }],
    ['double quotes', ['a: "one\\n\\"two\\" \\u00e9"'], { a: 'one\n"two" é' }],
    [
      'a literal block',
      ['a: |', '  one', '    two', '', '  three', 'b: x'],
      { a: 'one\n  two\n\nthree', b: 'x' },
    ],
    ['a folded block', ['a: >-', '  one', '  two', '', '  three'], { a: 'one two\nthree' }],
    ['several lines', ['a: one', '  two # comment', '', '  three', 'b: x'], { a: 'one two three', b: 'x' }],
    ['text in the next line', ['a:', '  one'], { a: 'one' }],
    [
      'lists and maps',
      ['a: [x, y]', 'b:', '  - x', 'c:', '- x', 'd:', '  k: v', 'e: {k: v}', 'f: x'],
      { f: 'x' },
    ],
    ['nothing', [], {}],
  ])('has text: %s', (_, lines, expected) => {
    const { a, b, c, d, e, ...rest } = read(...lines)
    expect({ a, b, c, d, e, ...rest }).toEqual(expected)
  })

  test.each([
    ['no beginning', 'name: a', /must begin with a line '---'/],
    ['nothing at all', '', /must begin/],
    ['no end', '---\nname: a\n', /no second line '---'/],
    ['a line that is none', '---\nname: a\nnonsense\n---', /line 3 is not 'key: value'/],
    ['no space behind the colon', '---\nname:a\n---', /line 2 is not/],
    ['a key twice', '---\na: 1\na: 2\n---', /line 3 has 'a' for the second time/],
    ['quotes that are not closed', '---\na: "x\n---', /line 2 has a quoted text that is not closed/],
    ['something behind quotes', "---\na: 'x' y\n---", /not closed, or has something behind it/],
    ['a bad escape', '---\na: "\\q"\n---', /line 2 has a quoted text/],
    ['quotes over two lines', '---\na: "x\n  y"\n---', /goes on in the next line/],
    ['an anchor', '---\na: &x y\n---', /needs quotes/],
    ['a block with an indentation', '---\na: |2\n  y\n---', /needs quotes/],
  ])('is refused with %s', (_, source, reason) => {
    expect(() => parseFrontMatter(source)).toThrow(reason)
  })
})
