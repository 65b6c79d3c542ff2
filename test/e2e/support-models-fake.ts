import type { AiSdkLanguageModel } from '../../src/models/index.js'

/** A language model of the AI SDK that answers with these stream parts, and remembers how it was called. */
export interface FakeLanguageModel extends AiSdkLanguageModel {
  readonly calls: Parameters<AiSdkLanguageModel['doStream']>[0][]
}

export type StreamParts = Iterable<unknown> | AsyncIterable<unknown>

/** Makes one. `answer` is called for each call; what it throws, the call rejects with. */
export function fakeLanguageModel(
  answer: (index: number) => StreamParts | Promise<StreamParts>,
  fields: Partial<AiSdkLanguageModel> = {},
): FakeLanguageModel {
  const calls: FakeLanguageModel['calls'] = []
  return {
    specificationVersion: 'v3',
    provider: 'fake.chat',
    modelId: 'fake-1',
    supportedUrls: {},
    ...fields,
    calls,
    async doStream(options) {
      const parts = await answer(calls.push(options) - 1)
      return { stream: ReadableStream.from(parts) }
    },
  }
}

/** A promise and what settles it. */
export function deferred<T>() {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

export const finish = { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage: {} }
