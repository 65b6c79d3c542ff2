import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { lintEndpoint, lintRules, type LintRule } from '../../src/testing/index.js'
import { goldenStreams } from '../fixtures/golden-streams.js'
import { bodyOf, deadAddress, serve, type Handler } from './loopback.js'

const input = { threadId: 't', runId: 'r', protocolVersion: '1.0', messages: [], tools: [], context: [] }
const started = '{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}'
const finished = '{"type":"RUN_FINISHED","threadId":"t","runId":"r"}'
const stream = frames(started, finished)

function frames(...documents: readonly string[]): string {
  return documents.map((document) => `data: ${document}\n\n`).join('')
}

function head(response: ServerResponse, headers: Record<string, string> = {}): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream', ...headers })
}

/** Answers with an event stream that is this text. */
function body(text: string): Handler {
  return (_request, response) => head(response).end(text)
}

interface Sin {
  readonly rule: LintRule
  readonly name: string
  readonly handler: Handler
  readonly timeoutMs?: number
}

const sins: readonly Sin[] = [
  {
    rule: 'http-status',
    name: 'an error',
    handler: (_request, response) => response.writeHead(503).end('busy'),
  },
  {
    rule: 'http-status',
    name: 'an error that breaks off',
    handler: (request, response) => {
      request.resume().on('end', () => {
        response.writeHead(500, { 'content-length': '9' }).write('x', () => response.destroy())
      })
    },
  },
  { rule: 'http-timeout', name: 'no answer', handler: () => undefined, timeoutMs: 50 },
  {
    rule: 'http-timeout',
    name: 'a stream that stalls',
    handler: (_request, response) => head(response).write(frames(started)),
    timeoutMs: 200,
  },
  {
    rule: 'connection-lost',
    name: 'a torn connection',
    handler: (request, response) => {
      // With the request unread, the reset would overtake the answer.
      request.resume().on('end', () => {
        head(response).write(frames(started), () => response.destroy())
      })
    },
  },
  {
    rule: 'content-type',
    name: 'a JSON answer',
    handler: (_request, response) =>
      head(response, { 'content-type': 'application/json' }).end('{"ok":true}'),
  },
  {
    rule: 'content-type',
    name: 'the binary format nobody asked for',
    handler: (_request, response) =>
      head(response, { 'content-type': 'application/vnd.ag-ui.event+proto' }).end('\0\0'),
  },
  {
    rule: 'content-type',
    name: 'a stream labelled as plain text',
    handler: (_request, response) => head(response, { 'content-type': 'text/plain' }).end(stream),
  },
  {
    rule: 'content-encoding',
    name: 'a compressed stream',
    handler: (_request, response) => head(response, { 'content-encoding': 'gzip' }).end(gzipSync(stream)),
  },
  { rule: 'empty-body', name: 'no content', handler: (_request, response) => response.writeHead(204).end() },
  { rule: 'empty-body', name: 'an empty body', handler: body('') },
  { rule: 'empty-body', name: 'a body of comments', handler: body(': ping\n\n') },
  { rule: 'line-endings', name: 'CRLF', handler: body(stream.replaceAll('\n', '\r\n')) },
  { rule: 'line-endings', name: 'CR', handler: body(stream.replaceAll('\n', '\r')) },
  { rule: 'frame-json', name: 'a [DONE] mark', handler: body(`${stream}data: [DONE]\n\n`) },
  { rule: 'frame-json', name: 'empty data', handler: body(`${frames(started)}data:\n\n${frames(finished)}`) },
  { rule: 'frame-json', name: 'two documents in a frame', handler: body(frames('{}{}') + stream) },
  { rule: 'frame-json', name: 'a last frame cut off', handler: body(`${stream}data: {"type":`) },
  { rule: 'event-object', name: 'a ping with data', handler: body(`event: ping\ndata: {}\n\n${stream}`) },
  { rule: 'event-object', name: 'a document that is not an object', handler: body(frames('[]') + stream) },
  {
    rule: 'client-verify',
    name: 'an event after the end',
    handler: body(stream + frames('{"type":"RAW","event":1}')),
  },
  { rule: 'terminal-missing', name: 'a stream without an end', handler: body(frames(started)) },
  {
    rule: 'frame-size',
    name: 'an event of more than 10 Mi characters',
    handler: body(frames(started, JSON.stringify('x'.repeat(10 * 1024 * 1024)))),
  },
  {
    rule: 'frame-size',
    name: 'a first frame that does not end',
    handler: body(`data: ${'x'.repeat(11 * 1024 * 1024)}`),
  },
  {
    rule: 'stream-not-closed',
    name: 'a body left open, with heartbeats',
    handler: (_request, response) => {
      head(response).write(stream, () => response.write(': ping\n\n'))
    },
  },
]

describe('an endpoint with one mistake', () => {
  test.each(sins)('breaks $rule alone: $name', async ({ handler, rule, timeoutMs = 10_000 }) => {
    const report = await lintEndpoint(await serve(handler), input, { timeoutMs, closeWithinMs: 100 })
    expect(report.violations.map((violation) => violation.rule)).toEqual([rule])
  })

  test('breaks http-unreachable when nothing listens', async () => {
    const report = await lintEndpoint(await deadAddress(), input)
    expect(report).toEqual({
      status: undefined,
      events: [],
      violations: [
        {
          rule: 'http-unreachable',
          index: undefined,
          message: expect.stringContaining('ECONNREFUSED') as string,
        },
      ],
    })
  })

  test('is known for every rule about the exchange', () => {
    const broken = new Set<string>(['http-unreachable', ...sins.map(({ rule }) => rule)])
    const rules = Object.entries(lintRules).filter(([, { scope }]) => scope === 'endpoint')
    expect(rules.map(([rule]) => rule).filter((rule) => !broken.has(rule))).toEqual([])
  })
})

describe('a correct endpoint', () => {
  test.each(goldenStreams)('has no violation: $name', async ({ input, events }) => {
    const text = frames(...events.map((event) => JSON.stringify(event)))
    const report = await lintEndpoint(await serve(body(text)), input)
    expect(report).toEqual({ status: 200, events, violations: [] })
  })

  test('may use comments, ids, several data lines, a byte order mark and a last frame without a blank line', async () => {
    const text = `\uFEFF: hello\n\nid: 1\nevent: message\n${frames(started)}data:{"type":"RUN_FINISHED",\ndata: "threadId":"t","runId":"r"}`
    const report = await lintEndpoint(await serve(body(text)), input)
    expect(report.violations).toEqual([])
    expect(report.events).toHaveLength(2)
  })

  test('gets the request an AG-UI client sends', async () => {
    const received: unknown[] = []
    const url = await serve((request, response) => {
      const { method, headers } = request
      received.push({ method, accept: headers.accept, type: headers['content-type'], key: headers['x-key'] })
      void bodyOf(request).then((text) => {
        received.push(JSON.parse(text))
        head(response).end(stream)
      })
    })
    await lintEndpoint(url, input, { headers: { 'x-key': 'k', Accept: 'text/html' } })
    expect(received).toEqual([
      { method: 'POST', accept: 'text/event-stream', type: 'application/json', key: 'k' },
      input,
    ])
  })
})

describe('what is not the fault of the endpoint', () => {
  test.each(['not a url', 'ftp://example.com/agent'])('an address such as %s throws', async (url) => {
    await expect(lintEndpoint(url, input)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('an invalid input throws', async () => {
    await expect(lintEndpoint('http://127.0.0.1:1/', {})).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('giving up rejects with the reason of the signal', async () => {
    const giveUp = new AbortController()
    const reason = new Error('enough')
    const url = await serve((_request, response) => {
      head(response).write(frames(started))
      giveUp.abort(reason)
    })
    await expect(lintEndpoint(url, input, { signal: giveUp.signal })).rejects.toBe(reason)
    await expect(lintEndpoint(url, input, { signal: giveUp.signal })).rejects.toBe(reason)
  })
})
