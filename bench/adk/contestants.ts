import {
  BaseLlm,
  createEvent,
  InMemorySessionService,
  LlmAgent,
  Runner,
  StreamingMode,
  type LlmResponse,
} from '@google/adk'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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

/**
 * One way to run the agent: prepares a function that is timed and returns the number of events. Each call is a turn of the
 * same conversation.
 */
export type Contestant = (history: number) => Promise<() => Promise<number>>

export const model = new Talkative()
const agent = new LlmAgent({ name: 'talker', model })
const question = 'Go on.'
const textOf = (n: number): string => `This is message ${n} of the conversation.`

/** The bare Runner, in a session with this many messages. Counts its events. */
const bareRunner: Contestant = async (history) => {
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
function throughMillrace(
  take: () => (event: Parameters<ReturnType<typeof createSseEncoder>>[0]) => void,
): Contestant {
  return async (history) => {
    const served = fromAdk(agent)
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
      const asked = { id: `q${thread.length}`, role: 'user', content: question } as const
      const started = run(served, { threadId, messages: [...thread, asked] })
      for await (const event of started) {
        events++
        consume(event)
      }
      thread = (await started.result).messages
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

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as (options: { type: 'minor' }) => void

/** CPU time of an answer in microseconds: nothing here waits, and other processes do not count. */
export async function time(prepare: Contestant, history: number, words: number): Promise<number> {
  const once = await prepare(history)
  model.words = words
  // Collects the garbage of the setup. A minor collection only: a full one discards compiled code.
  collectGarbage({ type: 'minor' })
  const before = process.cpuUsage()
  const events = await once()
  const { user, system } = process.cpuUsage(before)
  if (events < words) throw new Error(`only ${events} of ${words} events`)
  return user + system
}

export const contestants = [
  { name: 'bare Runner', prepare: bareRunner },
  { name: 'run(fromAdk(agent))', prepare: throughMillrace(() => () => undefined) },
  { name: '... to SSE bytes', prepare: throughMillrace(toBytes) },
] as const
