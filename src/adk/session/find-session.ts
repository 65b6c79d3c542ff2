import type { BaseSessionService, Session } from '@google/adk'
import type { ThreadOwner } from '../../agents/index.js'
import type { SessionKey } from '../adk-types.js'
import { threadIdKey } from './session-keys.js'

interface SessionFinderOptions {
  /** Which session belongs to a thread. Default: the one with the id of the thread. */
  readonly sessionId?: 'generated' | ((thread: ThreadOwner) => string | Promise<string>) | undefined
  /** How many generated ids are remembered for a service. Default 10,000. */
  readonly remembered?: number
}

export interface SessionRequest {
  /** Made safe. */
  readonly service: BaseSessionService
  readonly appName: string
  readonly userId: string
  readonly thread: ThreadOwner
}

/** Finds the session of a thread. */
interface SessionFinder {
  /** Makes a session when the service makes the ids and has none for the thread. Else nothing is made. */
  (request: SessionRequest): Promise<SessionKey>
  /** Makes nothing. Undefined when the service makes the ids and has none for the thread. */
  readonly existing: (request: SessionRequest) => Promise<SessionKey | undefined>
  /** To be called when the session of a thread was deleted. */
  readonly forget: (request: SessionRequest) => void
}

export function createSessionFinder({
  sessionId,
  remembered = 10_000,
}: SessionFinderOptions = {}): SessionFinder {
  if (sessionId === 'generated') return createGeneratedFinder(remembered)
  const find = async ({ appName, userId, thread }: SessionRequest): Promise<SessionKey> => {
    const id = sessionId ? await sessionId(thread) : thread.threadId
    return { appName, userId, sessionId: id }
  }
  return Object.assign(find, { existing: find, forget: () => undefined })
}

type Ids = Map<string, Promise<string | undefined>>

function createGeneratedFinder(remembered: number): SessionFinder {
  const services = new WeakMap<BaseSessionService, Ids>()
  const idsOf = ({ service }: SessionRequest): Ids => {
    const ids = services.get(service) ?? new Map<string, Promise<string | undefined>>()
    services.set(service, ids)
    return ids
  }

  /** Who asks while somebody looks waits for what they find. Nothing found, or a failure, is not remembered. */
  const lookUp = <T extends string | undefined>(
    request: SessionRequest,
    look: () => Promise<T>,
  ): Promise<string | T> => {
    const ids = idsOf(request)
    const name = nameOf(request)
    const known = ids.get(name)
    ids.delete(name)
    const found: Promise<string | T> = Promise.resolve(known).then<string | T>((id) => id ?? look())
    const entry = found.catch(() => undefined)
    ids.set(name, entry)
    void entry.then((id) => {
      if (id === undefined && ids.get(name) === entry) ids.delete(name)
    })
    for (const [oldest] of ids) {
      if (ids.size <= remembered) break
      ids.delete(oldest)
    }
    return found
  }

  const existing = async (request: SessionRequest): Promise<SessionKey | undefined> => {
    const id = await lookUp(request, () => listed(request))
    return id === undefined ? undefined : keyOf(request, id)
  }
  const find = async (request: SessionRequest): Promise<SessionKey> => {
    const id = await lookUp(request, async () => (await listed(request)) ?? (await made(request)))
    return keyOf(request, id)
  }
  const forget = (request: SessionRequest): void => {
    idsOf(request).delete(nameOf(request))
  }
  return Object.assign(find, { existing, forget })
}

function nameOf({ appName, userId, thread }: SessionRequest): string {
  return JSON.stringify([appName, userId, thread.threadId])
}

function keyOf({ appName, userId }: SessionRequest, sessionId: string): SessionKey {
  return { appName, userId, sessionId }
}

async function made({ service, appName, userId, thread }: SessionRequest): Promise<string> {
  const { id } = await service.createSession({ appName, userId, state: { [threadIdKey]: thread.threadId } })
  return id
}

/** The session that says it belongs to the thread. Of several, always the same. */
async function listed(request: SessionRequest): Promise<string | undefined> {
  const { service, appName, userId, thread } = request
  const { sessions } = await service.listSessions({ appName, userId })
  const own = sessions.filter((session) => session.userId === userId)
  const isOurs = ({ state }: Pick<Session, 'state'>): boolean => state[threadIdKey] === thread.threadId
  const listsStates = own.some(({ state }) => Object.keys(state).length > 0)
  if (listsStates) return first(own.filter(isOurs))
  // Kept in memory, sessions are listed without their states.
  const loaded = await Promise.all(
    own.map(({ id }) =>
      service.getSession({ appName, userId, sessionId: id, config: { numRecentEvents: 1 } }),
    ),
  )
  return first(loaded.flatMap((session) => (session && isOurs(session) ? [session] : [])))
}

function first(sessions: readonly Session[]): string | undefined {
  return sessions.map(({ id }) => id).sort()[0]
}
