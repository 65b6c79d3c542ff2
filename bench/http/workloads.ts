import { deltas, pacedDeltas, word } from './agents.js'
import type { Child } from './child.js'
import { openStream, readStream, streamRequest, type Message, type StreamRequest } from './client.js'
import { median, monotonicMicros, quantile } from './stats.js'

const streams = 50
const historyLength = 200
const pacedStreams = 200
const idleStreams = 1_000
/** A chunk header may split a frame that the client counts. A chunk of 64 KiB is longer than half of a stream. */
const maxUnseen = 2

/** The result of one round. */
export interface Round {
  readonly eventsPerSecond: number
  /** CPU time of the server per event, in microseconds. */
  readonly cpuPerEvent: number
}

/** A burst that can be repeated: 50 streams at once, of 1,000 deltas each. */
export interface Burst {
  readonly name: string
  round(): Promise<Round>
}

export interface BurstOptions {
  /** The number of repetitions. */
  readonly rounds: number
  readonly withHistory?: boolean
}

/** Checks the content of one stream. Every other stream must have the same number of events. */
export async function createBurst(
  child: Child,
  { rounds, withHistory = false }: BurstOptions,
): Promise<Burst> {
  const requests = withHistory ? historyRequests : freshRequests
  const [sample] = await requests(child, 1)
  if (!sample) throw new Error('there is no request')
  const expected = await checkedLength(child, sample)
  // Collects now, so that the garbage collector's work on the setup is not measured.
  const ready: StreamRequest[][] = []
  for (let n = 0; n < rounds; n++) ready.push(await requests(child, streams))
  return {
    name: withHistory ? `${child.target}+history` : child.target,
    async round() {
      const next = ready.pop() ?? (await requests(child, streams))
      const open = await Promise.all(next.map((request) => openStream(child.port, request)))
      const before = await child.cpu()
      const began = performance.now()
      for (const stream of open) stream.send()
      const counts = await Promise.all(open.map(({ ended }) => ended))
      const elapsed = performance.now() - began
      const used = (await child.cpu()) - before
      const wrong = counts.find((count) => count > expected || count < expected - maxUnseen)
      if (wrong !== undefined)
        throw new Error(`${child.target}: ${wrong} events in a stream, not ${expected}`)
      const events = streams * expected
      return { eventsPerSecond: (events * 1000) / elapsed, cpuPerEvent: used / events }
    },
  }
}

async function checkedLength(child: Child, request: StreamRequest): Promise<number> {
  const events = await readStream(child.port, request)
  const said = events.flatMap((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? [event.delta] : []))
  const isWhole = said.length === deltas && said.every((delta) => delta === word)
  if (!isWhole || events[0]?.type !== 'RUN_STARTED' || events.at(-1)?.type !== 'RUN_FINISHED')
    throw new Error(`${child.target}: the stream is not what it should be`)
  return events.length
}

function freshRequests(_child: Child, count: number): Promise<StreamRequest[]> {
  return Promise.resolve(Array.from({ length: count }, () => streamRequest('burst')))
}

/** On threads with 200 messages. The client sends them all again, and one more, as clients do. */
function historyRequests(child: Child, count: number): Promise<StreamRequest[]> {
  const history = Array.from({ length: historyLength }, (_, n): Message => {
    const role = n % 2 === 0 ? 'user' : 'assistant'
    return {
      id: `message-${n}`,
      role,
      content: `This is message ${n} of a conversation that goes on for long.`,
    }
  })
  return Promise.all(
    Array.from({ length: count }, async () => {
      const threadId = `history-${crypto.randomUUID()}`
      await readStream(child.port, streamRequest('burst', { threadId, forwardedProps: { history } }))
      return streamRequest('burst', { threadId, history })
    }),
  )
}

/** Milliseconds from a request on an open connection to its first event, one request after the other. */
export async function firstEvents(child: Child, count: number): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < count; n++) {
    const stream = await openStream(child.port, streamRequest('hello'))
    const began = performance.now()
    stream.send()
    await stream.first
    times.push(performance.now() - began)
    await stream.ended
  }
  return times
}

/** A server under 200 streams of 50 events a second. */
export interface Paced {
  /** Of one core, from 0 to 1. */
  readonly cpuShare: number
  /** Milliseconds from the agent to the client. */
  readonly delay50: number
  readonly delay99: number
}

export async function paced(child: Child): Promise<Paced> {
  const delays: number[] = []
  const pattern = /"delta":"(\d+)"/g
  const onBytes = (bytes: Buffer): void => {
    const now = monotonicMicros()
    for (const [, said] of bytes.toString('latin1').matchAll(pattern))
      delays.push((now - Number(said)) / 1000)
  }
  const open = await Promise.all(
    Array.from({ length: pacedStreams }, () =>
      openStream(child.port, streamRequest('paced'), { onBytes, bufferBytes: 4096 }),
    ),
  )
  const before = await child.cpu()
  const began = performance.now()
  for (const stream of open) stream.send()
  await Promise.all(open.map(({ ended }) => ended))
  const elapsed = performance.now() - began
  const cpuShare = ((await child.cpu()) - before) / 1000 / elapsed
  if (delays.length < pacedStreams * pacedDeltas * 0.99)
    throw new Error(`${child.target}: only ${delays.length} paced events`)
  return { cpuShare, delay50: median(delays), delay99: quantile(delays, 0.99) }
}

/** Kilobytes per open, idle stream. */
export interface Idle {
  /** On the heap and in buffers, after a garbage collection. */
  readonly heap: number
  readonly rss: number
}

/** The server cannot be used afterwards: its runs go on. */
export async function idle(child: Child): Promise<Idle> {
  const open = async (count: number) => {
    const streams = await Promise.all(
      Array.from({ length: count }, () =>
        openStream(child.port, streamRequest('idle'), { bufferBytes: 1024 }),
      ),
    )
    for (const stream of streams) stream.send()
    await Promise.all(streams.map(({ first }) => first))
    return streams
  }
  // The first streams allocate what all others share.
  const few = await open(100)
  const before = await child.memory()
  const many = await open(idleStreams)
  const after = await child.memory()
  for (const stream of [...few, ...many]) stream.close()
  const each = (bytes: number): number => bytes / 1024 / idleStreams
  return { heap: each(after.heap - before.heap), rss: each(after.rss - before.rss) }
}
