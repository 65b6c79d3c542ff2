import { describe, expect, test } from 'vitest'
import { describeIssues, joinIssues, toIssue } from './issues.js'

describe('an issue', () => {
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

  test('a long name in the path is cut', () => {
    expect(toIssue(['x'.repeat(1000)], '').path.length).toBe(203)
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
    expect(joinIssues(issues)).toMatch(/^\$\[0\]: is wrong; .*; and 2 more$/)
  })
})
