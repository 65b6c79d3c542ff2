import type { Message, UserMessage } from '@ag-ui/core'
import { textOf } from './transcript.js'

export interface SummaryMessageOptions {
  readonly text: string
  /** How many tokens of the user's own words it may repeat. */
  readonly userTokens: number
  readonly tokensOf: (text: string) => number
}

/** The message that stands for `messages`: their summary, and the user's newest words in it as they were. */
export function toSummaryMessage(
  messages: readonly Message[],
  { text, userTokens, tokensOf }: SummaryMessageOptions,
): UserMessage {
  const words = newestWords(messages, { userTokens, tokensOf })
  const content = [
    'This is a summary of the conversation up to here.',
    `<summary>\n${text}\n</summary>`,
    ...(words.length === 0 ? [] : ['In it the user wrote, word for word:']),
    ...words.map((word) => `<user>\n${word}\n</user>`),
  ].join('\n')
  return { id: `${messages.at(-1)?.id ?? ''}:summary`, role: 'user', content }
}

function newestWords(
  messages: readonly Message[],
  { userTokens, tokensOf }: Pick<SummaryMessageOptions, 'userTokens' | 'tokensOf'>,
): string[] {
  const words: string[] = []
  let tokens = 0
  for (const message of messages.toReversed()) {
    if (message.role !== 'user') continue
    const text = textOf(message.content)
    tokens += tokensOf(text)
    if (tokens > userTokens) break
    words.unshift(text)
  }
  return words
}
