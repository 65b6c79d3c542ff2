import fc from 'fast-check'
import { expect, it } from 'vitest'
import { settled } from '../../../test/support/run-agent.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { LogEntry } from '../../threads/contract.js'
import { RecentEvents, RunFeed, type FeedBatch } from './run-feed.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

type Step =
  | { readonly do: 'push'; readonly bytes: number }
  | { readonly do: 'pushSafely'; readonly bytes: number }
  | { readonly do: 'flush'; readonly isWorking: boolean }
  | { readonly do: 'follow'; readonly after: number; readonly slowness: number }
  | { readonly do: 'settle' }

const size = fc.oneof(fc.nat(50), fc.constant(20_000))
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('push' as const), bytes: size }) },
  fc.record({ do: fc.constant('pushSafely' as const), bytes: size }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('flush' as const), isWorking: fc.boolean() }) },
  fc.record({
    do: fc.constant('follow' as const),
    after: fc.integer({ min: -1, max: 30 }),
    slowness: fc.nat(3),
  }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('settle' as const) }) },
)

/** A store that takes its time, and fails when it is told to. */
function createLog() {
  const entries: LogEntry[] = []
  const mode = { isWorking: true }
  return {
    entries,
    mode,
    async append({ firstSeq, lines }: FeedBatch): Promise<void> {
      const { isWorking } = mode
      await settled()
      if (!isWorking) throw new Error('The disk is full.')
      entries.push(...lines.map((json, n) => ({ seq: firstSeq + n, json })))
    },
    async read(after: number, limit: number): Promise<readonly LogEntry[]> {
      await settled()
      return entries.filter(({ seq }) => seq > after).slice(0, limit)
    },
  }
}

async function readSlowly(feed: RunFeed, after: number, slowness: number): Promise<number[]> {
  const seen: number[] = []
  for await (const { entries } of feed.subscribe(after, new AbortController().signal)) {
    seen.push(...entries.map(({ seq }) => seq))
    for (let n = 0; n < slowness; n++) await settled()
  }
  return seen
}

async function play(steps: readonly Step[], bufferBytes: number) {
  const log = createLog()
  const feed = new RunFeed({
    runId: 'r',
    firstSeq: 0,
    bufferBytes,
    log,
    flusher: { flushSoon: () => undefined },
  })
  const readers: { readonly after: number; readonly seen: Promise<number[]> }[] = []
  const writes: Promise<unknown>[] = []
  for (const one of steps) {
    if (one.do === 'push') await feed.push({ type: 'CUSTOM', name: 'n', value: '.'.repeat(one.bytes) })
    else if (one.do === 'pushSafely')
      await feed
        .pushSafely({ type: 'CUSTOM', name: 'n', value: '.'.repeat(one.bytes) })
        .catch(() => undefined)
    else if (one.do === 'follow')
      readers.push({ after: one.after, seen: readSlowly(feed, one.after, one.slowness) })
    else if (one.do === 'settle') await settled()
    else {
      log.mode.isWorking = one.isWorking
      writes.push(feed.flush().catch(() => undefined))
    }
  }
  const { firstSeq, lines } = await feed.seal({ type: 'CUSTOM', name: 'end', value: 0 })
  log.entries.push(...lines.map((json, n) => ({ seq: firstSeq + n, json })))
  const late = feed.flush()
  await settled()
  feed.close()
  await Promise.all([...writes, late])
  return { feed, log: log.entries, readers }
}

it('gives every subscriber, and the log, each event once and in order, whatever happens meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.constantFrom(0, 100, 1e6),
      async (steps, bytes) => {
        const { feed, log, readers } = await play(steps, bytes)
        const all = Array.from({ length: feed.nextSeq }, (_, seq) => seq)
        expect(log.map(({ seq }) => seq)).toEqual(all)
        for (const { after, seen } of readers) expect(await seen).toEqual(all.slice(after + 1))
      },
    ),
    { numRuns: propertyRuns(150) },
  )
})

const plain = fc.record({
  type: fc.constantFrom('TEXT_MESSAGE_CONTENT' as const, 'REASONING_MESSAGE_CONTENT' as const),
  messageId: fc.constantFrom('m1', 'm2', '"\\\u2028'),
  delta: fc.string({ unit: 'binary' }),
})

it('writes the same JSON as JSON.stringify, whatever the order of messages', () => {
  fc.assert(
    fc.property(fc.array(plain), (events) => {
      const recent = new RecentEvents(0)
      const plainEvents = events.map(({ type, messageId, delta }) => ({ type, messageId, delta }))
      for (const event of plainEvents) recent.push(event)
      expect(recent.lines(0, recent.next)).toEqual(plainEvents.map((event) => JSON.stringify(event)))
    }),
  )
})

it.each<AgUiEvent>([
  { type: 'TEXT_MESSAGE_END', messageId: 'm' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x', subagentRunId: 's' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x', metadata: { a: 1 } },
  { messageId: 'm', type: 'TEXT_MESSAGE_CONTENT', delta: 'x' },
])('writes %j with all its members, in their order', (event) => {
  const recent = new RecentEvents(0)
  recent.push({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'w' })
  recent.push(event)
  expect(recent.lines(1, 2)).toEqual([JSON.stringify(event)])
})
