import type { ContentPart } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { sequentialIds } from '../../core/ids.js'
import type { RunContext, Tool, ToolContext } from '../contract.js'
import { defineTool } from '../tools/define-tool.js'
import { contentResult, toResultContent } from '../tools/tool-result.js'
import { memoryResultStore, offloadResults, type OffloadResultsOptions } from './offload-results.js'

/** Neither the middleware nor its tool needs anything of the context. */
const toolContext = {} as ToolContext

function defineQuery(definition: Partial<Tool> = {}): Tool {
  return { ...defineTool({ name: 'query', description: 'Queries.', execute: () => 'unused' }), ...definition }
}

/** What becomes of a result of a tool. */
async function offload(
  result: unknown,
  { tool = defineQuery(), ...options }: OffloadResultsOptions & { tool?: Tool } = {},
): Promise<unknown> {
  const middleware = offloadResults({ maxChars: 100, previewChars: 10, newId: sequentialIds(), ...options })
  return middleware.tool?.({ toolCallId: 'c1', tool, args: {} }, () => Promise.resolve(result), toolContext)
}

/** The tool that the middleware adds. */
async function readerOf(options: OffloadResultsOptions): Promise<Tool> {
  const setup = await offloadResults(options).onStart?.({ instructions: '', tools: [] }, {} as RunContext)
  return setup?.tools?.[0] as Tool
}

function callTool(tool: Tool, args: unknown): Promise<unknown> {
  return Promise.resolve(tool.call(args, toolContext))
}

const long = '0123456789'.repeat(20)

describe('a result that is short enough', () => {
  test.each([
    ['text', 'x'.repeat(100)],
    ['an object', { rows: [1, 2, 3] }],
    ['nothing', undefined],
    ['parts', contentResult([{ type: 'text', text: 'x'.repeat(100) }])],
  ])('passes as the same value: %s', async (_, result) => {
    expect(await offload(result)).toBe(result)
  })
})

describe('a result that is too long', () => {
  test('becomes a preview with a key, and the whole is stored', async () => {
    const store = memoryResultStore()
    expect(await offload(long, { store })).toBe(
      [
        'This result has 200 characters, which is too much to show. It is stored under the key c1-1.',
        'Read more of it with the tool read_result. Here are its beginning and its end.',
        '<beginning>\n01234\n</beginning>',
        '<end>\n56789\n</end>',
      ].join('\n'),
    )
    expect(await store.get('c1-1')).toBe(long)
  })

  test('is stored as JSON when it is not text', async () => {
    const store = memoryResultStore()
    const rows = { rows: Array.from({ length: 100 }, (_, index) => index) }
    expect(await offload(rows, { store })).toContain('<beginning>\n{"row')
    expect(JSON.parse((await store.get('c1-1')) ?? '')).toEqual(rows)
  })

  test('keeps its media where they were', async () => {
    const store = memoryResultStore()
    const image: ContentPart = { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } }
    const audio: ContentPart = {
      type: 'audio',
      source: { type: 'data', value: 'QUJD'.repeat(99), mimeType: 'audio/mp3' },
    }
    const parts: ContentPart[] = [
      image,
      { type: 'text', text: long },
      audio,
      { type: 'text', text: 'the end' },
    ]
    const result = toResultContent(await offload(contentResult(parts), { store }), 'query')
    expect(result).toEqual([
      image,
      { type: 'text', text: expect.stringContaining('key c1-1') as string },
      audio,
    ])
    expect(await store.get('c1-1')).toBe(`${long}the end`)
  })

  test('with nothing but media passes as it is', async () => {
    const source = { type: 'data', value: 'QUJD'.repeat(99), mimeType: 'image/png' } as const
    const result = contentResult([{ type: 'image', source }])
    expect(await offload(result)).toBe(result)
  })

  test('has another key for every call, that holds the id of the call', async () => {
    const keys: string[] = []
    const store = {
      put: (key: string) => Promise.resolve(void keys.push(key)),
      get: () => Promise.resolve(undefined),
    }
    const middleware = offloadResults({ maxChars: 1, previewChars: 0, store })
    const call = { toolCallId: 'a/b', tool: defineQuery(), args: {} }
    await middleware.tool?.(call, () => Promise.resolve(long), toolContext)
    await middleware.tool?.(call, () => Promise.resolve(long), toolContext)
    expect(keys).toEqual([
      expect.stringMatching(/^a%2Fb-[\w-]{36}$/),
      expect.stringMatching(/^a%2Fb-[\w-]{36}$/),
    ])
    expect(keys[0]).not.toBe(keys[1])
  })

  test('stays whole when it ends the agent', async () => {
    expect(await offload(long, { tool: defineQuery({ returnDirectly: true }) })).toBe(long)
  })

  test('stays whole when it was read from the store', async () => {
    const tool = await readerOf({})
    expect(await offload(long, { tool })).toBe(long)
  })

  test('fails the call when it cannot be stored', async () => {
    const failure = new Error('disk full')
    const store = { put: () => Promise.reject(failure), get: () => Promise.resolve(undefined) }
    await expect(offload(long, { store })).rejects.toBe(failure)
  })
})

test('a limit below the usual preview makes it shorter', async () => {
  const call = { toolCallId: 'c1', tool: defineQuery(), args: {} }
  const result = await offloadResults({ maxChars: 2 }).tool?.(call, () => Promise.resolve(long), toolContext)
  expect(result).toMatch(/<beginning>\n0\n<\/beginning>\n<end>\n9\n<\/end>$/)
})

test('the error of a tool passes', async () => {
  const failure = new Error('no such table')
  const call = { toolCallId: 'c1', tool: defineQuery(), args: {} }
  await expect(offloadResults().tool?.(call, () => Promise.reject(failure), toolContext)).rejects.toBe(
    failure,
  )
})

test('the tool is added behind those of the agent', async () => {
  const tools = Object.freeze([defineQuery()])
  const setup = await offloadResults().onStart?.({ instructions: '', tools }, {} as RunContext)
  expect(setup).toEqual({ tools: [tools[0], expect.objectContaining({ name: 'read_result' })] })
})

describe('read_result', () => {
  async function read(args: unknown, maxChars = 100) {
    const store = memoryResultStore()
    await store.put('c1-1', long)
    return callTool(await readerOf({ store, maxChars, previewChars: 0 }), args)
  }

  test.each([
    [{ key: 'c1-1' }, `${long.slice(0, 100)}\n[characters 0 to 100 of 200; go on with offset 100]`],
    [{ key: 'c1-1', offset: 195 }, '56789\n[characters 195 to 200 of 200; this is the end]'],
    [{ key: 'c1-1', offset: 10, limit: 3 }, '012\n[characters 10 to 13 of 200; go on with offset 13]'],
    [
      { key: 'c1-1', limit: 1_000 },
      `${long.slice(0, 100)}\n[characters 0 to 100 of 200; go on with offset 100]`,
    ],
    [{ key: 'c1-1', offset: 200 }, 'The result ends at character 200.'],
    [
      { key: 'other' },
      'There is no result with the key other. It may have been dropped; call the tool again.',
    ],
  ])('answers %o', async (args, expected) => {
    expect(await read(args)).toBe(expected)
  })

  test('reads 10,000 characters at a time unless told', async () => {
    const store = memoryResultStore()
    await store.put('k', 'x'.repeat(30_000))
    const tool = await readerOf({ store })
    expect(await callTool(tool, { key: 'k' })).toHaveLength(
      10_000 + '\n[characters 0 to 10000 of 30000; go on with offset 10000]'.length,
    )
  })

  test.each([{}, { key: 'c1-1', offset: -1 }, { key: 'c1-1', limit: 0 }, { key: 'c1-1', offset: '5' }])(
    'refuses %o',
    async (args) => {
      await expect(read(args)).rejects.toMatchObject({ code: 'INVALID_TOOL_ARGUMENTS' })
    },
  )

  test('pages put together make the whole, also of characters that are two code units', async () => {
    const text = 'a😀'.repeat(50)
    const store = memoryResultStore()
    await store.put('k', text)
    const tool = await readerOf({ store, maxChars: 7, previewChars: 0 })
    let [whole, offset] = ['', 0]
    while (offset < text.length) {
      const [, page = '', end] =
        /^(.*)\n\[characters \d+ to (\d+)/u.exec(String(await callTool(tool, { key: 'k', offset }))) ?? []
      whole += page
      offset = Number(end)
    }
    expect(whole).toBe(text)
  })
})

test.each<OffloadResultsOptions>([
  { maxChars: 0 },
  { maxChars: 0.5 },
  { previewChars: -1 },
  { maxChars: 10, previewChars: 11 },
])('refuses %o', (options) => {
  expect(() => offloadResults(options)).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }))
})

describe('a memory store for results', () => {
  test('gives back what was put, and nothing for other keys', async () => {
    const store = memoryResultStore()
    await store.put('a', 'text')
    expect(await store.get('a')).toBe('text')
    expect(await store.get('b')).toBeUndefined()
  })

  test('drops the oldest when there is no room', async () => {
    const store = memoryResultStore({ maxChars: 10 })
    await store.put('a', '1234')
    await store.put('b', '1234')
    await store.put('c', '12')
    expect(await store.get('a')).toBe('1234')
    await store.put('d', '1')
    expect(await store.get('a')).toBeUndefined()
    expect(await store.get('b')).toBe('1234')
    await store.put('e', '12345')
    expect(await store.get('b')).toBeUndefined()
    expect(await store.get('c')).toBe('12')
  })

  test('keeps the newest even when it alone has no room', async () => {
    const store = memoryResultStore({ maxChars: 3 })
    await store.put('a', '12')
    await store.put('b', '12345')
    expect(await store.get('a')).toBeUndefined()
    expect(await store.get('b')).toBe('12345')
  })

  test('a key that is put again counts once', async () => {
    const store = memoryResultStore({ maxChars: 10 })
    await store.put('a', '1234')
    await store.put('a', '5678')
    await store.put('b', '123456')
    expect(await store.get('a')).toBe('5678')
  })

  test('refuses a size that is none', () => {
    expect(() => memoryResultStore({ maxChars: -1 })).toThrow(
      expect.objectContaining({ code: 'INVALID_AGENT' }),
    )
  })
})
