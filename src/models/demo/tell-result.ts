import { contentHasMedia, contentToText } from '@ag-ui/core'
import { isRecord } from '../is-record.js'
import { parseJson } from '../parse-json.js'
import type { NamedResult } from './situation.js'
import { spoken } from './words.js'

const longest = 400

/** What a tool answered, in a sentence for people. */
export function tellResult({ toolName, message: { content, error } }: NamedResult): string {
  const text = contentToText(content)
  if (error !== undefined || /^\s*(error|failed)\b/i.test(text))
    return `Sorry, ${spoken(toolName)} did not work: ${shorten(text || (error ?? ''))}`
  if (text === '' && contentHasMedia(content)) return `The ${spoken(toolName)} tool has sent you something to look at.`
  return `Here is what ${spoken(toolName)} says: ${shorten(tellValue(parseJson(text) ?? text))}`
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
