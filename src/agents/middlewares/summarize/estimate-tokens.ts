import type { ContentPart, Message } from '@ag-ui/core'

/** Estimates the tokens of a message: at least 0, and for a joined text no more than for its parts together. */
export type EstimateTokens = (message: Message) => number

const tokensPerMediaPart = 1_000

/**
 * Estimates without a tokenizer: four characters a token, one in Chinese, Japanese and Korean, 1,000 tokens for a media
 * part. Counts text, tool arguments and results.
 */
export const estimateTokens: EstimateTokens = (message) => {
  if (message.role === 'activity') return 0
  const content = contentTokens(message.content ?? '')
  if (message.role !== 'assistant' || message.toolCalls === undefined) return content
  return message.toolCalls.reduce(
    (sum, { function: { name, arguments: args } }) => sum + textTokens(name) + textTokens(args),
    content,
  )
}

function contentTokens(content: string | readonly ContentPart[]): number {
  if (typeof content === 'string') return textTokens(content)
  return content.reduce(
    (sum, part) => sum + (part.type === 'text' ? textTokens(part.text) : tokensPerMediaPart),
    0,
  )
}

function textTokens(text: string): number {
  let dense = 0
  for (let index = 0; index < text.length; index++) if (isDense(text.charCodeAt(index))) dense++
  return Math.ceil(dense + (text.length - dense) / 4)
}

/** Tokenizers split these scripts character by character: CJK from the radicals on, and Hangul. */
function isDense(code: number): boolean {
  return code >= 0x2e80 && code <= 0xd7ff
}
