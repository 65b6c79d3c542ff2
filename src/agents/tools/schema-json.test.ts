import { expect, test } from 'vitest'
import type { JsonSchema } from '../../models/index.js'
import { toJsonCheck } from './schema.js'

function issuesOf(schema: JsonSchema, value: unknown): string[] {
  return toJsonCheck(schema, 'Tool')(value).map(({ path, message }) => `${path}: ${message}`)
}

const list = { type: 'array', items: { type: 'integer' } }
const strict = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
const shapes = {
  oneOf: [
    { type: 'object', properties: { kind: { const: 'a' } }, required: ['kind'], additionalProperties: false },
    { type: 'object', properties: { kind: { const: 'b' }, size: { type: 'number' } }, required: ['kind'] },
  ],
}
const tree = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
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
    ['$: String is too short (1 < 3).', '$: String does not match pattern.'],
  ],
  ['an enumeration', { enum: ['a', 'b'] }, 'c', ['$: Instance does not match any of ["a","b"].']],
  ['no value at all', list, undefined, ['$: is missing']],
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

test.each<[string, JsonSchema, RegExp]>([
  [
    'a reference that leads nowhere',
    { $ref: '#/$defs/x' },
    /^Tool: the JSON Schema cannot be used: Error: Unresolved \$ref "#\/\$defs\/x"\./,
  ],
  ['a pattern that is none', { pattern: '(' }, /^Tool: the JSON Schema cannot be used: SyntaxError/],
])('%s is the fault of the schema', (_, schema, message) => {
  const check = toJsonCheck(schema, 'Tool')
  expect(() => check('x')).toThrow(
    expect.objectContaining({ code: 'INVALID_AGENT', message: expect.stringMatching(message) as string }),
  )
})

test('a schema that contains itself is refused when it is read', () => {
  const schema: Record<string, unknown> = { type: 'array' }
  schema.items = schema
  expect(() => toJsonCheck(schema, 'Tool')).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }))
})
