import { parseProtoStream } from '@ag-ui/client'
import type { Message } from '@ag-ui/core'
import fc from 'fast-check'
import { from, lastValueFrom, toArray } from 'rxjs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { anyEvent, cuts, eventsByType, split } from '../../../test/e2e/support-arbitraries.js'
import type { AgUiEvent, DecodedFrame } from '../contract.js'
import {
  createProtobufEncoder,
  decodeProtobuf,
  maxProtobufFrame,
  negotiate,
  protobufMediaType,
} from './protobuf.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

const encode = await createProtobufEncoder()
const event: AgUiEvent = { type: 'STEP_STARTED', stepName: 'x' }

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a protobuf stream', () => {
  it.each([...eventsByType])('carries any %s event, cut anywhere', async (_type, arbitrary) => {
    const warned = vi.spyOn(console, 'warn')
    await fc.assert(
      fc.asyncProperty(some(arbitrary), cuts, async (events, places) => {
        const frames = await decode(split(join(events.map(encode)), places))
        expect(frames).toEqual(
          events.map((item, index) => ({ kind: 'event', frame: index + 1, event: asProtobufTells(item) })),
        )
      }),
      { numRuns: propertyRuns(30) },
    )
    // The codec complains on the console when an event does not fit the schema.
    expect(warned).not.toHaveBeenCalled()
  })

  it('reads the same in the AG-UI client', async () => {
    await fc.assert(
      fc.asyncProperty(some(anyEvent), cuts, async (events, places) => {
        const read = await readWithClient(split(join(events.map(encode)), places))
        expect(read).toEqual(events.map(asProtobufTells))
      }),
    )
  })

  it('prefixes every message with its length in big-endian bytes', () => {
    const frame = encode(event)
    expect([...frame.slice(0, 4)]).toEqual([0, 0, 0, frame.length - 4])
  })

  it('reads nothing from nothing', async () => {
    expect(await decode([])).toEqual([])
    expect(await decode([new Uint8Array(0)])).toEqual([])
  })

  it('fails when it ends within a frame', async () => {
    const frame = encode(event)
    for (let length = 1; length < frame.length; length++) {
      await expect(decode([frame.slice(0, length)])).rejects.toMatchObject({ code: 'INVALID_EVENT' })
    }
  })

  it('reports a frame that is no event and reads on', async () => {
    const broken = Uint8Array.of(0, 0, 0, 2, 0xff, 0xff)
    const empty = Uint8Array.of(0, 0, 0, 0)
    expect(await decode([encode(event), broken, empty, encode(event)])).toMatchObject([
      { kind: 'event', frame: 1 },
      { kind: 'malformed', frame: 2, error: { code: 'INVALID_EVENT' } },
      { kind: 'malformed', frame: 3 },
      { kind: 'event', frame: 4 },
    ])
  })

  it('refuses a frame above the limit before its bytes arrive', async () => {
    const prefix = new Uint8Array(4)
    new DataView(prefix.buffer).setUint32(0, maxProtobufFrame - 3)
    await expect(decode([prefix])).rejects.toThrow(/above 10485760 bytes/)
    new DataView(prefix.buffer).setUint32(0, maxProtobufFrame - 4)
    await expect(decode([prefix])).rejects.toThrow(/ended within a frame/)
  })

  it('does not confuse an error of its reader with a frame that cannot be decoded', async () => {
    const frames = decodeProtobuf(stream([encode(event)]))
    await frames.next()
    await expect(frames.throw(new Error('reader'))).rejects.toThrow('reader')
  })
})

describe('the protobuf encoder', () => {
  it('refuses an event above the limit', () => {
    const large: AgUiEvent = { type: 'STEP_STARTED', stepName: 'x'.repeat(maxProtobufFrame) }
    expect(() => encode(large)).toThrow(expect.objectContaining({ code: 'INVALID_EVENT' }))
  })

  it('refuses an event of an unknown type', () => {
    const unknown = { type: 'WEATHER' } as unknown as AgUiEvent
    expect(() => encode(unknown)).toThrow(expect.objectContaining({ code: 'INVALID_EVENT' }))
  })

  it('names the event that protobuf cannot carry', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    expect(() => encode({ type: 'CUSTOM', name: 'x', value: cycle })).toThrow(
      expect.objectContaining({ code: 'ENCODING_ERROR', cause: expect.any(Error) as unknown }),
    )
  })

  it('leaves out members that are undefined', async () => {
    const frames = await decode([encode({ type: 'CUSTOM', name: 'x', value: { a: undefined, b: 1 } })])
    expect(frames).toMatchObject([{ event: { value: { b: 1 } } }])
  })
})

/** A few events. The codec loses a member named `__proto__`, so none has one. */
function some(arbitrary: fc.Arbitrary<AgUiEvent>): fc.Arbitrary<AgUiEvent[]> {
  const clean = (key: string, value: unknown) => (key === '__proto__' ? undefined : value)
  const cleaned = arbitrary.map((item) => JSON.parse(JSON.stringify(item), clean) as AgUiEvent)
  return fc.array(cleaned, { maxLength: 3 })
}

/** What is left of an event after protobuf, which has no empty lists except where it has nothing but lists. */
function asProtobufTells(item: AgUiEvent): AgUiEvent {
  switch (item.type) {
    case 'RUN_STARTED': {
      if (!item.input) return item
      const { messages } = item.input
      const lists = { tools: [], context: [], resume: [] }
      return { ...item, input: { ...lists, ...item.input, messages: messages.map(tellMessage) } }
    }
    case 'MESSAGES_SNAPSHOT':
      return { ...item, messages: item.messages.map(tellMessage) }
    case 'RUN_ERROR':
      return withoutEmpty(item, 'usage')
    case 'RUN_FINISHED': {
      const finished = withoutEmpty(item, 'usage')
      if (finished.outcome?.type !== 'success') return finished
      return { ...finished, outcome: withoutEmpty(finished.outcome, 'pendingToolCallIds') }
    }
    case 'SUBAGENT_FINISHED':
      if (item.outcome?.type !== 'suspended') return item
      return { ...item, outcome: withoutEmpty(item.outcome, 'interruptIds') }
    default:
      return item
  }
}

function tellMessage(message: Message): Message {
  return message.role === 'assistant' ? withoutEmpty(message, 'toolCalls') : message
}

function withoutEmpty<T extends object>(value: T, name: keyof T & string): T {
  const isKept = ([key, member]: [string, unknown]) =>
    key !== name || !Array.isArray(member) || member.length > 0
  // Only an optional member is left out.
  return Object.fromEntries(Object.entries(value).filter(isKept)) as T
}

function join(frames: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(frames.flatMap((frame) => [...frame]))
}

async function decode(chunks: readonly Uint8Array[]): Promise<DecodedFrame[]> {
  const frames: DecodedFrame[] = []
  for await (const frame of decodeProtobuf(stream(chunks))) frames.push(frame)
  return frames
}

async function* stream(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk)
}

function readWithClient(chunks: readonly Uint8Array[]): Promise<unknown[]> {
  // The client tells HTTP events apart by an enum that it does not export.
  const source = from(httpEvents(chunks)) as unknown as Parameters<typeof parseProtoStream>[0]
  return lastValueFrom(parseProtoStream(source).pipe(toArray()))
}

async function* httpEvents(chunks: readonly Uint8Array[]): AsyncGenerator {
  for await (const data of stream(chunks)) yield { type: 'data', data }
}

describe('negotiate', () => {
  it.each([
    undefined,
    null,
    '',
    '*/*',
    'application/*',
    'application/json',
    'text/event-stream',
    'text/event-stream, */*',
    `${protobufMediaType};q=0`,
    `${protobufMediaType};q=0.000`,
    `${protobufMediaType};q=high`,
    `${protobufMediaType};q=0.5, text/event-stream`,
    `text/event-stream;q=0.9, ${protobufMediaType};q=0.8`,
    `${protobufMediaType}-v2`,
    `x/${protobufMediaType}`,
    `application/json; profile=${protobufMediaType}`,
    'application/vnd.ag-ui.*',
  ])('speaks SSE for Accept: %s', (accept) => {
    expect(negotiate(accept)).toBe('sse')
  })

  it.each([
    protobufMediaType,
    'Application/VND.AG-UI.Event+Proto',
    `${protobufMediaType};q=0.1`,
    `${protobufMediaType} ; Q=1.0`,
    `${protobufMediaType};v=1;q=0.3`,
    `text/html , ${protobufMediaType}`,
    `${protobufMediaType}, text/event-stream`,
    `text/event-stream;q=0.5, ${protobufMediaType};q=0.5`,
    `text/event-stream;q=0.4, ${protobufMediaType};q=0.5`,
    `${protobufMediaType};q=0.1, */*`,
    `${protobufMediaType};q=0, ${protobufMediaType}`,
  ])('speaks protobuf for Accept: %s', (accept) => {
    expect(negotiate(accept)).toBe('protobuf')
  })
})
