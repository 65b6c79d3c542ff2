import type { Message } from '@ag-ui/core'
import type { Event } from '@google/adk'
import { randomIds, type IdSource } from '../../core/ids.js'
import type { Content, Part } from '../adk-types.js'
import { markOf, type Mark } from '../mark.js'
import { factsOf, partsOf } from './event-facts.js'
import {
  importMessages,
  newEvent,
  responsePart,
  resultIds,
  userContent,
  type ImportOptions,
} from './import-messages.js'
import { isOfRun, keepTurns } from './keep-turns.js'
import { textOf, userParts } from './message-parts.js'
import { findMissing, type Missing } from './missing.js'
import { indexSession, type SessionIndex } from './session-index.js'
import { indexThread, type ThreadIndex } from './thread-index.js'
import { liveEvents, progressOf, turnsOf, type Turn } from './turns.js'

export interface PlanInput {
  /** As stored. */
  readonly events: readonly Event[]
  /** The thread. */
  readonly messages: readonly Message[]
  /** Parts that answer ADK's questions, when the run was resumed. */
  readonly answers: readonly Part[]
  /** Events of the turn that stopped, as saved with the thread. Restored when the session does not have its calls. */
  readonly saved: readonly Event[]
  /** Who said what carries no name: the root agent. */
  readonly rootAuthor: string
  readonly toModelName: (wireToolName: string) => string
  /** The run at work, if this is not its first attempt: what it has stored before is gone on with. */
  readonly runId?: string
  readonly newId?: IdSource
}

/** How a session becomes the conversation of a thread, and what is new for the agent. */
export interface SessionPlan {
  /** Stored events that are part of the conversation. */
  readonly keep: readonly Event[]
  /** Ids of stored events that are out of it from now on. Those of earlier cuts are not among them. */
  readonly cut: readonly string[]
  /** Events to store behind those kept. */
  readonly add: readonly Event[]
  readonly news: News
  /** Agents whose calls the news answers: the run goes on there. */
  readonly authors: readonly string[]
  /** What of the messages cannot be given to a model. */
  readonly notes: readonly string[]
}

interface News {
  /** Undefined: nothing for the agent to do. */
  readonly content: Content | undefined
  readonly messageIds: readonly string[]
  /** Whether the session has it already: an attempt before has failed. The agent goes on from there. */
  readonly isDelivered: boolean
  /** What to note on the event that brings it. */
  readonly mark: Mark
}

/** Compares what is stored with the thread, which is right. Changes nothing. Takes time linear in both. */
export function planSession(input: PlanInput): SessionPlan {
  const { saved, newId = randomIds, runId } = input
  const options = { ...input, newId }
  const thread = indexThread(input.messages)
  const turns = turnsOf(liveEvents(input.events))
  const kept = keepTurns(turns, { thread, saved, runId })
  const keep = kept.flat()
  const restored = restoredEvents(keep, options)
  const session = indexSession(turnsOf([...keep, ...restored]))
  const missing = findMissing({ ...options, thread, session, end: placesOf(keep, thread, -1).max })
  const restoredAt = placesOf(restored, thread, Infinity).min
  const before = missing.imports.filter(({ position }) => position < restoredAt).map(({ item }) => item)
  const after = missing.imports.filter(({ position }) => position >= restoredAt).map(({ item }) => item)
  const imports = [importMessages(before, options), importMessages(after, options)] as const
  const told = tell(missing)
  const answers = input.answers.filter((part) => isUnanswered(part, session))
  const beside = answers.length > 0 && told.parts.length > 0 ? [toldEvent(told, options)] : []
  const add = [...imports[0].events, ...restored, ...imports[1].events, ...beside]
  const news =
    newsOf(answers.length > 0 ? { parts: answers, mark: {} } : told) ??
    (add.length === 0 ? deliveredNews(kept.at(-1), { thread, runId }) : undefined)
  const responding = [...(news?.content?.parts ?? []), ...beside.flatMap(partsOf)]
  return {
    keep,
    cut: turns.slice(kept.length).flatMap((turn) => turn.map(({ id }) => id)),
    add,
    news: news ?? { content: undefined, messageIds: [], isDelivered: false, mark: {} },
    authors: authorsOf(responding, [...keep, ...add]),
    notes: [...imports.flatMap(({ notes }) => notes), ...told.notes],
  }
}

/** Where in the thread events stand. */
function placesOf(events: readonly Event[], { positionOf }: ThreadIndex, none: number) {
  let min = Infinity
  let max = none
  for (const event of events) {
    const { userIds, textIds, calls } = factsOf(event)
    for (const id of [...userIds, ...textIds, ...calls.flatMap(({ id: callId }) => callId ?? [])]) {
      const position = positionOf(id)
      if (position === undefined) continue
      min = Math.min(min, position)
      max = Math.max(max, position)
    }
  }
  return { min, max }
}

/** What the session has lost of the turn that stopped. New ids: events with the old ones may be cut off. */
function restoredEvents(keep: readonly Event[], { saved, newId }: PlanInput & { newId: IdSource }): Event[] {
  const callsIn = (events: readonly Event[]): string[] =>
    events.flatMap(partsOf).flatMap(({ functionCall }) => functionCall?.id ?? [])
  const known = new Set(callsIn(keep))
  if (callsIn(saved).every((id) => known.has(id))) return []
  const ids = new Set(keep.map(({ id }) => id))
  return saved.filter(({ id }) => !ids.has(id)).map((event) => ({ ...event, id: newId('event') }))
}

/** Whether a part answers a question that the session has, for the first time. */
function isUnanswered({ functionResponse }: Part, { callOf, isAnswered }: SessionIndex): boolean {
  const id = functionResponse?.id ?? ''
  return callOf(id) !== undefined && !isAnswered(id)
}

interface Told {
  readonly parts: readonly Part[]
  readonly mark: Mark
}

/** What is new for the agent: results first, so that they follow their calls. */
function tell({ users, results, late }: Missing): Told & { readonly notes: readonly string[] } {
  const read = users.map(userParts)
  const lateParts = late.map(({ name, message }) => ({
    text: `[The result of an earlier call of ${name} has come in late: ${textOf(message)}]`,
  }))
  return {
    parts: [...results.map(responsePart), ...read.flatMap(({ parts }) => parts), ...lateParts],
    mark: {
      messageIds: users.map(({ id }) => id),
      partCounts: read.map(({ parts }) => parts.length),
      ...(results.length > 0 ? { resultIds: resultIds(results) } : {}),
      ...(late.length > 0 ? { lateCallIds: late.map(({ message }) => message.toolCallId) } : {}),
    },
    notes: read.flatMap(({ notes }) => notes),
  }
}

// ADK hides an event with an answer to a question from models, with all else that is in it.
function toldEvent({ parts, mark }: Told, options: Pick<ImportOptions, 'newId'>): Event {
  const invocationId = options.newId('import')
  return newEvent(options, {
    invocationId,
    author: 'user',
    content: userContent(parts),
    mark: { imported: true, ...mark },
  })
}

function newsOf({ parts, mark }: Told): News | undefined {
  if (parts.length === 0) return undefined
  return { content: userContent(parts), messageIds: mark.messageIds ?? [], isDelivered: false, mark }
}

/** What an attempt has stored and not come to an end with. */
function deliveredNews(
  turn: Turn | undefined,
  { thread, runId }: { readonly thread: ThreadIndex; readonly runId: string | undefined },
): News | undefined {
  const [start] = turn ?? []
  if (!turn || !start?.content || start.author !== 'user') return undefined
  const progress = progressOf(turn)
  const isOpen = progress === 'open' || (progress === 'calling' && thread.isTurnOfAgent)
  if (!isOpen && !isOfRun(turn, runId)) return undefined
  const mark = markOf(start)
  return { content: start.content, messageIds: factsOf(start).userIds, isDelivered: true, mark }
}

/** Whose calls these parts answer. */
function authorsOf(parts: readonly Part[], events: readonly Event[]): string[] {
  const ids = new Set(parts.flatMap(({ functionResponse }) => functionResponse?.id ?? []))
  if (ids.size === 0) return []
  const isAsker = (event: Event): boolean =>
    partsOf(event).some(({ functionCall }) => functionCall?.id !== undefined && ids.has(functionCall.id))
  return [...new Set(events.filter(isAsker).flatMap(({ author }) => author ?? []))]
}
