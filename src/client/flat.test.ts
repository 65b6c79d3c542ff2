import { expect, it } from 'vitest'
import { manualClock } from '../core/clock.js'
import { createClient } from './create-client.js'

const half = 25_000
const perChunk = 250
const delta = 'some words '

/** The answer to a run: a message of many deltas. Calls back before the first, in the middle, and at the end. */
function longAnswer(runId: string, onPart: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let seq = 0
  const frame = (event: object): string => `id: ${runId}:${seq++}\ndata: ${JSON.stringify(event)}\n\n`
  let sent = 0
  return new ReadableStream({
    start(controller) {
      const started = frame({ type: 'RUN_STARTED', threadId: 't', runId })
      const message = { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' }
      controller.enqueue(encoder.encode(started + frame(message)))
    },
    pull(controller) {
      if (sent % half === 0) onPart()
      if (sent === 2 * half) {
        const end = frame({ type: 'TEXT_MESSAGE_END', messageId: 'm' })
        const outcome = { type: 'success' }
        controller.enqueue(
          encoder.encode(end + frame({ type: 'RUN_FINISHED', threadId: 't', runId, outcome })),
        )
        controller.close()
        return
      }
      const content = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta }
      controller.enqueue(encoder.encode(Array.from({ length: perChunk }, () => frame(content)).join('')))
      sent += perChunk
    },
  })
}

it('takes in 50,000 events in time and memory that do not grow with their number', async () => {
  const clock = manualClock()
  const cpu: number[] = []
  const heap: number[] = []
  const onPart = (): void => {
    const { user, system } = process.cpuUsage()
    cpu.push(user + system)
    heap.push(process.memoryUsage().heapUsed)
  }
  let events = 0
  const client = createClient({
    ...{ url: 'http://localhost', clock, newId: () => 'run-1' },
    fetch: () => Promise.resolve(new Response(longAnswer('run-1', onPart))),
  })
  const thread = client.thread('talker', undefined, { onEvent: () => events++ })
  const before = thread.getSnapshot()
  expect(await thread.send('Go on.')).toMatchObject({ status: 'completed' })
  const snapshot = thread.getSnapshot()
  expect(events).toBe(2 * half + 4)
  expect(snapshot.messages.at(-1)?.content).toBe(delta.repeat(2 * half))
  const [start = 0, middle = 0, end = 0] = cpu
  expect(end - middle).toBeLessThanOrEqual(2 * (middle - start))
  // The text has about half a megabyte. Garbage that is not collected yet is part of it.
  expect((heap[2] ?? Infinity) - (heap[0] ?? 0)).toBeLessThan(200 * 2 ** 20)
  // What the run did not touch is what it was.
  for (const key of ['state', 'interrupts', 'answers', 'pendingToolCalls', 'subagents'] as const)
    expect(snapshot[key]).toBe(before[key])
  expect(thread.getSnapshot()).toBe(snapshot)
  expect(snapshot.messages).not.toBe(before.messages)
  thread.close()
})
