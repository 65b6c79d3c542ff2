import { describe, expect, test } from 'vitest'
import { decodeProtobuf, decodeSse, sseHeartbeat, type AgUiEvent } from '../../protocol/index.js'
import type { LogEntry } from '../../threads/contract.js'
import { createFraming, type Framing } from './framing.js'

const started: AgUiEvent = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const text: AgUiEvent = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'a\nb' }
const subagent: AgUiEvent = { type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'helper' }
const now = { legacy: false }

function entry(seq: number, event: AgUiEvent, json = JSON.stringify(event)): LogEntry {
  return { seq, json }
}

async function* chunks(...all: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const one of all)
    yield await Promise.resolve(typeof one === 'string' ? new TextEncoder().encode(one) : one)
}

async function eventsIn(frames: AsyncIterable<{ readonly kind: string; readonly event?: unknown }>) {
  const events: unknown[] = []
  for await (const frame of frames) events.push(frame.kind === 'event' ? frame.event : frame)
  return events
}

describe('server-sent events', () => {
  let framing: Framing

  test('have the number of their run as id, and the JSON as it is in the log', async () => {
    framing = await createFraming('sse', now)
    const json = '{"type":"RUN_STARTED",  "threadId":"t","runId":"r"}'
    const batch = { runId: 'r/1', entries: [entry(4, started, json), entry(5, text)] }
    expect(framing.frame(batch)).toBe(
      `id: r%2F1:4\ndata: ${json}\n\nid: r%2F1:5\ndata: ${JSON.stringify(text)}\n\n`,
    )
    expect(framing.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    expect(framing.heartbeat).toBe(sseHeartbeat)
  })

  test('have no id when they are not of a log, and the right one when the run changes', async () => {
    framing = await createFraming('sse', now)
    const frames = [
      framing.frame({ runId: 'r1', entries: [entry(0, started)] }),
      framing.frame({ events: [text, text] }),
      framing.frame({ runId: 'r1', entries: [entry(1, text)] }),
      framing.frame({ runId: 'r2', entries: [entry(0, started)] }),
    ]
    const ids = frames.map((frame) => String(frame).match(/^id: .*$/gmu) ?? [])
    expect(ids).toEqual([['id: r1:0'], [], ['id: r1:1'], ['id: r2:0']])
    expect(await eventsIn(decodeSse(chunks(...frames)))).toEqual([started, text, text, text, started])
  })

  test('are nothing for a batch without events', async () => {
    framing = await createFraming('sse', now)
    expect(framing.frame({ runId: 'r', entries: [] })).toBe('')
    expect(framing.frame({ events: [] })).toBe('')
  })
})

describe('older clients', () => {
  test('get the JSON that is there when an event is the same for them', async () => {
    const framing = await createFraming('sse', { legacy: true })
    const json = '{"type":"TEXT_MESSAGE_CONTENT",  "messageId":"m","delta":"a"}'
    const same = entry(7, text, json)
    expect(framing.frame({ runId: 'r', entries: [same] })).toBe(`id: r:7\ndata: ${json}\n\n`)
  })

  test('get other events in the place of those they do not know, with the same numbers', async () => {
    const framing = await createFraming('sse', { legacy: true })
    const tagged: AgUiEvent = { ...text, subagentRunId: 's' }
    const entries = [entry(0, started), entry(1, subagent), entry(2, tagged)]
    const frame = String(framing.frame({ runId: 'r', entries }))
    expect(frame.match(/^id: .*$/gmu)).toEqual(['id: r:0', 'id: r:2'])
    expect(frame).not.toContain('subagentRunId')
  })

  test('get nothing at all of a batch that is only for newer ones', async () => {
    const framing = await createFraming('sse', { legacy: true })
    expect(framing.frame({ runId: 'r', entries: [entry(0, subagent)] })).toBe('')
    const binary = await createFraming('protobuf', { legacy: true })
    expect(binary.frame({ events: [subagent] })).toHaveLength(0)
  })
})

describe('protobuf', () => {
  test('has all events of a batch in one chunk, from the log or not', async () => {
    const framing = await createFraming('protobuf', now)
    const batch = framing.frame({ runId: 'r', entries: [entry(0, started), entry(1, text)] })
    const single = framing.frame({ events: [text] })
    expect(await eventsIn(decodeProtobuf(chunks(batch, single)))).toMatchObject([started, text, text])
    expect(framing.headers['content-type']).toBe('application/vnd.ag-ui.event+proto')
    expect(framing.heartbeat).toBeUndefined()
  })

  test('refuses what it cannot carry', async () => {
    const framing = await createFraming('protobuf', now)
    const large = { ...text, delta: '.'.repeat(11 * 1024 * 1024) }
    expect(() => framing.frame({ events: [large] })).toThrow(
      expect.objectContaining({ code: 'INVALID_EVENT' }),
    )
  })
})
