import type { Clock } from '../core/clock.js'
import { MillraceError } from '../core/errors.js'
import { findJsonError } from './json-position.js'
import type { Limits } from './limits.js'
import { readBody } from './read-body.js'
import { assertSafeJson } from './safe-json.js'

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
