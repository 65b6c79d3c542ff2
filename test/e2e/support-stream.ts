import { createParser } from 'eventsource-parser'
import { request, type IncomingMessage } from 'node:http'
import { onTestFinished } from 'vitest'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'

/** An event as it came over the wire, with its id if it had one. */
export interface Received {
  readonly id: string | undefined
  readonly event: AgUiEvent
}

/** A stream on a connection of its own, read as it comes. */
export interface RawStream {
  readonly status: number
  /** What has come so far. */
  readonly received: readonly Received[]
  readonly events: AgUiEvent[]
  readonly comments: readonly string[]
  readonly lastId: string | undefined
  /** Resolves when an event has come that fits. Rejects when the stream ends without one. */
  until(fits: (event: AgUiEvent) => boolean): Promise<void>
  /** Resolves when so many comments have come. */
  untilComments(count: number): Promise<void>
  /** Resolves when the response is whole. Rejects when the connection broke. */
  whole(): Promise<readonly Received[]>
  /** Resolves when there is nothing more to come, however it ended. */
  over(): Promise<void>
  /** Breaks the connection off. */
  drop(): void
  /** Takes no more bytes from the socket until `resume`. */
  pause(): void
  resume(): void
}

export interface StreamRequest {
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Takes nothing from the socket until `resume` is called. */
  readonly isPaused?: boolean
  /** Called for each event as it comes. */
  readonly onEvent?: (event: AgUiEvent) => void
}

/** Posts, and resolves when the headers of the answer are there. */
export async function openStream(
  url: string,
  { body, headers = {}, isPaused, onEvent }: StreamRequest,
): Promise<RawStream> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const made = request(url, {
      ...{ method: 'POST', agent: false },
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    })
    made.once('response', resolve)
    made.once('error', reject)
    made.end(JSON.stringify(body))
  })
  onTestFinished(() => void response.destroy())
  return readStream(response, { isPaused: isPaused === true, onEvent })
}

interface ReadOptions {
  readonly isPaused: boolean
  readonly onEvent: ((event: AgUiEvent) => void) | undefined
}

function readStream(response: IncomingMessage, { isPaused, onEvent }: ReadOptions): RawStream {
  const received: Received[] = []
  const comments: string[] = []
  const changed = createChanged()
  const parser = createParser({
    onEvent({ id, data }) {
      const event = JSON.parse(data) as AgUiEvent
      received.push({ id, event })
      onEvent?.(event)
    },
    onComment: (comment) => comments.push(comment),
  })
  const decoder = new TextDecoder()
  let end: 'whole' | 'broken' | undefined
  response.on('data', (chunk: Buffer) => {
    parser.feed(decoder.decode(chunk, { stream: true }))
    changed.tell()
  })
  response.on('end', () => (end ??= response.complete ? 'whole' : 'broken'))
  response.on('error', () => (end ??= 'broken'))
  response.on('close', () => {
    end ??= response.complete ? 'whole' : 'broken'
    changed.tell()
  })
  if (isPaused) response.pause()

  const until = async (isThere: () => boolean): Promise<void> => {
    while (!isThere()) {
      if (end) throw new Error(`The stream is over (${end}) after ${received.length} events.`)
      await changed.next()
    }
  }
  const over = async (): Promise<void> => {
    while (!end) await changed.next()
  }
  return {
    status: response.statusCode ?? 0,
    received,
    comments,
    get events() {
      return received.map(({ event }) => event)
    },
    get lastId() {
      return received.findLast(({ id }) => id !== undefined)?.id
    },
    async until(fits) {
      await until(() => received.some(({ event }) => fits(event)))
    },
    untilComments: (count) => until(() => comments.length >= count),
    async whole() {
      await over()
      if (end === 'whole') return received
      throw new Error(`The connection broke after ${received.length} events.`)
    },
    over,
    drop: () => void response.destroy(),
    pause: () => void response.pause(),
    resume: () => void response.resume(),
  }
}

function createChanged() {
  let listeners: (() => void)[] = []
  return {
    tell(): void {
      const all = listeners
      listeners = []
      for (const listener of all) listener()
    },
    next: (): Promise<void> => new Promise((resolve) => listeners.push(resolve)),
  }
}

/** Whether an event says this, or something that has it in it. */
export function says(text: string): (event: AgUiEvent) => boolean {
  return (event) => event.type === 'TEXT_MESSAGE_CONTENT' && event.delta.includes(text)
}

/** All that was said. */
export function textIn(events: readonly AgUiEvent[]): string {
  return events.map((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? event.delta : '')).join('')
}

/** The numbers of the events, in order. Throws when one has no id. */
export function numbersOf(received: readonly Received[]): number[] {
  return received.map(({ id, event }) => {
    if (id === undefined) throw new Error(`A ${event.type} event has no id.`)
    return Number(id.slice(id.lastIndexOf(':') + 1))
  })
}

/** Runs to the end, and lints. */
export async function runWhole(url: string, body: Record<string, unknown>): Promise<AgUiEvent[]> {
  const stream = await openStream(`${url}/run`, { body })
  await stream.whole()
  assertValidStream(stream.events, { input: body })
  return stream.events
}
