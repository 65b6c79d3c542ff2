import { HttpAgent } from '@ag-ui/client'
import { expect, it } from 'vitest'
import { settled } from '../../test/support/run-agent.js'
import { manualClock } from '../core/clock.js'
import { remoteEvents } from './remote-events.js'

const input = { threadId: 't', runId: 'r', messages: [], tools: [], context: [] }

/** A body that makes its next event when it is asked for it. */
function bodyOf(total: number) {
  let made = 0
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (made === total) controller.close()
        else controller.enqueue(encoder.encode(`data: {"type":"CUSTOM","name":"n","value":${made++}}\n\n`))
      },
    },
    { highWaterMark: 0 },
  )
  return { body, made: () => made }
}

it('does not read an answer further than its reader wants to', async () => {
  const { body, made } = bodyOf(2000)
  const fetch = () =>
    Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
  const events = remoteEvents(new HttpAgent({ url: 'http://nowhere.test', fetch }), {
    name: 'far',
    input,
    signal: new AbortController().signal,
    clock: manualClock(),
    graceMs: 1000,
    hasEnded: () => true,
    report: (problem) => expect.unreachable(problem),
    cancel: undefined,
  })
  await events.next()
  for (let turn = 0; turn < 20; turn++) await settled()
  expect(made()).toBeLessThan(300)
  let read = 1
  for await (const _ of events) read++
  expect([read, made()]).toEqual([2000, 2000])
})
