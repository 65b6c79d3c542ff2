import type { HttpAgentConfig } from '@ag-ui/client'
import { decodeSse, type AgUiEvent } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'

/** A stream of a server as it came over the socket. */
export interface RecordedStream {
  /** The body of the request. */
  readonly input: Readonly<Record<string, unknown>>
  /** Those that came so far. */
  readonly events: readonly AgUiEvent[]
  /**
   * Resolves when the body is over: true when the server has ended it, false when the client went away. Rejects when it
   * was torn, or is not JSON.
   */
  readonly ended: Promise<boolean>
}

const recorded = new Set<RecordedStream>()

/** Checks every stream that was recorded since the last time, also what no client has looked at. Waits for their ends. */
export async function lintRecorded(): Promise<void> {
  const streams = [...recorded]
  recorded.clear()
  for (const { input, events, ended } of streams) {
    const complete = await ended
    assertValidStream(events, 'messages' in input ? { input, complete } : { complete })
  }
}

/** Fetches, and keeps a copy of every event stream: for the test in `seen`, and to be linted. */
export function recordingFetch(seen: RecordedStream[]): NonNullable<HttpAgentConfig['fetch']> {
  return async function record(url, init) {
    const response = await fetch(url, init)
    const isStream = response.headers.get('content-type') === 'text/event-stream'
    if (!response.body || !isStream) return response
    const [copy, given] = response.body.tee()
    const events: AgUiEvent[] = []
    const ended = readAll(copy, { events, signal: init.signal })
    // Looked at when the test is over.
    ended.catch(() => undefined)
    const stream = { input: JSON.parse(init.body as string) as Record<string, unknown>, events, ended }
    seen.push(stream)
    recorded.add(stream)
    return new Response(given, response)
  }
}

interface Reading {
  readonly events: AgUiEvent[]
  readonly signal: AbortSignal | null | undefined
}

async function readAll(body: AsyncIterable<Uint8Array>, { events, signal }: Reading): Promise<boolean> {
  try {
    for await (const frame of decodeSse(body)) {
      if (frame.kind === 'malformed') throw frame.error
      events.push(frame.event as AgUiEvent)
    }
    return true
  } catch (error) {
    if (signal?.aborted === true) return false
    throw error
  }
}
