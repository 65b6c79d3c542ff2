import type { ContentPart } from '@ag-ui/core'
import { expect, test } from 'vitest'
import { MillraceError } from '../../core/errors.js'
import { contentResult, errorContent, toResultContent } from './tool-result.js'

test.each([
  ['text', 'sunny', 'sunny'],
  ['nothing', undefined, ''],
  ['null', null, ''],
  ['data', { temp: 20, tags: ['a'] }, '{"temp":20,"tags":["a"]}'],
  ['a number', 0, '0'],
  ['false', false, 'false'],
  ['a date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
])('%s becomes content', (_, value, content) => {
  expect(toResultContent(value, 'weather')).toBe(content)
})

test('parts stay parts, and are the reader to keep', () => {
  const parts: ContentPart[] = [
    { type: 'text', text: 'The chart:' },
    { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } },
  ]
  const content = toResultContent(contentResult(parts), 'chart')
  expect(content).toEqual(parts)
  expect(content).not.toBe(parts)
})

test('an object that only looks like parts is data', () => {
  expect(toResultContent({ parts: [] }, 'chart')).toBe('{"parts":[]}')
})

const circle: Record<string, unknown> = {}
circle.self = circle

test.each([
  ['a promise', Promise.resolve()],
  ['a promise inside', { a: [Promise.resolve()] }],
  ['a circle', circle],
  ['a function', () => 1],
  ['a symbol', Symbol('s')],
])('%s is refused by the name of the tool', (_, value) => {
  expect(() => toResultContent(value, 'weather')).toThrow(
    expect.objectContaining({
      code: 'ENCODING_ERROR',
      message: expect.stringMatching(/^The result of tool 'weather' is not JSON: /) as string,
    }),
  )
})

test.each([
  [new Error('no such city'), 'Error: no such city'],
  [new MillraceError('TOOL_ERROR', 'too slow'), 'Error: too slow'],
  [new TypeError(''), 'Error: TypeError'],
  ['plain words', 'Error: plain words'],
  [{ message: 'not an Error' }, 'Error: not an Error'],
  [{ code: 7 }, 'Error: the tool failed'],
  [undefined, 'Error: the tool failed'],
])('a model is told %s without a stack', (error, content) => {
  expect(errorContent(error)).toBe(content)
})
