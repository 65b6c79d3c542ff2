import {
  BaseSessionService,
  createEvent,
  InMemorySessionService,
  type CreateSessionRequest,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import { safeSessions } from './safe-service.js'

const key = { appName: 'app', userId: 'ann', sessionId: 's' }

describe('a session service made safe', () => {
  it('is one for each service, and a session service itself', () => {
    const service = new InMemorySessionService()
    const safe = safeSessions(service)
    expect(safeSessions(service)).toBe(safe)
    expect(safeSessions(safe)).toBe(safe)
    expect(safeSessions(new InMemorySessionService())).not.toBe(safe)
    expect(safe).toBeInstanceOf(BaseSessionService)
  })

  it('does not replace a session that is there', async () => {
    const safe = safeSessions(new InMemorySessionService())
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
    const safe = safeSessions(new Special()) as Special
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
    const safe = safeSessions(service)
    await Promise.all([safe.getSession(key), safe.createSession(key), safe.listSessions({ appName: 'app' })])
    await safe.getSession(key)
    expect(service.calls).toBe(1)
  })

  it('goes on when another process makes them at the same time', async () => {
    const service = new Tables()
    service.failures = [new Error('table "events" already exists'), new Error('duplicate key value')]
    expect(await safeSessions(service).getSession(key)).toBeUndefined()
    expect(service.calls).toBe(3)
  })

  it('fails when they cannot be made, and is tried again by the next who comes', async () => {
    const service = new Tables()
    service.failures = [new Error('connection refused')]
    const safe = safeSessions(service)
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
      ['a', 'b', 'c'].map((sessionId) => safeSessions(one).createSession({ ...key, sessionId })),
    )
    expect(one.most).toBe(1)
    const many = new Racing()
    await Promise.all(['a', 'b', 'c'].map((userId) => safeSessions(many).createSession({ ...key, userId })))
    expect(many.most).toBeGreaterThan(1)
  })

  it('makes one session of several requests for it', async () => {
    const service = new Racing()
    const made = await Promise.all([1, 2, 3].map(() => safeSessions(service).createSession(key)))
    expect(made.map(({ id }) => id)).toEqual(['s', 's', 's'])
    expect((await service.listSessions({ appName: 'app' })).totalItems).toBe(1)
  })

  it('tries again when a row that sessions share was made meanwhile', async () => {
    const service = new Racing()
    service.failures = [Object.assign(new Error('insert'), { code: '23505' })]
    expect(await safeSessions(service).createSession(key)).toMatchObject({ id: 's' })
  })

  it('gives the session that another process made meanwhile', async () => {
    class Overtaken extends InMemorySessionService {
      override async createSession(request: CreateSessionRequest): Promise<never> {
        await super.createSession({ ...request, state: { theirs: true } })
        throw new Error('Session with id s already exists.')
      }
    }
    expect(await safeSessions(new Overtaken()).createSession(key)).toMatchObject({ state: { theirs: true } })
  })

  it('fails as it fails otherwise, and does not stop the next', async () => {
    const service = new Racing()
    service.failures = [new Error('disk full')]
    const [first, second] = await Promise.allSettled(
      [1, 2].map(() => safeSessions(service).createSession(key)),
    )
    expect(first).toMatchObject({ reason: { message: 'disk full' } })
    expect(second).toMatchObject({ value: { id: 's' } })
  })
})
