import { contentHasMedia, contentToText } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import { parseJson } from '../parse-json.js'
import type { NamedResult } from './situation.js'
import { finding, spoken } from './words.js'

const longest = 400

/** What tools answered, told for people. There is at least one. */
export function tellResults(results: readonly NamedResult[]): string {
  const told = results.map(({ toolName, message }) => ({ toolName, text: tellResult(message) }))
  if (told.length === 1) return finding + told.map(({ text }) => text).join('')
  return [finding.trim(), ...told.map(({ toolName, text }) => `- ${spoken(toolName)}: ${text}`)].join('\n')
}

function tellResult({ content, error }: NamedResult['message']): string {
  const text = contentToText(content)
  if (error !== undefined) return `it did not work. ${shorten(text || error)}`
  if (text === '') return contentHasMedia(content) ? 'something to look at.' : 'done.'
  return shorten(tellValue(parseJson(text) ?? text))
}

function tellValue(value: unknown): string {
  if (isRecord(value)) {
    const facts = Object.entries(value).map(([key, entry]) => `${spoken(key)} is ${tellEntry(entry)}`)
    return facts.length === 0 ? 'done.' : `${joined(facts)}.`
  }
  if (!Array.isArray(value)) return tellEntry(value)
  return value.length === 0 ? 'nothing was found.' : `${joined(value.map(tellEntry))}.`
}

function tellEntry(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function joined(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`
}

function shorten(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest).trimEnd()} …`
}
