import type { Message, UserMessage } from '@ag-ui/core'
import type { Event } from '@google/adk'
import { randomIds, type IdSource } from '../../core/ids.js'
import { isEqual } from '../../core/json.js'
import type { Content, Part } from '../adk-types.js'
import { indexSession, indexThread, type SessionIndex, type ThreadIndex } from './conversation-index.js'
import { eventMark, withCallAuthors, type Anchor, type EventMark } from './marks.js'
import { findMissing, type Missing } from './find-missing.js'
import {
  importMessages,
  newEvent,
  resultMessageIds,
  toolMessageText,
  toResultPart,
  toUserParts,
  asUserContent,
  type ImportOptions,
} from './import-messages.js'
import {
  conversationEvents,
  eventFacts,
  eventParts,
  exchangeStatus,
  isAlwaysShown,
  isMarked,
  isUserContent,
  nodeInputs,
  splitExchanges,
  type EventFacts,
  type SessionExchange,
} from './session-events.js'
import { findTail, instructionTexts, nextAnchor, type SessionTail } from './session-tail.js'

export interface PlanInput {
  /** The stored events. */
  readonly events: readonly Event[]
  /** The thread. */
  readonly messages: readonly Message[]
  /** Parts that answer ADK's requests, when the run is resumed. */
  readonly answers: readonly Part[]
  /** Events of the interrupted run, from its frame. Restored when the session does not have their calls. */
  readonly saved: readonly Event[]
  /** The author of messages without a name: the root agent. */
  readonly rootAuthor: string
  readonly toModelName: (wireToolName: string) => string
  /** The current run. A later attempt continues from what an earlier one has stored. */
  readonly runId?: string
  readonly newId?: IdSource
}

/** The steps that make a session the conversation of a thread, and the news for the agent. */
export interface SessionPlan {
  /** Texts of the system and developer messages. */
  readonly instructions: readonly string[]
  /** Stored events that stay in the conversation. */
  readonly keep: readonly Event[]
  /** The number of events at its beginning that are known to have no calls and no results. */
  readonly plainCount: number
  /** The last of these, all that this run may have to look back at. */
  readonly recent: readonly Event[]
  /** Ids of stored events that leave the conversation now. Earlier cuts are not among them. */
  readonly cut: readonly string[]
  /** The event that notes the cut, to store before all others. */
  readonly note: Event | undefined
  /** Events to store after the kept ones. */
  readonly add: readonly Event[]
  readonly news: News
  /** Agents whose calls the news answers: the run resumes there. */
  readonly authors: readonly string[]
  /** Problems with messages that no model can take. */
  readonly problems: readonly string[]
}

/** New content for the agent. */
interface News {
  /** Undefined: nothing for the agent to do. */
  readonly content: Content | undefined
  readonly messageIds: readonly string[]
  /** Whether the session has it, from an attempt that failed. The agent continues from there. */
  readonly isDelivered: boolean
  /** The mark for its event. */
  readonly mark: EventMark
}

/**
 * Compares the stored events with the thread, which is right. Changes nothing. Reads the ends of both, from the last message
 * of the user that is known to agree; takes time linear in both when there is none.
 */
export function planSession(input: PlanInput): SessionPlan {
  const tail = findTail(input)
  const plan = planTail({ ...input, messages: withCallAuthors(tail.messages), events: tail.events }, tail)
  const plainCount = tail.anchor?.isPlain === true ? tail.before.length : 0
  // Not copied once more: a conversation may have thousands.
  const keep = tail.before
  for (const event of plan.recent) keep.push(event)
  return {
    ...plan,
    keep,
    plainCount,
    instructions: instructionTexts(input.messages, tail),
  }
}

function planTail(
  input: PlanInput,
  tail: SessionTail,
): Omit<SessionPlan, 'keep' | 'plainCount' | 'instructions'> {
  const { saved, newId = randomIds, runId } = input
  const options = { ...input, newId }
  const thread = indexThread(input.messages)
  const exchanges = splitExchanges(conversationEvents(input.events))
  const kept = keepExchanges(exchanges, {
    ...{ thread, saved, runId },
    hasAnswers: input.answers.length > 0,
  })
  const keep = kept.flat()
  const restored = restoredEvents(keep, options)
  const session = indexSession(splitExchanges([...keep, ...restored]))
  const missing = findMissing({ ...options, thread, session, end: lastPosition(keep, thread) })
  const restoredAt = firstPosition(restored, thread)
  const before = missing.imports.filter(({ position }) => position < restoredAt).map(({ item }) => item)
  const after = missing.imports.filter(({ position }) => position >= restoredAt).map(({ item }) => item)
  const imports = [importMessages(before, options), importMessages(after, options)] as const
  const imported = [...imports[0].events, ...restored, ...imports[1].events]
  const cut = exchanges.slice(kept.length).flatMap((exchange) => exchange.map(({ id }) => id))
  const note = cut.length > 0 ? cutNote(cut, newId) : undefined
  const position = thread.positionOf(missing.users[0]?.id ?? '') ?? -1
  // Agents have written nothing after it.
  const isLast = position >= thread.trailing
  const unseen = toUnseen(missing, isLast ? nextAnchor(tail, { position, cut, note, imported }) : undefined)
  const answers = input.answers.filter((part) => isUnanswered(part, session))
  const beside = answers.length > 0 && unseen.parts.length > 0 ? [besideEvent(unseen, options)] : []
  const add = [...imported, ...beside]
  const news =
    toNews(answers.length > 0 ? { parts: answers, mark: {} } : unseen) ??
    (add.length === 0 ? deliveredNews(kept.at(-1), { thread, runId }) : undefined)
  const responding = [...(news?.content?.parts ?? []), ...beside.flatMap(eventParts)]
  return {
    recent: keep,
    cut,
    note,
    add,
    news: news ?? { content: undefined, messageIds: [], isDelivered: false, mark: {} },
    authors: callingAuthors(responding, [...keep, ...add]),
    problems: [...imports.flatMap(({ problems }) => problems), ...unseen.problems],
  }
}

interface KeepOptions {
  readonly thread: ThreadIndex
  /** Events that will be restored: their messages are not missing. */
  readonly saved: readonly Event[]
  /** Whether the run answers requests. */
  readonly hasAnswers: boolean
  /** The current run. Its earlier events belong to it, whether the thread has them or not. */
  readonly runId: string | undefined
}

/**
 * The exchanges that stay in the conversation: all before the first one with a message that the thread does not have, or
 * after a user message that the session does not have.
 */
function keepExchanges(
  exchanges: readonly SessionExchange[],
  options: KeepOptions,
): readonly SessionExchange[] {
  const { thread } = options
  const inputs = nodeInputs(exchanges.flat())
  const facts = exchanges.map((exchange) => exchange.filter((event) => !inputs.has(event)).map(eventFacts))
  const isKnown = (id: string): boolean => thread.positionOf(id) !== undefined
  // A client that knows any event of other writers has seen them all.
  const knowsOthers = facts.flat().some((fact) => !fact.isMarked && shownIds(fact).some(isKnown))
  const gap = firstUnknownUser(facts.flat(), options)
  const end = exchanges.findIndex((exchange, index) => {
    const ids = (facts[index] ?? []).filter((fact) => fact.isMarked || knowsOthers).flatMap(shownIds)
    const positions = ids.flatMap((id) => thread.positionOf(id) ?? [])
    if (positions.length > 0 && gap < positions.reduce((a, b) => Math.min(a, b))) return true
    const isLast = index === exchanges.length - 1
    if (ids.every(isKnown))
      return (isLast && isOutdated(exchange, options)) || isAskedAgain(exchange, options)
    return !(isLast && isFailedAttempt(exchange, options))
  })
  return end === -1 ? exchanges : exchanges.slice(0, end)
}

/** The ids of an event that clients must know. */
function shownIds({ userIds, textIds, calls }: EventFacts): string[] {
  return [...userIds, ...textIds, ...calls.filter(isAlwaysShown).flatMap(({ id }) => id ?? [])]
}

/** The position of the first user message that the session does not have. */
function firstUnknownUser(facts: readonly EventFacts[], { thread, saved }: KeepOptions): number {
  const known = new Set([...facts, ...saved.map(eventFacts)].flatMap(({ userIds }) => userIds))
  return thread.users.find(({ message }) => !known.has(message.id))?.position ?? Infinity
}

/** Whether the last exchange is a failed attempt at the end of the thread. The next attempt keeps its work. */
function isFailedAttempt(exchange: SessionExchange, options: KeepOptions): boolean {
  const { thread, runId } = options
  if (isOfRun(exchange, runId)) return true
  if (!thread.awaitsAgent || exchangeStatus(exchange) === 'ended') return false
  const users = usersOf(exchange, thread)
  return users.at(-1)?.id === thread.users.at(-1)?.message.id && !isOutdated(exchange, options)
}

/** Whether the last exchange is a failed attempt at a message that was edited since under the same id. */
function isOutdated(exchange: SessionExchange, { thread, runId }: KeepOptions): boolean {
  const [start] = exchange
  if (!start || isOfRun(exchange, runId) || exchangeStatus(exchange) === 'ended') return false
  const parts = usersOf(exchange, thread).flatMap((message) => toUserParts(message).parts)
  return isMarked(start) && !isEqual(parts, eventParts(start).filter(isUserContent).slice(0, parts.length))
}

/**
 * Whether an exchange has ended, in an earlier run, and its user message is the last of the thread: no message shows how,
 * since it ended with data or with a request to a person. That the agent runs means that it shall answer again, unless
 * it is to raise that request again.
 */
function isAskedAgain(exchange: SessionExchange, { thread, saved, hasAnswers, runId }: KeepOptions): boolean {
  const last = thread.conversation.at(-1)?.message
  if (last?.role !== 'user' || !thread.awaitsAgent || saved.length > 0 || hasAnswers) return false
  const [start] = exchange
  const isOfLast = start !== undefined && eventFacts(start).userIds.includes(last.id)
  return isOfLast && !isOfRun(exchange, runId) && exchangeStatus(exchange) === 'ended'
}

/** The user messages that an exchange begins with. */
function usersOf([start]: SessionExchange, { users }: ThreadIndex): UserMessage[] {
  const ids = new Set(start ? eventFacts(start).userIds : [])
  return ids.size === 0 ? [] : users.flatMap(({ message }) => (ids.has(message.id) ? [message] : []))
}

function isOfRun(exchange: SessionExchange, runId: string | undefined): boolean {
  return runId !== undefined && exchange.some((event) => eventMark(event).runId === runId)
}

function lastPosition(events: readonly Event[], thread: ThreadIndex): number {
  return positionsOf(events, thread).reduce((a, b) => Math.max(a, b), -1)
}

function firstPosition(events: readonly Event[], thread: ThreadIndex): number {
  return positionsOf(events, thread).reduce((a, b) => Math.min(a, b), Infinity)
}

/** The positions in the thread of all messages and calls in events. */
function positionsOf(events: readonly Event[], { positionOf }: ThreadIndex): number[] {
  return events.flatMap((event) => {
    const { userIds, textIds, calls } = eventFacts(event)
    const ids = [...userIds, ...textIds, ...calls.flatMap(({ id }) => id ?? [])]
    return ids.flatMap((id) => positionOf(id) ?? [])
  })
}

/** The events of the interrupted run that the session has lost. With new ids: events with the old ones may be cut. */
function restoredEvents(keep: readonly Event[], { saved, newId }: PlanInput & { newId: IdSource }): Event[] {
  const callsIn = (events: readonly Event[]): string[] =>
    events.flatMap(eventParts).flatMap(({ functionCall }) => functionCall?.id ?? [])
  const known = new Set(callsIn(keep))
  if (callsIn(saved).every((id) => known.has(id))) return []
  const ids = new Set(keep.map(({ id }) => id))
  return saved.filter(({ id }) => !ids.has(id)).map((event) => ({ ...event, id: newId('event') }))
}

/** Whether a part is the first answer to a request that the session has. */
function isUnanswered({ functionResponse }: Part, { callOf, isAnswered }: SessionIndex): boolean {
  const id = functionResponse?.id ?? ''
  return callOf(id) !== undefined && !isAnswered(id)
}

/** Parts that the agent has not seen. */
interface Unseen {
  readonly parts: readonly Part[]
  readonly mark: EventMark
}

/** Results come first, so that they follow their calls. */
function toUnseen(
  { users, results, late }: Missing,
  anchor: Anchor | undefined,
): Unseen & { readonly problems: readonly string[] } {
  const read = users.map(toUserParts)
  const lateParts = late.map(({ name, message }) => ({
    text: `[The result of an earlier call of ${name} has come in late: ${toolMessageText(message)}]`,
  }))
  return {
    parts: [...results.map(toResultPart), ...read.flatMap(({ parts }) => parts), ...lateParts],
    mark: {
      messageIds: users.map(({ id }) => id),
      partCounts: read.map(({ parts }) => parts.length),
      ...(anchor && { anchor }),
      ...(results.length > 0 ? { resultIds: resultMessageIds(results) } : {}),
      ...(late.length > 0 ? { lateCallIds: late.map(({ message }) => message.toolCallId) } : {}),
    },
    problems: read.flatMap(({ problems }) => problems),
  }
}

function cutNote(cut: readonly string[], newId: IdSource): Event {
  return newEvent({ newId }, { invocationId: newId('cut'), author: 'user', mark: { cut } })
}

// ADK hides an event with an answer to a request from models, with all its other parts.
function besideEvent({ parts, mark }: Unseen, options: Pick<ImportOptions, 'newId'>): Event {
  const invocationId = options.newId('import')
  const content = asUserContent(parts)
  return newEvent(options, { invocationId, author: 'user', content, mark: { imported: true, ...mark } })
}

function toNews({ parts, mark }: Unseen): News | undefined {
  if (parts.length === 0) return undefined
  return { content: asUserContent(parts), messageIds: mark.messageIds ?? [], isDelivered: false, mark }
}

/** News that a failed attempt has stored. */
function deliveredNews(
  exchange: SessionExchange | undefined,
  { thread, runId }: { readonly thread: ThreadIndex; readonly runId: string | undefined },
): News | undefined {
  const [start] = exchange ?? []
  if (!exchange || !start?.content || start.author !== 'user') return undefined
  const status = exchangeStatus(exchange)
  const isOpen = status === 'open' || (status === 'calling' && thread.awaitsAgent)
  if (!isOpen && !isOfRun(exchange, runId)) return undefined
  const mark = eventMark(start)
  return { content: start.content, messageIds: eventFacts(start).userIds, isDelivered: true, mark }
}

/** The agents whose calls these parts answer. */
function callingAuthors(parts: readonly Part[], events: readonly Event[]): string[] {
  const ids = new Set(parts.flatMap(({ functionResponse }) => functionResponse?.id ?? []))
  if (ids.size === 0) return []
  const isCaller = (event: Event): boolean =>
    eventParts(event).some(({ functionCall }) => functionCall?.id !== undefined && ids.has(functionCall.id))
  return [...new Set(events.filter(isCaller).flatMap(({ author }) => author ?? []))]
}
