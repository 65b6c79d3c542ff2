import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import type { ChatGenerationChunk, Generation, GenerationChunk, LLMResult } from '@langchain/core/outputs'

/** The piece of an answer. Models that know only text, and some that are not LangChain's own, send no message. */
export function messageOf(
  token: string,
  chunk: GenerationChunk | ChatGenerationChunk | undefined,
): AIMessageChunk {
  if (chunk && 'message' in chunk) return chunk.message as AIMessageChunk
  return new AIMessageChunk(token)
}

/** The whole answer. */
export function answerOf({ generations }: LLMResult): BaseMessage | undefined {
  const answer: (Generation & { message?: BaseMessage }) | undefined = generations[0]?.[0]
  if (!answer) return undefined
  return answer.message ?? new AIMessage(answer.text)
}

/** Whether a model was asked not to be shown. */
export function isSilent(tags: readonly string[]): boolean {
  return tags.includes('nostream') || tags.includes('langsmith:nostream')
}

/** `value` if it is a text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
