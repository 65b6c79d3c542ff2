import type { ContentPart } from '@ag-ui/core'
import { describe, expect, test, vi } from 'vitest'
import { deferred, fakeLanguageModel, finish } from '../../../test/e2e/support-models-fake.js'
import { partsOf, request, wholeOf } from '../../../test/e2e/support-models-parts.js'
import type { ModelRequest } from '../contract.js'
import { fromAiSdk, toCallOptions } from './from-ai-sdk.js'

const hello = { type: 'text-delta', id: '0', delta: 'hello' }
const never = new Promise<never>(() => undefined)

async function* hanging() {
  yield hello
  await never
}

function abortable() {
  const controller = new AbortController()
  return { controller, request: request({ signal: controller.signal }) }
}

describe('the model', () => {
  test.each(['v2', 'v3', 'v4'])('of specification %s answers', async (specificationVersion) => {
    const model = fromAiSdk(fakeLanguageModel(() => [hello, finish], { specificationVersion }))
    expect(wholeOf(await partsOf(model)).text).toBe('hello')
  })

  test.each(['v1', 'v5'])('of specification %s is refused at once', (specificationVersion) => {
    const refused = () => fromAiSdk(fakeLanguageModel(() => [], { specificationVersion }))
    expect(refused).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }))
    expect(refused).toThrow(`fake-1 is of provider specification ${specificationVersion}`)
  })

  test.each([
    ['openai.chat', 'openai'],
    ['openai.responses', 'openai'],
    ['anthropic.messages', 'anthropic'],
    ['google.generative-ai', 'google'],
    ['google.vertex.chat', 'google.vertex'],
    ['amazon-bedrock', 'amazon-bedrock'],
  ])('of %s is of provider %s, also in its usage', async (provider, name) => {
    const usage = { inputTokens: { total: 3 }, outputTokens: { total: 4 } }
    const model = fromAiSdk(fakeLanguageModel(() => [{ ...finish, usage }], { provider }))
    expect(model).toMatchObject({ provider: name, modelId: 'fake-1' })
    expect(await partsOf(model)).toEqual([
      {
        type: 'finish',
        reason: 'stop',
        usage: { provider: name, model: 'fake-1', inputTokens: 3, outputTokens: 4, totalTokens: 7 },
      },
    ])
  })

  test('is not called before the answer is read', async () => {
    const source = fakeLanguageModel(() => [hello, finish])
    const stream = fromAiSdk(source).stream(request())
    expect(source.calls).toHaveLength(0)
    await stream[Symbol.asyncIterator]().next()
    expect(source.calls).toHaveLength(1)
  })

  test('gets the conversation with its instructions', async () => {
    const source = fakeLanguageModel(() => [finish])
    await partsOf(fromAiSdk(source), { instructions: 'Be brief.', settings: { seed: 1 } })
    expect(source.calls).toMatchObject([
      {
        prompt: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: [{ type: 'text', text: 'hello' }] },
        ],
        seed: 1,
      },
    ])
  })
})

describe('a failure', () => {
  const errorOf = (model: Parameters<typeof fromAiSdk>[0]) =>
    partsOf(fromAiSdk(model)).catch((error: unknown) => error)

  test('of the call is a MODEL_ERROR', async () => {
    const cause = Object.assign(new Error('busy'), { statusCode: 503, isRetryable: true })
    const model = fakeLanguageModel(() => Promise.reject(cause))
    expect(await errorOf(model)).toMatchObject({
      code: 'MODEL_ERROR',
      message: 'fake fake-1 (HTTP 503): busy',
      details: { status: 503, retryable: true },
      cause,
    })
  })

  test('in mid-stream is one too', async () => {
    async function* lost() {
      yield hello
      await Promise.reject(new TypeError('terminated'))
    }
    expect(await errorOf(fakeLanguageModel(lost))).toMatchObject({
      code: 'MODEL_ERROR',
      details: { retryable: true },
    })
    expect(
      await errorOf(
        fakeLanguageModel(() => [hello, { type: 'error', error: { message: 'no', code: 400 } }, finish]),
      ),
    ).toMatchObject({
      code: 'MODEL_ERROR',
      details: { status: 400, retryable: false },
    })
  })

  test('is also an answer without an end', async () => {
    expect(await errorOf(fakeLanguageModel(() => [hello]))).toMatchObject({
      code: 'MODEL_ERROR',
      message: 'The model broke off in the middle of its answer.',
      details: { retryable: true },
    })
  })
})

describe('an abort', () => {
  const reason = new Error('stopped by the user')

  test('before the first part calls nobody', async () => {
    const source = fakeLanguageModel(() => [finish])
    await expect(partsOf(fromAiSdk(source), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(source.calls).toHaveLength(0)
  })

  test('while the call is on its way ends it, also with a provider that does not listen', async () => {
    const { controller, request: asked } = abortable()
    const called = deferred<undefined>()
    const source = fakeLanguageModel(() => {
      called.resolve(undefined)
      return never
    })
    const pending = fromAiSdk(source).stream(asked)[Symbol.asyncIterator]().next()
    await called.promise
    controller.abort(reason)
    await expect(pending).rejects.toBe(reason)
    expect(source.calls[0]?.abortSignal?.aborted).toBe(true)
  })

  test('while the call is on its way also closes an answer that comes too late', async () => {
    const { controller, request: asked } = abortable()
    const answered = deferred<AsyncIterable<unknown>>()
    const closed = deferred<undefined>()
    const called = deferred<undefined>()
    const source = fakeLanguageModel(() => {
      called.resolve(undefined)
      return answered.promise
    })
    const pending = fromAiSdk(source).stream(asked)[Symbol.asyncIterator]().next()
    await called.promise
    controller.abort(reason)
    await expect(pending).rejects.toBe(reason)
    answered.resolve({
      [Symbol.asyncIterator]: () => ({
        next: () => never,
        return: () => {
          closed.resolve(undefined)
          return Promise.resolve({ done: true, value: undefined })
        },
      }),
    })
    await closed.promise
  })

  test('in mid-stream ends the read at once and closes the stream', async () => {
    const { controller, request: asked } = abortable()
    const source = fakeLanguageModel(hanging)
    const stream = fromAiSdk(source).stream(asked)[Symbol.asyncIterator]()
    expect(await stream.next()).toEqual({ done: false, value: { type: 'text-delta', delta: 'hello' } })
    const pending = stream.next()
    controller.abort(reason)
    await expect(pending).rejects.toBe(reason)
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  test('that the provider reports in its own words is still the reason of the signal', async () => {
    const { controller, request: asked } = abortable()
    async function* interrupted() {
      yield hello
      controller.abort(reason)
      await Promise.reject(new DOMException('aborted', 'AbortError'))
    }
    const stream = fromAiSdk(fakeLanguageModel(interrupted)).stream(asked)[Symbol.asyncIterator]()
    await stream.next()
    await expect(stream.next()).rejects.toBe(reason)
  })

  test('leaves nothing on the signal of a caller that lives on', async () => {
    const { controller, request: asked } = abortable()
    const added = vi.spyOn(controller.signal, 'addEventListener')
    const removed = vi.spyOn(controller.signal, 'removeEventListener')
    await partsOf(fromAiSdk(fakeLanguageModel(() => [hello, finish])), asked)
    expect(added.mock.calls.map(([type, listener]) => [type, listener])).toEqual(removed.mock.calls)
    expect(added).toHaveBeenCalled()
  })
})

describe('a consumer that leaves', () => {
  test('aborts the call', async () => {
    const source = fakeLanguageModel(hanging)
    for await (const part of fromAiSdk(source).stream(request())) {
      expect(part).toEqual({ type: 'text-delta', delta: 'hello' })
      break
    }
    expect(source.calls[0]?.abortSignal?.aborted).toBe(true)
  })

  test('need not wait for the next part', async () => {
    const source = fakeLanguageModel(hanging)
    const stream = fromAiSdk(source).stream(request())[Symbol.asyncIterator]()
    await stream.next()
    const pending = stream.next()
    const left = stream.return?.()
    await expect(pending).rejects.toMatchObject({ name: 'AbortError' })
    expect(await left).toMatchObject({ done: true })
  })
})

describe('files that a provider refuses', () => {
  const file = (type: 'image' | 'audio', mimeType: string): ContentPart => ({
    type,
    source: { type: 'data', value: 'AAAA', mimeType },
  })
  const refusal = (message: string) =>
    Object.assign(new Error(message), { name: 'AI_UnsupportedFunctionalityError' })
  const content = [
    { type: 'text', text: 'look' } as const,
    file('audio', 'audio/ogg'),
    file('image', 'image/png'),
  ]
  const messages = [
    { id: '1', role: 'user', content: [file('audio', 'audio/ogg')] } as const,
    { id: '2', role: 'user', content } as const,
  ]
  const asked = messages.map((message) => ({ ...message, content: [...message.content] }))

  test('are left out, those it names, and the rest is sent', async () => {
    const onWarning = vi.fn()
    const source = fakeLanguageModel((index) => {
      if (index === 0)
        throw refusal("'audio content parts with media type audio/ogg' functionality not supported.")
      return [hello, finish]
    })
    expect(wholeOf(await partsOf(fromAiSdk(source, { onWarning }), { messages: asked })).text).toBe('hello')
    expect(source.calls[1]?.prompt).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'file', mediaType: 'image/png', data: 'AAAA' },
        ],
      },
    ])
    expect(onWarning.mock.calls).toEqual([[expect.stringContaining('audio/ogg')]])
  })

  test('are all left out when it names none', async () => {
    const source = fakeLanguageModel((index) => {
      if (index === 0) throw refusal('no files at all')
      return [finish]
    })
    await partsOf(fromAiSdk(source), { messages: asked })
    expect(source.calls[1]?.prompt).toEqual([{ role: 'user', content: [{ type: 'text', text: 'look' }] }])
  })

  test('are not to blame for what is refused without them', async () => {
    const source = fakeLanguageModel(() => {
      throw refusal('no tools here')
    })
    await expect(partsOf(fromAiSdk(source), { messages: asked })).rejects.toMatchObject({
      code: 'MODEL_ERROR',
      details: { retryable: false },
    })
    expect(source.calls).toHaveLength(2)
  })
})

describe('the options of a call', () => {
  const { signal } = new AbortController()
  const optionsOf = (fields: Partial<ModelRequest>) => toCallOptions(request(fields), [], signal)
  const tool = { name: 'weather', description: 'Tells the weather.' }
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }

  test('a plain request has a prompt and a signal, and nothing else', () => {
    expect(optionsOf({})).toEqual({ prompt: [], abortSignal: signal })
  })

  test('settings are passed on under their names', () => {
    const settings = {
      temperature: 0.1,
      topP: 0.2,
      maxOutputTokens: 3,
      stopSequences: ['x'],
      seed: 4,
      providerOptions: { openai: { store: false } },
    }
    expect(optionsOf({ settings })).toEqual({ prompt: [], abortSignal: signal, ...settings })
  })

  describe('tools', () => {
    test('become functions with a schema, also those without parameters', () => {
      expect(optionsOf({ tools: [{ ...tool, parameters, metadata: { x: 1 } }, tool] }).tools).toEqual([
        { type: 'function', ...tool, inputSchema: parameters },
        { type: 'function', ...tool, inputSchema: { type: 'object', properties: {} } },
      ])
    })

    test.each([
      ['auto' as const, { type: 'auto' }],
      ['none' as const, { type: 'none' }],
      ['required' as const, { type: 'required' }],
      [{ toolName: 'weather' }, { type: 'tool', toolName: 'weather' }],
    ])('are chosen by %j', (toolChoice, expected) => {
      expect(optionsOf({ tools: [tool], toolChoice }).toolChoice).toEqual(expected)
    })

    test('leave no choice when there are none', () => {
      expect(optionsOf({ tools: [], toolChoice: 'required' })).toEqual({ prompt: [], abortSignal: signal })
    })
  })
})
