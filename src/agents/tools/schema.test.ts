import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { checkAgainst, isStandardSchema, toChecker, toJsonSchema } from './schema.js'

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
      expect.objectContaining({
        code: 'INVALID_AGENT',
        message: "A schema: the JSON Schema cannot be used: `$ref`: there is no '#/$defs/nowhere' in it.",
      }),
    )
  })

  test('a schema that contains itself is refused when it is read', () => {
    const schema: Record<string, unknown> = { type: 'array' }
    schema.items = schema
    expect(() => toChecker(schema, 'Tool')).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }))
  })
})
