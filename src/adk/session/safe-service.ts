import type { BaseSessionService, CreateSessionRequest, Session } from '@google/adk'
import { isRecord } from '../../core/is-record.js'

const wrappers = new WeakMap<BaseSessionService, BaseSessionService>()

/**
 * A session service as one expects it to work; the same one for every call with a service. Database tables are made
 * once, however many begin at the same time. `createSession` never replaces a session: it gives the one that is there,
 * also when somebody else has made it meanwhile. All else is the service's own.
 */
export function safeSessions(service: BaseSessionService): BaseSessionService {
  const known = wrappers.get(service)
  if (known) return known
  const safe = wrap(service)
  wrappers.set(service, safe)
  wrappers.set(safe, safe)
  return safe
}

function wrap(service: BaseSessionService): BaseSessionService {
  const ready = once(() => initialised(service))
  const line = createLines()
  const create = async (request: CreateSessionRequest): Promise<Session> => {
    await ready()
    return line(JSON.stringify([request.appName, request.userId]), () => createOnce(service, request))
  }
  const own: Partial<Record<PropertyKey, unknown>> = {
    createSession: create,
    async getOrCreateSession(request: CreateSessionRequest) {
      await ready()
      const { sessionId } = request
      const found = sessionId === undefined ? undefined : await service.getSession({ ...request, sessionId })
      return found ?? (await create(request))
    },
  }
  for (const name of ['getSession', 'listSessions', 'deleteSession', 'appendEvent'] as const) {
    own[name] = async (request: never): Promise<unknown> => {
      await ready()
      return service[name](request)
    }
  }
  return new Proxy(service, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name]
      const value: unknown = Reflect.get(target, name, target)
      // Bound, since a class may have private members, which a proxy has not.
      return typeof value === 'function' && name !== 'constructor' ? (value.bind(target) as unknown) : value
    },
  })
}

/** Makes the tables of a service that has some. Another process may be at it, table by table. */
async function initialised(service: BaseSessionService): Promise<void> {
  const init: unknown = Reflect.get(service, 'init')
  if (typeof init !== 'function') return
  await persistently(async () => {
    await Reflect.apply(init, service, [])
  })
}

/** A session that is there, or a new one. Services have no such step: between looking and making, others may be faster. */
async function createOnce(service: BaseSessionService, request: CreateSessionRequest): Promise<Session> {
  const { sessionId } = request
  const find = () => (sessionId === undefined ? undefined : service.getSession({ ...request, sessionId }))
  return persistently(async () => (await find()) ?? (await service.createSession(request)))
}

// One row for an app, one for a user and one for a session: others may be faster with each of them.
const attempts = 4

/** Does something again as long as it fails because somebody else has done a part of it. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === attempts || !isTaken(error)) throw error
    }
  }
}

/** Whether a database refused a row or a table because there is one. Every driver has its own words for that. */
function isTaken(error: unknown): boolean {
  if (!isRecord(error)) return false
  const { name, message, code } = error
  return [name, message, code].some((text) => /unique|duplicate|exists|23505|42P07/i.test(String(text)))
}

/** Calls until it succeeds once, and never again. Callers at the same time share a call. */
function once(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined
      throw error
    })
    return result
  }
}

type Lines = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Lets one piece of work at a time through for each key. */
function createLines(): Lines {
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
