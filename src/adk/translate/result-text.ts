import { isRecord } from '../../core/is-record.js'

/**
 * What a tool gave, as the text of its result. ADK wraps a value that is no object into `{ result }`: a text comes out
 * of that as it was written. All else is JSON.
 */
export function toResultText(response: unknown): string {
  if (isRecord(response) && typeof response.result === 'string' && Object.keys(response).length === 1) {
    return response.result
  }
  return toText(response ?? {})
}

/** JSON of any value. What JSON cannot carry is a text in its place; never throws. */
export function toText(value: unknown): string {
  try {
    return jsonOf(value)
  } catch {
    // A circle or a BigInt, most likely.
    try {
      return jsonOf(value, createReplacer())
    } catch (error) {
      return JSON.stringify(`not JSON: ${String(error)}`)
    }
  }
}

type Replacer = (this: unknown, key: string, member: unknown) => unknown

function jsonOf(value: unknown, replacer?: Replacer): string {
  // Its type does not say so, but it gives undefined for a function or a symbol.
  const json: unknown = JSON.stringify(value, replacer)
  return typeof json === 'string' ? json : 'null'
}

function createReplacer(): Replacer {
  const above: unknown[] = []
  return function replace(_key, member) {
    if (typeof member === 'bigint') return String(member)
    if (typeof member !== 'object' || member === null) return member
    while (above.length > 0 && above.at(-1) !== this) above.pop()
    if (above.includes(member)) return '[circular]'
    above.push(member)
    return member
  }
}
