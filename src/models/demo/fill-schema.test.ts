import { Validator } from '@cfworker/json-schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { endsSoon } from '../../../test/support/ends-soon.js'
import type { JsonSchema } from '../contract.js'
import { createFacts } from './facts.js'
import { fillSchema } from './fill-schema.js'

const object = (properties: object, required: string[] = Object.keys(properties)): JsonSchema => ({
  type: 'object',
  properties,
  required,
})
const fill = (schema: JsonSchema, said = '') => fillSchema(schema, { facts: createFacts(said) })
/** What the message gives for one member. */
const fillOne = (key: string, schema: object, said = '') =>
  (fill(object({ [key]: schema }), said) as Record<string, unknown>)[key]
const string = { type: 'string' }

describe('from the message come', () => {
  test.each<[string, string, object, string, unknown]>([
    ['places', 'city', string, 'Is it raining in Oslo?', 'Oslo'],
    ['places in lower case', 'location', string, 'weather in bergen', 'Bergen'],
    ['addresses of mail', 'to', { ...string, format: 'email' }, 'Mail bob@x.test', 'bob@x.test'],
    ['days', 'date', { ...string, format: 'date' }, 'on 2026-05-17', '2026-05-17'],
    ['moments', 'start', { ...string, format: 'date-time' }, 'on 2026-05-17', '2026-05-17T12:00:00Z'],
    ['times', 'at', { ...string, format: 'time' }, 'at 9:30', '09:30:00Z'],
    ['links', 'page', { ...string, format: 'uri' }, 'open https://x.test', 'https://x.test'],
    ['quotes', 'title', string, 'Add "Milk" to the list', 'Milk'],
    ['names', 'restaurant', string, 'A table at Maaemo', 'Maaemo'],
    ['colours', 'background', string, 'change the background to blue', 'Blue'],
    ['numbers', 'count', { type: 'integer' }, 'give me 3', 3],
    ['numbers in words', 'people', { type: 'number' }, 'for two people', 2],
    ['choices', 'unit', { enum: ['celsius', 'fahrenheit'] }, 'in Fahrenheit', 'fahrenheit'],
    ['yes', 'outside', { type: 'boolean' }, 'a table outside', true],
    ['no', 'sugar', { type: 'boolean' }, 'coffee without sugar', false],
    ['lists', 'cities', { type: 'array', items: string }, 'Compare Oslo and Rome', ['Oslo', 'Rome']],
  ])('%s', (_what, key, schema, said, expected) => {
    expect(fillOne(key, schema, said)).toEqual(expected)
  })

  test('different values for different members', () => {
    const schema = object({
      from: string,
      to: string,
      maxPrice: { type: 'number' },
      stops: { type: 'integer' },
    })
    expect(fill(schema, 'a flight from Oslo to Rome, price 200, with 1 stop')).toEqual({
      from: 'Oslo',
      to: 'Rome',
      maxPrice: 200,
      stops: 1,
    })
  })

  test('only those optional members that it tells', () => {
    const schema = object({ page: { type: 'integer' }, unit: { enum: ['a', 'b'] }, city: string }, ['city'])
    expect(fill(schema, 'Oslo')).toEqual({ city: 'Oslo' })
    expect(fill(schema, 'Oslo, page 2, b')).toEqual({ city: 'Oslo', page: 2, unit: 'b' })
  })

  test('the whole text where text is asked for', () => {
    expect(fillOne('query', string, 'how tall is it')).toBe('how tall is it')
  })
})

describe('made up are', () => {
  test.each<[string, object, unknown]>([
    ['x', { default: 7 }, 7],
    ['x', { examples: ['e'] }, 'e'],
    ['x', { const: 'c' }, 'c'],
    ['x', { enum: ['first', 'second'] }, 'first'],
    ['x', { type: 'boolean' }, true],
    ['x', { type: 'null' }, null],
    ['x', string, 'demo'],
    ['x', {}, 'demo'],
    ['city', string, 'Oslo'],
    ['x', { type: ['null', 'integer'] }, 1],
    ['x', { anyOf: [{ type: 'null' }, { type: 'boolean' }] }, true],
    ['x', { allOf: [object({ a: { const: 1 } }), object({ b: { const: 2 } })] }, { a: 1, b: 2 }],
    ['x', { type: 'array', items: { const: 'i' } }, ['i']],
    ['x', { items: { const: 'i' }, minItems: 2 }, ['i', 'i']],
    ['x', { properties: { first: { const: 1 }, second: { const: 2 } } }, { first: 1 }],
    ['x', { type: 'object', required: ['unheard'] }, { unheard: 'demo' }],
    ['x', { type: 'string', minLength: 6, maxLength: 6 }, 'demo..'],
    ['x', { type: 'string', maxLength: 2 }, 'de'],
    ['x', { type: 'integer', minimum: 5 }, 5],
    ['x', { type: 'number', exclusiveMaximum: 1 }, 0],
    ['x', { type: 'integer', exclusiveMinimum: 3, multipleOf: 4 }, 8],
  ])('values for %s of %j', (key, schema, expected) => {
    expect(fillOne(key, schema)).toEqual(expected)
  })

  test('numbers that the message gives, when they are out of range', () => {
    expect(fillOne('people', { type: 'integer', maximum: 8 }, 'for 200 people')).toBe(8)
  })

  test('members behind references, also in schemas that contain themselves', () => {
    const schema = {
      $ref: '#/$defs/tree',
      $defs: {
        tree: object({ name: { const: 'n' }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } }),
      },
    }
    expect(new Validator(schema).validate(fill(schema)).valid).toBe(true)
    expect(fill({ $ref: '#' })).toBe('demo')
    expect(fill({ $ref: '#/nowhere' })).toBe('demo')
    const endless = { $ref: '#/$defs/a', $defs: { a: object({ a: { $ref: '#/$defs/a' } }) } }
    expect(JSON.stringify(fill(endless)).length).toBeLessThan(200)
  })
})

test('known values are used where they fit', () => {
  const schema = object({ temperature: { type: 'number' }, city: string, days: { type: 'integer' } })
  const known = { temperature: 21.5, city: 7, days: 1.5 }
  expect(fillSchema(schema, { facts: createFacts(''), known })).toEqual({
    temperature: 21.5,
    city: 'Oslo',
    days: 1,
  })
})

test('whatever is filled in fits its schema', () => {
  const leaf = fc.oneof(
    fc.record({ type: fc.constant('boolean') }),
    fc.record({ enum: fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 3 }) }),
    fc.record(
      { type: fc.constant('string'), minLength: fc.nat(3), maxLength: fc.integer({ min: 3, max: 9 }) },
      { requiredKeys: ['type'] },
    ),
    fc.record({
      type: fc.constant('string'),
      format: fc.constantFrom('email', 'date', 'date-time', 'uri', 'uuid'),
    }),
    fc.record(
      {
        type: fc.constantFrom('integer', 'number'),
        minimum: fc.integer({ min: -20, max: 0 }),
        maximum: fc.integer({ min: 10, max: 20 }),
        multipleOf: fc.constantFrom(1, 2, 5),
      },
      { requiredKeys: ['type'] },
    ),
  )
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('array'), tie('object')),
    array: fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(2) }),
    object: fc
      .tuple(fc.dictionary(fc.constantFrom('city', 'count', 'date', 'x'), tie('schema')), fc.boolean())
      .map(([properties, isRequired]) => object(properties, isRequired ? Object.keys(properties) : [])),
  }))
  const said = fc.constantFrom(
    '',
    'Book 2 rooms in Oslo on 2026-05-17 for 300, "nice"',
    'mail bob@x.test 1.5 times',
  )
  fc.assert(
    fc.property(schema, said, (anySchema, text) => {
      const filled = fill(anySchema as JsonSchema, text)
      const { valid, errors } = new Validator(anySchema as JsonSchema).validate(filled)
      expect({ filled, errors: valid ? [] : errors }).toEqual({ filled, errors: [] })
    }),
  )
})

test.each<[string, JsonSchema]>([
  [
    'a bomb of references',
    { $ref: '#/a', a: { anyOf: [{ $ref: '#/a' }, { $ref: '#/a' }], oneOf: [{ $ref: '#/a' }] } },
  ],
  ['very many items', { type: 'array', minItems: 1e9, items: { type: 'array', minItems: 1e9 } }],
  ['a very long text', { type: 'string', minLength: 2 ** 29 - 1 }],
])('%s takes little time', (_, schema) => {
  expect(JSON.stringify(endsSoon(() => fill(schema))).length).toBeLessThan(100_000)
})
