import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { jsonSize } from '../../core/json-size.js'
import type { Owner } from '../../threads/contract.js'
import type { Limits } from '../contract.js'
import type { Quota, Share } from '../limits/quota.js'
import { largeBodyBytes, type RequestRates } from '../limits/request-rates.js'
import { assertSafeJson, findJsonError } from './check-json.js'
import { measureJson } from './measure-json.js'

export interface ReadJsonOptions {
  readonly limits: Limits
  readonly clock: Clock
  readonly rates: Pick<RequestRates, 'ofBody'>
  readonly bodies: Quota
}

/**
 * Reads the JSON in the body of a request, within the limits and safe to walk. The body must not have been read before.
 * Throws UNSUPPORTED_MEDIA_TYPE for a body that is not declared as JSON (forms of other sites cannot declare it),
 * PAYLOAD_TOO_LARGE, TOO_MANY_BYTES while other bodies are being read, INVALID_JSON for one that is not JSON, is incomplete or comes too late, and INVALID_INPUT for one that
 * `assertSafeJson` refuses. No error repeats the content of the body.
 */
export async function readJson(
  request: Request,
  owner: Pick<Owner, 'app' | 'user'>,
  options: ReadJsonOptions,
): Promise<unknown> {
  const { value, release } = await readHeldJson(request, owner, options)
  release()
  return value
}

/** A value whose size counts as bytes in flight until `release` is called. Releasing twice does nothing. */
export interface HeldJson {
  readonly value: unknown
  readonly release: () => void
}

/** The same for a value that may have to wait: its size counts among the bytes in flight until it is released. */
export async function readHeldJson(
  request: Request,
  owner: Pick<Owner, 'app' | 'user'>,
  options: ReadJsonOptions,
): Promise<HeldJson> {
  checkMediaType(request.headers)
  const share = options.bodies.open(owner)
  try {
    const bytes = await readBodyBytes(request, share, options)
    if (declaredLength(request.headers) === undefined) options.rates.ofBody(owner, bytes.byteLength)
    measureJson(bytes, options.limits)
    const value = parseBody(bytes)
    assertSafeJson(value, { maxDepth: options.limits.jsonDepth })
    // The body is gone, with its white space and escapes.
    share.keep(jsonSize(value, bytes.byteLength))
    return { value, release: share.release }
  } catch (error) {
    share.release()
    throw error
  }
}

const jsonType = /^application\/(?:[\w!#$&^.+-]+\+)?json$/
const utf8 = /^"?utf-?8"?$/

function checkMediaType(headers: Headers): void {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity' && encoding !== '')
    throw unsupportedType('Send the body as it is, without a content-encoding.')
  const [type = '', ...parameters] = (headers.get('content-type') ?? '').toLowerCase().split(';')
  if (!jsonType.test(type.trim())) throw unsupportedType('Send JSON, with content-type: application/json.')
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=')
    if (name.trim() === 'charset' && !utf8.test(value.trim())) throw unsupportedType('Send JSON in UTF-8.')
  }
}

function unsupportedType(message: string): MillraceError {
  return new MillraceError('UNSUPPORTED_MEDIA_TYPE', message)
}

async function readBodyBytes(
  request: Request,
  share: Share,
  { limits, clock }: ReadJsonOptions,
): Promise<Uint8Array> {
  if (request.bodyUsed) throw bodyUsed()
  const length = declaredLength(request.headers)
  if (length !== undefined && length > limits.bodyBytes) throw bodyTooLarge(limits)

  // HTTP cuts a body at its declared length, and reading it whole is much cheaper than reading a stream. Large ones count
  // as they arrive: who only declares them must not keep others out.
  const isWhole = length !== undefined && length <= largeBodyBytes
  if (isWhole) takeBytes(share, length)
  const reader = isWhole ? undefined : getReader(request)
  const reading = reader ? readStream(reader, share, limits) : readWhole(request, limits)
  try {
    return await new Promise((resolve, reject) => {
      const cancelTimer = clock.schedule(limits.bodyTimeoutMs, () => {
        const message = `The body did not arrive within ${limits.bodyTimeoutMs} ms.`
        reject(new MillraceError('INVALID_JSON', message))
        if (reader) stopReading(reader)
      })
      void reading.then(resolve, reject).then(cancelTimer)
    })
  } catch (error) {
    if (MillraceError.isInstance(error)) throw error
    throw new MillraceError('INVALID_JSON', 'The body broke off before its end.', { cause: error })
  }
}

function bodyUsed(): MillraceError {
  const message =
    'The body was read before: let `identify` and middleware in front of the server read a clone.'
  return new MillraceError('INTERNAL_ERROR', message, { expose: true })
}

/** The length of the body, where the client has said it. */
export function declaredLength(headers: Headers): number | undefined {
  const text = headers.get('content-length')
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
}

async function readWhole(request: Request, limits: Limits): Promise<Uint8Array> {
  const bytes = new Uint8Array(await request.arrayBuffer())
  if (bytes.byteLength > limits.bodyBytes) throw bodyTooLarge(limits)
  return bytes
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>

function getReader({ body }: Request): BodyReader | undefined {
  return (body as ReadableStream<Uint8Array> | null)?.getReader()
}

const firstBuffer = 16 * 1024

async function readStream(reader: BodyReader, share: Share, limits: Limits): Promise<Uint8Array> {
  // One buffer that grows, not a list of chunks: a body sent byte by byte would take a hundred times its size.
  let buffer = new Uint8Array(firstBuffer)
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return buffer.subarray(0, size)
    const end = size + value.byteLength
    try {
      if (end > limits.bodyBytes) throw bodyTooLarge(limits)
      takeBytes(share, value.byteLength)
    } catch (error) {
      stopReading(reader)
      throw error
    }
    if (end > buffer.byteLength) {
      const larger = new Uint8Array(Math.max(end, 2 * size))
      larger.set(buffer)
      buffer = larger
    }
    buffer.set(value, size)
    size = end
  }
}

function stopReading(reader: BodyReader): void {
  // The request is refused already, so a failure here changes nothing.
  reader.cancel().catch(() => undefined)
}

function takeBytes(share: Share, bytes: number): void {
  if (share.take(bytes)) return
  const message =
    'Too many bytes are on their way at once. Try again in a moment, with one large request at a time.'
  throw new MillraceError('TOO_MANY_BYTES', message)
}

function bodyTooLarge({ bodyBytes }: Limits): MillraceError {
  return new MillraceError(
    'PAYLOAD_TOO_LARGE',
    `The body is larger than ${bodyBytes} bytes (limits.bodyBytes). Send only the messages that are new: the server has the earlier ones of the thread. Send large files by their URL.`,
  )
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function parseBody(bytes: Uint8Array): unknown {
  const text = decodeUtf8(bytes)
  if (text === '') throw new MillraceError('INVALID_JSON', 'The body is empty.')
  try {
    return JSON.parse(text)
  } catch {
    // Without the cause: its message quotes the text.
    throw new MillraceError('INVALID_JSON', `The body is not JSON${errorPosition(text)}.`)
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new MillraceError('INVALID_JSON', 'The body is not UTF-8.')
  }
}

/** Searching a longer text for the error would keep all other requests waiting. */
const longestSearched = 1024 * 1024

function errorPosition(text: string): string {
  const position = text.length > longestSearched ? undefined : findJsonError(text)
  if (position === undefined) return ''
  return position === text.length ? ': it ends too early' : `: see position ${position}`
}
