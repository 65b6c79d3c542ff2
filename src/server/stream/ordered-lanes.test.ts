import { describe, expect, test } from 'vitest'
import { decodeProtobuf, parseEventId, type AgUiEvent } from '../../protocol/index.js'
import type { LogEntry } from '../../threads/contract.js'
import { createFraming, type Framing } from './framing.js'
import { withLanes } from './ordered-lanes.js'

/** Text in short: `a+` opens a text in lane a, `a1` is a delta, `a-` closes it. Numbered from 0. */
function story(text: string): LogEntry[] {
  return text.split(' ').map((word, seq) => {
    const [lane = '', what = ''] = word
    const fields = { messageId: `m-${lane}`, subagentRunId: lane }
    const event: AgUiEvent =
      what === '+'
        ? { type: 'TEXT_MESSAGE_START', role: 'assistant', ...fields }
        : what === '-'
          ? { type: 'TEXT_MESSAGE_END', ...fields }
          : { type: 'TEXT_MESSAGE_CONTENT', delta: word, ...fields }
    return { seq, json: JSON.stringify(event) }
  })
}

async function framingFrom(id?: string): Promise<Framing> {
  const from = id === undefined ? undefined : parseEventId(id)
  const peer = { legacy: false }
  return withLanes(await createFraming('sse', peer), peer, { lanes: 'one-by-one', maxBytes: 1e6, from })
}

/** What was sent, as ids and words. */
function sentIn(text: string | Uint8Array): { id: string; word: string }[] {
  const frames = String(text).matchAll(/^id: (.*)\ndata: (.*)$/gmu)
  return [...frames].map(([, id = '', data = '']) => {
    const { type, messageId, delta } = JSON.parse(data) as Record<string, string>
    const sign = type?.endsWith('START') ? '+' : '-'
    return { id, word: delta ?? `${messageId?.slice(2)}${sign}` }
  })
}

const words = (sent: readonly { readonly word: string }[]) => sent.map(({ word }) => word).join(' ')
const entries = story('a+ a1 b+ b1 a2 c+ b- a- c1 c- b+ b2 b-')
const ordered = 'a+ a1 a2 a- b+ b1 b- c+ c1 c- b+ b2 b-'

describe('the id of an event in a stream with an order of its own', () => {
  test('says how far all have come, and what came last while an item is open', async () => {
    const sent = sentIn((await framingFrom()).frame({ runId: 'r', entries }))
    expect(words(sent)).toBe(ordered)
    expect(sent.map(({ id }) => id.slice(2)).join(' ')).toBe(
      '-1~0 -1~1 -1~4 -1~7 -1~2 -1~3 -1~6 -1~5 -1~8 9 9~10 9~11 12',
    )
  })

  test('brings the rest, wherever the connection broke, and however much had come', async () => {
    for (let come = 1; come <= entries.length; come++) {
      const first = sentIn((await framingFrom()).frame({ runId: 'r', entries: entries.slice(0, come) }))
      for (const [place, { id }] of first.entries()) {
        const { seq = -1, after = seq } = parseEventId(id) ?? {}
        const rest = entries.slice(after + 1)
        const again = sentIn((await framingFrom(id)).frame({ runId: 'r', entries: rest }))
        expect(words([...first.slice(0, place + 1), ...again])).toBe(ordered)
      }
    }
  })

  test('claims nothing that waits when the stream breaks down', async () => {
    const framing = await framingFrom()
    const first = sentIn(framing.frame({ runId: 'r', entries: entries.slice(0, 5) }))
    expect(String(framing.frame({ events: [{ type: 'RUN_ERROR', message: 'closing' }] }))).not.toContain(
      'id:',
    )
    const again = sentIn((await framingFrom(first.at(-1)?.id)).frame({ runId: 'r', entries }))
    expect(words([...first, ...again])).toBe(ordered)
  })

  test('of a run whose last events are lost brings its end', async () => {
    const end: LogEntry = { seq: 1_000_010, json: '{"type":"RUN_ERROR","message":"lost"}' }
    const frame = (await framingFrom('r:-1~9')).frame({ runId: 'r', entries: [end] })
    expect(frame).toBe(`id: r:1000010\ndata: ${end.json}\n\n`)
  })
})

test('protobuf has the same order', async () => {
  const peer = { legacy: false }
  const encoding = await createFraming('protobuf', peer)
  const framing = withLanes(encoding, peer, { lanes: 'one-by-one', maxBytes: 1e6, from: undefined })
  const chunk = framing.frame({ runId: 'r', entries }) as Uint8Array
  const deltas: unknown[] = []
  for await (const frame of decodeProtobuf(chunksOf(chunk)))
    if (frame.kind === 'event') deltas.push((frame.event as { readonly delta?: string }).delta)
  expect(deltas.filter((delta) => delta !== undefined)).toEqual(['a1', 'a2', 'b1', 'c1', 'b2'])
})

async function* chunksOf(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(chunk)
}
