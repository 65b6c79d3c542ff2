import { InMemorySessionService, type ListSessionsRequest } from '@google/adk'
import { describe, expect, it } from 'vitest'
import { createSessionFinder, type SessionRequest } from './find-session.js'

function at(service: InMemorySessionService, threadId = 't1', userId = 'ann'): SessionRequest {
  return { service, appName: 'app', userId, thread: { app: 'a', user: userId, threadId } }
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
    expect(await createSessionFinder()(at(service))).toEqual({ ...key, sessionId: 't1' })
    const find = createSessionFinder({ sessionId: ({ threadId }) => Promise.resolve(`adk-${threadId}`) })
    expect(await find(at(service))).toEqual({ ...key, sessionId: 'adk-t1' })
    expect(await find.existing(at(service))).toEqual({ ...key, sessionId: 'adk-t1' })
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
    const find = createSessionFinder(options)
    const found = await Promise.all([find(at(service)), find(at(service)), find(at(service))])
    expect(new Set(found.map(({ sessionId }) => sessionId)).size).toBe(1)
    expect(found[0].sessionId).not.toBe('t1')
    expect(service.lists).toBe(1)
    expect((await service.listSessions({ appName: 'app' })).totalItems).toBe(1)
  })

  it('is found again by who does not remember it', async () => {
    const service = new Service()
    await service.createSession({ appName: 'app', userId: 'ann', state: { other: 1 } })
    const made = await createSessionFinder(options)(at(service))
    expect(await createSessionFinder(options)(at(service))).toEqual(made)
    expect(await createSessionFinder(options).existing(at(service))).toEqual(made)
  })

  it('is never that of another user or another thread', async () => {
    const service = new Service()
    const find = createSessionFinder(options)
    const ids = [await find(at(service)), await find(at(service, 't1', 'bob')), await find(at(service, 't2'))]
    expect(new Set(ids.map(({ sessionId }) => sessionId)).size).toBe(3)
  })

  it('is not made for who only looks', async () => {
    const service = new Service()
    const find = createSessionFinder(options)
    expect(await find.existing(at(service))).toBeUndefined()
    expect((await service.listSessions({ appName: 'app' })).totalItems).toBe(0)
    const [looked, made] = await Promise.all([find.existing(at(service)), find(at(service))])
    expect(looked === undefined || looked.sessionId === made.sessionId).toBe(true)
    expect(await find.existing(at(service))).toEqual(made)
  })

  it('is looked for again when the session was deleted', async () => {
    const service = new Service()
    const find = createSessionFinder(options)
    const first = await find(at(service))
    await service.deleteSession(first)
    find.forget(at(service))
    expect(await find.existing(at(service))).toBeUndefined()
    expect((await find(at(service))).sessionId).not.toBe(first.sessionId)
  })

  it('is remembered for as many threads as there is room', async () => {
    const service = new Service()
    const find = createSessionFinder({ ...options, remembered: 2 })
    const [one] = [await find(at(service, 'one')), await find(at(service, 'two'))]
    await find(at(service, 'one'))
    await find(at(service, 'three'))
    const { lists } = service
    expect(await find(at(service, 'one'))).toEqual(one)
    expect(service.lists).toBe(lists)
    await find(at(service, 'two'))
    expect(service.lists).toBe(lists + 1)
  })

  it('is asked for again after the service has failed', async () => {
    const service = new Service()
    const createSession = service.createSession.bind(service)
    service.createSession = () => Promise.reject(new Error('down'))
    const find = createSessionFinder(options)
    await expect(find(at(service))).rejects.toThrow('down')
    service.createSession = createSession
    expect(await find(at(service))).toMatchObject({ userId: 'ann' })
  })
})
