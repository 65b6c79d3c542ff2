import type { Message } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import { splitText, toTranscript } from './transcript.js'

export interface WriteSummaryOptions {
  /** The summary of what came before the messages. */
  readonly previous: string | undefined
  /** The most tokens of text for one call. */
  readonly inputTokens: number
  readonly tokensOf: (text: string) => number
  /** Asks a model for the summary of a text. */
  readonly ask: (text: string) => Promise<string>
}

/**
 * Summarizes messages, and the summary of those before them, piece by piece, so that no call gets more than
 * `inputTokens`. Throws MODEL_ERROR when a summary is empty, or takes half of that and so leaves no room to go on.
 */
export async function writeSummary(
  messages: readonly Message[],
  { previous, inputTokens, tokensOf, ask }: WriteSummaryOptions,
): Promise<string> {
  // Small against the room for a piece, so that little of it stays empty.
  const fits = (part: string) => tokensOf(part) <= inputTokens / 8
  const entries = messages
    .map(toTranscript)
    .filter((entry) => entry !== '')
    .flatMap((entry) => splitText(entry, fits))
  let summary = previous
  for (let rest = entries; rest.length > 0;) {
    const before = summary === undefined ? '' : `<summary>\n${summary}\n</summary>\n\n`
    const room = inputTokens - tokensOf(`${before}<conversation>\n</conversation>`)
    const count = countFitting(rest, room, tokensOf)
    const piece = rest.slice(0, count).join('')
    rest = rest.slice(count)
    summary = (await ask(`${before}<conversation>\n${piece}</conversation>`)).trim()
    if (summary === '') throw badSummary('is empty')
    if (tokensOf(summary) > inputTokens / 2) throw badSummary('is too long')
  }
  return summary ?? 'Nothing was said.'
}

/** How many of the entries, at least one, fit into the room. */
function countFitting(entries: readonly string[], room: number, tokensOf: (text: string) => number): number {
  let tokens = 0
  const count = entries.findIndex((entry) => (tokens += tokensOf(entry)) > room)
  return count === -1 ? entries.length : Math.max(count, 1)
}

/** Another attempt may do better, so it is worth one. */
export function badSummary(what: string): MillraceError {
  const message = `The summary that a model made of the conversation ${what}.`
  return new MillraceError('MODEL_ERROR', message, { details: { retryable: true } })
}
