import { systemClock, type Clock } from '../core/clock.js'
import { errorCodes, type ErrorCode } from '../core/error-codes.js'
import { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/json.js'
import type { ClientOptions } from './contract.js'

/** A request to the server. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Behind the address of the server. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface Http {
  /** Resolves with a response that succeeded. Rejects with a `RequestFailure`, or with the reason of the signal. */
  send(request: HttpRequest): Promise<Response>
  readonly clock: Clock
  readonly timeoutMs: number
}

/** A request that failed, and whether it is worth another. */
export class RequestFailure extends Error {
  readonly error: MillraceError
  /** Whether the server may have got it all the same: the connection broke. */
  readonly isUncertain: boolean
  /** Whether the same request can succeed later. */
  readonly isPassing: boolean
  /** What the server has asked for with `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(error: MillraceError, response?: Response) {
    super(error.message)
    this.error = error
    this.isUncertain = response === undefined
    this.isPassing = response ? [408, 429, 502, 503, 504].includes(response.status) : !isUnreadable(error)
    const seconds = Number(response?.headers.get('retry-after') ?? Number.NaN)
    this.retryAfterMs = seconds >= 0 ? seconds * 1000 : undefined
  }
}

/** Three heartbeats of a server with default limits. */
export const defaultTimeoutMs = 45_000

export function createHttp(options: ClientOptions): Http {
  const { url, headers = {}, clock = systemClock, timeoutMs = defaultTimeoutMs } = options
  const base = url.replace(/\/+$/, '')
  const headersFor = (isRefused: boolean): unknown =>
    typeof headers === 'function' ? headers({ isRefused }) : headers

  const attempt = async (request: HttpRequest, isRefused: boolean): Promise<Response> => {
    const { method, path, body, signal } = request
    const own = (await headersFor(isRefused)) as Record<string, string>
    const init: RequestInit = {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...own,
        ...request.headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    }
    const fetch = options.fetch ?? globalThis.fetch
    return withTimeout({ clock, timeoutMs }, init, (limited) => fetch(base + path, limited))
  }

  return {
    clock,
    timeoutMs,
    async send(request) {
      let response = await attempt(request, false)
      // The token may have run out since it was made: the application is asked for another, once.
      if (response.status === 401 && typeof headers === 'function') response = await attempt(request, true)
      if (response.ok) return response
      throw new RequestFailure(await readError(response), response)
    },
  }
}

/** Waits for the head of a response. The body has a time limit of its own, see `readChunks`. */
export async function withTimeout(
  { clock, timeoutMs }: Pick<Http, 'clock' | 'timeoutMs'>,
  init: RequestInit,
  fetch: (init: RequestInit) => Promise<Response>,
): Promise<Response> {
  const controller = new AbortController()
  const signal = init.signal ?? undefined
  const stop = (): void => controller.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()
  const cancel = clock.schedule(timeoutMs, () => controller.abort())
  try {
    return await fetch({ ...init, signal: controller.signal })
  } catch (cause) {
    signal?.throwIfAborted()
    throw new RequestFailure(networkError(cause))
  } finally {
    // The link to the signal stays: it also ends the body.
    cancel()
  }
}

export function networkError(cause: unknown): MillraceError {
  return new MillraceError('NETWORK_ERROR', 'The server cannot be reached, or the connection broke.', {
    cause,
  })
}

async function readError(response: Response): Promise<MillraceError> {
  const body: unknown = await response.json().catch(() => undefined)
  const error = isRecord(body) && isRecord(body.error) ? body.error : {}
  const { code, message = `The server answered with the status ${response.status}.` } = error
  return toClientError({
    code: typeof code === 'string' ? code : codeOf(response.status),
    message: String(message),
  })
}

/** For answers that did not come from our server, but from a proxy before it. */
function codeOf(status: number): ErrorCode {
  const found = Object.entries(errorCodes).find(([, info]) => info.status === status && status !== 500)
  return (found?.[0] as ErrorCode | undefined) ?? 'INTERNAL_ERROR'
}

/** An error of the server. A code of the application's own is its `wireCode`. */
export function toClientError({
  code,
  message,
}: {
  readonly code: string
  readonly message: string
}): MillraceError {
  const isKnown = Object.hasOwn(errorCodes, code)
  return new MillraceError(isKnown ? (code as ErrorCode) : 'AGENT_ERROR', message, {
    ...(isKnown || code === '' ? {} : { wireCode: code }),
  })
}

/** Whatever was thrown while a request was made, or its answer read. */
export function toFailure(error: unknown): RequestFailure {
  if (error instanceof RequestFailure) return error
  return new RequestFailure(isUnreadable(error) ? error : networkError(error))
}

/** Whether a frame was too large to be read. It would be the next time. */
export function isUnreadable(error: unknown): error is MillraceError {
  return MillraceError.isInstance(error) && error.code === 'INVALID_EVENT'
}
