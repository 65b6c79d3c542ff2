import {
  InMemorySessionService,
  type BaseMemoryService,
  type CreateSessionRequest,
  type DeleteSessionRequest,
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

/**
 * The latest sessions, in memory. Threads outlive them: the next run of a thread whose session is gone makes it again. A run
 * whose session goes meanwhile stores no more events in it; the thread has them.
 */
export class RecentSessions extends InMemorySessionService {
  readonly #options: RecentSessionsOptions
  /** The session that was used last stands last. */
  readonly #keys = new Map<string, SessionKey>()

  constructor(options: RecentSessionsOptions) {
    super()
    this.#options = options
  }

  override async createSession(request: CreateSessionRequest): Promise<Session> {
    const session = await super.createSession(request)
    const { appName, userId, id: sessionId } = session
    this.#use({ appName, userId, sessionId })
    return session
  }

  override async getSession(request: GetSessionRequest): Promise<Session | undefined> {
    const { appName, userId, sessionId } = request
    if (this.#keys.has(nameOf(request))) this.#use({ appName, userId, sessionId })
    return super.getSession(request)
  }

  override async deleteSession(request: DeleteSessionRequest): Promise<void> {
    await super.deleteSession(request)
    this.#keys.delete(nameOf(request))
  }

  /** Lets go of the sessions that are too many. Rejects when long-term memory does not take one, which then stays. */
  async evict(): Promise<void> {
    const { max = 1_000, memoryService } = this.#options
    for (const [name, key] of this.#keys) {
      if (this.#keys.size <= max) return
      // At once, so that no other run lets go of it too.
      this.#keys.delete(name)
      try {
        const session = memoryService && (await super.getSession(key))
        if (session) await memoryService.addSessionToMemory(session)
      } catch (error) {
        this.#use(key)
        throw error
      }
      await super.deleteSession(key)
    }
  }

  #use(key: SessionKey): void {
    const name = nameOf(key)
    this.#keys.delete(name)
    this.#keys.set(name, key)
  }
}

function nameOf({ appName, userId, sessionId }: SessionKey): string {
  return JSON.stringify([appName, userId, sessionId])
}
