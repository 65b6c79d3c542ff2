import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  addresses,
  ids,
  positions,
  queries,
  threads,
} from '../../../test/support/malformed-requests/addresses.js'
import { bodies, depths, prototypes } from '../../../test/support/malformed-requests/bodies.js'
import { entry, fields, versions } from '../../../test/support/malformed-requests/fields.js'
import { patches } from '../../../test/support/malformed-requests/patches.js'
import {
  inputOf,
  runPath,
  type Sent,
  toRequest,
  user,
} from '../../../test/support/malformed-requests/request.js'
import { everywhere, strangers } from '../../../test/support/malformed-requests/strangers.js'
import type { Agent } from '../../agents/index.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { lintEvents } from '../../testing/index.js'
import { createServer, type Logger, type Server } from '../index.js'

const secret = 'hunter2'

const errors: unknown[] = []
const log: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (facts) => errors.push(facts),
}

function echo(name: string): Agent {
  return {
    name,
    description: '',
    async *run({ messages }) {
      const text = JSON.stringify(messages.at(-1)?.content ?? '')
      await Promise.resolve()
      yield { type: 'TEXT_MESSAGE_CHUNK', messageId: `a-${messages.length}`, role: 'assistant', delta: text }
      return { type: 'done' }
    },
  }
}

const agents = [echo('echo'), echo('other')] as const
const servers: Readonly<Record<'local' | 'shared', Server>> = {
  local: createServer({
    agents,
    log,
    limits: { bodyBytes: 100_000, messages: 50, tools: 5 },
    state: { readOnly: ['plan'], private: ['ledger'] },
  }),
  shared: createServer({
    agents,
    log,
    identify: ({ headers }) => {
      const name = headers.get('x-user')
      if (name === 'broken') throw new Error(`the directory refused ${secret}`)
      return name === null ? undefined : { user: name }
    },
  }),
}

function send({ on = 'local', ...sent }: Sent): Promise<Response> {
  return Promise.resolve(servers[on].fetch(toRequest(sent)))
}

/** Reads a stream to its end, and lints it. */
async function eventsOf(response: Response, input?: unknown): Promise<AgUiEvent[]> {
  expect(response.status).toBe(200)
  const text = await response.text()
  const lines = text.split('\n').filter((line) => line.startsWith('data: '))
  const events = lines.map((line) => JSON.parse(line.slice(6)) as AgUiEvent)
  expect(lintEvents(events, input === undefined ? {} : { input })).toEqual([])
  return events
}

/** The input of a good run on a thread that is there for others to break. */
const kept = inputOf({ threadId: 'kept', runId: 'kept-1', state: { count: 1, items: ['a'] } })
const asAlice = { 'x-user': 'alice' }
const asBob = { 'x-user': 'bob' }

beforeAll(async () => {
  await eventsOf(await send({ body: kept }), kept)
  await eventsOf(await send({ on: 'shared', headers: asAlice, body: kept }), kept)
})

const tables = {
  bodies,
  depths,
  prototypes,
  fields,
  versions,
  addresses,
  threads,
  ids,
  queries,
  positions,
  patches,
  strangers,
}

describe.each(Object.entries(tables))('refused: %s', (_, table) => {
  test.each(table)('$name', async ({ status, code, allow, ...sent }) => {
    const response = await send(sent)
    const text = await response.text()
    expect(`${response.status} ${text}`).toContain(`${status} {"error":{"code":"${code}"`)
    const answer = JSON.parse(text) as { error: { message: string } }
    expect(Object.keys(answer)).toEqual(['error'])
    expect(Object.keys(answer.error)).toEqual(['code', 'message'])
    expect(answer.error.message.length).toBeLessThan(600)
    expect(text).not.toMatch(new RegExp(`${secret}|node_modules|\\bat .*:\\d+:\\d+`))
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('allow')).toBe(allow ?? null)
    expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
  })
})

const deepCall = {
  id: 'call-1',
  type: 'function',
  function: { name: 't', arguments: '['.repeat(10_000) },
}
const result = { id: 'r-1', role: 'tool', content: 'done' }

describe('ends in a stream', () => {
  test.each([
    ['a stale answer', 'INVALID_RESUME', { ...kept, runId: 'run-2', resume: [entry] }],
    [
      'an answer on an unknown thread',
      'INVALID_RESUME',
      inputOf({ threadId: 'bad-1', messages: [], resume: [entry] }),
    ],
    [
      'an answer and a message on an unknown thread',
      'INVALID_RESUME',
      inputOf({ threadId: 'bad-2', resume: [entry] }),
    ],
    [
      'a result for a call that nobody made',
      'NO_TOOL_RESULTS',
      inputOf({ threadId: 'kept', messages: [{ ...result, toolCallId: 'call-9' }] }),
    ],
    [
      'a result on an unknown thread',
      'NO_TOOL_RESULTS',
      inputOf({ threadId: 'bad-3', messages: [{ ...result, toolCallId: 'call-9' }] }),
    ],
  ])('%s gets RUN_ERROR %s', async (_, code, input) => {
    const events = await eventsOf(await send({ body: input }), input)
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code })
  })

  test.each([
    [
      'only a role nobody knows',
      inputOf({ threadId: 'bad-4', messages: [{ id: 'm', role: 'alien', content: 'hi' }] }),
    ],
    [
      'only an activity',
      inputOf({
        threadId: 'bad-5',
        messages: [{ id: 'm', role: 'activity', activityType: 'x', content: {} }],
      }),
    ],
    [
      'only words in the name of the agent',
      inputOf({ threadId: 'bad-6', messages: [{ id: 'm', role: 'assistant', content: 'I agree' }] }),
    ],
    [
      'only a call with deep arguments',
      inputOf({
        threadId: 'bad-8',
        messages: [{ id: 'm', role: 'assistant', toolCalls: [deepCall] }],
      }),
    ],
    ['no messages', inputOf({ threadId: 'bad-7', messages: [] })],
  ])('%s is left out, and nothing is run', async (_, input) => {
    const events = await eventsOf(await send({ body: input }))
    expect(events.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
  })

  test('the event id of a run that is gone gets all there is, from the beginning', async () => {
    const headers = { 'last-event-id': 'gone:7' }
    const body = { threadId: 'kept', protocolVersion: '1.0' }
    const events = await eventsOf(await send({ path: '/connect', headers, body }))
    expect(events.map(({ type }) => type)).toEqual([
      'RUN_STARTED',
      'MESSAGES_SNAPSHOT',
      'STATE_SNAPSHOT',
      'RUN_FINISHED',
    ])
  })
})

describe('after all that', () => {
  const read = async (sent: Sent): Promise<unknown> => (await send({ method: 'GET', ...sent })).json()

  test('nothing was stored, and nothing has changed', async () => {
    const only = { threads: [{ threadId: 'kept', messageCount: 2, lastRun: { runId: 'kept-1' } }] }
    expect(await read({ path: '/thread/list' })).toMatchObject(only)
    expect(await read({ path: '/agents/other/thread/list' })).toEqual({ threads: [] })
    expect(await read({ path: '/thread/list', on: 'shared', headers: asAlice })).toMatchObject(only)
    expect(await read({ path: '/thread/list', on: 'shared', headers: asBob })).toEqual({ threads: [] })
    for (const sent of [{}, { on: 'shared' as const, headers: asAlice }])
      expect(await read({ ...sent, path: '/state_snapshot/kept' })).toEqual({
        type: 'STATE_SNAPSHOT',
        snapshot: { count: 1, items: ['a'] },
      })
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
  })

  test('only what cannot be known was logged as a failure', () => {
    expect(errors).toHaveLength(everywhere.length)
    for (const facts of errors) expect(facts).toMatchObject({ err: { name: 'Error' } })
    expect(JSON.stringify(errors)).not.toContain(secret)
  })

  test.each([
    ['local', {}, '/'],
    ['local', {}, runPath],
    ['shared', asAlice, '/run'],
    ['shared', asBob, '/agents/other/run'],
  ] as const)('a good request to the %s server still works', async (on, headers, path) => {
    const input = inputOf({ threadId: `100% good ${path}`, runId: `good ${path}` })
    const events = await eventsOf(await send({ on, headers, path, body: input }), input)
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    const prefix = path.slice(0, path.lastIndexOf('/'))
    const thread = encodeURIComponent(input.threadId)
    expect(await read({ on, headers, path: `${prefix}/message_snapshot/${thread}` })).toMatchObject({
      messages: [user, { role: 'assistant', content: '"hi"' }],
    })
  })

  test('a good patch still works', async () => {
    const headers = { 'content-type': 'application/json-patch+json' }
    const body = [{ op: 'replace', path: '/count', value: 2 }]
    const response = await send({ path: '/state/kept', method: 'PATCH', headers, body })
    expect(await response.json()).toMatchObject({ status: 'updated' })
  })
})

afterAll(() => Promise.all([servers.local.close({ graceMs: 0 }), servers.shared.close({ graceMs: 0 })]))
