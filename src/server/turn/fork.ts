import type { RunRecord, Thread } from '../../threads/thread.js'
import type { RequestReading } from './read-request.js'
import type { StoredIndex } from './stored-index.js'

/**
 * How many stored messages stay when a client edits, regenerates, or goes on from an earlier place. Undefined when it
 * does none of these: it is up to date, or behind, or has dropped old messages from the front of its list.
 */
export function findCut(
  reading: RequestReading,
  index: StoredIndex,
  isRepeated: boolean,
): number | undefined {
  const { known, edit, hasNewTurn } = reading
  if (edit) return edit.position
  const last = known.at(-1)
  if (last === undefined || known.length >= index.spoken.length) return undefined
  if (!known.every((position, n) => position === index.spoken[n])) return undefined
  return hasNewTurn || (!isRepeated && asksAgain(reading, index, last)) ? last + 1 : undefined
}

/** Whether the list ends with a stored message that an agent answers. A second result for its call is not it. */
function asksAgain({ newest }: RequestReading, { messages }: StoredIndex, last: number): boolean {
  const stored = messages[last]
  return (stored?.role === 'user' || stored?.role === 'tool') && newest?.id === stored.id
}

/** Whether the request is the one of the latest run, sent again. To try again what has failed is not that. */
export function isRepetition(thread: Thread | undefined, runId: string): boolean {
  return thread?.run?.runId === runId && !hasFailed(thread.run)
}

/** Whether a run did not come to an end of its own. */
export function hasFailed(run: RunRecord | undefined): boolean {
  return run?.status === 'failed' || run?.status === 'cancelled' || run?.status === 'lost'
}
