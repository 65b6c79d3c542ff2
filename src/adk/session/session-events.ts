import type { Event } from '@google/adk'
import type { FunctionCall, FunctionResponse, Part } from '../adk-types.js'
import { isRequestCall, isWaitingForPerson } from '../interrupts/request-calls.js'
import { eventMark } from './marks.js'

/** The messages, calls and results that an event of a session stands for. The ids of their calls identify results. */
export interface EventFacts {
  /** Whether a run of ours wrote the event. */
  readonly isMarked: boolean
  readonly userIds: readonly string[]
  readonly textIds: readonly string[]
  readonly calls: readonly FunctionCall[]
  readonly responses: readonly FunctionResponse[]
}

/** Reads an event. Without a mark, the id of the event is the id of its message. */
export function eventFacts(event: Event): EventFacts {
  if (event.partial === true || isCompaction(event)) return noFacts
  const isUser = event.author === 'user'
  const calls: FunctionCall[] = []
  const responses: FunctionResponse[] = []
  let hasContent = false
  for (const part of eventParts(event)) {
    const { functionCall, functionResponse } = part
    if (functionCall && !isRequestCall(functionCall)) calls.push(functionCall)
    if (functionResponse && isResult(functionResponse, event)) responses.push(functionResponse)
    hasContent ||= isUser ? isUserContent(part) : isVisibleText(part)
  }
  const isOurs = isMarked(event)
  const ids = isOurs ? (eventMark(event).messageIds ?? noIds) : hasContent ? [event.id] : noIds
  return { isMarked: isOurs, userIds: isUser ? ids : noIds, textIds: isUser ? noIds : ids, calls, responses }
}

function isResult(response: FunctionResponse, event: Event): boolean {
  return !isRequestCall(response) && !isWaitingForPerson(response.id ?? '', event)
}

const noIds: readonly string[] = []
const noFacts: EventFacts = { isMarked: true, userIds: noIds, textIds: noIds, calls: [], responses: [] }

// Calls by which ADK moves between agents. Clients may or may not be shown them.
const controlCalls = new Set(['transfer_to_agent', 'exit_loop', 'finish_task', 'set_model_response'])

/** Whether clients are sure to know a call. */
export function isAlwaysShown({ name }: FunctionCall): boolean {
  return name !== undefined && !controlCalls.has(name)
}

/** Whether a run of ours wrote an event. */
export function isMarked(event: Event): boolean {
  for (const _ in eventMark(event)) return true
  return false
}

export function eventParts({ content }: Event): readonly Part[] {
  return content?.parts ?? []
}

/** Whether an event has a call or a result. */
export function hasCallParts({ content }: Pick<Event, 'content'>): boolean {
  return content?.parts?.some(isCallPart) === true
}

function isCallPart({ functionCall, functionResponse }: Part): boolean {
  return functionCall !== undefined || functionResponse !== undefined
}

const plainCounts = new WeakMap<readonly Event[], number>()

/** Notes that the first events of a session have no calls and no results. */
export function notePlainEvents(events: readonly Event[], count: number): void {
  plainCounts.set(events, count)
}

/** The position of the first event with a call or a result; -1 if there is none. */
export function firstCallEvent(events: readonly Event[]): number {
  for (let index = plainCounts.get(events) ?? 0; index < events.length; index++) {
    const event = events[index]
    if (event && hasCallParts(event)) return index
  }
  return -1
}

export function isVisibleText(part: Part): part is Part & { text: string } {
  return typeof part.text === 'string' && part.text !== '' && part.thought !== true
}

/** Whether a part is something that a user sends: text or an attachment. */
export function isUserContent(part: Part): boolean {
  return isVisibleText(part) || part.inlineData !== undefined || part.fileData !== undefined
}

/** Whether an event is ADK's summary of earlier events, made to shorten requests. */
export function isCompaction(event: Event): boolean {
  return 'isCompacted' in event && event.isCompacted === true
}

/**
 * The events of the conversation: not cut, and not partial. User events without parts change the state or note a cut;
 * ADK would take them for the user's latest message.
 */
export function conversationEvents(events: readonly Event[]): readonly Event[] {
  const cut = new Set(events.flatMap((event) => eventMark(event).cut ?? []))
  return events.filter((event) => !cut.has(event.id) && !isSilent(event))
}

/** Whether an event says nothing: a user event without parts, which changes the state or notes a cut, or a partial one. */
export function isSilent(event: Event): boolean {
  return event.partial === true || (event.author === 'user' && eventParts(event).length === 0)
}

/** User events that no user wrote: they carry the input of a workflow node. */
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

/** A user's message and all events up to the next one. The first exchange of a session may begin without a user. */
export type SessionExchange = readonly Event[]

export function splitExchanges(events: readonly Event[]): readonly SessionExchange[] {
  const exchanges: Event[][] = []
  let last: Event | undefined
  for (const event of events) {
    const exchange = exchanges.at(-1)
    if (exchange && !beginsExchange(event, last)) exchange.push(event)
    else exchanges.push([event])
    last = event
  }
  return exchanges
}

// Inputs of workflow nodes are user events too, in the middle of an invocation.
function beginsExchange(event: Event, before: Event | undefined): boolean {
  if (event.author !== 'user' || eventParts(event).length === 0) return false
  return event.invocationId !== before?.invocationId
}

/**
 * `ended`: the agent has answered, or waits for an answer. `calling`: it was stopped while a tool of its own ran. `open`:
 * it still has to answer, since an attempt failed or none was made.
 */
export type ExchangeStatus = 'ended' | 'calling' | 'open'

export function exchangeStatus(exchange: SessionExchange): ExchangeStatus {
  const [start] = exchange
  if (start?.author !== 'user') return 'ended'
  const last = exchange.findLast(
    (event) => !isCompaction(event) && (eventParts(event).length > 0 || event.errorCode !== undefined),
  )
  if (last === undefined || last.author === 'user') return last ? 'open' : 'ended'
  const parts = eventParts(last)
  if (parts.length === 0) return 'open'
  const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
  if (calls.length > 0) return calls.some((call) => isWaitingCall(call, last)) ? 'ended' : 'calling'
  if (parts.some(isVisibleText) || endsWithoutAnswer(last)) return 'ended'
  return parts.some(({ functionResponse }) => functionResponse !== undefined) ? 'open' : 'ended'
}

function isWaitingCall(call: FunctionCall, event: Event): boolean {
  const { longRunningToolIds = [] } = event
  // An imported call has no known author. No agent executes it.
  if (isRequestCall(call) || eventMark(event).imported === true) return true
  return call.id !== undefined && longRunningToolIds.includes(call.id)
}

// Loaded events come from JSON: members without a value may be missing.
function endsWithoutAnswer({ actions }: Partial<Pick<Event, 'actions'>>): boolean {
  return actions?.skipSummarization === true || Object.keys(actions?.requestedAuthConfigs ?? {}).length > 0
}
