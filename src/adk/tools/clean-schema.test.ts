import { describe, expect, it } from 'vitest'
import { cleanParameters } from './clean-schema.js'

/** The schema of one property, cleaned. */
function property(schema: unknown, rest: Record<string, unknown> = {}): unknown {
  const { properties } = cleanParameters({ type: 'object', properties: { it: schema }, ...rest })
  return (properties as Record<string, unknown>).it
}

const empty = { type: 'object', properties: {} }

describe('parameters', () => {
  it.each([undefined, null, true, 'string', [], { type: 'string' }, { type: 'array', items: {} }, {}])(
    'that describe no object become an object without properties: %o',
    (parameters) => expect(cleanParameters(parameters)).toEqual(empty),
  )

  it('#1003/#1349/#1495: lose what makes models refuse a request', () => {
    expect(
      cleanParameters({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $id: 'x',
        $comment: 'x',
        type: 'object',
        additionalProperties: false,
        additional_properties: false,
        unevaluatedProperties: false,
        patternProperties: { x: {} },
        properties: {
          name: {
            type: 'string',
            readOnly: true,
            examples: ['Ann', 'Bo'],
            minLength: 1,
            contentEncoding: 'x',
          },
          mail: { type: 'string', format: 'email' },
          when: { type: 'string', format: 'date-time', deprecated: true },
          age: { type: 'integer', exclusiveMinimum: 0, multipleOf: 1 },
          tags: { type: 'array', uniqueItems: true, items: { type: 'string', writeOnly: true } },
          kind: { const: 'a' },
        },
        required: ['name', 'not there'],
      }),
    ).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', example: 'Ann', minLength: 1 },
        mail: { type: 'string' },
        when: { type: 'string', format: 'date-time' },
        age: { type: 'integer', minimum: 0 },
        tags: { type: 'array', items: { type: 'string' } },
        kind: { type: 'string', enum: ['a'] },
      },
      required: ['name'],
    })
  })

  it('lose additionalProperties at every depth', () => {
    const inner = { type: 'object', additionalProperties: { type: 'string' }, properties: {} }
    const cleaned = cleanParameters({
      properties: { a: inner, b: { type: 'array', items: inner }, c: { anyOf: [inner, { type: 'string' }] } },
    })
    expect(JSON.stringify(cleaned)).not.toContain('additional')
  })

  it('keep properties whose names are words of JSON Schema', () => {
    const names = [
      '$schema',
      '$ref',
      'default',
      'properties',
      'required',
      'const',
      'anyOf',
      'items',
      '__proto__',
    ]
    const text = JSON.stringify({
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    })
    const { properties } = cleanParameters(JSON.parse(text))
    expect(Object.keys(properties as object).sort()).toEqual([...names].sort())
  })

  it('keep defaults and enums as they are', () => {
    const opaque = { $schema: 1, additionalProperties: [{ const: 2 }] }
    expect(property({ default: opaque, enum: [opaque, 1, null] })).toEqual({
      default: opaque,
      enum: [opaque, 1, null],
    })
  })

  it('join alternatives to one object that takes them all', () => {
    expect(
      cleanParameters({
        oneOf: [
          { properties: { kind: { const: 'a' }, x: { type: 'number' } }, required: ['kind', 'x'] },
          { properties: { kind: { const: 'b' }, y: { type: 'string' } }, required: ['kind', 'y'] },
        ],
      }),
    ).toEqual({
      type: 'object',
      properties: {
        kind: {
          anyOf: [
            { type: 'string', enum: ['a'] },
            { type: 'string', enum: ['b'] },
          ],
        },
        x: { type: 'number' },
        y: { type: 'string' },
      },
      required: ['kind'],
    })
  })
})

describe('a property', () => {
  it('with oneOf keeps its alternatives: a discriminated union is not lost', () => {
    const circle = { type: 'object', properties: { kind: { const: 'circle' } }, required: ['kind'] }
    const square = { type: 'object', properties: { kind: { const: 'square' } }, required: ['kind'] }
    expect(property({ description: 'A shape.', oneOf: [circle, square] })).toEqual({
      // Gemini takes nothing beside `anyOf`.
      anyOf: ['circle', 'square'].map((kind) => ({
        type: 'object',
        description: 'A shape.',
        properties: { kind: { type: 'string', enum: [kind] } },
        required: ['kind'],
      })),
    })
  })

  it('tells each alternative what stands beside them', () => {
    const properties = { a: { type: 'string' }, b: { type: 'string' } }
    expect(
      property({ type: 'object', properties, anyOf: [{ required: ['a'] }, { required: ['b', 'c'] }] }),
    ).toEqual({
      anyOf: [
        { type: 'object', properties, required: ['a'] },
        { type: 'object', properties, required: ['b'] },
      ],
    })
  })

  it('with one alternative is that alternative', () => {
    expect(property({ anyOf: [{ type: 'string' }], description: 'd' })).toEqual({
      type: 'string',
      description: 'd',
    })
  })

  it('of several types has an alternative for each', () => {
    expect(property({ type: ['string', 'null'], description: 'd', minLength: 1, enum: ['a', null] })).toEqual(
      {
        anyOf: [{ type: 'string', description: 'd', minLength: 1, enum: ['a'] }, { type: 'null' }],
      },
    )
    expect(
      property({ type: ['array', 'object'], items: { type: 'string' }, properties: { a: true } }),
    ).toEqual({
      anyOf: [
        { type: 'array', items: { type: 'string' } },
        { type: 'object', properties: { a: {} } },
      ],
    })
    expect(property({ type: ['integer'] })).toEqual({ type: 'integer' })
  })

  it.each([
    ['a', { type: 'string', enum: ['a'] }],
    [1, { type: 'number', enum: [1] }],
    [true, { type: 'boolean' }],
    [null, { type: 'null' }],
    [{ a: 1 }, { type: 'object' }],
  ])('that is the constant %o says so as far as models understand', (value, schema) =>
    expect(property({ const: value })).toEqual(schema),
  )

  it('joins allOf', () => {
    expect(
      property({
        description: 'mine',
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], description: 'theirs' },
          { properties: { b: { type: 'number' } }, required: ['b'] },
        ],
      }),
    ).toEqual({
      type: 'object',
      description: 'mine',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
      required: ['a', 'b'],
    })
  })

  it('that is a tuple becomes a list of what its places take', () => {
    const places = [{ type: 'string' }, { type: 'number' }, { type: 'string' }]
    const list = { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }
    expect(property({ type: 'array', items: places })).toEqual(list)
    expect(property({ type: 'array', prefixItems: places, items: false })).toEqual(list)
    expect(property({ type: 'array' })).toEqual({ type: 'array', items: {} })
  })

  it('that is always wrong is left out', () => {
    expect(cleanParameters({ properties: { no: false, yes: true }, required: ['no', 'yes'] })).toEqual({
      type: 'object',
      properties: { yes: {} },
      required: ['yes'],
    })
  })
})

describe('a reference', () => {
  it('is put in place, from $defs, definitions or any other part', () => {
    const rest = {
      $defs: { 'a/b': { type: 'string', title: 'T' } },
      definitions: { list: { type: 'array', items: { $ref: '#/$defs/a~1b' } } },
    }
    expect(property({ $ref: '#/$defs/a~1b', description: 'd' }, rest)).toEqual({
      type: 'string',
      title: 'T',
      description: 'd',
    })
    expect(property({ $ref: '#/definitions/list' }, rest)).toEqual({
      type: 'array',
      items: { type: 'string', title: 'T' },
    })
    expect(property({ $ref: 'https://example.com/schema' }, rest)).toEqual({})
    expect(property({ $ref: '#/$defs/none/%' }, rest)).toEqual({})
  })

  it('to a schema that contains it is cut with a plain object', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' }, value: { type: 'number' } } }
    expect(property({ $ref: '#/$defs/node' }, { $defs: { node } })).toEqual({
      type: 'object',
      properties: { next: { type: 'object' }, value: { type: 'number' } },
    })
    expect(property({ $ref: '#' })).toEqual({ type: 'object' })
  })
})

describe('a hostile schema', () => {
  it('that contains itself as an object ends', () => {
    const circle: Record<string, unknown> = { type: 'object' }
    circle.properties = { me: circle }
    expect(cleanParameters(circle)).toEqual({ type: 'object', properties: { me: { type: 'object' } } })
  })

  it('that is very deep ends', () => {
    let deep: unknown = { type: 'string' }
    for (let depth = 0; depth < 100_000; depth++) deep = { type: 'object', properties: { a: deep } }
    expect(JSON.stringify(cleanParameters(deep)).length).toBeLessThan(10_000)
  })

  it('that doubles with every reference is refused', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => {
        const $ref = `#/$defs/d${n + 1}`
        return [`d${n}`, { type: 'object', properties: { a: { $ref }, b: { $ref } } }]
      }),
    )
    expect(() => cleanParameters({ properties: { x: { $ref: '#/$defs/d0' } }, $defs })).toThrow('too large')
  })

  it('that doubles with every alternative is refused', () => {
    let deep: unknown = { type: 'string' }
    for (let depth = 0; depth < 30; depth++)
      deep = {
        properties: { deep, t: { items: [deep, { type: 'number' }] } },
        anyOf: [{ title: 'a' }, { title: 'b' }],
      }
    expect(() => cleanParameters({ properties: { deep } })).toThrow('too large')
  })
})

it('never changes what it is given', () => {
  const parameters = {
    type: 'object',
    properties: { a: { oneOf: [{ const: 1 }, { $ref: '#/$defs/b' }], examples: [1] } },
    $defs: { b: { type: ['string', 'null'], additionalProperties: false } },
  }
  const before = structuredClone(parameters)
  cleanParameters(parameters)
  expect(parameters).toEqual(before)
})
