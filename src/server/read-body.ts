import type { Clock } from '../core/clock.js'
import { MillraceError } from '../core/errors.js'
import type { Limits } from './limits.js'

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
