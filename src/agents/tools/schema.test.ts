import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import type { JsonSchema } from '../../models/index.js'
import {
  checkAgainst,
  describeIssues,
  isStandardSchema,
  toChecker,
  toIssue,
  toJsonCheck,
  toJsonSchema,
} from './schema.js'

const jsonCity = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

describe('as JSON Schema', () => {
  test('plain JSON Schema comes back as it is', () => {
    expect(toJsonSchema(jsonCity, 'Tool')).toBe(jsonCity)
  })

  test('a zod schema shows what has to be sent, before defaults and transforms', () => {
    const schema = z.object({
      city: z.string().describe('Where'),
      days: z.number().default(3),
      tag: z.string().transform((text) => text.length),
    })
    expect(toJsonSchema(schema, 'Tool')).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Where' },
        days: { type: 'number', default: 3 },
        tag: { type: 'string' },
      },
      required: ['city', 'tag'],
    })
  })

  test('an arktype schema is converted though it is a function', () => {
    expect(toJsonSchema(type({ city: 'string', 'days?': 'number' }), 'Tool')).toEqual({
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'number' } },
      required: ['city'],
    })
  })

  test('a library that cannot convert is refused with what to do about it', () => {
    expect(() => toJsonSchema(v.object({ city: v.string() }), "Tool 'weather'")).toThrow(
      expect.objectContaining({
        code: 'INVALID_AGENT',
        message:
          "Tool 'weather': the schema has to be shown as JSON Schema, but schemas of valibot do not convert themselves to it. " +
          "Wrap it with toStandardJsonSchema of '@valibot/to-json-schema', or give plain JSON Schema (for a tool, as `parameters`).",
      }),
    )
  })

  test('an unknown library is refused too', () => {
    const schema = {
      '~standard': { version: 1, vendor: 'homemade', validate: () => ({ value: 1 }) },
    } as const
    expect(() => toJsonSchema(schema, 'Tool')).toThrow(
      /Use a library that speaks Standard JSON Schema, or give/,
    )
  })

  test('what a library refuses to convert is refused with its reason', () => {
    expect(() => toJsonSchema(z.object({ when: z.date() }), 'Tool')).toThrow(
      expect.objectContaining({
        code: 'INVALID_AGENT',
        message: expect.stringContaining('zod says: Date cannot be represented in JSON Schema') as string,
        cause: expect.any(Error) as Error,
      }),
    )
  })

  test.each([[null], [[]], ['string'], [undefined]])('%j is no schema', (schema) => {
    expect(() => toJsonSchema(schema as never, 'Tool')).toThrow(
      'Tool: a schema must be a Standard Schema or a JSON Schema object.',
    )
    expect(isStandardSchema(schema)).toBe(false)
  })
})

describe('checking', () => {
  test('a value that fits comes back as the schema gives it', async () => {
    const schema = z.object({ city: z.string().trim(), days: z.number().default(3) })
    const checked = await checkAgainst(schema, { city: ' Oslo ' })
    expect(checked).toEqual({ ok: true, value: { city: 'Oslo', days: 3 } })
    if (checked.ok) expectTypeOf(checked.value).toEqualTypeOf<{ city: string; days: number }>()
  })

  test.each([
    ['zod', z.object({ guests: z.array(z.object({ name: z.string() })) })],
    ['valibot', v.object({ guests: v.array(v.object({ name: v.string() })) })],
    ['arktype', type({ guests: type({ name: 'string' }).array() })],
    [
      'JSON Schema',
      {
        type: 'object',
        properties: {
          guests: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
        },
      },
    ],
  ])('%s names the place of what is wrong', async (_, schema) => {
    const checked = await checkAgainst<unknown>(schema, { guests: [{ name: 'Ada' }, { name: 7 }] })
    expect(checked).toEqual({
      ok: false,
      issues: [{ path: '$.guests[1].name', message: expect.stringMatching(/string/) as string }],
    })
  })

  test('a schema that takes its time is waited for', async () => {
    const schema = z.string().refine((text) => Promise.resolve(text !== 'taken'), 'is taken')
    expect(await checkAgainst(schema, 'taken')).toEqual({
      ok: false,
      issues: [{ path: '$', message: 'is taken' }],
    })
  })

  test('a message that quotes a long value is cut', async () => {
    const checked = await checkAgainst(v.number(), 'x'.repeat(1000))
    expect(checked.ok ? 0 : checked.issues[0]?.message.length).toBe(203)
  })

  test('JSON Schema gives back the very value', async () => {
    const value = { city: 'Oslo' }
    const check = toChecker(jsonCity)
    expect(await check(value)).toEqual({ ok: true, value })
    expect(await check({})).toEqual({ ok: false, issues: [{ path: '$.city', message: 'is required' }] })
  })

  test('a check with a broken JSON Schema rejects', async () => {
    await expect(checkAgainst({ $ref: '#/$defs/nowhere' }, {})).rejects.toThrow(
      expect.objectContaining({ code: 'INVALID_AGENT' }),
    )
  })
})

describe('plain JSON Schema', () => {
  function issuesOf(schema: JsonSchema, value: unknown): string[] {
    return toJsonCheck(schema, 'Tool')(value).map(({ path, message }) => `${path}: ${message}`)
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
})

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
})
