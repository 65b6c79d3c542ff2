import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { brokenRules } from '../../../test/e2e/support-models-parts.js'
import type { ModelPart } from '../contract.js'
import { createPartConverter } from './part-converter.js'
import type { ProviderPart } from './specification.js'

const labels = { provider: 'p', model: 'm' }
const stop = { type: 'finish', finishReason: 'stop', usage: {} } as const

/** Converts the parts and checks the answer against the contract of the port. `finish` is added and left out. */
function convert(...parts: ProviderPart[]): ModelPart[] {
  const convertPart = createPartConverter({
    labels,
    onWarning: () => undefined,
    toError: (error) => error as Error,
  })
  const converted = [...parts, stop].flatMap((part) => convertPart(part))
  expect(brokenRules(converted)).toEqual([])
  expect(converted.pop()).toEqual({ type: 'finish', reason: 'stop' })
  return converted
}

type BlockType = 'text' | 'reasoning'
const start = (kind: BlockType, id: string, providerMetadata?: object) =>
  ({ type: `${kind}-start`, id, ...(providerMetadata && { providerMetadata }) }) as ProviderPart
const delta = (kind: BlockType, id: string, text: string, providerMetadata?: object) =>
  ({ type: `${kind}-delta`, id, delta: text, ...(providerMetadata && { providerMetadata }) }) as ProviderPart
const end = (kind: BlockType, id: string, providerMetadata?: object) =>
  ({ type: `${kind}-end`, id, ...(providerMetadata && { providerMetadata }) }) as ProviderPart
const inputStart = (id: string, fields = {}): ProviderPart => ({
  type: 'tool-input-start',
  id,
  toolName: 'f',
  ...fields,
})
const inputDelta = (id: string, text: string): ProviderPart => ({ type: 'tool-input-delta', id, delta: text })
const toolCall = (toolCallId: string, input: string, fields = {}): ProviderPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'f',
  input,
  ...fields,
})

describe('text', () => {
  test('streams and ends, with its metadata as encrypted value', () => {
    expect(
      convert(
        start('text', '0'),
        delta('text', '0', 'Hel'),
        delta('text', '0', 'lo'),
        end('text', '0', { p: { id: 1 } }),
      ),
    ).toEqual([
      { type: 'text-delta', delta: 'Hel' },
      { type: 'text-delta', delta: 'lo' },
      { type: 'text-end', encryptedValue: '{"p":{"id":1}}' },
    ])
  })

  test('without a word is not told', () => {
    expect(convert(start('text', '0'), delta('text', '0', ''), end('text', '0', { p: { id: 1 } }))).toEqual(
      [],
    )
  })

  test('needs no start', () => {
    expect(convert(delta('text', '0', 'a'))).toEqual([
      { type: 'text-delta', delta: 'a' },
      { type: 'text-end' },
    ])
  })

  test('after text is a text of its own', () => {
    const one = [start('text', '0'), delta('text', '0', 'a'), end('text', '0')]
    const two = [start('text', '1'), delta('text', '1', 'b'), end('text', '1')]
    expect(convert(...one, ...two).map(({ type }) => type)).toEqual([
      'text-delta',
      'text-end',
      'text-delta',
      'text-end',
    ])
  })

  test('is ended by a tool call that begins before its end', () => {
    expect(
      convert(start('text', '0'), delta('text', '0', 'a'), toolCall('c', '{}'), end('text', '0')).map(
        ({ type }) => type,
      ),
    ).toEqual(['text-delta', 'text-end', 'tool-call-start', 'tool-call-delta', 'tool-call-end'])
  })
})

describe('reasoning', () => {
  test('keeps the last metadata of its parts, like a signature that comes in a delta', () => {
    expect(
      convert(
        start('reasoning', '0', { p: { signature: 'early' } }),
        delta('reasoning', '0', 'hm'),
        delta('reasoning', '0', '', { p: { signature: 'late' } }),
        end('reasoning', '0'),
      ),
    ).toEqual([
      { type: 'reasoning-delta', delta: 'hm' },
      { type: 'reasoning-end', encryptedValue: '{"p":{"signature":"late"}}' },
    ])
  })

  test('that is only encrypted is an end alone', () => {
    expect(convert(start('reasoning', '0', { p: { redacted: 'x' } }), end('reasoning', '0'))).toEqual([
      { type: 'reasoning-end', encryptedValue: '{"p":{"redacted":"x"}}' },
    ])
    expect(convert(start('reasoning', '0'), end('reasoning', '0'))).toEqual([])
  })

  test('ends when the next begins, and what is told about it later stands alone', () => {
    const metadata = { openai: { itemId: 'rs', reasoningEncryptedContent: 'x' } }
    const encryptedValue = JSON.stringify(metadata)
    expect(
      convert(
        start('reasoning', 'rs:0', { openai: { itemId: 'rs' } }),
        delta('reasoning', 'rs:0', 'one'),
        start('reasoning', 'rs:1'),
        delta('reasoning', 'rs:1', 'two'),
        end('reasoning', 'rs:0', metadata),
        end('reasoning', 'rs:1', metadata),
      ),
    ).toEqual([
      { type: 'reasoning-delta', delta: 'one' },
      { type: 'reasoning-end', encryptedValue: '{"openai":{"itemId":"rs"}}' },
      { type: 'reasoning-delta', delta: 'two' },
      { type: 'reasoning-end' },
      { type: 'reasoning-end', encryptedValue },
      { type: 'reasoning-end', encryptedValue },
    ])
  })

  test('ends when text begins, and what is told about it later stands alone', () => {
    const open = [delta('reasoning', '0', 'hm'), delta('text', '1', 'a')]
    expect(convert(...open, end('reasoning', '0'), delta('text', '1', 'b')).map(({ type }) => type)).toEqual([
      'reasoning-delta',
      'reasoning-end',
      'text-delta',
      'text-delta',
      'text-end',
    ])
    expect(
      convert(...open, end('reasoning', '0', { p: { s: 1 } }), delta('text', '1', 'b')).slice(3),
    ).toEqual([
      { type: 'text-end' },
      { type: 'reasoning-end', encryptedValue: '{"p":{"s":1}}' },
      { type: 'text-delta', delta: 'b' },
      { type: 'text-end' },
    ])
  })
})

describe('a tool call', () => {
  const told = (deltas: string[], encrypted = {}, toolCallId = 'c'): ModelPart[] => [
    { type: 'tool-call-start', toolCallId, toolName: 'f' },
    ...deltas.map((text) => ({ type: 'tool-call-delta', toolCallId, delta: text }) as const),
    { type: 'tool-call-end', toolCallId, ...encrypted },
  ]

  test('streams its arguments and is told once, with the metadata of the whole call', () => {
    expect(
      convert(
        inputStart('c'),
        inputDelta('c', '{"a"'),
        inputDelta('c', ''),
        inputDelta('c', ':1}'),
        { type: 'tool-input-end', id: 'c' } as unknown as ProviderPart,
        toolCall('c', '{"a":1}', { providerMetadata: { p: { s: 1 } } }),
        toolCall('c', '{"a":1}'),
      ),
    ).toEqual(told(['{"a"', ':1}'], { encryptedValue: '{"p":{"s":1}}' }))
  })

  test('that comes whole is told the same way', () => {
    expect(convert(toolCall('c', '{"a":1}'), inputStart('c'))).toEqual(told(['{"a":1}']))
  })

  test('may stream while another does', () => {
    expect(
      convert(
        inputStart('c'),
        inputStart('d'),
        inputDelta('d', '{}'),
        toolCall('c', '{"x":1}'),
        toolCall('d', '{}'),
      ),
    ).toEqual([
      { type: 'tool-call-start', toolCallId: 'c', toolName: 'f' },
      { type: 'tool-call-start', toolCallId: 'd', toolName: 'f' },
      { type: 'tool-call-delta', toolCallId: 'd', delta: '{}' },
      { type: 'tool-call-delta', toolCallId: 'c', delta: '{"x":1}' },
      { type: 'tool-call-end', toolCallId: 'c' },
      { type: 'tool-call-end', toolCallId: 'd' },
    ])
  })

  test('without arguments has an empty object', () => {
    expect(convert(inputStart('c'), toolCall('c', ''))).toEqual(told(['{}']))
    expect(convert(toolCall('c', ' '))).toEqual(told(['{}']))
  })

  test('whose arguments stream as raw text waits for their JSON', () => {
    expect(
      convert(
        inputStart('c', { inputEncoding: 'text' }),
        inputDelta('c', 'SELECT "x"'),
        toolCall('c', '"SELECT \\"x\\""'),
      ),
    ).toEqual(told(['"SELECT \\"x\\""']))
  })

  test('that the provider leaves open is ended with the answer', () => {
    expect(convert(inputStart('c'), inputDelta('c', '{"a":1}'))).toEqual(told(['{"a":1}']))
    expect(convert(inputStart('c'))).toEqual(told(['{}']))
  })

  test('of the provider itself is not told, nor its result', () => {
    expect(
      convert(
        inputStart('c', { providerExecuted: true }),
        inputDelta('c', '{}'),
        toolCall('c', '{}', { providerExecuted: true }),
        { type: 'tool-result', toolCallId: 'c', toolName: 'f', result: {} } as unknown as ProviderPart,
        toolCall('d', '{}', { providerExecuted: true }),
      ),
    ).toEqual([])
  })
})

describe('the end', () => {
  const converter = (onWarning = vi.fn()) =>
    createPartConverter({ labels, onWarning, toError: (error) => new Error('mapped', { cause: error }) })

  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['tool-calls', 'tool-calls'],
    ['content-filter', 'content-filter'],
    ['error', 'error'],
    ['other', 'other'],
    ['unknown', 'other'],
    [{ unified: 'length', raw: 'max_tokens' }, 'length'],
    [{ unified: 'brand-new', raw: 'x' }, 'other'],
    [undefined, 'other'],
  ])('has the reason of %j', (finishReason, reason) => {
    expect(converter()({ type: 'finish', finishReason, usage: undefined })).toEqual([
      { type: 'finish', reason },
    ])
  })

  test('has the usage', () => {
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 }
    expect(converter()({ type: 'finish', finishReason: 'stop', usage })).toEqual([
      { type: 'finish', reason: 'stop', usage: { ...labels, ...usage } },
    ])
  })

  test('of an answer that broke off is an error that may be retried', () => {
    expect(() =>
      converter()({ type: 'finish', finishReason: { unified: 'interrupted' }, usage: {} }),
    ).toThrow(expect.objectContaining({ code: 'MODEL_ERROR', details: { retryable: true } }))
  })

  test('is the error of an error part', () => {
    expect(() => converter()({ type: 'error', error: 'overloaded' })).toThrow(
      expect.objectContaining({ message: 'mapped', cause: 'overloaded' }),
    )
  })

  test('is not reached by warnings, which are handed on', () => {
    const onWarning = vi.fn()
    expect(
      converter(onWarning)({ type: 'stream-start', warnings: [{ type: 'unsupported', feature: 'seed' }] }),
    ).toEqual([])
    expect(converter(onWarning)({ type: 'stream-start' })).toEqual([])
    expect(onWarning.mock.calls).toEqual([['{"type":"unsupported","feature":"seed"}']])
  })

  test.each(['response-metadata', 'raw', 'source', 'file', 'ping', 'tool-approval-request', 'custom'])(
    'is not reached by %s, which is passed over',
    (type) => {
      expect(converter()({ type } as unknown as ProviderPart)).toEqual([])
    },
  )
})

test('whatever a provider sends becomes an answer that keeps the contract', () => {
  const id = fc.constantFrom('0', '1', '2')
  const kind = fc.constantFrom<BlockType>('text', 'reasoning')
  const words = fc.constantFrom('', 'a', 'b')
  const metadata = fc.constantFrom(undefined, { p: { s: 1 } })
  const anyPart = fc.oneof(
    fc.tuple(kind, id, metadata).map(([k, i, m]) => start(k, i, m)),
    fc.tuple(kind, id, words, metadata).map(([k, i, w, m]) => delta(k, i, w, m)),
    fc.tuple(kind, id, metadata).map(([k, i, m]) => end(k, i, m)),
    fc.tuple(id, fc.boolean()).map(([i, providerExecuted]) => inputStart(i, { providerExecuted })),
    fc.tuple(id, words).map(([i, w]) => inputDelta(i, w)),
    fc.tuple(id, fc.constantFrom('', '{}')).map(([i, input]) => toolCall(i, input)),
  )
  fc.assert(fc.property(fc.array(anyPart, { maxLength: 30 }), (parts) => void convert(...parts)))
})
