import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assertSafeJson, findJsonError } from './check-json.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

function refusal(json: string, maxDepth = 64): unknown {
  try {
    assertSafeJson(JSON.parse(json), { maxDepth })
    return undefined
  } catch (error) {
    return error
  }
}

function lists(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth)
}

describe('assertSafeJson', () => {
  test('takes every kind of JSON value', () => {
    for (const json of ['1', '"__proto__"', 'null', '[]', '{}', '{"a":[{"b":[true,-1.5,null,"x"]},[]]}']) {
      expect(refusal(json), json).toBeUndefined()
    }
  })

  test('takes as many levels as it should, and no more', () => {
    expect(refusal(lists(4), 4)).toBeUndefined()
    expect(refusal(lists(5), 4)).toMatchObject({
      code: 'INVALID_INPUT',
      message: '[0][0][0][0]: nested deeper than 4 levels',
    })
    expect(refusal('{"a":{"b":{"c":{}}}}', 3)).toMatchObject({ details: { field: 'a.b.c' } })
    expect(refusal('{"a":{"b":{"c":1}}}', 3)).toBeUndefined()
  })

  test('counts the levels of each branch on their own', () => {
    expect(refusal(`[${lists(3)},${lists(3)},{"a":${lists(2)}}]`, 4)).toBeUndefined()
    expect(refusal(`[${lists(3)},{"a":${lists(3)}}]`, 4)).toMatchObject({ details: { field: '[1].a[0][0]' } })
  })

  test('does not run out of stack on a value a hundred thousand levels deep', () => {
    expect(refusal(lists(100_000), Infinity)).toBeUndefined()
    expect(refusal(lists(100_000))).toMatchObject({ code: 'INVALID_INPUT' })
    expect(refusal('{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000))).toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  test.each([
    ['{"__proto__":{}}', '__proto__'],
    ['{"__proto__":null}', '__proto__'],
    ['{"\\u005f_proto__":1}', '__proto__'],
    ['{"messages":[{},{"metadata":{"__proto__":{"admin":true}}}]}', 'messages[1].metadata.__proto__'],
    ['[[{"__proto__":[]}]]', '[0][0].__proto__'],
    ['{"state":{"constructor":{"prototype":{"admin":true}}}}', 'state.constructor'],
    ['{"constructor":{"prototype":null}}', 'constructor'],
  ])('refuses %s at %s', (json, field) => {
    expect(refusal(json)).toMatchObject({
      code: 'INVALID_INPUT',
      message: `${field}: this member is not allowed`,
      details: { field },
    })
  })

  test('takes members that only look like harmful ones', () => {
    for (const json of [
      '{"constructor":"Ford"}',
      '{"constructor":{"name":"x"}}',
      '{"prototype":{}}',
      '{"proto":1}',
    ])
      expect(refusal(json), json).toBeUndefined()
  })

  test('refuses a number that JSON can write and JavaScript cannot hold', () => {
    expect(refusal('{"state":{"n":1e999}}')).toMatchObject({ message: 'state.n: the number is too large' })
    expect(refusal('[0,-1e999]')).toMatchObject({ details: { field: '[1]' } })
    expect(refusal('1e999')).toMatchObject({ details: { field: '(body)' } })
  })

  test('writes foreign keys safely and cuts long paths', () => {
    expect(refusal('{"a\\nb":{"__proto__":1}}')).toMatchObject({ details: { field: '["a\\nb"].__proto__' } })
    const long = 'k'.repeat(10_000)
    const error = refusal(`{"${long}":{"${long}":{"${long}":{"${long}":{"__proto__":1}}}}}`) as Error
    expect(error.message.length).toBeLessThan(300)
    expect(error.message).toContain('…: this member is not allowed')
  })
})

describe('findJsonError', () => {
  test.each([
    ['', 0],
    ['   ', 3],
    ['{', 1],
    ['{"a":}', 5],
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ['{a:1}', 1],
    ["{'a':1}", 1],
    ['[1,2', 4],
    ['[1,]', 3],
    ['[1 2]', 3],
    ['[,1]', 1],
    ['{"a":1]', 6],
    ['{"a":1} x', 8],
    ['nul', 0],
    ['[tru]', 1],
    ['[01]', 2],
    ['[1.]', 2],
    ['[+1]', 1],
    ['[NaN]', 1],
    ['"abc', 4],
    ['"a\nb"', 2],
    ['["\\x"]', 2],
    ['["\\u12g4"]', 2],
    ['\u00a0{}', 0],
    ['// no\n1', 0],
  ])('%j stops being JSON at %i', (text, position) => {
    expect(findJsonError(text)).toBe(position)
  })

  test('finds an error in exactly what JSON.parse refuses, and none after the end', () => {
    const broken = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', '"', '\\', ',', ':', '[', ']', '{', '}', '-', '0', '.', 'e', '\n', 'x'),
      )
      .map(([json, seed, piece]) => {
        const at = seed % (json.length + 1)
        return json.slice(0, at) + piece + json.slice(piece === '' ? at + 1 : at)
      })
    fc.assert(
      fc.property(fc.oneof(fc.json(), broken), (text) => {
        const position = findJsonError(text)
        expect(position === undefined).toBe(isJson(text))
        if (position !== undefined) expect(position).toBeLessThanOrEqual(text.length)
      }),
      { numRuns: propertyRuns(300), seed: 7 },
    )
  })

  test('takes strings and nesting of any size', () => {
    expect(findJsonError(`["${'x'.repeat(1_000_000)}"`)).toBe(1_000_003)
    expect(findJsonError('['.repeat(500_000))).toBe(500_000)
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
