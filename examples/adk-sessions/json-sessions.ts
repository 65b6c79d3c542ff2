import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  BaseSessionService,
  createSession,
  type AppendEventRequest,
  type CompositeSessionKey,
  type CreateSessionRequest,
  type Event,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type Session,
} from '@google/adk'

/**
 * Keeps each session in a JSON file. For demonstration only: state of the app or the user (`app:`, `user:`) stays in the
 * session that set it.
 */
export class JsonSessions extends BaseSessionService {
  readonly #folder: string

  constructor(folder: string) {
    super()
    this.#folder = folder
  }

  override async createSession(request: CreateSessionRequest): Promise<Session> {
    const { appName, userId, state = {}, sessionId: id = crypto.randomUUID() } = request
    const session = createSession({ id, appName, userId, state, lastUpdateTime: Date.now() })
    await mkdir(this.#folderOf(session), { recursive: true })
    await this.#write(session)
    return session
  }

  override async getSession(key: CompositeSessionKey): Promise<Session | undefined> {
    const text = await readFile(this.#fileOf(key), 'utf8').catch(() => undefined)
    return text === undefined ? undefined : (JSON.parse(text) as Session)
  }

  override async appendEvent({ session, event }: AppendEventRequest): Promise<Event> {
    // The caller's session must change too: ADK goes on with it.
    const stored = await super.appendEvent({ session, event })
    session.lastUpdateTime = event.timestamp
    if (event.partial !== true) await this.#write(session)
    return stored
  }

  override async deleteSession(key: CompositeSessionKey): Promise<void> {
    await rm(this.#fileOf(key), { force: true })
  }

  override async listSessions({ appName, userId = '' }: ListSessionsRequest): Promise<ListSessionsResponse> {
    const files = await readdir(this.#folderOf({ appName, userId })).catch(() => [])
    const ids = files.map((file) => decodeURIComponent(file.replace(/\.json$/, '')))
    const found = await Promise.all(ids.map((sessionId) => this.getSession({ appName, userId, sessionId })))
    const sessions = found.filter((session) => session !== undefined).map((one) => ({ ...one, events: [] }))
    return { sessions, page: 1, limit: ids.length, totalItems: ids.length, totalPages: 1 }
  }

  async #write(session: Session): Promise<void> {
    const { appName, userId, id: sessionId } = session
    await writeFile(this.#fileOf({ appName, userId, sessionId }), JSON.stringify(session))
  }

  #folderOf({ appName, userId }: Omit<CompositeSessionKey, 'sessionId'>): string {
    return join(this.#folder, encodeURIComponent(appName), encodeURIComponent(userId))
  }

  #fileOf(key: CompositeSessionKey): string {
    return join(this.#folderOf(key), `${encodeURIComponent(key.sessionId)}.json`)
  }
}
