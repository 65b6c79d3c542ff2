import {
  BaseLlm,
  createEvent,
  InMemorySessionService,
  LlmAgent,
  Runner,
  StreamingMode,
  type LlmResponse,
} from '@google/adk'
import { run } from 'millrace'
import { fromAdk } from 'millrace/adk'
import { createSseEncoder } from 'millrace/protocol'

const batch = 64

/** A model that streams a number of words, and then sends all of them together, as Gemini does. */
class Talkative extends BaseLlm {
  words = 1

  constructor() {
    super({ model: 'talkative' })
  }

  override async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
    await Promise.resolve()
    let text = ''
    for (let n = 0; n < this.words; n++) {
      const piece = ` token${n % 97}`
      text += piece
      yield { content: { role: 'model', parts: [{ text: piece }] }, partial: true }
    }
    yield { content: { role: 'model', parts: [{ text }] }, partial: false }
  }

  override connect(): Promise<never> {
    return Promise.reject(new Error('no live connection'))
  }
}

/** One way to run the agent: prepares a function that is timed and returns the number of events. */
export type Contestant = (history: number) => Promise<() => Promise<number>>

export const model = new Talkative()
const agent = new LlmAgent({ name: 'talker', model })
const question = 'Go on.'
const textOf = (n: number): string => `This is message ${n} of the conversation.`

/** The bare Runner, in a session with this many messages. Counts its events. */
const bare: Contestant = async (history) => {
  const sessionService = new InMemorySessionService()
  const key = { appName: 'bench', userId: 'local', sessionId: 's' }
  const session = await sessionService.createSession(key)
  for (let n = 0; n < history; n++) {
    const [author, role] = n % 2 === 0 ? ['user', 'user'] : ['talker', 'model']
    const content = { role, parts: [{ text: textOf(n) }] }
    await sessionService.appendEvent({
      session,
      event: createEvent({ author, invocationId: `i${n}`, content }),
    })
  }
  const runner = new Runner({ appName: 'bench', agent, sessionService })
  // A server always passes one, since clients disconnect.
  const { signal: abortSignal } = new AbortController()
  return async () => {
    let events = 0
    for await (const _event of runner.runAsync({
      ...key,
      abortSignal,
      newMessage: { role: 'user', parts: [{ text: question }] },
      runConfig: { streamingMode: StreamingMode.SSE },
    }))
      events++
    return events
  }
}

type Messages = Extract<Parameters<typeof run>[1], readonly unknown[]>

const messages = (length: number): Messages =>
  Array.from({ length }, (_, n) => {
    const role = n % 2 === 0 ? 'user' : 'assistant'
    return { id: `m${n}`, role, content: textOf(n) }
  })

/** Through `fromAdk`, in a thread and a session with this many messages, with some work per event. */
function millrace(
  take: () => (event: Parameters<ReturnType<typeof createSseEncoder>>[0]) => void,
): Contestant {
  return async (history) => {
    const served = fromAdk(agent, { sessionService: new InMemorySessionService() })
    const threadId = 't'
    let thread = messages(history)
    if (history > 0) {
      // An ordinary run brings the session up to the thread. Its answer is the last message of the history.
      model.words = 1
      thread = (await run(served, { threadId, messages: thread.slice(0, -1) }).result).messages
    }
    return async () => {
      const consume = take()
      let events = 0
      const request = {
        threadId,
        messages: [...thread, { id: 'new', role: 'user', content: question } as const],
      }
      for await (const event of run(served, request)) {
        events++
        consume(event)
      }
      return events
    }
  }
}

/** Joins the frames of one tick into one chunk of bytes, as the server does. */
function toBytes() {
  const encode = createSseEncoder('run-1')
  const encoder = new TextEncoder()
  let [pending, seq] = ['', 0]
  return (event: Parameters<typeof encode>[0]): void => {
    pending += encode(event, seq++)
    if (seq % batch > 0 && !event.type.startsWith('RUN_')) return
    encoder.encode(pending)
    pending = ''
  }
}

export const contestants = [
  { name: 'bare Runner', prepare: bare },
  { name: 'run(fromAdk(agent))', prepare: millrace(() => () => undefined) },
  { name: '... to SSE bytes', prepare: millrace(toBytes) },
] as const
