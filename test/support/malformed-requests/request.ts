/** A request to one of two servers. */
export interface Sent {
  /** Default: the one that only serves this machine. The other knows its users by the header `x-user`. */
  readonly on?: 'local' | 'shared'
  /** Default: POST. */
  readonly method?: string
  /** Default: the run of the first agent. */
  readonly path?: string
  readonly host?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Text, bytes and streams are sent as they are, all else as JSON. */
  readonly body?: unknown
}

/** A request, and the refusal it should get. */
export interface Refused extends Sent {
  readonly name: string
  readonly status: number
  readonly code: string
  /** The methods it should be told of. */
  readonly allow?: string
}

export const runPath = '/agents/echo/run'

export function titleOf({ method = 'POST', path = runPath }: Sent): string {
  return `${method} ${path.slice(0, 60)}`
}

export const jsonType = { 'content-type': 'application/json' }

export function toRequest({ method = 'POST', path = runPath, host, headers = {}, body }: Sent): Request {
  const type = body === undefined ? {} : jsonType
  const request = new Request(`http://localhost${path}`, {
    method,
    headers: { ...type, ...headers },
    ...(body === undefined
      ? {}
      : { body: isRaw(body) ? body : JSON.stringify(body), duplex: 'half' as const }),
  })
  if (headers['content-type'] === '') request.headers.delete('content-type')
  if (host !== undefined) request.headers.set('host', host)
  return request
}

function isRaw(body: unknown): body is string | Uint8Array<ArrayBuffer> | ReadableStream {
  return typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream
}

export const user = { id: 'm-1', role: 'user', content: 'hi' }

/** A run input that is good but for the fields given. Its thread is never to be stored. */
export function inputOf(fields: Readonly<Record<string, unknown>> = {}) {
  return {
    protocolVersion: '1.0',
    threadId: 'bad',
    runId: 'run-1',
    state: {},
    messages: [user],
    tools: [],
    context: [],
    ...fields,
  }
}

/** A run input that is good, as text to be spoilt. */
export const goodText = JSON.stringify(inputOf())

/** Every way to name a thread, as a request to a path or with a body. */
export function askFor(thread: string, prefix: string): Sent[] {
  const inPath = encodeURIComponent(thread)
  return [
    { path: `${prefix}/message_snapshot/${inPath}`, method: 'GET' },
    { path: `${prefix}/state_snapshot/${inPath}`, method: 'GET' },
    { path: `${prefix}/state/${inPath}`, method: 'PATCH', body: [] },
    { path: `${prefix}/thread/${inPath}`, method: 'DELETE' },
    { path: `${prefix}/connect`, body: { threadId: thread } },
    { path: `${prefix}/cancel`, body: { threadId: thread } },
  ]
}
