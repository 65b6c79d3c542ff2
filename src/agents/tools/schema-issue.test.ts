import { expect, test } from 'vitest'
import { describeIssues, toIssue } from './schema.js'

test.each([
  [[], '$'],
  [['a', 'b'], '$.a.b'],
  [['a', 0, 'b'], '$.a[0].b'],
  [['a.b'], '$["a.b"]'],
  [['say "hi"'], '$["say \\"hi\\""]'],
  [[Symbol('s')], '$["Symbol(s)"]'],
])('the way %j is written %s', (keys, path) => {
  expect(toIssue(keys, '').path).toBe(path)
})

test('issues are listed one a line', () => {
  expect(describeIssues([toIssue(['a'], 'expected string'), toIssue([], 'is wrong')])).toBe(
    '- $.a: expected string\n- $: is wrong',
  )
})

test('of very many issues only the first are listed', () => {
  const issues = Array.from({ length: 12 }, (_, index) => toIssue([index], 'is wrong'))
  const lines = describeIssues(issues).split('\n')
  expect(lines).toHaveLength(11)
  expect(lines.at(-1)).toBe('- and 2 more')
})
