import { isRecord } from '../../core/is-record.js'

/**
 * An answer in the form in which function responses carry values: an object as it is, all else as `{ result }`. ADK
 * reads a text as JSON where no text was asked for: one that would become something else by that is written as JSON.
 */
export function wrapped(value: unknown, schema?: unknown): Record<string, unknown> {
  if (isRecord(value) && !isWrapper(value)) return value
  if (typeof value !== 'string' || schema !== undefined) return { result: value }
  return { result: isJson(value) ? JSON.stringify(value) : value }
}

/** What was wrapped. */
export function unwrapped(response: unknown): unknown {
  if (!isWrapper(response)) return response
  const { result } = response
  return typeof result === 'string' && isJson(result) ? (JSON.parse(result) as unknown) : result
}

function isWrapper(value: unknown): value is { readonly result: unknown } {
  return isRecord(value) && 'result' in value && Object.keys(value).length === 1
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
