import { HttpAgent } from '@ag-ui/client'
import type { Message } from '@ag-ui/core'
import { HttpAgent as OldHttpAgent } from 'ag-ui-client-0.0.59'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { createServer, type Logger, type Server, type ServerOptions } from '../../src/server/index.js'
import { serve, type Serving } from '../../src/server/node.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import { lintRecorded, recordingFetch, type RecordedStream } from './record-streams.js'
import { afterEachTest } from './after-each-test.js'

export type ClientClass = typeof HttpAgent

/** The generations of the real client that a server has to serve. The older has the same members, typed more loosely. */
export const clientVersions: readonly { readonly version: string; readonly Client: ClientClass }[] = [
  { version: '1.0', Client: HttpAgent },
  { version: '0.0.59', Client: OldHttpAgent as unknown as ClientClass },
]

const servings = new Set<Serving>()
const folders = new Set<string>()

afterEachTest(async () => {
  const [open, left] = [[...servings], [...folders]]
  for (const all of [servings, folders]) all.clear()
  await Promise.all(open.map((serving) => serving.close({ graceMs: 0 })))
  for (const folder of left) rmSync(folder, { recursive: true, force: true })
  await lintRecorded()
})

export interface ServeAgentsOptions extends Omit<ServerOptions, 'store'> {
  /** Where threads are kept. Default: in memory. */
  readonly store?: 'memory' | 'sqlite'
}

interface Answer {
  readonly status: number
  readonly text: string
  /** The text as JSON, where it is. */
  readonly body: unknown
}

export interface ServedAgents {
  readonly url: string
  /** `server.state`, as code of the application has it. */
  readonly state: Server['state']
  /** What was logged, as `level message`. */
  readonly logged: readonly string[]
  /** Asks a route: `ask('GET /thread/list')`. */
  readonly ask: (route: string, options?: AskOptions) => Promise<Answer>
  /** Posts to a route that streams, and gives the stream. Throws when it is refused. */
  stream(route: string, options?: AskOptions): Promise<RecordedStream>
  /** A client with a conversation. */
  talk(options?: TalkOptions): Talk
  /** Stops the server and starts another on the same store. Needs one that survives it. */
  restart(): Promise<ServedAgents>
}

interface AskOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Serves agents on a free port until the test ends. */
export async function serveAgents(options: ServeAgentsOptions): Promise<ServedAgents> {
  if (options.store !== 'sqlite') return start(options)
  const folder = mkdtempSync(join(tmpdir(), 'millrace-served-'))
  folders.add(folder)
  return start(options, join(folder, 'threads.db'))
}

async function start(options: ServeAgentsOptions, path?: string): Promise<ServedAgents> {
  const { store: _, ...rest } = options
  const logged: string[] = []
  const store = path === undefined ? {} : { store: await createSqliteStore({ path }) }
  const server = createServer({ log: listLogger(logged), ...rest, ...store })
  const serving = await serve(server, { port: 0, signals: false })
  servings.add(serving)
  const { url } = serving
  return {
    url,
    state: server.state,
    logged,
    ask: (route, how = {}) => ask(url, route, how),
    async stream(route, how = {}) {
      const seen: RecordedStream[] = []
      const [path_, init] = requestOf(`POST ${route}`, how)
      const response = await recordingFetch(seen)(url + path_, init)
      const [stream] = seen
      if (!stream) throw new Error(`${route}: ${response.status} ${await response.text()}`)
      await stream.ended
      return stream
    },
    talk: (how = {}) => createTalk(url, how),
    async restart() {
      servings.delete(serving)
      await serving.close({ graceMs: 0 })
      return start(options, path)
    },
  }
}

function listLogger(lines: string[]): Logger {
  const add = (level: string) => (_: object, message: string) => void lines.push(`${level} ${message}`)
  return { debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error') }
}

function requestOf(route: string, { body, headers = {} }: AskOptions): [path: string, init: RequestInit] {
  const [method = 'GET', path = '/'] = route.split(' ')
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  return [path, { method, headers: { 'content-type': 'application/json', ...headers }, ...sent }]
}

async function ask(url: string, route: string, options: AskOptions): Promise<Answer> {
  const [path, init] = requestOf(route, options)
  const response = await fetch(url + path, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('application/json') === true
  return { status: response.status, text, body: isJson ? (JSON.parse(text) as unknown) : undefined }
}

interface TalkOptions {
  /** Default: the client of AG-UI 1.0. */
  readonly Client?: ClientClass
  readonly threadId?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Tools, answers and the like that go with a run. */
type RunParameters = NonNullable<Parameters<HttpAgent['runAgent']>[0]>

export interface Talk {
  readonly client: HttpAgent
  /** The streams so far. */
  readonly streams: readonly RecordedStream[]
  /** Adds a user message and runs. Gives the events. */
  say(content: string, parameters?: RunParameters): Promise<readonly AgUiEvent[]>
  /** Adds the results of calls and runs. */
  answer(results: Readonly<Record<string, string>>, parameters?: RunParameters): Promise<readonly AgUiEvent[]>
  /** Runs with the messages that are there. */
  send(parameters?: RunParameters): Promise<readonly AgUiEvent[]>
}

function createTalk(url: string, options: TalkOptions): Talk {
  const { Client = HttpAgent, threadId = 'thread-1', headers = {} } = options
  const seen: RecordedStream[] = []
  const client = new Client({ url, threadId, headers: { ...headers }, fetch: recordingFetch(seen) })
  const send = async (parameters: RunParameters = {}): Promise<readonly AgUiEvent[]> => {
    await client.runAgent(parameters)
    return seen.at(-1)?.events ?? []
  }
  return {
    client,
    streams: seen,
    send,
    say(content, parameters) {
      client.addMessage({ id: crypto.randomUUID(), role: 'user', content })
      return send(parameters)
    },
    answer(results, parameters) {
      for (const [toolCallId, content] of Object.entries(results))
        client.addMessage({ id: crypto.randomUUID(), role: 'tool', toolCallId, content })
      return send(parameters)
    },
  }
}

/** Messages as `role: text`, calls as `role: name(arguments)`. */
export function linesOf(messages: readonly Message[]): string[] {
  return messages.map((message) => {
    const content = typeof message.content === 'string' ? message.content : JSON.stringify(message.content)
    const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
    const made = calls.map(({ function: { name, arguments: args } }) => `${name}(${args})`)
    return [`${message.role}:`, ...(content ? [content] : []), ...made].join(' ')
  })
}
