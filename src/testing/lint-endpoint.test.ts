import { expect, test } from 'vitest'
import { finished, input, started } from '../../test/fixtures/broken-streams/parts.js'
import { manualClock } from '../core/clock.js'
import { lintEndpoint, type EndpointReport } from './lint-endpoint.js'

/** An endpoint in this process whose body is written by hand, and which ignores the signal of the request. */
function openEndpoint() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const encoder = new TextEncoder()
  const response = new Response(readable, { headers: { 'content-type': 'text/event-stream' } })
  const clock = manualClock()
  const fetch = () => Promise.resolve(response)
  const report = lintEndpoint('http://in-process/', input(), {
    fetch,
    clock,
    timeoutMs: 1000,
    closeWithinMs: 100,
  })
  const send = (...events: readonly object[]): void => {
    for (const event of events) void writer.write(encoder.encode(`data: ${JSON.stringify(event)}\n\n`))
  }
  return { clock, report, send, close: () => void writer.close() }
}

async function rulesOf(report: Promise<EndpointReport>): Promise<string[]> {
  return (await report).violations.map(({ rule }) => rule)
}

test('a body may close within its time after the terminal event', async () => {
  const { clock, send, close, report } = openEndpoint()
  send(started, finished)
  await clock.advance(99)
  close()
  expect(await rulesOf(report)).toEqual([])
  expect(clock.pending).toBe(0)
})

test('a body that stays open after the terminal event is not waited for', async () => {
  const { clock, send, report } = openEndpoint()
  send(started, finished)
  await clock.advance(100)
  expect(await rulesOf(report)).toEqual(['stream-not-closed'])
})

test('a terminal event followed by another run is not the end', async () => {
  const { clock, send, close, report } = openEndpoint()
  send({ ...started, runId: 'earlier' }, { ...finished, runId: 'earlier' })
  await clock.advance(99)
  send(started)
  await clock.advance(500)
  send(finished)
  close()
  expect(await rulesOf(report)).toEqual([])
})

test('a run that does not end in time is linted as far as it came', async () => {
  const { clock, send, report } = openEndpoint()
  send({ type: 'CUSTOM', name: 'x', value: 1 }, started)
  await clock.advance(1000)
  expect(await rulesOf(report)).toEqual(['http-timeout', 'client-verify'])
  expect(clock.pending).toBe(0)
})
