import type { BaseSessionService, CreateSessionRequest, Session } from '@google/adk'
import { isRecord } from '../../core/json.js'
import { replaceMembers } from '../../core/replace-members.js'

const safeServices = new WeakMap<BaseSessionService, BaseSessionService>()

/**
 * A session service without races; the same one for every call with a service. Creates database tables once, however
 * many callers begin at the same time. `createSession` never replaces a session: it returns the existing one, also when
 * another process has created it meanwhile.
 */
export function raceFreeSessions(service: BaseSessionService): BaseSessionService {
  const known = safeServices.get(service)
  if (known) return known
  const safe = withoutRaces(service)
  safeServices.set(service, safe)
  safeServices.set(safe, safe)
  return safe
}

function withoutRaces(service: BaseSessionService): BaseSessionService {
  const whenReady = untilSuccess(() => createTables(service))
  const oneAtATime = serialiseByKey()
  const createSession = async (request: CreateSessionRequest): Promise<Session> => {
    await whenReady()
    return oneAtATime(JSON.stringify([request.appName, request.userId]), () => findOrCreate(service, request))
  }
  const methods: Record<string, unknown> = {
    createSession,
    async getOrCreateSession(request: CreateSessionRequest) {
      await whenReady()
      const { sessionId } = request
      const found = sessionId === undefined ? undefined : await service.getSession({ ...request, sessionId })
      return found ?? (await createSession(request))
    },
  }
  for (const name of ['getSession', 'listSessions', 'deleteSession', 'appendEvent'] as const) {
    methods[name] = async (request: never): Promise<unknown> => {
      await whenReady()
      return service[name](request)
    }
  }
  return replaceMembers(service, methods)
}

/** Another process may create the same tables at the same time. */
async function createTables(service: BaseSessionService): Promise<void> {
  const init: unknown = Reflect.get(service, 'init')
  if (typeof init !== 'function') return
  await retryOnConflict(async () => {
    await Reflect.apply(init, service, [])
  })
}

/** Services have no atomic step for this: others may create the session between the look-up and the creation. */
async function findOrCreate(service: BaseSessionService, request: CreateSessionRequest): Promise<Session> {
  const { sessionId } = request
  const find = () => (sessionId === undefined ? undefined : service.getSession({ ...request, sessionId }))
  return retryOnConflict(async () => (await find()) ?? (await service.createSession(request)))
}

// One row for an app, one for a user and one for a session: others may create each of them first.
const maxAttempts = 4

async function retryOnConflict<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === maxAttempts || !isConflict(error)) throw error
    }
  }
}

/** Whether a database refused a row or a table that exists. Every driver words this differently. */
function isConflict(error: unknown): boolean {
  if (!isRecord(error)) return false
  const { name, message, code } = error
  return [name, message, code].some((text) => /unique|duplicate|exists|23505|42P07/i.test(String(text)))
}

/** Runs the work until it succeeds once, and never again. Callers at the same time share one attempt. */
function untilSuccess(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined
      throw error
    })
    return result
  }
}

/** Runs one piece of work at a time for each key. */
function serialiseByKey(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const ends = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const done = (ends.get(key) ?? Promise.resolve()).then(work)
    const end = done
      .catch(() => undefined)
      .finally(() => {
        if (ends.get(key) === end) ends.delete(key)
      })
    ends.set(key, end)
    return done
  }
}
