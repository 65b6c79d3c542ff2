import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createServer, type Logger, type ServerOptions } from '../../src/server/index.js'
import { serve, type Serving } from '../../src/server/node.js'
import { createMemoryStore } from '../../src/threads/memory/store.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import type { Store } from '../../src/threads/contract.js'
import { afterEachTest } from '../support/after-each-test.js'

const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

const open = new Set<Serving>()

afterEachTest(async () => {
  const all = [...open]
  open.clear()
  await Promise.all(all.map((serving) => serving.close({ graceMs: 0 })))
})

/** Serves agents on a free port until it is closed or the test ends. */
export async function serving(options: ServerOptions): Promise<Serving> {
  const made = await serve(createServer({ log: silent, ...options }), { port: 0, signals: false })
  open.add(made)
  return {
    url: made.url,
    close(how) {
      open.delete(made)
      return made.close(how)
    },
  }
}

/** A folder that is gone when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-server-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Each store by its name, empty. */
export const stores: readonly (readonly [string, () => Promise<Store>])[] = [
  ['memory', () => Promise.resolve(createMemoryStore())],
  ['SQLite', () => createSqliteStore({ path: join(temporaryFolder(), 'threads.db') })],
]

/** The body of a run, as a client of 1.0 sends it. */
export function inputOf(fields: object): Record<string, unknown> {
  return {
    ...{ threadId: 'thread-1', runId: 'run-1', protocolVersion: '1.0' },
    ...{ messages: [], tools: [], context: [], state: {} },
    ...fields,
  }
}

export function user(id: string, content: string) {
  return { id, role: 'user' as const, content }
}

/** Asks for something that is answered with JSON. */
export async function ask(
  url: string,
  request: {
    readonly method?: string
    readonly body?: unknown
    readonly headers?: Record<string, string>
  } = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const { method = request.body === undefined ? 'GET' : 'POST', body, headers } = request
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

/** The stored messages of a thread. */
export async function historyOf(url: string, thread = 'thread-1') {
  const { body } = await ask(`${url}/message_snapshot/${thread}`)
  return (body as { readonly messages: readonly StoredMessage[] }).messages
}

export interface StoredMessage {
  readonly id: string
  readonly role: string
  readonly content?: string
  readonly toolCallId?: string
  readonly toolCalls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[]
}

/** A thread as it is listed. */
export async function listed(url: string, thread = 'thread-1') {
  const { body } = await ask(`${url}/thread/list`)
  const { threads } = body as { readonly threads: readonly ListedThread[] }
  return threads.find(({ threadId }) => threadId === thread)
}

interface ListedThread {
  readonly threadId: string
  readonly status: string
  readonly messageCount: number
  readonly lastRun?: { readonly runId: string; readonly status: string }
}
