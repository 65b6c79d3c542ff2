import type { ContentPart, Message } from '@ag-ui/core'

/** About how many tokens a message takes: at least 0, and for two texts put together no more than for both apart. */
export type EstimateTokens = (message: Message) => number

const tokensOfMedia = 1_000

/**
 * Guesses without a tokenizer: four characters a token, one in Chinese, Japanese and Korean, 1,000 tokens for a media
 * part. Counts text, tool arguments and results.
 */
export const estimateTokens: EstimateTokens = (message) => {
  if (message.role === 'activity') return 0
  const spoken = tokensOfContent(message.content ?? '')
  if (message.role !== 'assistant' || message.toolCalls === undefined) return spoken
  return message.toolCalls.reduce(
    (sum, { function: { name, arguments: args } }) => sum + tokensOfText(name) + tokensOfText(args),
    spoken,
  )
}

function tokensOfContent(content: string | readonly ContentPart[]): number {
  if (typeof content === 'string') return tokensOfText(content)
  return content.reduce(
    (sum, part) => sum + (part.type === 'text' ? tokensOfText(part.text) : tokensOfMedia),
    0,
  )
}

function tokensOfText(text: string): number {
  let dense = 0
  for (let index = 0; index < text.length; index++) if (isDense(text.charCodeAt(index))) dense++
  return Math.ceil(dense + (text.length - dense) / 4)
}

/** Whether a character is of a script that tokenizers cut character by character: CJK from radicals on, Hangul. */
function isDense(code: number): boolean {
  return code >= 0x2e80 && code <= 0xd7ff
}
