import { Validator } from '@cfworker/json-schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { endsSoon } from '../../../test/support/ends-soon.js'
import { propertyRuns } from '../../../test/support/property-runs.js'
import type { JsonSchema } from '../../models/index.js'
import { compileSchema } from './compile-schema.js'

function issuesOf(schema: JsonSchema, value: unknown): string[] {
  return compileSchema(schema)(value).map(({ path, message }) => `${path}: ${message}`)
}

const list = { type: 'array', items: { type: 'integer' } }
const strict = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
const shapes = {
  oneOf: [
    {
      type: 'object',
      properties: { kind: { const: 'a' } },
      required: ['kind'],
      additionalProperties: false,
    },
    { type: 'object', properties: { kind: { const: 'b' }, size: { type: 'number' } }, required: ['kind'] },
  ],
}
const tree = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        children: { type: 'array', items: { $ref: '#/$defs/node' } },
      },
    },
  },
}

test.each<[string, JsonSchema, unknown, string[]]>([
  ['a value that fits', list, [1, 2], []],
  ['a wrong type', { type: 'string' }, 1, ['$: expected string']],
  ['one of several types', { type: ['string', 'null'] }, 1, ['$: expected string or null']],
  ['every wrong item', list, ['x', 1, null], ['$[0]: expected integer', '$[2]: expected integer']],
  ['what is missing', { type: 'object', required: ['a', 'b'] }, { a: 1 }, ['$.b: is required']],
  ['what is too much', strict, { a: 'x', 'odd key': 1 }, ['$["odd key"]: is not allowed']],
  [
    'strange keys',
    { properties: { 'a/b~c': { type: 'string' } } },
    { 'a/b~c': 1 },
    ['$["a/b~c"]: expected string'],
  ],
  [
    'keys that are not ASCII',
    { properties: { größe: { type: 'string' } } },
    { größe: 1 },
    ['$["größe"]: expected string'],
  ],
  [
    'none of the alternatives',
    { anyOf: [{ type: 'string' }, list] },
    ['x'],
    ['$: fits none of the allowed forms'],
  ],
  [
    'a choice as one issue',
    shapes,
    { kind: 'c', size: 'x' },
    ['$: must fit exactly one of the allowed forms'],
  ],
  [
    'the depth of a recursive schema',
    tree,
    { children: [{ children: [{ name: 1 }] }] },
    ['$.children[0].children[0].name: expected string'],
  ],
  [
    'all parts of a conjunction',
    { allOf: [{ minLength: 3 }, { pattern: '^a' }] },
    'b',
    ['$: must have at least 3 characters', '$: does not match the pattern ^a'],
  ],
  ['an enumeration', { enum: ['a', 'b'] }, 'c', ['$: must be one of "a", "b"']],
  ['a constant', { const: { a: [1] } }, { a: [2] }, ['$: must be {"a":[1]}']],
  [
    'a number out of bounds',
    { minimum: 1, exclusiveMaximum: 3, multipleOf: 0.1 },
    3.05,
    ['$: must be less than 3', '$: must be a multiple of 0.1'],
  ],
  [
    'a text out of bounds',
    { minLength: 2, maxLength: 2 },
    '\u{1F600}',
    ['$: must have at least 2 characters'],
  ],
  ['a format', { format: 'email' }, 'x', ['$: does not have the format email']],
  ['the length of a list', { minItems: 1, maxItems: 0 }, [], ['$: must have at least 1 items']],
  [
    'two equal items',
    { uniqueItems: true },
    [{ a: 1, b: 2 }, 1, { b: 2, a: 1 }],
    ['$: has the same item at 0 and 2'],
  ],
  [
    'a tuple',
    { prefixItems: [{ type: 'string' }], items: false },
    [1, 2],
    ['$[0]: expected string', '$[1]: is not allowed'],
  ],
  ['a missing item', { contains: { const: 1 } }, [2], ['$: must have at least 1 items of the required form']],
  [
    'too many items',
    { contains: { const: 1 }, maxContains: 1 },
    [1, 1],
    ['$: must have at most 1 items of the form that is counted'],
  ],
  ['a forbidden form', { not: { type: 'null' } }, null, ['$: has a form that is not allowed']],
  [
    'a condition',
    { if: { type: 'string' }, then: { minLength: 1 }, else: { minimum: 1 } },
    0,
    ['$: must be at least 1'],
  ],
  ['a name', { propertyNames: { pattern: '^[a-z]+$' } }, { a: 1, B: 1 }, ['$.B: is not allowed as a name']],
  [
    'a member by its name',
    { patternProperties: { '^n': { type: 'number' } }, additionalProperties: false },
    { n: 'x', m: 1 },
    ['$.n: expected number', '$.m: is not allowed'],
  ],
  ['what another member needs', { dependentRequired: { a: ['b'] } }, { a: 1 }, ['$.b: is required']],
  [
    'what no part of it knows',
    { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
    { a: 1, b: 1 },
    ['$.b: is not allowed'],
  ],
  [
    'a member that is undefined as absent',
    { required: ['a'], properties: { a: false } },
    { a: undefined },
    ['$.a: is required'],
  ],
  [
    'an id',
    { $id: 'https://x.test/a', $ref: 'b', $defs: { b: { $id: 'b', $anchor: 'c', type: 'null' } } },
    1,
    ['$: expected null'],
  ],
  ['an anchor', { $ref: '#c', $defs: { b: { $anchor: 'c', type: 'null' } } }, 1, ['$: expected null']],
])('it tells %s', (_, schema, value, expected) => {
  expect(issuesOf(schema, value)).toEqual(expected)
})

test('a schema that cannot be changed is read all the same, and stays as it is', () => {
  const schema = Object.freeze({
    type: 'object',
    properties: Object.freeze({ a: Object.freeze({ type: 'string' }) }),
  })
  expect(issuesOf(schema, { a: 1 })).toEqual(['$.a: expected string'])
  expect(Reflect.ownKeys(schema)).toEqual(['type', 'properties'])
})

describe('a schema that cannot be used', () => {
  const cases: [string, JsonSchema, string][] = [
    ['refers to nothing', { $ref: '#/$defs/x' }, "`$ref`: there is no '#/$defs/x' in it"],
    [
      'refers to another document',
      { $ref: 'https://x.test/y' },
      "`$ref`: there is no 'https://x.test/y' in it",
    ],
    ['leads back to itself', { allOf: [{ $ref: '#' }] }, '`$ref`: it leads back to itself'],
    [
      'has a pattern that is none',
      { properties: { a: { pattern: '(' } } },
      '`pattern`: the pattern "(" cannot be checked: it is no regular expression',
    ],
    [
      'has a pattern that takes more than linear time',
      { patternProperties: { '(a)\\1': true } },
      '`patternProperties`: the pattern "(a)\\\\1" cannot be checked: it refers back to a group. Change it, or check the value in code',
    ],
    ['has a type that is none', { type: 'STRING' }, '`type`: "STRING" is none of null, boolean,'],
    [
      'has a keyword of the wrong kind',
      { properties: { a: { required: true } } },
      '`required`: it must be a list',
    ],
    ['has another one', { minLength: 'x' }, '`minLength`: it must be a number'],
    ['has a third one', { items: 1 }, '`items`: a schema must be an object, true or false'],
  ]

  test.each(cases)('%s, and is refused', (_, schema, message) => {
    expect(() => compileSchema(schema)).toThrow(message)
  })

  test.each(cases)('%s, and is used without that part where it is not ours', (_, schema, message) => {
    const problems: string[] = []
    const check = compileSchema(
      { required: ['b'], ...schema },
      { onUnusable: (problem) => problems.push(problem) },
    )
    expect(problems).toEqual([expect.stringContaining(message)])
    expect(check({ a: 'x', aa: 1 })).toEqual(schema.allOf ? [] : [{ path: '$.b', message: 'is required' }])
  })

  test('parts of it that nothing uses do not matter', () => {
    expect(issuesOf({ $defs: { a: { $ref: '#/nowhere' } }, type: 'null' }, null)).toEqual([])
  })
})

describe('whatever the schema and the value, a check ends soon', () => {
  const bomb = (levels: number, combine: string): JsonSchema => ({
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(
      Array.from({ length: levels }, (_, level) => {
        const next = level === levels - 1 ? { type: 'null' } : { $ref: `#/$defs/d${level + 1}` }
        return [`d${level}`, { [combine]: [next, next, { allOf: [next] }] }]
      }),
    ),
  })
  const tree = {
    anyOf: ['b', 'c'].map((key) => ({
      type: 'object',
      properties: { a: { $ref: '#' }, [key]: true },
    })),
  }
  const deep = (levels: number): unknown => JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels))
  const evil = '^([a-z]+-?)*[a-z]+$'
  const long = `${'a'.repeat(40)}!`
  const many = (length: number, one: (index: number) => unknown): unknown[] =>
    Array.from({ length }, (_, i) => one(i))

  test.each<[string, JsonSchema, unknown, string]>([
    ['a format', { format: 'url' }, `http://${long} `, '$: does not have the format url'],
    ['a pattern', { pattern: evil }, long, `$: does not match the pattern ${evil}`],
    [
      'the pattern of a member',
      { patternProperties: { [evil]: false } },
      { [long]: 1, a: 1 },
      '$.a: is not allowed',
    ],
    [
      'the pattern of a member beside others',
      { patternProperties: { [evil]: true }, additionalProperties: false },
      { [long]: 1 },
      `$["${long}"]: is not allowed`,
    ],
    [
      'the pattern of a name',
      { propertyNames: { pattern: evil } },
      { [long]: 1 },
      `$["${long}"]: is not allowed as a name`,
    ],
    ['a bomb of conjunctions', bomb(30, 'allOf'), null, '$: is too large to be checked'],
    ['a bomb of alternatives', bomb(30, 'anyOf'), 1, '$: is too large to be checked'],
    ['a bomb of choices', bomb(30, 'oneOf'), 1, '$: is too large to be checked'],
    [
      'alternatives inside of each other',
      tree,
      deep(40),
      '$.a.a.a.a.a.a.a.a.a.a: is too large to be checked',
    ],
    [
      'a value without an end',
      { properties: { a: { $ref: '#' } } },
      deep(5_000),
      '$.a.a.a.a.a.a.a.a.a.a: is nested too deeply to be checked',
    ],
    ['a deep constant', { enum: [1] }, deep(5_000), '$: is nested too deeply to be checked'],
    [
      'different items',
      { uniqueItems: true, maxItems: 1 },
      many(50_000, (i) => ({ i })),
      '$: must have at most 1 items',
    ],
    [
      'long lists',
      { items: { enum: many(1_000, String) } },
      many(100_000, (i) => String(i % 1000)).concat('x'),
      '$[100000]: must be one of',
    ],
    ['a long text', { pattern: '^(a|b)*$' }, 'ab'.repeat(5_000_000), '$: is too large to be checked'],
    ['many wrong items', { items: { type: 'null' } }, many(1_000_000, () => 1), '$[0]: expected null'],
  ])('%s', (_, schema, value, issue) => {
    const issues = endsSoon(() => issuesOf(schema, value))
    expect(issues[0]?.startsWith(issue)).toBe(true)
    expect(issues.length).toBeLessThan(101)
  })

  test('a schema that is too large or too deep is refused', () => {
    const wide = { anyOf: many(10_001, () => ({})) }
    expect(() => endsSoon(() => compileSchema(wide))).toThrow('it has more than 10000 parts')
    const nested = JSON.parse(`${'{"items":'.repeat(1_000)}{}${'}'.repeat(1_000)}`) as JsonSchema
    expect(() => endsSoon(() => compileSchema(nested))).toThrow('it is nested more than 200 deep')
  })
})

test('another validator has the same opinion', () => {
  const scalar = fc.constantFrom<unknown>(null, true, 0, 1, 1.5, -2, 100, '', 'a', 'ab', 'b1')
  const { value, schema } = fc.letrec((tie) => {
    const keywords: Record<string, fc.Arbitrary<unknown>> = {
      type: fc.constantFrom('null', 'boolean', 'integer', 'number', 'string', 'array', 'object'),
      enum: fc.array(tie('value'), { minLength: 1, maxLength: 3 }),
      minimum: fc.constantFrom(0, 1),
      exclusiveMaximum: fc.constantFrom(1, 100),
      multipleOf: fc.constantFrom(0.5, 2),
      minLength: fc.constantFrom(1, 2),
      pattern: fc.constantFrom('^a', '\\d$', '[ab]'),
      minItems: fc.constantFrom(1, 2),
      uniqueItems: fc.boolean(),
      ...Object.fromEntries(
        ['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else'].map(
          (name) => [name, tie('schema')],
        ),
      ),
      ...Object.fromEntries(['prefixItems', 'allOf', 'anyOf', 'oneOf'].map((name) => [name, tie('schemas')])),
      minProperties: fc.constantFrom(1, 2),
      required: fc.constantFrom(['a'], ['a', 'b']),
      properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
      patternProperties: fc.dictionary(fc.constantFrom('^a', '1$'), tie('schema')),
      dependentRequired: fc.constant({ a: ['b'] }),
    }
    return {
      value: fc.oneof(
        { maxDepth: 3, depthIdentifier: 'value' },
        scalar,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c1'), tie('value'), { maxKeys: 3 }),
      ),
      schemas: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
      schema: fc.oneof(
        { maxDepth: 3, depthIdentifier: 'schema' },
        fc.boolean(),
        fc
          .subarray(Object.entries(keywords), { maxLength: 4 })
          .chain((some) => fc.record(Object.fromEntries(some))),
      ),
    }
  })
  const seen = new Set<boolean>()
  fc.assert(
    fc.property(schema, value, (one, instance) => {
      const whole = JSON.parse(JSON.stringify({ allOf: [one] })) as JsonSchema
      const { valid } = new Validator(structuredClone(whole), '2020-12').validate(instance)
      seen.add(valid)
      expect(compileSchema(whole)(instance).length === 0).toBe(valid)
    }),
    { numRuns: propertyRuns(1000) },
  )
  expect(seen.size).toBe(2)
})
