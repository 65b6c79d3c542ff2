import type { Message } from '@ag-ui/core'
import type { RunRecord, Thread } from '../../threads/contract.js'
import { isPrompt, type MessageIndex } from './message-index.js'
import type { MessageReading } from './read-messages.js'

export interface CutOptions {
  /** Whether the request is that of the latest run, sent again. */
  readonly isRepeated: boolean
  /** How many messages were stored when the request came. It cannot mean to cut off later ones. */
  readonly messagesOnArrival: number
}

/**
 * How many stored messages stay when a client edits, regenerates, or goes on from an earlier message. Undefined when it
 * does none of these: it is up to date, or behind, or has dropped old messages from the front of its list.
 */
export function findCut(
  reading: MessageReading,
  index: MessageIndex,
  { isRepeated, messagesOnArrival }: CutOptions,
): number | undefined {
  const { known, edit, endsWithUser } = reading
  if (edit) return edit.position
  const last = known.at(-1)
  if (last === undefined || known.length >= index.conversation.length) return undefined
  // Prompts do not count: some clients put them in front of anything.
  const isNoPrompt = (position: number): boolean => {
    const message = index.messages[position]
    return message !== undefined && !isPrompt(message)
  }
  const stored = index.conversation.filter((position) => position < messagesOnArrival && isNoPrompt(position))
  const sent = known.filter(isNoPrompt)
  const missing = stored[sent.length]
  if (sent.length === 0 || missing === undefined || last > missing) return undefined
  if (!sent.every((position, n) => position === stored[n])) return undefined
  const next = index.messages[missing]
  const isCut = endsWithUser || (!isRepeated && isRegeneration(reading, index.messages[last], next))
  return isCut ? last + 1 : undefined
}

/**
 * Whether the list ends with a stored message that an agent answers. A second result for its call does not count, nor
 * one of several results: that is an older request.
 */
function isRegeneration(
  { newest }: MessageReading,
  last: Message | undefined,
  next: Message | undefined,
): boolean {
  if (newest?.id !== last?.id) return false
  return last?.role === 'user' || (last?.role === 'tool' && next?.role !== 'tool')
}

/** Whether the request is that of the latest run, sent again. Trying a failed run again does not count. */
export function isRepetition(thread: Thread | undefined, runId: string): boolean {
  return thread?.run?.runId === runId && !isUnsuccessful(thread.run)
}

/** Whether a run was stopped, failed or lost. */
export function isUnsuccessful(run: RunRecord | undefined): boolean {
  return run?.status === 'failed' || run?.status === 'cancelled' || run?.status === 'lost'
}
