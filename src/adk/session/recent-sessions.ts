import {
  InMemorySessionService,
  type AppendEventRequest,
  type BaseMemoryService,
  type CreateSessionRequest,
  type DeleteSessionRequest,
  type Event,
  type GetSessionRequest,
  type Session,
} from '@google/adk'
import type { SessionKey } from '../adk-types.js'

interface RecentSessionsOptions {
  /** Receives a session before it goes. */
  readonly memoryService: BaseMemoryService | undefined
  /** Number of sessions to keep. Default 1,000. */
  readonly max?: number
}

interface KeptSession {
  readonly key: SessionKey
  readonly events: Event[]
  readonly ids: Set<string>
}

/**
 * The latest sessions, in memory. Threads outlive them: the next run of a thread whose session is gone makes it again. A run
 * whose session goes meanwhile stores no more events in it; the thread has them.
 *
 * ADK's own service keeps the state here, and copies it for every reader. Events are not copied: a long conversation would
 * cost each turn more than the agent itself does.
 */
export class RecentSessions extends InMemorySessionService {
  readonly #options: RecentSessionsOptions
  /** The session that was used last stands last. */
  readonly #kept = new Map<string, KeptSession>()
  /** The sessions that are being evicted. */
  readonly #leaving = new Set<string>()

  constructor(options: RecentSessionsOptions) {
    super()
    this.#options = options
  }

  override async createSession(request: CreateSessionRequest): Promise<Session> {
    const session = await super.createSession(request)
    const { appName, userId, id: sessionId } = session
    const key = { appName, userId, sessionId }
    this.#kept.set(nameOf(key), { key, events: [], ids: new Set() })
    return session
  }

  override async getSession(request: GetSessionRequest): Promise<Session | undefined> {
    const kept = this.#kept.get(nameOf(request))
    if (!kept) return undefined
    this.#use(kept)
    return this.#read(kept, request.config)
  }

  override async appendEvent({ session, event }: AppendEventRequest): Promise<Event> {
    if (event.partial === true) return event
    const { appName, userId, id: sessionId } = session
    const kept = this.#kept.get(nameOf({ appName, userId, sessionId }))
    // For ADK's service every event is the same one: it never holds more than one.
    await super.appendEvent({ session: { ...session, events: [] }, event: { ...event, id: 'latest' } })
    session.lastUpdateTime = event.timestamp
    session.events.push(event)
    if (kept?.ids.has(event.id) === true)
      kept.events[kept.events.findLastIndex(({ id }) => id === event.id)] = event
    else kept?.events.push(event)
    kept?.ids.add(event.id)
    return event
  }

  override async deleteSession(request: DeleteSessionRequest): Promise<void> {
    await super.deleteSession(request)
    this.#kept.delete(nameOf(request))
  }

  /** Lets go of the sessions that are too many. Rejects when long-term memory does not take one, which then stays. */
  async evict(): Promise<void> {
    const { max = 1_000, memoryService } = this.#options
    for (const [name, kept] of this.#kept) {
      if (this.#kept.size - this.#leaving.size <= max) return
      if (this.#leaving.has(name)) continue
      // At once, so that no other run lets go of it too.
      this.#leaving.add(name)
      try {
        const session = memoryService && (await this.#read(kept))
        if (session) await memoryService.addSessionToMemory(session)
        await this.deleteSession(kept.key)
      } catch (error) {
        this.#use(kept)
        throw error
      } finally {
        this.#leaving.delete(name)
      }
    }
  }

  async #read(
    { key, events }: KeptSession,
    config: GetSessionRequest['config'] = {},
  ): Promise<Session | undefined> {
    const session = await super.getSession(key)
    const { numRecentEvents = events.length, afterTimestamp = 0 } = config
    const latest = events.slice(Math.max(0, events.length - numRecentEvents))
    const since = afterTimestamp > 0 ? latest.filter(({ timestamp }) => timestamp >= afterTimestamp) : latest
    return session && { ...session, events: since }
  }

  #use(kept: KeptSession): void {
    const name = nameOf(kept.key)
    this.#kept.delete(name)
    this.#kept.set(name, kept)
  }
}

function nameOf({ appName, userId, sessionId }: SessionKey): string {
  return JSON.stringify([appName, userId, sessionId])
}
