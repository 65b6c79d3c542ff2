import { isRecord } from '../../core/is-record.js'
import type { PromptMessage } from './prompt-message.js'

const names: readonly unknown[] = ['AI_UnsupportedFunctionalityError', 'AI_NoSuchProviderReferenceError']

/**
 * The prompt without the user's files that made a provider refuse it before it sent anything: those of a media type
 * that the error names, or else all. Undefined when the error is another, or no file is left to blame.
 */
export function withoutRefusedFiles(
  prompt: readonly PromptMessage[],
  error: unknown,
): readonly PromptMessage[] | undefined {
  if (!isRecord(error) || !names.includes(error.name)) return undefined
  const types = new Set(prompt.flatMap(filesOf).map(({ mediaType }) => mediaType))
  if (types.size === 0) return undefined
  const named = [...types].filter((type) => String(error.message).includes(type))
  const refused = named.length > 0 ? new Set(named) : types
  return prompt.flatMap((message): PromptMessage[] => {
    if (message.role !== 'user') return [message]
    const content = message.content.filter((part) => part.type !== 'file' || !refused.has(part.mediaType))
    return content.length > 0 ? [{ ...message, content }] : []
  })
}

function filesOf(message: PromptMessage) {
  return message.role === 'user' ? message.content.filter((part) => part.type === 'file') : []
}
