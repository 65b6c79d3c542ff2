import {
  BaseLlm,
  createEvent,
  InMemorySessionService,
  LlmAgent,
  LogLevel,
  Runner,
  setLogLevel,
  StreamingMode,
  type LlmResponse,
} from '@google/adk'
import { run } from 'millrace'
import { fromAdk } from 'millrace/adk'
import { createSseEncoder } from 'millrace/protocol'

const pieces = 2_000
const rounds = 31
const histories = [0, 100, 1_000]
const batch = 64
/** What an event may cost on top of the bare Runner. */
const maxAdded = 0.25
/** How much more the added part may be in a long history, beside what a clock can tell. */
const maxGrowth = 1.5
const noiseMicros = 2

/** A model that says so many words, one by one and then all together, as Gemini does. */
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

/** One way to run the agent. Made ready first; what it gives is timed. */
type Contestant = (history: number) => Promise<() => Promise<number>>

const model = new Talkative()
const agent = new LlmAgent({ name: 'talker', model })
const question = 'Go on.'
const textOf = (n: number): string => `This is message ${n} of the conversation.`

/** The Runner alone, in a session with so many messages. Counts the events it gives. */
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
  return async () => {
    let events = 0
    for await (const _event of runner.runAsync({
      ...key,
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

/** Through `fromAdk`, in a thread and a session with so many messages, with something done to each event. */
function millrace(
  take: () => (event: Parameters<ReturnType<typeof createSseEncoder>>[0]) => void,
): Contestant {
  return async (history) => {
    const served = fromAdk(agent, { sessionService: new InMemorySessionService() })
    const threadId = 't'
    let thread = messages(history)
    if (history > 0) {
      // A run as any other brings the session to where the thread is. The answer to it ends the history.
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

/** Frames of one tick in one chunk of bytes, as the server writes them. */
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

const contestants = [
  { name: 'bare Runner', prepare: bare },
  { name: 'run(fromAdk(agent))', prepare: millrace(() => () => undefined) },
  { name: '... to SSE bytes', prepare: millrace(toBytes) },
] as const

interface Figures {
  /** Microseconds for each word of an answer. */
  readonly event: number
  /** Microseconds for a run that says one word. */
  readonly run: number
}

async function time(prepare: Contestant, history: number, words: number): Promise<number> {
  const once = await prepare(history)
  model.words = words
  const start = performance.now()
  const events = await once()
  const elapsed = performance.now() - start
  if (events < words) throw new Error(`only ${events} of ${words} events`)
  return elapsed * 1000
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

/** All in turns, round by round, so that what else the machine does meets them alike. */
async function measure(history: number): Promise<Figures[]> {
  const taken = contestants.map(() => ({ event: [] as number[], run: [] as number[] }))
  for (let round = 0; round < rounds; round++)
    for (const [index, { prepare }] of contestants.entries()) {
      const short = await time(prepare, history, 1)
      const long = await time(prepare, history, pieces)
      taken[index]?.run.push(short)
      taken[index]?.event.push((long - short) / (pieces - 1))
    }
  return taken.map((figures) => ({ event: median(figures.event), run: median(figures.run) }))
}

function print(history: number, figures: readonly Figures[]): void {
  const base = figures[0] ?? { event: NaN, run: NaN }
  console.log(`adk: an answer of ${pieces} words after ${history} messages`)
  for (const [index, { event, run: perRun }] of figures.entries()) {
    const { name } = contestants[index] ?? { name: '' }
    const share = index === 0 ? '' : ` (+${((event / base.event - 1) * 100).toFixed(0)} %)`
    console.log(
      `  ${name.padEnd(20)} ${event.toFixed(2).padStart(7)} µs a word${share.padEnd(9)} ${(perRun / 1000).toFixed(2).padStart(7)} ms a run`,
    )
  }
}

export async function benchAdk(): Promise<string[]> {
  setLogLevel(LogLevel.ERROR)
  // The first measurement is of the compiler; it is thrown away.
  await measure(10)
  const added: Figures[] = []
  const missed: string[] = []
  for (const history of histories) {
    const figures = await measure(history)
    print(history, figures)
    const [base, ours] = figures
    if (!base || !ours) throw new Error('nothing was measured')
    added.push({ event: ours.event - base.event, run: ours.run - base.run })
    const share = ours.event / base.event - 1
    if (share > maxAdded)
      missed.push(
        `adk: +${(share * 100).toFixed(0)} % a word after ${history} messages, more than ${maxAdded * 100} %`,
      )
  }
  console.log(`adk: added by history ${histories.join(', ')}`)
  console.log(`  ${added.map(({ event }) => event.toFixed(2)).join(', ')} µs a word`)
  console.log(`  ${added.map(({ run: perRun }) => (perRun / 1000).toFixed(2)).join(', ')} ms a run`)
  const [first, last] = [added[0]?.event ?? NaN, added.at(-1)?.event ?? NaN]
  if (!(last <= first * maxGrowth + noiseMicros))
    missed.push(
      `adk: a word adds ${last.toFixed(2)} µs in a history of ${histories.at(-1)}, ${first.toFixed(2)} without`,
    )
  return missed
}
