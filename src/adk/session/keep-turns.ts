import type { UserMessage } from '@ag-ui/core'
import type { Event } from '@google/adk'
import { isEqual } from '../../core/is-equal.js'
import { markOf } from '../mark.js'
import { factsOf, isCertainlyShown, isMarked, isSent, partsOf, type EventFacts } from './event-facts.js'
import { userParts } from './message-parts.js'
import type { ThreadIndex } from './thread-index.js'
import { nodeInputs, progressOf, type Turn } from './turns.js'

interface KeepOptions {
  readonly thread: ThreadIndex
  /** Events that will be restored: what they bring is not missing. */
  readonly saved: readonly Event[]
  /** The run that is at work. What it has written before belongs to it, whether or not the thread has it. */
  readonly runId: string | undefined
}

/**
 * The turns that are still part of the conversation: all before the first one that says something which the thread has
 * not, or that comes after a user message which the session has not.
 */
export function keepTurns(turns: readonly Turn[], options: KeepOptions): readonly Turn[] {
  const { thread } = options
  const inputs = nodeInputs(turns.flat())
  const facts = turns.map((turn) => turn.filter((event) => !inputs.has(event)).map(factsOf))
  const isKnown = (id: string): boolean => thread.positionOf(id) !== undefined
  // Turns of other writers count as seen by the client once it knows anything of them.
  const knowsOthers = facts.flat().some((fact) => !fact.isMarked && idsOf(fact).some(isKnown))
  const gap = firstGap(facts.flat(), options)
  const end = turns.findIndex((turn, index) => {
    const ids = (facts[index] ?? []).filter((fact) => fact.isMarked || knowsOthers).flatMap(idsOf)
    const places = ids.flatMap((id) => thread.positionOf(id) ?? [])
    if (places.length > 0 && gap < places.reduce((a, b) => Math.min(a, b))) return true
    const isLast = index === turns.length - 1
    if (ids.every(isKnown)) return isLast && isOutdated(turn, options)
    return !(isLast && isAttempt(turn, options))
  })
  return end === -1 ? turns : turns.slice(0, end)
}

/** What clients must know of an event. */
function idsOf({ userIds, textIds, calls }: EventFacts): string[] {
  return [...userIds, ...textIds, ...calls.filter(isCertainlyShown).flatMap(({ id }) => id ?? [])]
}

/** Where the first user message stands that the session does not have. */
function firstGap(facts: readonly EventFacts[], { thread, saved }: KeepOptions): number {
  const known = new Set([...facts, ...saved.map(factsOf)].flatMap(({ userIds }) => userIds))
  return thread.users.find(({ message }) => !known.has(message.id))?.position ?? Infinity
}

/** Whether the last turn is an attempt that failed at what the thread ends with. What it did is not done again. */
function isAttempt(turn: Turn, options: KeepOptions): boolean {
  const { thread, runId } = options
  if (isOfRun(turn, runId)) return true
  if (!thread.isTurnOfAgent || progressOf(turn) === 'ended') return false
  const heard = heardIn(turn, thread)
  return heard.at(-1)?.id === thread.users.at(-1)?.message.id && !isOutdated(turn, options)
}

/** Whether the last turn is an attempt that failed at something which was edited since, and has kept its id. */
function isOutdated(turn: Turn, { thread, runId }: KeepOptions): boolean {
  const [start] = turn
  if (!start || isOfRun(turn, runId) || progressOf(turn) === 'ended') return false
  const parts = heardIn(turn, thread).flatMap((message) => userParts(message).parts)
  return isMarked(start) && !isEqual(parts, partsOf(start).filter(isSent).slice(0, parts.length))
}

/** The user messages that a turn begins with. */
function heardIn([start]: Turn, { users }: ThreadIndex): UserMessage[] {
  const ids = new Set(start ? factsOf(start).userIds : [])
  return ids.size === 0 ? [] : users.flatMap(({ message }) => (ids.has(message.id) ? [message] : []))
}

export function isOfRun(turn: Turn, runId: string | undefined): boolean {
  return runId !== undefined && turn.some((event) => markOf(event).runId === runId)
}
