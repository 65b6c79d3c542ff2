import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { runToEnd, toolContext } from '../../../test/support/tool-context.js'
import { defineTool } from './define-tool.js'

const description = 'Does something.'
const jsonCity = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

describe('the arguments', () => {
  test('are typed and transformed by zod', async () => {
    const tool = defineTool({
      name: 'weather',
      description,
      input: z.object({ city: z.string(), days: z.coerce.number().default(1) }),
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>()
        return args
      },
    })
    expect(await runToEnd(tool.call({ city: 'Oslo', days: '3' }, toolContext()))).toEqual({
      progress: [],
      result: { city: 'Oslo', days: 3 },
    })
  })

  test('are typed by arktype', async () => {
    const tool = defineTool({
      name: 'weather',
      description,
      input: type({ city: 'string', days: 'string.numeric.parse' }),
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>()
        return args.days
      },
    })
    expect(tool.parameters).toMatchObject({ type: 'object', required: ['city', 'days'] })
    expect(await runToEnd(tool.call({ city: 'Oslo', days: '3' }, toolContext()))).toMatchObject({ result: 3 })
  })

  test('are typed by valibot, which needs the JSON Schema beside it', async () => {
    const tool = defineTool({
      name: 'weather',
      description,
      input: v.object({ city: v.string(), days: v.optional(v.number(), 2) }),
      parameters: jsonCity,
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>()
        return args.days
      },
    })
    expect(tool.parameters).toBe(jsonCity)
    expect(await runToEnd(tool.call({ city: 'Oslo' }, toolContext()))).toMatchObject({ result: 2 })
    await expect(runToEnd(tool.call({ city: 'Oslo', days: 'x' }, toolContext()))).rejects.toThrow('$.days')
  })

  test('are unknown with JSON Schema, or what the author says', async () => {
    const untyped = defineTool({
      name: 'a',
      description,
      parameters: jsonCity,
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<unknown>()
        return args
      },
    })
    defineTool<{ city: string }>({
      name: 'b',
      description,
      parameters: jsonCity,
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ city: string }>()
      },
    })
    expect(await runToEnd(untyped.call({ city: 'Oslo' }, toolContext()))).toMatchObject({
      result: { city: 'Oslo' },
    })
  })

  test('are an empty object where none are declared, whatever the model sends', async () => {
    const tool = defineTool({
      name: 'now',
      description,
      execute: (args) => {
        expectTypeOf(args).toEqualTypeOf<Record<string, never>>()
        return args
      },
    })
    expect(tool.parameters).toEqual({ type: 'object', properties: {}, additionalProperties: false })
    for (const args of [undefined, null, { a: 1 }])
      expect(await runToEnd(tool.call(args, toolContext()))).toMatchObject({ result: {} })
  })

  test('that do not fit are told to the model, all of them, and nothing runs', async () => {
    const tool = defineTool({
      name: 'book',
      description,
      parameters: { ...jsonCity, properties: { city: { type: 'string' }, days: { type: 'integer' } } },
      execute: () => {
        throw new Error('must not run')
      },
    })
    await expect(runToEnd(tool.call({ days: 'x' }, toolContext()))).rejects.toThrow(
      expect.objectContaining({
        code: 'INVALID_TOOL_ARGUMENTS',
        message:
          "The arguments of tool 'book' do not fit:\n- $.city: is required\n- $.days: expected integer",
        details: {
          issues: [
            { path: '$.city', message: 'is required' },
            { path: '$.days', message: 'expected integer' },
          ],
        },
      }),
    )
  })
})

describe('the work', () => {
  test('may be sync, async, or a generator that yields progress', async () => {
    const tools = [
      defineTool({ name: 'sync', description, execute: () => 'done' }),
      defineTool({ name: 'async', description, execute: () => Promise.resolve('done') }),
      defineTool({
        name: 'generator',
        description,
        async *execute() {
          yield await Promise.resolve('half')
          return 'done'
        },
      }),
    ]
    const ends = await Promise.all(tools.map((tool) => runToEnd(tool.call({}, toolContext()))))
    expect(ends).toEqual([
      { progress: [], result: 'done' },
      { progress: [], result: 'done' },
      { progress: ['half'], result: 'done' },
    ])
  })

  test('gets the very context of the call', async () => {
    const ctx = toolContext()
    const tool = defineTool({ name: 'a', description, execute: (_, given) => given })
    expect((await runToEnd(tool.call({}, ctx))).result).toBe(ctx)
  })

  test('may throw what it likes', async () => {
    const failure = new Error('sold out')
    const tool = defineTool({
      name: 'a',
      description,
      execute: () => {
        throw failure
      },
    })
    await expect(runToEnd(tool.call({}, toolContext()))).rejects.toBe(failure)
  })

  test('is cleaned up when its reader leaves', async () => {
    let isClosed = false
    const tool = defineTool({
      name: 'a',
      description,
      async *execute() {
        try {
          yield await Promise.resolve(1)
        } finally {
          isClosed = true
        }
      },
    })
    const call = (await tool.call({}, toolContext())) as AsyncGenerator
    await call.next()
    await call.return(undefined)
    expect(isClosed).toBe(true)
  })
})

describe('a definition', () => {
  test('keeps what the agent needs', () => {
    const tool = defineTool({ name: 'a', description, returnDirectly: true, execute: () => 1 })
    expect(tool).toMatchObject({ name: 'a', description, returnDirectly: true })
    expect(defineTool({ name: 'a', description, execute: () => 1 })).not.toHaveProperty('returnDirectly')
  })

  const execute = () => 1
  test.each([
    [{ name: '', description, execute }, "Tool '': a name is 1 to 64"],
    [{ name: 'get weather', description, execute }, "Tool 'get weather': a name is 1 to 64"],
    [{ name: 'a'.repeat(65), description, execute }, 'a name is 1 to 64'],
    [{ name: 'a', description: ' ', execute }, "Tool 'a': a description is missing"],
    [{ name: 'a', execute }, "Tool 'a': a description is missing"],
    [{ name: 'a', description }, "Tool 'a': `execute` must be a function"],
    [{ name: 'a', description, execute, timeoutMs: 0 }, "Tool 'a': `timeoutMs` must be more than 0"],
    [{ name: 'a', description, execute, timeoutMs: NaN }, "Tool 'a': `timeoutMs` must be more than 0"],
    [{ name: 'a', description, execute, input: z.string() }, "Tool 'a': the arguments must be an object"],
    [{ name: 'a', description, execute, parameters: {} }, "Tool 'a': the arguments must be an object"],
    [{ name: 'a', description, execute, parameters: 'x' }, "Tool 'a': a schema must be a Standard Schema or"],
    [
      { name: 'a', description, execute, input: jsonCity },
      "Tool 'a': `input` must be a Standard Schema; plain",
    ],
    [{ name: 'a', description, execute, input: v.object({}) }, "Tool 'a': the schema has to be shown"],
  ])('%j is refused by name', (definition, message) => {
    expect(() => defineTool(definition as never)).toThrow(
      expect.objectContaining({
        code: 'INVALID_AGENT',
        message: expect.stringContaining(message) as string,
      }),
    )
  })
})
