import { toolError } from '../tool-error.js'
import type { PatternNode, Place } from './pattern-node.js'

/** A part of a pattern that stands for one character or one place, and where the next part begins. */
export interface ScannedAtom {
  readonly node: PatternNode
  readonly end: number
}

const escapedPlaces = new Map<string | undefined, Place>([
  ['b', 'boundary'],
  ['B', 'inside'],
])

/** An escape: of a kind of characters, of a code, or of any character that is no letter or digit. */
const escape =
  /\\(?:[dDwWsStnrfv0]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|u\{[\da-fA-F]{1,6}\}|[pP]\{[\w=]+\}|[^A-Za-z0-9])/uy

/** Reads the character, class or escape at `start`, which must be inside the pattern. */
export function scanAtom(pattern: string, start: number, flags: string): ScannedAtom {
  const char = String.fromCodePoint(pattern.codePointAt(start) ?? 0)
  if (char === '[') return scanClass(pattern, start, flags)
  if (char === '\\') {
    const at = escapedPlaces.get(pattern[start + 1])
    if (at !== undefined) return { node: { type: 'assert', at }, end: start + 2 }
    const text = escapeAt(pattern, start)
    return { node: oneOf(toSource(text), flags), end: start + text.length }
  }
  const source = char === '.' ? '.' : codeOf(char)
  return { node: oneOf(source, flags), end: start + char.length }
}

function scanClass(pattern: string, start: number, flags: string): ScannedAtom {
  let source = '['
  let end = start + 1
  while (pattern[end] !== ']') {
    if (end >= pattern.length) throw toolError(`The pattern has a '[' at ${start} that nothing closes.`)
    if (/^\[:\w+:\]/.test(pattern.slice(end)))
      throw toolError(`The pattern has a POSIX class at ${end}. Write \\s, \\d, \\w or \\p{L} instead.`)
    const text = pattern[end] === '\\' ? escapeAt(pattern, end) : pattern.charAt(end)
    source += text.startsWith('\\') ? toSource(text) : text
    end += text.length
  }
  return { node: oneOf(`${source}]`, flags), end: end + 1 }
}

function escapeAt(pattern: string, start: number): string {
  escape.lastIndex = start
  const [text] = escape.exec(pattern) ?? []
  if (text !== undefined) return text
  const shown = pattern.slice(start, start + 2)
  const why = /\\[1-9k]/.test(shown) ? 'back references are not supported' : 'there is no such escape'
  throw toolError(`The pattern has '${shown}' at ${start}: ${why}.`)
}

/** With the flag `u`, only few characters may be escaped as they are. */
function toSource(text: string): string {
  return /^\\[A-Za-z0-9]/.test(text) ? text : codeOf(text.slice(1))
}

function codeOf(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
}

/** The engine's own expressions are safe for one character, and know all about classes and letter case. */
function oneOf(source: string, flags: string): PatternNode {
  try {
    const single = new RegExp(`^${source}$`, `u${flags}`)
    return { type: 'char', test: (char) => single.test(char) }
  } catch (cause) {
    throw toolError(`The pattern has a class or an escape that is not valid: ${source}`, cause)
  }
}
