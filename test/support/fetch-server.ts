import type { Message } from '@ag-ui/core'
import { inspect } from 'node:util'
import { expect } from 'vitest'
import { manualClock, type ManualClock } from '../../src/core/clock.js'
import { sequentialIds } from '../../src/core/ids.js'
import { decodeSse, type AgUiEvent } from '../../src/protocol/index.js'
import { createServer, type Logger, type Server, type ServerOptions } from '../../src/server/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { createMemoryStore } from '../../src/threads/memory/store.js'
import type { Store } from '../../src/threads/contract.js'
import { settled } from './run-agent.js'
import { afterEachTest } from './after-each-test.js'

export interface FetchServerOptions extends Omit<ServerOptions, 'clock' | 'log'> {
  readonly clock?: ManualClock
}

interface Logged {
  readonly level: keyof Logger
  readonly message: string
  readonly facts: object
}

export interface Asked {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The text as JSON, where it is. */
  readonly body: unknown
}

interface AskHow {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** A stream that is read as it comes. */
interface OpenStream {
  readonly status: number
  /** What has come so far. */
  readonly events: readonly AgUiEvent[]
  readonly ids: readonly (string | undefined)[]
  /** Resolves with the events when the stream is over, and valid. */
  readonly ended: Promise<readonly AgUiEvent[]>
  /** Resolves when an event of this type has come. */
  until(type: AgUiEvent['type']): Promise<void>
}

/** A server that is asked without a socket. Its time stands still until the test moves it. */
export interface FetchServer {
  readonly server: Server
  readonly clock: ManualClock
  readonly store: Store
  readonly logged: readonly Logged[]
  /** Everything that was logged, errors with their causes. */
  logText(): string
  ask(route: string, how?: AskHow): Promise<Asked>
  /** Posts to a route that streams. Throws when it is refused. */
  open(route: string, how: AskHow): Promise<OpenStream>
  /** Asks for a run, and reads it to its end. */
  run(fields?: object, how?: AskHow): Promise<readonly AgUiEvent[]>
  /** The values of a metric, by their labels as they are written. */
  metric(name: string): Promise<Readonly<Record<string, number>>>
  /** What is stored of a thread, as clients see it. */
  history(thread?: string): Promise<readonly Message[]>
}

const open = new Set<FetchServer>()

afterEachTest(async () => {
  const all = [...open]
  open.clear()
  for (const { server, clock } of all) {
    const closing = server.close({ graceMs: 0 })
    // What is stopped may take a second to clean up.
    await clock.advance(2_000)
    await closing
  }
})

export function fetchServer(options: FetchServerOptions): FetchServer {
  const { clock = manualClock(1_700_000_000_000) } = options
  const { store = createMemoryStore({ clock }) } = options
  const logged: Logged[] = []
  const log = listLogger(logged)
  const server = createServer({ newId: sequentialIds(), ...options, store, clock, log })
  const ask = (route: string, how: AskHow = {}): Promise<Asked> => askServer(server, route, how)
  const openStream = (route: string, how: AskHow): Promise<OpenStream> => openOn(server, route, how)
  const made: FetchServer = {
    ...{ server, clock, store, logged, ask, open: openStream },
    logText: () => inspect(logged, { depth: Infinity, maxStringLength: Infinity, showHidden: true }),
    async run(fields = {}, how = {}) {
      const { ended } = await openStream('/run', { body: inputOf(fields), ...how })
      return ended
    },
    async metric(name) {
      const { text } = await ask('GET /metrics')
      return Object.fromEntries(text.split('\n').flatMap((line) => sampleOf(line, name)))
    },
    async history(thread = 'thread-1') {
      const { body } = await ask(`GET /message_snapshot/${thread}`)
      return (body as { readonly messages: readonly Message[] }).messages
    },
  }
  open.add(made)
  return made
}

let runs = 0

/** The body of a run, as a client of 1.0 sends it: with an id of its own, and one user message. */
export function inputOf(fields: object = {}): Record<string, unknown> {
  const number = ++runs
  return {
    ...{ threadId: 'thread-1', runId: `run-${number}`, protocolVersion: '1.0' },
    messages: [user(`user-${number}`, 'Hello.')],
    ...{ tools: [], context: [], state: {} },
    ...fields,
  }
}

export function user(id: string, content: string): Message {
  return { id, role: 'user', content }
}

/** All that was said. */
export function textOf(events: readonly AgUiEvent[]): string {
  return events.map((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? event.delta : '')).join('')
}

export function typesOf(events: readonly AgUiEvent[]): string[] {
  return events.map(({ type }) => type)
}

/** Checks that a refusal is one, with neutral words and nothing else. */
export function expectRefusal({ status, body }: Asked, wanted: number, code: string): void {
  expect({ status, body }).toEqual({
    status: wanted,
    body: { error: { code, message: expect.any(String) as string } },
  })
}

function listLogger(logged: Logged[]): Logger {
  const add = (level: keyof Logger) => (facts: object, message: string) =>
    void logged.push({ level, message, facts })
  return { debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error') }
}

function requestOf(route: string, { body, headers, signal }: AskHow): Request {
  const [method = 'GET', path = '/'] = route.split(' ')
  return new Request(`http://localhost${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  })
}

async function askServer(server: Server, route: string, how: AskHow): Promise<Asked> {
  const response = await server.fetch(requestOf(route, how))
  const text = await response.text()
  const { status, headers } = response
  const isJson = headers.get('content-type')?.includes('application/json') === true
  return { status, headers, text, body: isJson ? (JSON.parse(text) as unknown) : undefined }
}

async function openOn(server: Server, route: string, how: AskHow): Promise<OpenStream> {
  const response = await server.fetch(requestOf(`POST ${route}`, how))
  const { status, body } = response
  if (status !== 200 || !body) throw new Error(`${route}: ${status} ${await response.text()}`)
  const events: AgUiEvent[] = []
  const ids: (string | undefined)[] = []
  const read = async (): Promise<readonly AgUiEvent[]> => {
    for await (const frame of decodeSse(body)) {
      if (frame.kind === 'malformed') throw frame.error
      events.push(frame.event as AgUiEvent)
      ids.push(frame.id)
    }
    // A stream that goes on from an event is no whole one.
    if (how.headers?.['last-event-id'] === undefined) assertValidStream(events, lintOptions(how.body))
    return events
  }
  const ended = read()
  // Looked at when the test asks for it.
  ended.catch(() => undefined)
  return { status, events, ids, ended, until: (type) => arrival(events, type) }
}

function lintOptions(body: unknown): { readonly input?: unknown } {
  return typeof body === 'object' && body !== null && 'messages' in body ? { input: body } : {}
}

/** Looks again whenever all that is ready has gone on, so that nothing has to be waited for in real time. */
async function arrival(events: readonly AgUiEvent[], type: string): Promise<void> {
  for (let turn = 0; turn < 500; turn++) {
    if (events.some((event) => event.type === type)) return
    await settled()
  }
  throw new Error(`No ${type} came, only ${typesOf(events).join(', ')}.`)
}

function sampleOf(line: string, name: string): [string, number][] {
  const [, found, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  return found === `millrace_${name}` ? [[labels, Number(value)]] : []
}
