import type { Message } from '@ag-ui/core'
import { isCutOff, isRejected } from '../../protocol/index.js'
import type { RunRecord } from '../../threads/contract.js'
import { isUnsuccessful } from './client-messages.js'
import { isConversation, type MessageIndex } from './stored-messages.js'

/** Where an agent continues when its last run did not succeed. */
export interface Continuation {
  /** How many of the stored messages stay. Those behind are drafts of the answer that the agent now begins again. */
  readonly keep: number
  /** Whether one of the drafts is a whole message. It is kept in a fork. */
  readonly isFork: boolean
}

/**
 * Where an agent continues after a run that failed, was cancelled or lost. Undefined when it has answered: after a run that
 * succeeded, and after a cancel that left only whole messages.
 */
export function findContinuation(index: MessageIndex, run: RunRecord | undefined): Continuation | undefined {
  if (!isUnsuccessful(run)) return undefined
  const { messages } = index
  const last = messages.findLastIndex((message) => isUnanswered(message, index))
  if (last === -1) return undefined
  const isFork = messages.slice(last + 1).some((message) => message.role === 'assistant' && counts(message))
  return isFork && run?.status === 'cancelled' ? undefined : { keep: last + 1, isFork }
}

/** The messages without the drafts at the end; the same list if there are none. */
export function withoutDrafts(messages: readonly Message[]): readonly Message[] {
  const last = messages.findLastIndex((message) => isConversation(message) && !isDraft(message))
  return messages.slice(last + 1).some(isDraft) ? messages.slice(0, last + 1) : messages
}

/** Whether an agent goes on from a message: from one of the user, a result, or a call whose result is missing. */
function isUnanswered(message: Message, { hasResult }: MessageIndex): boolean {
  if (!counts(message)) return false
  if (message.role !== 'assistant') return message.role === 'user' || message.role === 'tool'
  return message.toolCalls?.some(({ id }) => !hasResult(id)) === true
}

function counts(message: Message): boolean {
  return !isRejected(message) && !isDraft(message)
}

/** Whether the run ended in the middle of a message or of one of its calls. */
function isDraft(message: Message): boolean {
  return isCutOff(message) || (message.role === 'assistant' && message.toolCalls?.some(isCutOff) === true)
}
