import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { deferred, settled } from '../../../test/support/run-agent.js'
import { manualClock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { decodeProtobuf, decodeSse, protobufMediaType, type AgUiEvent } from '../../protocol/index.js'
import { assertValidStream } from '../../testing/index.js'
import { createServerContext } from '../../../test/support/server-context.js'
import type { FrameBatch } from './framing.js'
import type { StreamEnd } from './back-pressure.js'
import { replyWithStream, type StreamReply } from './reply.js'

const started: AgUiEvent = { type: 'RUN_STARTED', threadId: 't', runId: 'r', protocolVersion: '1.0' }
const finished: AgUiEvent = { type: 'RUN_FINISHED', threadId: 't', runId: 'r', outcome: { type: 'success' } }
const large: AgUiEvent = { type: 'CUSTOM', name: 'large', value: '.'.repeat(11 * 1024 * 1024) }

const ids = { app: 'app', user: 'user', agent: 'agent', thread: 't', runId: 'r' }

interface Sent {
  readonly accept?: string
  readonly signal?: AbortSignal
}

function rig() {
  const { server, logged } = createServerContext({ clock: manualClock() })
  const ends: StreamEnd[] = []
  const reply = (source: StreamReply['source'], { accept = '*/*', signal }: Sent = {}): Promise<Response> => {
    const request = new Request('http://localhost', { headers: { accept }, ...(signal ? { signal } : {}) })
    const headers = { 'access-control-allow-origin': '*' }
    return replyWithStream(
      server,
      { request, nodeResponse: undefined, headers },
      { peer: { legacy: false }, ids, source, onEnd: (end) => ends.push(end) },
    )
  }
  return { server, logged, ends, reply }
}

async function* sending(...events: readonly AgUiEvent[]): AsyncGenerator<FrameBatch> {
  for (const event of events) yield await Promise.resolve({ events: [event] })
}

async function eventsIn(response: Response): Promise<unknown[]> {
  const { body } = response
  if (!body) throw new Error('There is no body.')
  const isBinary = response.headers.get('content-type') === protobufMediaType
  const events: unknown[] = []
  for await (const frame of isBinary ? decodeProtobuf(body) : decodeSse(body))
    events.push(frame.kind === 'event' ? frame.event : frame)
  return events
}

describe('a stream', () => {
  test('has the headers of every answer, and is counted', async () => {
    const { reply, ends, server } = rig()
    const response = await reply(() => sending(started, finished))
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(await eventsIn(response)).toEqual([started, finished])
    expect([ends, server.heartbeats.size]).toEqual([['end'], 0])
    expect(server.metrics.render()).toContain('millrace_streams_closed_total{reason="end"} 1')
  })

  test('whose source breaks down ends with an error that clients understand', async () => {
    const { reply, ends, logged } = rig()
    async function* breaks(): AsyncGenerator<FrameBatch> {
      yield await Promise.resolve({ events: [started] })
      throw new MillraceError('STORE_ERROR', 'secret path')
    }
    const events = await eventsIn(await reply(breaks))
    expect(events).toMatchObject([started, { type: 'RUN_ERROR', code: 'STORE_ERROR' }])
    expect(JSON.stringify(events)).not.toContain('secret')
    assertValidStream(events)
    expect([ends, logged]).toEqual([['end'], ['error a stream broke down']])
  })

  test('with an event that cannot be written ends with an error, and is over', async () => {
    const { reply, ends, logged, server } = rig()
    const response = await reply(() => sending(started, large, finished), { accept: protobufMediaType })
    const events = await eventsIn(response)
    expect(events).toMatchObject([started, { type: 'RUN_ERROR', code: 'INVALID_EVENT' }])
    expect([ends, logged, server.heartbeats.size]).toEqual([['end'], ['error a stream broke down'], 0])
    expect(server.metrics.render()).toContain('millrace_streams_open 0')
  })

  test('of a client that disconnects before it begins ends at once', async () => {
    const { reply, ends } = rig()
    await reply(
      async function* (signal) {
        yield* sending(started)
        await new Promise<void>((resolve) => signal.addEventListener('abort', resolve))
      },
      { signal: AbortSignal.abort() },
    )
    await settled()
    expect(ends).toEqual(['client'])
  })
})

test('on Node, a client that left while its request was checked counts as disconnected', async () => {
  const { server } = rig()
  const ended = deferred<StreamEnd>()
  const http = createServer((_, nodeResponse) => {
    const request = new Request('http://localhost')
    nodeResponse.once('close', () => {
      void replyWithStream(
        server,
        { request, nodeResponse, headers: {} },
        {
          peer: { legacy: false },
          ids,
          source: () => sending(started, finished),
          onEnd: (end) => ended.resolve(end),
        },
      )
    })
    client.destroy()
  })
  onTestFinished(() => void http.close())
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const client = connect((http.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  expect(await ended.promise).toBe('client')
})
