import type { Message, UserMessage } from '@ag-ui/core'
import { MillraceError } from '../../../core/errors.js'
import { describeContent } from '../../../protocol/index.js'
import { wholeIndex } from '../slice-text.js'

export interface WriteSummaryOptions {
  /** The summary of the conversation before the messages. */
  readonly previous: string | undefined
  /** The most tokens of text for one call. */
  readonly inputTokens: number
  readonly tokensOf: (text: string) => number
  /** Calls a model to summarize a text. */
  readonly summarize: (text: string) => Promise<string>
}

/**
 * Summarizes messages, and the summary of those before them, in parts, so that no call gets more than `inputTokens`.
 * Throws MODEL_ERROR if a summary is empty, or takes half of that and so leaves no room for the next part.
 */
export async function writeSummary(
  messages: readonly Message[],
  { previous, inputTokens, tokensOf, summarize }: WriteSummaryOptions,
): Promise<string> {
  // Small entries, so that every call is nearly full.
  const fits = (text: string) => tokensOf(text) <= inputTokens / 8
  const entries = messages
    .map(toTranscript)
    .filter((entry) => entry !== '')
    .flatMap((entry) => splitText(entry, fits))
  let summary = previous
  for (let rest = entries; rest.length > 0;) {
    const before = summary === undefined ? '' : `<summary>\n${summary}\n</summary>\n\n`
    const room = inputTokens - tokensOf(`${before}<conversation>\n</conversation>`)
    const count = countFitting(rest, room, tokensOf)
    const part = rest.slice(0, count).join('')
    rest = rest.slice(count)
    summary = (await summarize(`${before}<conversation>\n${part}</conversation>`)).trim()
    if (summary === '') throw badSummary('is empty')
    if (tokensOf(summary) > inputTokens / 2) throw badSummary('is too long')
  }
  return summary ?? 'Nothing was said.'
}

/** The number of entries that fit into the room, at least one. */
function countFitting(entries: readonly string[], room: number, tokensOf: (text: string) => number): number {
  let tokens = 0
  const count = entries.findIndex((entry) => (tokens += tokensOf(entry)) > room)
  return count === -1 ? entries.length : Math.max(count, 1)
}

/** Retryable: the next attempt may do better. */
export function badSummary(problem: string): MillraceError {
  const message = `The summary that a model made of the conversation ${problem}.`
  return new MillraceError('MODEL_ERROR', message, { details: { retryable: true } })
}

/** The message as lines of a transcript; empty for reasoning and activities. */
export function toTranscript(message: Message): string {
  switch (message.role) {
    case 'user':
      return `User: ${describeContent(message.content)}\n`
    case 'assistant': {
      const calls = message.toolCalls ?? []
      const lines = calls.map(
        ({ id, function: { name, arguments: args } }) => `Call ${id} of ${name}: ${args}\n`,
      )
      return [message.content ? `Assistant: ${message.content}\n` : '', ...lines].join('')
    }
    case 'tool':
      return `Result of call ${message.toolCallId}: ${describeContent(message.content)}\n`
    case 'system':
    case 'developer':
      return `System: ${message.content}\n`
    case 'reasoning':
    case 'activity':
      return ''
  }
}

/** Halves a text again and again, until each part fits or is a single character. */
export function splitText(text: string, fits: (part: string) => boolean): string[] {
  const middle = wholeIndex(text, Math.floor(text.length / 2))
  if (middle === 0 || middle === text.length || fits(text)) return [text]
  return [...splitText(text.slice(0, middle), fits), ...splitText(text.slice(middle), fits)]
}

export interface SummaryMessageOptions {
  readonly text: string
  /** The most tokens of user messages that it quotes. */
  readonly userTokens: number
  readonly tokensOf: (text: string) => number
}

/** The message that replaces `messages`: their summary, and the newest user messages in them word for word. */
export function toSummaryMessage(
  messages: readonly Message[],
  { text, userTokens, tokensOf }: SummaryMessageOptions,
): UserMessage {
  const quotes = newestUserTexts(messages, { userTokens, tokensOf })
  const content = [
    'This is a summary of the conversation up to here.',
    `<summary>\n${text}\n</summary>`,
    ...(quotes.length === 0 ? [] : ['In it the user wrote, word for word:']),
    ...quotes.map((quote) => `<user>\n${quote}\n</user>`),
  ].join('\n')
  return { id: `${messages.at(-1)?.id ?? ''}:summary`, role: 'user', content }
}

function newestUserTexts(
  messages: readonly Message[],
  { userTokens, tokensOf }: Pick<SummaryMessageOptions, 'userTokens' | 'tokensOf'>,
): string[] {
  const texts: string[] = []
  let tokens = 0
  for (const message of messages.toReversed()) {
    if (message.role !== 'user') continue
    const text = describeContent(message.content)
    tokens += tokensOf(text)
    if (tokens > userTokens) break
    texts.unshift(text)
  }
  return texts
}
