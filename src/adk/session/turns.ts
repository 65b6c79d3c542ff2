import type { Event } from '@google/adk'
import { isMarked, isQuestion, isSaid, isSummary, partsOf } from './event-facts.js'
import { markOf } from '../mark.js'

/** What a user said and all that followed until they spoke again. The first of a session may begin without a user. */
export type Turn = readonly Event[]

/**
 * The events that are part of the conversation: not cut off, and not partial. Those of a user who says nothing change
 * the state or note a cut; ADK would take them for the latest words of the user.
 */
export function liveEvents(events: readonly Event[]): readonly Event[] {
  const cut = new Set(events.flatMap((event) => markOf(event).cut ?? []))
  const isLive = (event: Event): boolean =>
    !cut.has(event.id) && event.partial !== true && (event.author !== 'user' || partsOf(event).length > 0)
  return events.filter(isLive)
}

/** Divides events into turns. */
export function turnsOf(events: readonly Event[]): readonly Turn[] {
  const turns: Event[][] = []
  let last: Event | undefined
  for (const event of events) {
    const turn = turns.at(-1)
    if (turn && !isTurnStart(event, last)) turn.push(event)
    else turns.push([event])
    last = event
  }
  return turns
}

// Nodes of a workflow get their input as an event of the user too, in the middle of an invocation.
function isTurnStart(event: Event, before: Event | undefined): boolean {
  if (event.author !== 'user' || partsOf(event).length === 0) return false
  return event.invocationId !== before?.invocationId
}

/** Events of the user that no user wrote: they carry what one node of a workflow gives to the next. */
export function nodeInputs(events: readonly Event[]): ReadonlySet<Event> {
  const workflows = new Set(events.flatMap((e) => (e.nodeInfo === undefined ? [] : [e.invocationId])))
  const inputs = new Set<Event>()
  events.forEach((event, index) => {
    const before = events[index - 1]
    if (event.author !== 'user' || isMarked(event) || before?.invocationId !== event.invocationId) return
    if (workflows.has(event.invocationId)) inputs.add(event)
  })
  return inputs
}

/**
 * How far the agent has come with a turn: it has ended, or waits for somebody; a tool of its own was left at work; or it
 * still has to answer, since an attempt has failed or none was made.
 */
export type Progress = 'ended' | 'calling' | 'open'

export function progressOf(turn: Turn): Progress {
  const [start] = turn
  if (start?.author !== 'user') return 'ended'
  const last = turn.findLast((event) => tells(event))
  if (last === undefined || last.author === 'user') return last ? 'open' : 'ended'
  const parts = partsOf(last)
  if (parts.length === 0) return 'open'
  const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
  if (calls.length > 0) return calls.some((call) => isWaiting(call, last)) ? 'ended' : 'calling'
  if (parts.some(isSaid) || endsTurn(last)) return 'ended'
  return parts.some(({ functionResponse }) => functionResponse !== undefined) ? 'open' : 'ended'
}

/** Whether an event says how far a turn has come. */
function tells(event: Event): boolean {
  return !isSummary(event) && (partsOf(event).length > 0 || event.errorCode !== undefined)
}

function isWaiting(call: { readonly name?: string; readonly id?: string }, event: Event): boolean {
  const { longRunningToolIds = [] } = event
  // Whose a call of the thread was is not known. No agent is at work on it.
  if (isQuestion(call) || markOf(event).imported === true) return true
  return call.id !== undefined && longRunningToolIds.includes(call.id)
}

// Loaded events are made of JSON: what has no value may be missing.
function endsTurn({ actions }: Partial<Pick<Event, 'actions'>>): boolean {
  return actions?.skipSummarization === true || Object.keys(actions?.requestedAuthConfigs ?? {}).length > 0
}
