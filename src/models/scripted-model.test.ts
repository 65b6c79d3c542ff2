import { describe, expect, test } from 'vitest'
import { deferred } from '../../test/e2e/support-models-fake.js'
import { partsOf, request, wholeOf } from '../../test/e2e/support-models-parts.js'
import { scriptedModel, type ScriptPiece } from './scripted-model.js'

const answer = (...pieces: ScriptPiece[]) => partsOf(scriptedModel([pieces]))

describe('a script', () => {
  test('is played answer by answer, and the requests are kept', async () => {
    const model = scriptedModel(['one', ['two']])
    expect(wholeOf(await partsOf(model, { instructions: 'first' })).text).toBe('one')
    expect(wholeOf(await partsOf(model, { instructions: 'second' })).text).toBe('two')
    expect(model.requests.map(({ instructions }) => instructions)).toEqual(['first', 'second'])
  })

  test('may be a function of the request and its number', async () => {
    const model = scriptedModel(({ messages }, index) => Promise.resolve(`${index}: ${messages.length}`))
    await partsOf(model)
    expect(wholeOf(await partsOf(model)).text).toBe('1: 1')
  })

  test('that is over is an error that says so', async () => {
    const model = scriptedModel(['only'])
    await partsOf(model)
    await expect(partsOf(model)).rejects.toMatchObject({
      code: 'MODEL_ERROR',
      message: 'scriptedModel was called 2 times, but its script has 1 answers. Add one, or pass a function.',
      details: { retryable: false },
    })
  })

  test('is not asked before the answer is read', () => {
    const model = scriptedModel(['x'])
    model.stream(request())
    expect(model.requests).toEqual([])
  })

  test('has a name to choose', () => {
    expect(scriptedModel([], { provider: 'p', modelId: 'm' })).toMatchObject({ provider: 'p', modelId: 'm' })
    expect(scriptedModel([])).toMatchObject({ provider: 'scripted', modelId: 'scripted' })
  })
})

describe('pieces', () => {
  test('of text are deltas of one text, which is ended', async () => {
    expect(await answer('Hel', { text: 'lo' })).toEqual([
      { type: 'text-delta', delta: 'Hel' },
      { type: 'text-delta', delta: 'lo' },
      { type: 'text-end' },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('of different kinds end each other', async () => {
    expect(await answer({ reasoning: 'hm' }, 'yes', { toolCall: { name: 'f' } }, 'done')).toEqual([
      { type: 'reasoning-delta', delta: 'hm' },
      { type: 'reasoning-end' },
      { type: 'text-delta', delta: 'yes' },
      { type: 'text-end' },
      { type: 'tool-call-start', toolCallId: 'call-1', toolName: 'f' },
      { type: 'tool-call-delta', toolCallId: 'call-1', delta: '{}' },
      { type: 'tool-call-end', toolCallId: 'call-1' },
      { type: 'text-delta', delta: 'done' },
      { type: 'text-end' },
      { type: 'finish', reason: 'tool-calls' },
    ])
  })

  test('with an encrypted value end with it, also without a word', async () => {
    const toolCall = { id: 'c', name: 'f', args: { a: 1 }, encryptedValue: 'z' }
    expect(
      await answer({ reasoning: '', encryptedValue: 'x' }, { text: 'a', encryptedValue: 'y' }, 'b', {
        toolCall,
      }),
    ).toEqual([
      { type: 'reasoning-end', encryptedValue: 'x' },
      { type: 'text-delta', delta: 'a' },
      { type: 'text-end', encryptedValue: 'y' },
      { type: 'text-delta', delta: 'b' },
      { type: 'text-end' },
      { type: 'tool-call-start', toolCallId: 'c', toolName: 'f' },
      { type: 'tool-call-delta', toolCallId: 'c', delta: '{"a":1}' },
      { type: 'tool-call-end', toolCallId: 'c', encryptedValue: 'z' },
      { type: 'finish', reason: 'tool-calls' },
    ])
  })

  test('may be arguments that are no JSON', async () => {
    expect(wholeOf(await answer({ toolCall: { name: 'f', args: '{"a":' } })).calls[0]?.args).toBe('{"a":')
  })

  test('set what the end reports', async () => {
    const parts = await answer({ usage: { inputTokens: 3, outputTokens: 4 } }, 'x', { finish: 'length' })
    expect(parts.at(-1)).toEqual({
      type: 'finish',
      reason: 'length',
      usage: { provider: 'scripted', model: 'scripted', inputTokens: 3, outputTokens: 4 },
    })
  })

  test('may be parts, so that calls interleave; what they leave open is ended', async () => {
    const start = (toolCallId: string) => ({ type: 'tool-call-start', toolCallId, toolName: 'f' }) as const
    const delta = (toolCallId: string) => ({ type: 'tool-call-delta', toolCallId, delta: '{}' }) as const
    const parts = await answer('x', start('a'), start('b'), delta('b'), delta('a'), {
      type: 'tool-call-end',
      toolCallId: 'b',
    })
    expect(parts.slice(2)).toEqual([
      start('a'),
      start('b'),
      delta('b'),
      delta('a'),
      { type: 'tool-call-end', toolCallId: 'b' },
      { type: 'tool-call-end', toolCallId: 'a' },
      { type: 'finish', reason: 'tool-calls' },
    ])
  })

  test('after a finish part are not played', async () => {
    expect(await answer('x', { type: 'finish', reason: 'stop' }, 'y')).toEqual([
      { type: 'text-delta', delta: 'x' },
      { type: 'text-end' },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('are cut to size, but never in the middle of a character', async () => {
    const model = scriptedModel([['ab😀cd', { toolCall: { name: 'f', args: { a: 1 } } }]], { chunkSize: 3 })
    const deltas = (await partsOf(model)).flatMap((part) => ('delta' in part ? [part.delta] : []))
    expect(deltas).toEqual(['ab😀', 'cd', '{"a', '":1', '}'])
  })

  test('give every call of a model an id of its own', async () => {
    const model = scriptedModel(() => [{ toolCall: { name: 'f' } }])
    const ids = [...wholeOf(await partsOf(model)).calls, ...wholeOf(await partsOf(model)).calls].map(
      ({ id }) => id,
    )
    expect(ids).toEqual(['call-1', 'call-2'])
  })
})

describe('a failure', () => {
  test('comes after what was said before it', async () => {
    const stream = scriptedModel([['par', { error: { status: 503, retryAfterMs: 5 } }]]).stream(request())
    const reader = stream[Symbol.asyncIterator]()
    expect(await reader.next()).toMatchObject({ value: { delta: 'par' } })
    await expect(reader.next()).rejects.toMatchObject({
      code: 'MODEL_ERROR',
      details: { status: 503, retryable: true, retryAfterMs: 5 },
    })
  })

  test.each([
    [{}, { retryable: true }],
    [{ status: 400 }, { status: 400, retryable: false }],
    [
      { status: 400, retryable: true },
      { status: 400, retryable: true },
    ],
  ])('described by %j has details %j', async (error, details) => {
    await expect(answer({ error })).rejects.toMatchObject({ message: 'A scripted failure.', details })
  })

  test('may be any error, and have words of its own', async () => {
    const error = new RangeError('mine')
    await expect(answer({ error })).rejects.toBe(error)
    await expect(answer({ error: { message: 'busy' } })).rejects.toThrow('busy')
  })
})

describe('a wait', () => {
  test('holds the answer in the middle of a text', async () => {
    const gate = deferred<undefined>()
    const model = scriptedModel([['Hel', { wait: gate.promise }, 'lo']])
    const reader = model.stream(request())[Symbol.asyncIterator]()
    expect(await reader.next()).toMatchObject({ value: { delta: 'Hel' } })
    const next = reader.next()
    gate.resolve(undefined)
    expect(await next).toMatchObject({ value: { type: 'text-delta', delta: 'lo' } })
    expect(await reader.next()).toMatchObject({ value: { type: 'text-end' } })
  })

  test('may be a function, which gets the signal', async () => {
    const signals: AbortSignal[] = []
    const asked = request()
    await partsOf(scriptedModel([[{ wait: (signal) => Promise.resolve(signals.push(signal)) }]]), asked)
    expect(signals).toEqual([asked.signal])
  })

  test('ends with an abort', async () => {
    const controller = new AbortController()
    const model = scriptedModel([['x', { wait: new Promise(() => undefined) }]])
    const reader = model.stream(request({ signal: controller.signal }))[Symbol.asyncIterator]()
    await reader.next()
    const pending = reader.next()
    controller.abort(new Error('stopped'))
    await expect(pending).rejects.toThrow('stopped')
  })
})

describe('an abort', () => {
  test('stops the answer at the next part', async () => {
    const controller = new AbortController()
    const model = scriptedModel(['abc'], { chunkSize: 1 })
    const reader = model.stream(request({ signal: controller.signal }))[Symbol.asyncIterator]()
    await reader.next()
    controller.abort(new Error('stopped'))
    await expect(reader.next()).rejects.toThrow('stopped')
  })

  test('before the first part is not even a request', async () => {
    const model = scriptedModel(['x'])
    await expect(partsOf(model, { signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow(
      'stopped',
    )
    expect(model.requests).toEqual([])
  })
})
