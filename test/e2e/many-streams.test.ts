import { mkdtemp, rm } from 'node:fs/promises'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { Agent } from '../../src/index.js'
import { decodeSse, type AgUiEvent } from '../../src/protocol/index.js'
import { createServer, type Store } from '../../src/server/index.js'
import { serve } from '../../src/server/node.js'
import { lintEvents } from '../../src/testing/index.js'
import { createMemoryStore } from '../../src/threads/memory/store.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'

/** With what begins and ends them, 200 events a stream. */
const deltas = 195
const lintedEach = 20
const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Begins when all are there, and says in every delta which run it is for and the how manieth it is. */
function marker(total: number): Agent {
  let present = 0
  let open: () => void = () => undefined
  const allPresent = new Promise<void>((resolve) => (open = resolve))
  return {
    name: 'marker',
    description: 'Marks what it says.',
    async *run({ runId }) {
      if (++present === total) open()
      await allPresent
      const messageId = `answer-of-${runId}`
      yield { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }
      for (let n = 0; n < deltas; n++) {
        if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
        yield { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: mark(runId, n) }
      }
      yield { type: 'TEXT_MESSAGE_END', messageId }
      return { type: 'done' }
    },
  }
}

const mark = (runId: string, n: number): string => `${runId}/${n} `

async function start(store: Store, total: number): Promise<string> {
  const nothing = (): void => undefined
  const server = createServer({
    agents: [marker(total)],
    store,
    limits: { runs: 2000, runsPerUser: 2000, streamsPerUser: 2000 },
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  })
  const serving = await serve(server, { port: 0, signals: false })
  cleanups.push(() => serving.close({ graceMs: 0 }))
  return serving.url
}

function inputOf(n: number) {
  return {
    threadId: `thread-${n}`,
    runId: `run-${n}`,
    protocolVersion: '1.0',
    state: {},
    messages: [{ id: 'question', role: 'user', content: 'Mark it.' }],
    tools: [],
    context: [],
    forwardedProps: {},
  }
}

type Input = ReturnType<typeof inputOf>

interface Received {
  readonly id: string | undefined
  readonly event: AgUiEvent
}

/** Posts on a connection of its own and reads to the end. */
async function read(url: string, input: Input): Promise<Received[]> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
    request(`${url}/run`, { method: 'POST', agent: false, headers })
      .once('response', resolve)
      .once('error', reject)
      .end(JSON.stringify(input))
  })
  const received: Received[] = []
  for await (const frame of decodeSse(response)) {
    if (frame.kind === 'malformed') throw frame.error
    received.push({ id: frame.id, event: frame.event as AgUiEvent })
  }
  return received
}

/** What is wrong with a stream: something lost, doubled, out of order, or of another. */
function faultsOf({ runId, threadId }: Input, received: readonly Received[]): string[] {
  const faults: string[] = []
  const types = received.map(({ event }) => event.type)
  const content = Array.from({ length: deltas }, () => 'TEXT_MESSAGE_CONTENT')
  const expected = [
    ...['RUN_STARTED', 'TEXT_MESSAGE_START', ...content],
    ...['TEXT_MESSAGE_END', 'STATE_SNAPSHOT', 'RUN_FINISHED'],
  ]
  if (types.join() !== expected.join()) faults.push(`${runId}: ${types.length} events: ${shortened(types)}`)
  const wrongId = received.find(({ id }, seq) => id !== `${runId}:${seq}`)
  if (wrongId) faults.push(`${runId}: an event has the id ${wrongId.id}`)
  const said = received.flatMap(({ event }) => (event.type === 'TEXT_MESSAGE_CONTENT' ? [event.delta] : []))
  const wrongDelta = said.findIndex((delta, n) => delta !== mark(runId, n))
  if (wrongDelta !== -1) faults.push(`${runId}: delta ${wrongDelta} is ${said[wrongDelta]}`)
  for (const { event } of [received[0], received.at(-1)].filter((one) => one !== undefined))
    if (!('threadId' in event) || event.threadId !== threadId) faults.push(`${runId}: not on ${threadId}`)
  return faults
}

/** Each type with how often it comes in a row. */
function shortened(types: readonly string[]): string {
  const rows: { type: string; count: number }[] = []
  for (const type of types) {
    const last = rows.at(-1)
    if (last?.type === type) last.count++
    else rows.push({ type, count: 1 })
  }
  return rows.map(({ type, count }) => (count === 1 ? type : `${count} ${type}`)).join(', ')
}

async function checkStreams(store: Store, total: number): Promise<void> {
  const url = await start(store, total)
  const inputs = Array.from({ length: total }, (_, n) => inputOf(n))
  const streams = await Promise.all(
    inputs.map(async (input) => ({ input, received: await read(url, input) })),
  )
  expect(streams.flatMap(({ input, received }) => faultsOf(input, received))).toEqual([])
  for (const { input, received } of streams.filter((_, n) => n % lintedEach === 0)) {
    const events = received.map(({ event }) => event)
    expect(lintEvents(events, { input })).toEqual([])
  }
}

it('carries 1,000 streams at once, and no event is lost, doubled or mixed up', async () => {
  await checkStreams(createMemoryStore(), 1000)
}, 120_000)

it('does so for 200 streams that are kept in SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-many-'))
  cleanups.push(() => rm(folder, { recursive: true, force: true }))
  await checkStreams(await createSqliteStore({ path: join(folder, 'threads.db') }), 200)
}, 120_000)
