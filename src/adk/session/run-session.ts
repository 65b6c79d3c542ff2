import {
  BaseSessionService,
  InMemorySessionService,
  type AppendEventRequest,
  type CreateSessionRequest,
  type DeleteSessionRequest,
  type Event,
  type GetSessionRequest,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type Session,
} from '@google/adk'
import { systemClock, type Clock } from '../../core/clock.js'
import { isEqual } from '../../core/json.js'
import type { SessionKey } from '../adk-types.js'
import { hideFinishedWaits } from './finished-nodes.js'
import { withEventMark, type EventMark } from './marks.js'
import type { SessionPlan } from './plan-session.js'
import { eventParts, isMarked, notePlainEvents } from './session-events.js'
import { toRunState } from './session-state.js'

export interface RunSessionOptions {
  /** The team's session service, made safe. */
  readonly service: BaseSessionService
  readonly key: SessionKey
  /** Plans the session from the stored one. Called once. */
  readonly plan: (stored: Session) => SessionPlan
  /** `temp:` values of this run, with or without the prefix: tools see them, nothing stores them. */
  readonly temp: Readonly<Record<string, unknown>>
  /** The mark for an event. Called once for each, just before it is stored. */
  readonly mark: (event: Event) => EventMark
  readonly clock?: Clock
}

/** The session of one run. */
export interface RunSession {
  /** For the Runner. Other sessions made with it, by agents that are tools, end with the run. */
  readonly service: BaseSessionService
  /** The session as the Runner sees it. */
  readonly session: Session
  readonly plan: SessionPlan
  /** The events that the Runner has stored so far, in order. */
  readonly events: readonly Event[]
  /** Whether no run of ours has written to the session before: it is new, or was made elsewhere. */
  readonly isNew: boolean
}

/**
 * Loads or creates the session of a run and brings it in line with the thread. Never removes a stored event; events that
 * leave the conversation get a note. Rejects when the service does.
 */
export async function prepareRunSession(options: RunSessionOptions): Promise<RunSession> {
  const { service, key, temp, clock = systemClock } = options
  const stored = (await service.getSession(key)) ?? (await service.createSession(key))
  const isNew = stored.events.findLastIndex(isMarked) === -1
  const plan = options.plan(stored)
  const view: Session = { ...stored, state: toRunState(stored.state, temp), events: plan.keep.slice() }
  notePlainEvents(view.events, plan.plainCount)
  const nextTime = increasingTimes(stored, clock)
  const append = async (event: Event): Promise<void> => {
    event.timestamp = nextTime(event.timestamp)
    await service.appendEvent({ session: stored, event })
  }
  if (plan.note) await append(plan.note)
  for (const event of plan.add) {
    await append(event)
    view.events.push(event)
  }
  hideFinishedWaits(view.events)
  const run = new RunSessionService({ options, plan, view, append })
  return { service: run, session: view, plan, events: run.events, isNew }
}

/** Events of other writers may be out of order by a few: parallel agents write them. */
const maxDisorder = 100

/**
 * Returns times that strictly increase. DatabaseSessionService reads events in the order of their times only; events of
 * the same millisecond come back in any order.
 */
function increasingTimes({ events }: Session, clock: Clock): (wanted: number) => number {
  let last = events.slice(-maxDisorder).reduce((latest, { timestamp }) => Math.max(latest, timestamp), 0)
  return (wanted) => {
    // 0: the event has no time yet.
    last = Math.max(last + 1, Math.floor(wanted === 0 ? clock.now() : wanted))
    return last
  }
}

interface PreparedSession {
  readonly options: RunSessionOptions
  readonly plan: SessionPlan
  readonly view: Session
  readonly append: (event: Event) => Promise<void>
}

class RunSessionService extends BaseSessionService {
  readonly events: Event[] = []
  readonly #prepared: PreparedSession
  /** Sessions of agents that are tools. */
  readonly #others = new InMemorySessionService()
  readonly #isRepeatedInput: (event: Event) => boolean
  #isNewsDue = true
  #lastWrite: Promise<unknown> = Promise.resolve()

  constructor(prepared: PreparedSession) {
    super()
    this.#prepared = prepared
    this.#isRepeatedInput = repeatedInputs(prepared.plan)
  }

  override getSession(request: GetSessionRequest): Promise<Session | undefined> {
    return this.#isOwn(request) ? Promise.resolve(this.#prepared.view) : this.#others.getSession(request)
  }

  override async createSession(request: CreateSessionRequest): Promise<Session> {
    if (request.sessionId === undefined) return this.#others.createSession(request)
    const { sessionId } = request
    return (await this.getSession({ ...request, sessionId })) ?? this.#others.createSession(request)
  }

  override listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    return this.#others.listSessions(request)
  }

  override deleteSession(request: DeleteSessionRequest): Promise<void> {
    return (this.#isOwn(request) ? this.#prepared.options.service : this.#others).deleteSession(request)
  }

  override async appendEvent({ session, event }: AppendEventRequest): Promise<Event> {
    const { appName, userId, id: sessionId } = session
    if (!this.#isOwn({ appName, userId, sessionId })) return this.#others.appendEvent({ session, event })
    if (event.partial === true) return event
    // Parallel nodes of a workflow write at the same time.
    const write = this.#lastWrite.then(() => this.#store(event))
    this.#lastWrite = write.catch(() => undefined)
    await write
    return event
  }

  async #store(event: Event): Promise<void> {
    const { options, plan, view, append } = this.#prepared
    const { news } = plan
    const isUser = event.author === 'user'
    const hasParts = eventParts(event).length > 0
    const isNews = isUser && hasParts && this.#isNewsDue
    if (isNews) this.#isNewsDue = false
    else if (isUser && hasParts && this.#isRepeatedInput(event)) return
    if (isNews && news.isDelivered) {
      // A failed attempt has stored the content. The state change may be new.
      delete event.content
      if (Object.keys(event.actions.stateDelta).length === 0) return
    }
    // Only the first user event of a run brings messages.
    const newsMark = isNews && !news.isDelivered ? news.mark : {}
    const mark = { ...options.mark(event), ...(isUser ? { messageIds: [], ...newsMark } : {}) }
    event.customMetadata = withEventMark(mark, event.customMetadata)
    await append(event)
    // Changes the state. Without the events: ADK would search all of them for the id of this one.
    await super.appendEvent({ session: { ...view, events: [] }, event })
    // A user event without parts is no part of the conversation.
    if (!isUser || eventParts(event).length > 0) this.#show(event)
    view.lastUpdateTime = event.timestamp
    this.events.push(event)
  }

  /** An event with the id of an earlier one of this run replaces it, as in ADK. */
  #show(event: Event): void {
    const { events } = this.#prepared.view
    const isRepeated = this.events.some(({ id }) => id === event.id)
    if (isRepeated) events[events.findLastIndex(({ id }) => id === event.id)] = event
    else events.push(event)
  }

  #isOwn({ appName, userId, sessionId }: SessionKey): boolean {
    const { view } = this.#prepared
    return view.appName === appName && view.userId === userId && view.id === sessionId
  }
}

/**
 * Recognises the input that a workflow repeats for a node that resumes. ADK stores it as a message of the user,
 * after the results that the node waits for: the model would answer it alone, and do its work again.
 */
export function repeatedInputs({ recent, add, news }: SessionPlan): (event: Event) => boolean {
  const events = [...recent, ...add]
  const inputs = resumedPositions(events, news).flatMap((position) => inputBefore(events, position) ?? [])
  return (event) => {
    // The first node gets the input of the run: here, results that it has.
    if (hasResponses(event)) return isEqual(event.content, news.content)
    const known = inputs.findIndex(
      ({ branch, content }) => branch === event.branch && isEqual(content, event.content),
    )
    if (known === -1) return false
    inputs.splice(known, 1)
    return true
  }
}

/** The last events of the agents that resume: those whose calls are answered, or the one that failed in an attempt. */
function resumedPositions(events: readonly Event[], { content, isDelivered }: SessionPlan['news']): number[] {
  if (isDelivered) return [events.findLastIndex(({ author }) => author !== 'user')]
  const answered = new Set(content?.parts?.flatMap(({ functionResponse }) => functionResponse?.id ?? []))
  return events.flatMap((event, position) =>
    eventParts(event).some(({ functionCall }) => answered.has(functionCall?.id ?? '')) ? [position] : [],
  )
}

function inputBefore(events: readonly Event[], position: number): Event | undefined {
  const branch = events[position]?.branch
  return events
    .slice(0, Math.max(0, position))
    .findLast((event) => event.author === 'user' && event.branch === branch && !hasResponses(event))
}

function hasResponses(event: Event): boolean {
  return eventParts(event).some(({ functionResponse }) => functionResponse)
}
