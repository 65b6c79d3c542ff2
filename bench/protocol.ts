import { createRunStream, createSseEncoder, type AgentEvent } from 'millrace/protocol'

const sizes = [1_000, 10_000, 100_000, 1_000_000]
const maxRatio = 3
const maxGrowth = 1.5
const batch = 64

const words = Array.from({ length: 97 }, (_, n) => ` token${n}`)
const encoder = new TextEncoder()

/** Writes the frames of one tick as the server does: joined into one string, as one chunk of bytes. */
function createSink() {
  let pending = ''
  let count = 0
  let bytes = 0
  return {
    add(frame: string) {
      pending += frame
      if (++count % batch === 0) this.flush()
    },
    flush() {
      bytes += encoder.encode(pending).byteLength
      pending = ''
    },
    get bytes() {
      return bytes
    },
  }
}

/** The least that any server does: the event as JSON in an SSE frame, as bytes. */
function bare(events: number): number {
  const sink = createSink()
  for (let n = 0; n < events; n++) {
    const event = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'message-1', delta: words[n % words.length] }
    sink.add('data: ' + JSON.stringify(event) + '\n\n')
  }
  sink.flush()
  return sink.bytes
}

/** Loose event in, SSE bytes out: checked, folded, numbered, encoded. */
function millrace(events: number, write: (delta: string) => AgentEvent): number {
  const sink = createSink()
  const encode = createSseEncoder('run-1')
  let seq = 0
  const stream = createRunStream({
    threadId: 'thread-1',
    runId: 'run-1',
    emit: (event) => sink.add(encode(event, seq++)),
  })
  for (let n = 0; n < events; n++) stream.write(write(words[n % words.length] ?? ''))
  stream.finish({ type: 'success' })
  sink.flush()
  return sink.bytes
}

const content = (delta: string): AgentEvent => ({
  type: 'TEXT_MESSAGE_CONTENT',
  messageId: 'message-1',
  delta,
})
const chunk = (delta: string): AgentEvent => ({ type: 'TEXT_MESSAGE_CHUNK', messageId: 'message-1', delta })
const tagged = (delta: string): AgentEvent => ({
  type: 'TEXT_MESSAGE_CHUNK',
  messageId: 'message-1',
  delta,
  subagentRunId: 'subagent-1',
})

/** The best of several rounds, in microseconds per event: rounds differ only by other load on the machine. */
function measure(events: number, work: (events: number) => number): number {
  const rounds = Math.max(3, Math.min(200, Math.round(400_000 / events)))
  let best = Infinity
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    if (work(events) === 0) throw new Error('nothing was written')
    best = Math.min(best, performance.now() - start)
  }
  return (best * 1000) / events
}

export function benchProtocol(): string[] {
  const lanes: [string, (events: number) => number][] = [
    ['bare JSON.stringify', bare],
    ['content', (events) => millrace(events, content)],
    ['chunk', (events) => millrace(events, chunk)],
    ['subagent chunk', (events) => millrace(events, tagged)],
  ]
  for (const [, work] of lanes) measure(50_000, work)

  console.log('protocol: text deltas, microseconds per event (ratio to bare)')
  console.log(['events'.padStart(9), ...lanes.map(([name]) => name.padStart(20))].join(''))
  const ratios = new Map<string, number[]>()
  for (const size of sizes) {
    const times = lanes.map(([, work]) => measure(size, work))
    const base = times[0] ?? NaN
    const cells = times.map((time, lane) => {
      const ratio = time / base
      const name = lanes[lane]?.[0] ?? ''
      ratios.set(name, [...(ratios.get(name) ?? []), ratio])
      return `${time.toFixed(3)} (${ratio.toFixed(2)}x)`.padStart(20)
    })
    console.log([String(size).padStart(9), ...cells].join(''))
  }

  const missed: string[] = []
  for (const [name, byName] of ratios) {
    const at100k = byName[sizes.indexOf(100_000)] ?? NaN
    const growth = (byName.at(-1) ?? NaN) / (byName[0] ?? NaN)
    if (!(at100k <= maxRatio))
      missed.push(`${name}: ${at100k.toFixed(2)}x of bare at 100,000 events, not ${maxRatio}x`)
    if (!(growth <= maxGrowth))
      missed.push(`${name}: grows ${growth.toFixed(2)}x from 1,000 to 1,000,000 events`)
  }
  return missed
}
