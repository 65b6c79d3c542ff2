import type { ContentPart } from '@ag-ui/core'
import { toJson } from '../../core/to-json.js'
import type { ContentResult } from '../contract.js'

// Registered, so that two installed copies of the package know each other's results.
const brand = Symbol.for('millrace.content-result')

/**
 * A tool result in parts, for media or for exact control over what the model gets.
 *
 * @example
 * return contentResult([
 *   { type: 'text', text: 'The chart:' },
 *   { type: 'image', source: { type: 'data', value: base64, mimeType: 'image/png' } },
 * ])
 */
export function contentResult(parts: readonly ContentPart[]): ContentResult {
  const result = { [brand]: true, parts }
  return result
}

/**
 * The content of TOOL_CALL_RESULT for a tool's value: text and parts as they are, nothing as empty text, all else as
 * JSON. Throws ENCODING_ERROR, with the name of the tool, for a value that cannot be JSON.
 */
export function toResultContent(value: unknown, toolName: string): string | ContentPart[] {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  if (isContentResult(value)) return [...value.parts]
  return JSON.stringify(toToolJson(value, toolName))
}

/** A value that a tool returns, as JSON. */
export function toToolJson(value: unknown, toolName: string): unknown {
  return toJson(value, `The result of tool '${toolName}'`)
}

/** The content for an error of a tool: its message, never a stack. */
export function errorContent(error: unknown): string {
  if (typeof error === 'string') return `Error: ${error}`
  const { message, name } = Object(error) as { readonly message?: unknown; readonly name?: unknown }
  const text = [message, name].find((one) => typeof one === 'string' && one !== '')
  return `Error: ${typeof text === 'string' ? text : 'the tool failed'}`
}

function isContentResult(value: unknown): value is ContentResult {
  return typeof value === 'object' && value !== null && brand in value
}
