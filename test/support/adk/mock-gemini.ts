import { LLMock } from '@copilotkit/aimock'
import { Gemini, type LlmRequest } from '@google/adk'
import type { Content } from '../../../src/adk/adk-types.js'
import { afterEachTest } from '../after-each-test.js'

/** One answer of the mocked service. */
export type GeminiAnswer = Parameters<LLMock['on']>[1]

export interface MockedGemini {
  readonly model: () => Gemini
  /** A copy of the contents of each request. */
  readonly calls: Content[][]
}

const mocks = new Set<LLMock>()

afterEachTest(async () => {
  const all = [...mocks]
  mocks.clear()
  await Promise.all(all.map((mock) => mock.stop()))
})

/** ADK's own Gemini class in front of a mock of the service, which speaks its wire format until the test ends. */
export async function mockGemini(answers: readonly GeminiAnswer[]): Promise<MockedGemini> {
  const mock = await LLMock.create({ port: 0, chunkSize: 4 })
  mocks.add(mock)
  const calls: Content[][] = []
  const next = () => answers[calls.length - 1] ?? { content: 'Too often.', finishReason: 'stop' }
  mock.on({}, next as GeminiAnswer)
  class Mocked extends Gemini {
    override getHttpOptions() {
      return { ...super.getHttpOptions(), baseUrl: mock.url }
    }

    override generateContentAsync(request: LlmRequest, stream?: boolean, signal?: AbortSignal) {
      calls.push(structuredClone(request.contents))
      return super.generateContentAsync(request, stream, signal)
    }
  }
  return { model: () => new Mocked({ model: 'gemini-2.5-flash', apiKey: 'test' }), calls }
}
