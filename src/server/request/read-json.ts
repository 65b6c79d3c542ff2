import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { Limits } from '../contract.js'
import { assertSafeJson, findJsonError } from './check-json.js'

const jsonType = /^application\/(?:[\w!#$&^.+-]+\+)?json$/
const utf8 = /^"?utf-?8"?$/
/** Looking for the fault in a longer text would keep everybody else waiting. */
const longestSearched = 1024 * 1024

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The JSON in the body of a request, safe to walk. Throws UNSUPPORTED_MEDIA_TYPE for a body that does not say it is
 * JSON (forms of foreign pages cannot say that), INVALID_JSON for one that is not, INVALID_INPUT for one that
 * `assertSafeJson` refuses, and what `readBody` throws. No error repeats what is in the body.
 */
export async function readJson(request: Request, limits: Limits, clock: Clock): Promise<unknown> {
  checkType(request.headers)
  const value = parse(await readBody(request, limits, clock))
  assertSafeJson(value, { maxDepth: limits.jsonDepth })
  return value
}

function checkType(headers: Headers): void {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity' && encoding !== '')
    throw unsupported('Send the body as it is, without a content-encoding.')
  const [type = '', ...parameters] = (headers.get('content-type') ?? '').toLowerCase().split(';')
  if (!jsonType.test(type.trim())) throw unsupported('Send JSON, with content-type: application/json.')
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=')
    if (name.trim() === 'charset' && !utf8.test(value.trim())) throw unsupported('Send JSON in UTF-8.')
  }
}

function unsupported(message: string): MillraceError {
  return new MillraceError('UNSUPPORTED_MEDIA_TYPE', message)
}

function parse(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  if (text === '') throw new MillraceError('INVALID_JSON', 'The body is empty.')
  try {
    return JSON.parse(text)
  } catch {
    // Not the cause of ours: its message quotes the text.
    throw new MillraceError('INVALID_JSON', `The body is not JSON${placeOf(text)}.`)
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new MillraceError('INVALID_JSON', 'The body is not UTF-8.')
  }
}

function placeOf(text: string): string {
  const position = text.length > longestSearched ? undefined : findJsonError(text)
  if (position === undefined) return ''
  return position === text.length ? ': it ends too early' : `: see position ${position}`
}

const firstBuffer = 16 * 1024

/**
 * Reads the body of a request, which nothing may have read before. Throws PAYLOAD_TOO_LARGE as soon as it is known to
 * be too large, before reading when the request says so itself, and INVALID_JSON when it breaks off or does not arrive
 * in time. Reading stops then.
 */
export async function readBody(request: Request, limits: Limits, clock: Clock): Promise<Uint8Array> {
  if (request.bodyUsed)
    throw new MillraceError('INTERNAL_ERROR', 'The body was read before: let `identify` read a clone.')
  const declared = declaredLength(request)
  if (declared !== undefined && declared > limits.bodyBytes) throw tooLarge(limits)

  // HTTP cuts a body at the length that was declared. Reading it whole is much cheaper than reading a stream.
  const reader = declared === undefined ? readerOf(request) : undefined
  const work = reader ? readStream(reader, limits) : readWhole(request, limits)
  try {
    return await new Promise((resolve, reject) => {
      const cancelTimer = clock.schedule(limits.bodyTimeoutMs, () => {
        const message = `The body did not arrive within ${limits.bodyTimeoutMs} ms.`
        reject(new MillraceError('INVALID_JSON', message))
        if (reader) cancel(reader)
      })
      void work.then(resolve, reject).then(cancelTimer)
    })
  } catch (error) {
    if (MillraceError.isInstance(error)) throw error
    throw new MillraceError('INVALID_JSON', 'The body broke off before its end.', { cause: error })
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

function readerOf({ body }: Request): Reader | undefined {
  return (body as ReadableStream<Uint8Array> | null)?.getReader()
}

function cancel(reader: Reader): void {
  // The request is refused already; how its sender takes that changes nothing.
  reader.cancel().catch(() => undefined)
}

function declaredLength({ headers }: Request): number | undefined {
  const text = headers.get('content-length')
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
}

async function readWhole(request: Request, limits: Limits): Promise<Uint8Array> {
  const bytes = new Uint8Array(await request.arrayBuffer())
  if (bytes.byteLength > limits.bodyBytes) throw tooLarge(limits)
  return bytes
}

async function readStream(reader: Reader, limits: Limits): Promise<Uint8Array> {
  // One buffer that grows, not a list of chunks: a body sent byte by byte would take a hundred times its size.
  let buffer = new Uint8Array(firstBuffer)
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return buffer.subarray(0, size)
    const end = size + value.byteLength
    if (end > limits.bodyBytes) {
      cancel(reader)
      throw tooLarge(limits)
    }
    if (end > buffer.byteLength) buffer = grown(buffer, Math.max(end, 2 * size))
    buffer.set(value, size)
    size = end
  }
}

function grown(buffer: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size)
  larger.set(buffer)
  return larger
}

function tooLarge({ bodyBytes }: Limits): MillraceError {
  return new MillraceError('PAYLOAD_TOO_LARGE', `The body is larger than ${bodyBytes} bytes.`)
}
