import type { Message } from '@ag-ui/core'
import type { RunRecord, Thread } from '../../threads/contract.js'
import type { RequestReading } from './read-messages.js'
import { isPrompt, type StoredIndex } from './message-index.js'

export interface CutOptions {
  /** Whether the request is that of the latest run, sent again. */
  readonly isRepeated: boolean
  /** How many stored messages there were when the request came. It cannot mean to cut off what came later. */
  readonly arrivedAt: number
}

/**
 * How many stored messages stay when a client edits, regenerates, or goes on from an earlier place. Undefined when it
 * does none of these: it is up to date, or behind, or has dropped old messages from the front of its list.
 */
export function findCut(
  reading: RequestReading,
  index: StoredIndex,
  { isRepeated, arrivedAt }: CutOptions,
): number | undefined {
  const { known, edit, hasNewTurn } = reading
  if (edit) return edit.position
  const last = known.at(-1)
  if (last === undefined || known.length >= index.spoken.length) return undefined
  // Some clients put prompts in front of anything.
  const isSaid = (position: number): boolean => {
    const message = index.messages[position]
    return message !== undefined && !isPrompt(message)
  }
  const said = index.spoken.filter((position) => position < arrivedAt && isSaid(position))
  const has = known.filter(isSaid)
  const missing = said[has.length]
  if (has.length === 0 || missing === undefined || last > missing) return undefined
  if (!has.every((position, n) => position === said[n])) return undefined
  const next = index.messages[missing]
  return hasNewTurn || (!isRepeated && asksAgain(reading, index.messages[last], next)) ? last + 1 : undefined
}

/**
 * Whether the list ends with a stored message that an agent answers. A second result for its call is not it, nor one of
 * several results: that is an older request.
 */
function asksAgain(
  { newest }: RequestReading,
  last: Message | undefined,
  next: Message | undefined,
): boolean {
  if (newest?.id !== last?.id) return false
  return last?.role === 'user' || (last?.role === 'tool' && next?.role !== 'tool')
}

/** Whether the request is the one of the latest run, sent again. To try again what has failed is not that. */
export function isRepetition(thread: Thread | undefined, runId: string): boolean {
  return thread?.run?.runId === runId && !hasFailed(thread.run)
}

/** Whether a run did not come to an end of its own. */
export function hasFailed(run: RunRecord | undefined): boolean {
  return run?.status === 'failed' || run?.status === 'cancelled' || run?.status === 'lost'
}
