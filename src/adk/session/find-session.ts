import type { BaseSessionService, Runner, Session } from '@google/adk'
import type { Identity, RunContext, ThreadOwner } from '../../agents/index.js'
import { stableHash } from '../../core/ids.js'
import type { SessionKey } from '../adk-types.js'
import { resolveOption, type AdkOptions } from '../contract.js'
import { raceFreeSessions } from './race-free-sessions.js'
import { RecentSessions } from './recent-sessions.js'
import { threadIdKey } from './session-state.js'

interface SessionFinderOptions extends Pick<AdkOptions, 'appName' | 'userId' | 'sessionId'> {
  /** Number of generated ids to remember for a service. Default 10,000. */
  readonly remembered?: number
}

type SessionRunner = Pick<Runner, 'appName' | 'sessionService'>

/** Finds the sessions of threads. */
export class SessionFinder {
  readonly #options: SessionFinderOptions
  readonly #generatedIds: GeneratedIds

  constructor(options: SessionFinderOptions) {
    this.#options = options
    this.#generatedIds = new GeneratedIds(options.remembered ?? 10_000)
  }

  /** Creates a session only when the service generates the ids and has none for the thread. */
  async find(thread: ThreadOwner, runner: SessionRunner): Promise<SessionKey> {
    const request = await this.#request(thread, runner)
    const isGenerated = this.#options.sessionId === 'generated'
    const sessionId = isGenerated
      ? await this.#generatedIds.find(
          request,
          async () => (await listed(request)) ?? (await created(request)),
        )
      : await this.#ownId(thread)
    return { appName: request.appName, userId: request.userId, sessionId }
  }

  /** Like `find`, but creates nothing. Undefined when the service generates the ids and has none for the thread. */
  async existing(thread: ThreadOwner, runner: SessionRunner): Promise<SessionKey | undefined> {
    if (this.#options.sessionId !== 'generated') return this.find(thread, runner)
    const request = await this.#request(thread, runner)
    const sessionId = await this.#generatedIds.find(request, () => listed(request))
    if (sessionId === undefined) return undefined
    return { appName: request.appName, userId: request.userId, sessionId }
  }

  /** Call it after the session of a thread was deleted. */
  async forget(thread: ThreadOwner, runner: SessionRunner): Promise<void> {
    this.#generatedIds.delete(await this.#request(thread, runner))
  }

  /**
   * The threads of an owner that have a session. None when the options do not say which thread a session belongs to, or
   * which sessions belong to the owner of no thread in particular.
   */
  async list(owner: Identity, runnerFor: (thread: ThreadOwner) => SessionRunner | Promise<SessionRunner>) {
    const { sessionId } = this.#options
    if (typeof sessionId === 'function') return []
    const scope = await forAnyThread(owner, async (thread) => this.#scope(thread, await runnerFor(thread)))
    // Its sessions are all of stored threads.
    if (!scope || scope.service instanceof RecentSessions) return []
    const sessions = sessionId === 'generated' ? await sessionsWithState(scope) : await ownSessions(scope)
    return sessions.flatMap(({ id, state, lastUpdateTime: updatedAt }) => {
      const threadId = sessionId === 'generated' ? state[threadIdKey] : id
      return typeof threadId === 'string' ? [{ threadId, updatedAt }] : []
    })
  }

  async #request(thread: ThreadOwner, runner: SessionRunner): Promise<SessionRequest> {
    return { ...(await this.#scope(thread, runner)), threadId: thread.threadId }
  }

  async #scope(thread: ThreadOwner, runner: SessionRunner): Promise<SessionScope> {
    const { appName, userId } = this.#options
    return {
      service: raceFreeSessions(runner.sessionService),
      appName: (await resolveOption(appName, thread)) ?? runner.appName,
      userId: (await resolveOption(userId, thread)) ?? thread.user,
    }
  }

  async #ownId(thread: ThreadOwner): Promise<string> {
    return (await resolveOption(this.#options.sessionId, thread)) ?? thread.threadId
  }
}

/** Where the sessions of a user are. */
interface SessionScope {
  readonly service: BaseSessionService
  readonly appName: string
  readonly userId: string
}

interface SessionRequest extends SessionScope {
  readonly threadId: string
}

/** Runs work that may need the owner of a thread only. Undefined when it asks which thread it is. */
async function forAnyThread<T>(
  { app, user }: Identity,
  work: (thread: ThreadOwner) => Promise<T>,
): Promise<T | undefined> {
  const needsThread = new Error('No thread in particular.')
  const thread = {
    app,
    user,
    get threadId(): never {
      throw needsThread
    },
  }
  return work(thread).catch((error: unknown) => {
    if (error === needsThread) return undefined
    throw error
  })
}

type IdsByThread = Map<string, Promise<string | undefined>>

/** The latest ids that services have generated. */
class GeneratedIds {
  readonly #services = new WeakMap<BaseSessionService, IdsByThread>()
  readonly #remembered: number

  constructor(remembered: number) {
    this.#remembered = remembered
  }

  /** Shares a running look-up. Does not remember a failure, or a look-up without a result. */
  find<T extends string | undefined>(request: SessionRequest, lookUp: () => Promise<T>): Promise<string | T> {
    const ids = this.#idsOf(request)
    const name = threadName(request)
    const known = ids.get(name)
    ids.delete(name)
    const found: Promise<string | T> = Promise.resolve(known).then<string | T>((id) => id ?? lookUp())
    const entry = found.catch(() => undefined)
    ids.set(name, entry)
    void entry.then((id) => {
      if (id === undefined && ids.get(name) === entry) ids.delete(name)
    })
    for (const [oldest] of ids) {
      if (ids.size <= this.#remembered) break
      ids.delete(oldest)
    }
    return found
  }

  delete(request: SessionRequest): void {
    this.#idsOf(request).delete(threadName(request))
  }

  #idsOf({ service }: SessionRequest): IdsByThread {
    const ids = this.#services.get(service) ?? new Map<string, Promise<string | undefined>>()
    this.#services.set(service, ids)
    return ids
  }
}

function threadName({ appName, userId, threadId }: SessionRequest): string {
  return JSON.stringify([appName, userId, threadId])
}

async function created({ service, appName, userId, threadId }: SessionRequest): Promise<string> {
  const { id } = await service.createSession({ appName, userId, state: { [threadIdKey]: threadId } })
  return id
}

/** The session whose state names the thread. Of several, always the same. */
async function listed(request: SessionRequest): Promise<string | undefined> {
  const sessions = await sessionsWithState(request)
  const isOurs = ({ state }: Session): boolean => state[threadIdKey] === request.threadId
  return sessions
    .filter(isOurs)
    .map(({ id }) => id)
    .sort()[0]
}

async function ownSessions({ service, appName, userId }: SessionScope): Promise<readonly Session[]> {
  const { sessions } = await service.listSessions({ appName, userId })
  return sessions.filter((session) => session.userId === userId)
}

async function sessionsWithState(scope: SessionScope): Promise<readonly Session[]> {
  const { service, appName, userId } = scope
  const own = await ownSessions(scope)
  if (own.some(({ state }) => Object.keys(state).length > 0)) return own
  // The in-memory service lists sessions without their states.
  const loaded = await Promise.all(
    own.map(({ id }) =>
      service.getSession({ appName, userId, sessionId: id, config: { numRecentEvents: 1 } }),
    ),
  )
  return loaded.flatMap((session) => session ?? [])
}

/** The session of a run, and the service that keeps it. */
export interface SessionLocation {
  readonly service: BaseSessionService
  readonly key: SessionKey
}

const subagentServices = new WeakMap<object, BaseSessionService>()

/**
 * The session of an agent that runs below another one. Its conversation is not the thread's, so the session lasts as long
 * as the run: the agent above passes on all that it needs, and keeps its frame.
 */
export function subagentSession(
  ctx: RunContext,
  { appName, userId }: Omit<SessionKey, 'sessionId'>,
): SessionLocation {
  // All agents of a run share this one object.
  const service = subagentServices.get(ctx.values) ?? new RecentSessions({ memoryService: undefined })
  subagentServices.set(ctx.values, service)
  return { service, key: { appName, userId, sessionId: `${ctx.threadId}.${stableHash(ctx.span.address)}` } }
}
