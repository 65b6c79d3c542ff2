import {
  BaseSessionService,
  createEvent,
  InMemorySessionService,
  type CreateSessionRequest,
  type ListSessionsRequest,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import { SessionFinder } from './find-session.js'
import { raceFreeSessions } from './race-free-sessions.js'

/** The arguments of a finder's methods. */
function at(sessionService: InMemorySessionService, threadId = 't1', user = 'ann') {
  return [
    { app: 'a', user, threadId },
    { appName: 'app', sessionService },
  ] as const
}

class Listing extends InMemorySessionService {
  lists = 0
  override listSessions(request: ListSessionsRequest) {
    this.lists++
    return super.listSessions(request)
  }
}

/** A service that lists sessions with their states, as those with a database do. */
class Stateful extends Listing {
  override async listSessions(request: ListSessionsRequest) {
    const list = await super.listSessions(request)
    const { appName } = request
    const loaded = list.sessions.map(({ id, userId }) => super.getSession({ appName, userId, sessionId: id }))
    return { ...list, sessions: (await Promise.all(loaded)).flatMap((session) => session ?? []) }
  }
}

describe('the session of a thread', () => {
  it('has the id of the thread, or the one that a function gives', async () => {
    const service = new Listing()
    const key = { appName: 'app', userId: 'ann' }
    expect(await new SessionFinder({}).find(...at(service))).toEqual({ ...key, sessionId: 't1' })
    const finder = new SessionFinder({ sessionId: ({ threadId }) => Promise.resolve(`adk-${threadId}`) })
    expect(await finder.find(...at(service))).toEqual({ ...key, sessionId: 'adk-t1' })
    expect(await finder.existing(...at(service))).toEqual({ ...key, sessionId: 'adk-t1' })
    expect(service.lists).toBe(0)
  })
})

describe.each([
  ['without', Listing],
  ['with', Stateful],
])('a generated session id, from a service that lists sessions %s their states', (_, Service) => {
  const options = { sessionId: 'generated' } as const

  it('is made once for a thread, also when several runs begin together', async () => {
    const service = new Service()
    const finder = new SessionFinder(options)
    const found = await Promise.all([
      finder.find(...at(service)),
      finder.find(...at(service)),
      finder.find(...at(service)),
    ])
    expect(new Set(found.map(({ sessionId }) => sessionId)).size).toBe(1)
    expect(found[0].sessionId).not.toBe('t1')
    expect(service.lists).toBe(1)
    expect((await service.listSessions({ appName: 'app' })).totalItems).toBe(1)
  })

  it('is found again by who does not remember it', async () => {
    const service = new Service()
    await service.createSession({ appName: 'app', userId: 'ann', state: { other: 1 } })
    const made = await new SessionFinder(options).find(...at(service))
    expect(await new SessionFinder(options).find(...at(service))).toEqual(made)
    expect(await new SessionFinder(options).existing(...at(service))).toEqual(made)
  })

  it('is never that of another user or another thread', async () => {
    const service = new Service()
    const finder = new SessionFinder(options)
    const ids = [
      await finder.find(...at(service)),
      await finder.find(...at(service, 't1', 'bob')),
      await finder.find(...at(service, 't2')),
    ]
    expect(new Set(ids.map(({ sessionId }) => sessionId)).size).toBe(3)
  })

  it('is not made for who only looks', async () => {
    const service = new Service()
    const finder = new SessionFinder(options)
    expect(await finder.existing(...at(service))).toBeUndefined()
    expect((await service.listSessions({ appName: 'app' })).totalItems).toBe(0)
    const [looked, made] = await Promise.all([finder.existing(...at(service)), finder.find(...at(service))])
    expect(looked === undefined || looked.sessionId === made.sessionId).toBe(true)
    expect(await finder.existing(...at(service))).toEqual(made)
  })

  it('is looked for again when the session was deleted', async () => {
    const service = new Service()
    const finder = new SessionFinder(options)
    const first = await finder.find(...at(service))
    await service.deleteSession(first)
    await finder.forget(...at(service))
    expect(await finder.existing(...at(service))).toBeUndefined()
    expect((await finder.find(...at(service))).sessionId).not.toBe(first.sessionId)
  })

  it('is remembered for as many threads as there is room', async () => {
    const service = new Service()
    const finder = new SessionFinder({ ...options, remembered: 2 })
    const [one] = [await finder.find(...at(service, 'one')), await finder.find(...at(service, 'two'))]
    await finder.find(...at(service, 'one'))
    await finder.find(...at(service, 'three'))
    const { lists } = service
    expect(await finder.find(...at(service, 'one'))).toEqual(one)
    expect(service.lists).toBe(lists)
    await finder.find(...at(service, 'two'))
    expect(service.lists).toBe(lists + 1)
  })

  it('is asked for again after the service has failed', async () => {
    const service = new Service()
    const createSession = service.createSession.bind(service)
    service.createSession = () => Promise.reject(new Error('down'))
    const finder = new SessionFinder(options)
    await expect(finder.find(...at(service))).rejects.toThrow('down')
    service.createSession = createSession
    expect(await finder.find(...at(service))).toMatchObject({ userId: 'ann' })
  })
})

describe('a safe session service', () => {
  const key = { appName: 'app', userId: 'ann', sessionId: 's' }

  describe('a session service made safe', () => {
    it('is one for each service, and a session service itself', () => {
      const service = new InMemorySessionService()
      const safe = raceFreeSessions(service)
      expect(raceFreeSessions(service)).toBe(safe)
      expect(raceFreeSessions(safe)).toBe(safe)
      expect(raceFreeSessions(new InMemorySessionService())).not.toBe(safe)
      expect(safe).toBeInstanceOf(BaseSessionService)
    })

    it('does not replace a session that is there', async () => {
      const safe = raceFreeSessions(new InMemorySessionService())
      const session = await safe.createSession({ ...key, state: { a: 1 } })
      await safe.appendEvent({ session, event: createEvent({ author: 'user', invocationId: 'i' }) })
      for (const again of [await safe.createSession(key), await safe.getOrCreateSession(key)]) {
        expect(again).toMatchObject({ id: 's', state: { a: 1 }, events: [{ author: 'user' }] })
      }
    })

    it('delegates all else, members of the class that nobody knows of too', async () => {
      class Special extends InMemorySessionService {
        readonly #secret = 'secret'
        readonly label = 'mine'
        flush(suffix: string): string {
          return this.#secret + suffix
        }
      }
      const safe = raceFreeSessions(new Special()) as Special
      expect(safe.flush('!')).toBe('secret!')
      expect(safe.label).toBe('mine')
      await safe.createSession(key)
      expect((await safe.listSessions({ appName: 'app' })).totalItems).toBe(1)
      await safe.deleteSession(key)
      expect(await safe.getSession(key)).toBeUndefined()
    })
  })

  describe('a service with tables', () => {
    class Tables extends InMemorySessionService {
      calls = 0
      failures: Error[] = []
      async init(): Promise<void> {
        this.calls++
        await Promise.resolve()
        const failure = this.failures.shift()
        if (failure) throw failure
      }
    }

    it('makes them once, however many begin', async () => {
      const service = new Tables()
      const safe = raceFreeSessions(service)
      await Promise.all([
        safe.getSession(key),
        safe.createSession(key),
        safe.listSessions({ appName: 'app' }),
      ])
      await safe.getSession(key)
      expect(service.calls).toBe(1)
    })

    it('goes on when another process makes them at the same time', async () => {
      const service = new Tables()
      service.failures = [new Error('table "events" already exists'), new Error('duplicate key value')]
      expect(await raceFreeSessions(service).getSession(key)).toBeUndefined()
      expect(service.calls).toBe(3)
    })

    it('fails when they cannot be made, and is tried again by the next who comes', async () => {
      const service = new Tables()
      service.failures = [new Error('connection refused')]
      const safe = raceFreeSessions(service)
      await expect(Promise.all([safe.getSession(key), safe.getSession(key)])).rejects.toThrow(
        'connection refused',
      )
      expect(await safe.getSession(key)).toBeUndefined()
      expect(service.calls).toBe(2)
    })
  })

  describe('a service that is slow to make sessions', () => {
    class Racing extends InMemorySessionService {
      atWork = 0
      most = 0
      failures: Error[] = []
      override async createSession(request: CreateSessionRequest) {
        this.atWork++
        this.most = Math.max(this.most, this.atWork)
        await Promise.resolve()
        this.atWork--
        const failure = this.failures.shift()
        if (failure) throw failure
        return super.createSession(request)
      }
    }

    it('makes one at a time for a user, and those of several users together', async () => {
      const one = new Racing()
      await Promise.all(
        ['a', 'b', 'c'].map((sessionId) => raceFreeSessions(one).createSession({ ...key, sessionId })),
      )
      expect(one.most).toBe(1)
      const many = new Racing()
      await Promise.all(
        ['a', 'b', 'c'].map((userId) => raceFreeSessions(many).createSession({ ...key, userId })),
      )
      expect(many.most).toBeGreaterThan(1)
    })

    it('makes one session of several requests for it', async () => {
      const service = new Racing()
      const made = await Promise.all([1, 2, 3].map(() => raceFreeSessions(service).createSession(key)))
      expect(made.map(({ id }) => id)).toEqual(['s', 's', 's'])
      expect((await service.listSessions({ appName: 'app' })).totalItems).toBe(1)
    })

    it('tries again when a row that sessions share was made meanwhile', async () => {
      const service = new Racing()
      service.failures = [Object.assign(new Error('insert'), { code: '23505' })]
      expect(await raceFreeSessions(service).createSession(key)).toMatchObject({ id: 's' })
    })

    it('gives the session that another process made meanwhile', async () => {
      class Overtaken extends InMemorySessionService {
        override async createSession(request: CreateSessionRequest): Promise<never> {
          await super.createSession({ ...request, state: { theirs: true } })
          throw new Error('Session with id s already exists.')
        }
      }
      expect(await raceFreeSessions(new Overtaken()).createSession(key)).toMatchObject({
        state: { theirs: true },
      })
    })

    it('fails as it fails otherwise, and does not stop the next', async () => {
      const service = new Racing()
      service.failures = [new Error('disk full')]
      const [first, second] = await Promise.allSettled(
        [1, 2].map(() => raceFreeSessions(service).createSession(key)),
      )
      expect(first).toMatchObject({ reason: { message: 'disk full' } })
      expect(second).toMatchObject({ value: { id: 's' } })
    })
  })
})
