import type { AgUiEvent } from '../../src/protocol/index.js'

/** What the client has sent. */
export interface SentRequest {
  readonly route: string
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
  /** Whether the client has hung up. */
  readonly signal: AbortSignal | undefined
}

/** A stream that the test writes. */
interface OpenReply extends SentRequest {
  write(...events: readonly (AgUiEvent & { readonly id?: string })[]): void
  writeText(text: string): void
  end(): void
  fail(): void
}

/** An answer: a status with headers, a stream, or nothing, as when the network is down. */
export type Reply =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly json?: unknown }
  | 'stream'
  | 'down'

/** A `fetch` that answers as the test says, request by request. */
export function scriptedFetch(answer: (request: SentRequest, index: number) => Reply) {
  const requests: SentRequest[] = []
  const streams: OpenReply[] = []
  const fetch = ((url: string, init: RequestInit) => {
    const { pathname, search } = new URL(url)
    const request: SentRequest = {
      route: `${init.method} ${pathname}${search}`,
      headers: new Headers(init.headers),
      body: typeof init.body === 'string' ? (JSON.parse(init.body) as SentRequest['body']) : {},
      signal: init.signal ?? undefined,
    }
    const reply = answer(request, requests.push(request) - 1)
    if (reply === 'down') return Promise.reject(new TypeError('fetch failed'))
    if (reply !== 'stream')
      return Promise.resolve(
        Response.json(reply.json ?? {}, { status: reply.status, headers: reply.headers ?? {} }),
      )
    const { response, stream } = openReply(request)
    streams.push(stream)
    return Promise.resolve(response)
  }) as typeof globalThis.fetch
  return { fetch, requests, streams, routes: () => requests.map(({ route }) => route) }
}

function openReply(request: SentRequest) {
  const encoder = new TextEncoder()
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({ start: (made) => void (controller = made) })
  request.signal?.addEventListener('abort', () => controller?.error(new Error('aborted')))
  const writeText = (text: string): void => controller?.enqueue(encoder.encode(text))
  const stream: OpenReply = {
    ...request,
    writeText,
    write: (...events) =>
      writeText(
        events
          .map(
            ({ id, ...event }) =>
              `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`,
          )
          .join(''),
      ),
    end: () => controller?.close(),
    fail: () => controller?.error(new Error('reset')),
  }
  return { response: new Response(body, { headers: { 'content-type': 'text/event-stream' } }), stream }
}

/** A thread as `POST /follow` shows it. */
export function threadAtRest(version: number, texts: readonly string[] = []): AgUiEvent[] {
  const messages = texts.map((content, index) => ({ id: `m${index}`, role: 'user' as const, content }))
  return [
    { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
    { type: 'CUSTOM', name: 'millrace.thread', value: { version, pendingToolCalls: [] } },
    { type: 'MESSAGES_SNAPSHOT', messages },
    { type: 'STATE_SNAPSHOT', snapshot: {} },
    { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
  ]
}
