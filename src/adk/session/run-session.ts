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
import { randomIds, type IdSource } from '../../core/ids.js'
import type { SessionKey } from '../adk-types.js'
import { markedMetadata, type Mark } from '../mark.js'
import { isMarked } from './event-facts.js'
import { newEvent } from './import-messages.js'
import type { SessionPlan } from './plan-session.js'
import { createRepeatedInputs } from './repeated-inputs.js'
import { viewState } from './view-state.js'

export interface RunSessionOptions {
  /** Where sessions are kept: the team's service, made safe. */
  readonly service: BaseSessionService
  readonly key: SessionKey
  /** What the events of the session are for the model, decided from what is stored. Called once. */
  readonly plan: (stored: Session) => SessionPlan
  /** `temp:` values of this run, with or without the prefix: tools see them, nothing stores them. */
  readonly temp: Readonly<Record<string, unknown>>
  /** What to note on an event. Called once for each, just before it is stored. */
  readonly mark: (event: Event) => Mark
  readonly clock?: Clock
  readonly newId?: IdSource
}

/** The session of one run. */
export interface RunSession {
  /** For the Runner. Other sessions that are made with it, by agents that are tools, end with the run. */
  readonly service: BaseSessionService
  /** What the Runner sees. */
  readonly session: Session
  readonly plan: SessionPlan
  /** What this run has stored so far, in order, after the session was made ready. */
  readonly events: readonly Event[]
  /** Whether no run of ours has written to it before: it is new, or it was made elsewhere. */
  readonly isNew: boolean
}

/**
 * Opens the session of a run: loads it, or makes it, and brings it in line with the thread. Nothing of what is stored
 * is ever removed; what is out of the conversation is noted. Rejects when the service does.
 */
export async function openRunSession(options: RunSessionOptions): Promise<RunSession> {
  const { service, key, temp, clock = systemClock, newId = randomIds } = options
  const stored = (await service.getSession(key)) ?? (await service.createSession(key))
  const isNew = !stored.events.some(isMarked)
  const plan = options.plan(stored)
  const times = createTimes(stored, clock)
  const view: Session = {
    ...stored,
    state: viewState(stored.state, temp),
    events: [...plan.keep],
  }
  const append = async (event: Event): Promise<void> => {
    event.timestamp = times.next(event.timestamp)
    await service.appendEvent({ session: stored, event })
  }
  if (plan.cut.length > 0) {
    const mark = { cut: plan.cut }
    await append(newEvent({ newId }, { invocationId: newId('cut'), author: 'user', mark }))
  }
  for (const event of plan.add) {
    await append(event)
    view.events.push(event)
  }
  const run = new RunSessionService({ options, plan, view, append })
  return { service: run, session: view, plan, events: run.events, isNew }
}

interface OpenSession {
  readonly options: RunSessionOptions
  readonly plan: SessionPlan
  readonly view: Session
  readonly append: (event: Event) => Promise<void>
}

class RunSessionService extends BaseSessionService {
  readonly events: Event[] = []
  readonly #open: OpenSession
  /** Sessions of agents that are tools. */
  readonly #others = new InMemorySessionService()
  readonly #isRepeatedInput: (event: Event) => boolean
  #isNewsDue = true
  #line: Promise<unknown> = Promise.resolve()

  constructor(open: OpenSession) {
    super()
    this.#open = open
    this.#isRepeatedInput = createRepeatedInputs(open.plan)
  }

  override getSession(request: GetSessionRequest): Promise<Session | undefined> {
    return this.#isOwn(request) ? Promise.resolve(this.#open.view) : this.#others.getSession(request)
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
    return (this.#isOwn(request) ? this.#open.options.service : this.#others).deleteSession(request)
  }

  override async appendEvent({ session, event }: AppendEventRequest): Promise<Event> {
    const { appName, userId, id: sessionId } = session
    if (!this.#isOwn({ appName, userId, sessionId })) return this.#others.appendEvent({ session, event })
    if (event.partial === true) return event
    // Nodes of a workflow that run side by side write at the same time.
    const done = this.#line.then(() => this.#store(event))
    this.#line = done.catch(() => undefined)
    await done
    return event
  }

  async #store(event: Event): Promise<void> {
    const { options, plan, view, append } = this.#open
    const isUser = event.author === 'user'
    const isNews = isUser && hasParts(event) && this.#isNewsDue
    if (isNews) this.#isNewsDue = false
    else if (isUser && hasParts(event) && this.#isRepeatedInput(event)) return
    if (isNews && plan.news.isDelivered) {
      // The words are there since an attempt that failed. What comes with them may be new.
      delete event.content
      if (Object.keys(event.actions.stateDelta).length === 0) return
    }
    const mark = { ...options.mark(event), ...(isUser ? said(isNews, plan) : {}) }
    event.customMetadata = markedMetadata(mark, event.customMetadata)
    await append(event)
    // A user who says nothing changes the state, and is no part of the conversation.
    const isSilent = isUser && !hasParts(event)
    await super.appendEvent({ session: isSilent ? { ...view, events: [] } : view, event })
    view.lastUpdateTime = event.timestamp
    this.events.push(event)
  }

  #isOwn({ appName, userId, sessionId }: SessionKey): boolean {
    const { view } = this.#open
    return view.appName === appName && view.userId === userId && view.id === sessionId
  }
}

function hasParts({ content }: Event): boolean {
  return (content?.parts ?? []).length > 0
}

/** Which messages an event of the user brings. Only the first of a run brings any. */
function said(isNews: boolean, { news }: SessionPlan): Mark {
  return isNews && !news.isDelivered ? { messageIds: [], ...news.mark } : { messageIds: [] }
}

/**
 * Gives times that strictly increase. DatabaseSessionService reads events in the order of their times and knows no
 * other; several within a millisecond come back in any order.
 */
function createTimes({ events }: Session, clock: Clock) {
  let last = events.reduce((latest, { timestamp }) => Math.max(latest, timestamp), 0)
  return {
    /** 0: the event has no time yet. */
    next(wanted: number): number {
      last = Math.max(last + 1, Math.floor(wanted === 0 ? clock.now() : wanted))
      return last
    },
  }
}
