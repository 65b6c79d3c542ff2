import {
  BaseLlm,
  InMemorySessionService,
  LlmAgent,
  LogLevel,
  Runner,
  setLogLevel,
  StreamingMode,
  type LlmResponse,
} from '@google/adk'
import type { Agent } from 'millrace'
import { fromAdk } from 'millrace/adk'
import type { RequestListener, ServerResponse } from 'node:http'
import { deltas, word } from './agents.js'
import { encode, ends, headers, onBody } from './bare.js'

setLogLevel(LogLevel.ERROR)

/** Streams its words at once, and then sends all of them together, as Gemini does. */
class Talkative extends BaseLlm {
  constructor() {
    super({ model: 'talkative' })
  }

  override async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
    await Promise.resolve()
    for (let n = 0; n < deltas; n++)
      yield { content: { role: 'model', parts: [{ text: word }] }, partial: true }
    yield { content: { role: 'model', parts: [{ text: word.repeat(deltas) }] }, partial: false }
  }

  override connect(): Promise<never> {
    return Promise.reject(new Error('no live connection'))
  }
}

const burst = new LlmAgent({ name: 'burst', model: new Talkative() })

/** The agent behind Millrace. */
export const adkAgents = (): [Agent, ...Agent[]] => [fromAdk(burst)]

/** ADK's Runner with the least translation: each partial text is one event, and one write. */
export function adkRunner(): RequestListener {
  const sessionService = new InMemorySessionService()
  const runner = new Runner({ appName: 'bench', agent: burst, sessionService })
  const key = { appName: 'bench', userId: 'local' }
  const answer = async (response: ServerResponse): Promise<void> => {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    response.writeHead(200, headers)
    const write = (event: object) => response.write(encode(event))
    const { id: sessionId } = await sessionService.createSession(key)
    const messageId = `message-${sessionId}`
    write({ type: 'RUN_STARTED', ...ends })
    write({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' })
    for await (const { partial, content } of runner.runAsync({
      ...{ userId: key.userId, sessionId, abortSignal: gone.signal },
      newMessage: { role: 'user', parts: [{ text: 'Say it.' }] },
      runConfig: { streamingMode: StreamingMode.SSE },
    })) {
      const delta = content?.parts?.[0]?.text
      if (partial && delta !== undefined) write({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
    }
    write({ type: 'TEXT_MESSAGE_END', messageId })
    write({ type: 'RUN_FINISHED', ...ends, outcome: { type: 'success' } })
    response.end()
  }
  return onBody((_, response) => void answer(response))
}
