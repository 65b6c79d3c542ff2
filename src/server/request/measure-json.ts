import { MillraceError } from '../../core/errors.js'
import type { Limits } from '../contract.js'

/** Parsing fewer bytes than these takes no time worth saving. */
const fewBytes = 16 * 1024
/** What is only a little too deep is refused later, with its path. */
const farTooDeep = 1_000

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/**
 * Refuses the bytes of JSON that would take long to parse and to walk for their size: a million brackets inside each other, or
 * millions of empty objects. Takes a nanosecond a byte at most. Throws INVALID_INPUT or PAYLOAD_TOO_LARGE. Bytes that are not
 * JSON may pass.
 */
export function measureJson(bytes: Uint8Array, { jsonDepth, jsonValues }: Limits): void {
  if (bytes.byteLength <= fewBytes) return
  const maxDepth = Math.max(jsonDepth, farTooDeep)
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case quote:
        at = endOfString(bytes, at + 1)
        break
      case comma:
        if (++values > jsonValues) throw tooManyValues(jsonValues)
        break
      case openList:
      case openObject:
        if (++values > jsonValues) throw tooManyValues(jsonValues)
        if (++depth > maxDepth) throw tooDeep(jsonDepth)
        break
      case closeList:
      case closeObject:
        depth--
        break
      default:
    }
  }
}

/** Byte by byte at first: most texts are short. */
const bytesOneByOne = 256

/** The position of the quote that ends a string. */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let at = from; ;) {
    const end = Math.min(at + bytesOneByOne, bytes.length)
    while (at < end && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
    if (at < end) return at
    const next = bytes.indexOf(quote, at)
    if (next === -1) return bytes.length
    let escapes = 0
    while (next - escapes > at && bytes[next - escapes - 1] === backslash) escapes++
    if (escapes % 2 === 0) return next
    at = next + 1
  }
}

function tooDeep(jsonDepth: number): MillraceError {
  return new MillraceError('INVALID_INPUT', `(body): nested deeper than ${jsonDepth} levels`)
}

function tooManyValues(jsonValues: number): MillraceError {
  const message = `The body has more than ${jsonValues} values. Send fewer, or raise limits.jsonValues.`
  return new MillraceError('PAYLOAD_TOO_LARGE', message)
}
