import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Message } from '@ag-ui/core'
import {
  createEvent,
  DatabaseSessionService,
  FunctionTool,
  LlmAgent,
  LogLevel,
  Runner,
  setLogLevel,
  StreamingMode,
} from '@google/adk'
import { LibSqlDriver } from '@mikro-orm/libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { SessionKey } from '../../src/adk/adk-types.js'
import { SessionFinder } from '../../src/adk/session/find-session.js'
import { sessionMessages } from '../../src/adk/session/history.js'
import { planSession } from '../../src/adk/session/plan-session.js'
import { prepareRunSession } from '../../src/adk/session/run-session.js'
import { raceFreeSessions } from '../../src/adk/session/race-free-sessions.js'
import { sharedSessionState } from '../../src/adk/session/session-state.js'
import { startPostgres, type Postgres } from '../support/postgres.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'

setLogLevel(LogLevel.ERROR)

/** A place where databases are made. */
interface Engine {
  /** A new database. Gives services on it, each with connections of its own. */
  database(): Promise<() => DatabaseSessionService>
  stop(): Promise<void>
}

const engines = { SQLite: startSqlite, PostgreSQL: startPostgresEngine }

async function startSqlite(): Promise<Engine> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-sqlite-'))
  let count = 0
  return {
    database() {
      const dbName = join(folder, `${++count}.db`)
      return Promise.resolve(() => new DatabaseSessionService({ driver: LibSqlDriver, dbName }))
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  }
}

async function startPostgresEngine(): Promise<Engine> {
  const server: Postgres = await startPostgres()
  let count = 0
  return {
    async database() {
      const address = await server.database(`sessions_${++count}`)
      return () => new DatabaseSessionService(address)
    },
    stop: () => server.stop(),
  }
}

/** ADK has no way to end the connections of a service. */
async function disconnect(service: DatabaseSessionService): Promise<void> {
  const orm = Reflect.get(service, 'orm') as { close(force: boolean): Promise<void> } | undefined
  await orm?.close(true)
}

describe.each(Object.entries(engines))('sessions in %s', (name, start) => {
  let engine: Engine
  const services: DatabaseSessionService[] = []

  beforeAll(async () => {
    engine = await start()
  }, 120_000)

  afterAll(async () => {
    await Promise.all(services.map(disconnect))
    await engine.stop()
  }, 120_000)

  async function newDatabase(): Promise<() => DatabaseSessionService> {
    const connect = await engine.database()
    return () => {
      const service = connect()
      services.push(service)
      return service
    }
  }

  const key: SessionKey = { appName: 'app', userId: 'ann', sessionId: 'thread' }
  const ids = Array.from({ length: 8 }, (_, index) => `session-${index}`)

  describe('of ADK alone', () => {
    it('cannot be made at the same time for a new user', async () => {
      const service = (await newDatabase())()
      await service.init()
      const made = await Promise.allSettled(
        ids.map((sessionId) => service.createSession({ ...key, sessionId })),
      )
      expect(made.some(({ status }) => status === 'rejected')).toBe(true)
    })

    it('give back events of one millisecond in another order', async () => {
      const service = (await newDatabase())()
      const session = await service.createSession(key)
      const order = ids.slice()
      for (const id of order) {
        await service.appendEvent({
          session,
          event: createEvent({ id, author: 'user', invocationId: 'i', timestamp: 1_000 }),
        })
      }
      expect((await service.getSession(key))?.events.map(({ id }) => id)).not.toEqual(order)
    })

    // SQLite makes its tables without letting others in between.
    if (name === 'PostgreSQL') {
      it('cannot be used at the same time at first', async () => {
        const service = (await newDatabase())()
        const used = await Promise.allSettled(
          ids.map((sessionId) => service.getSession({ ...key, sessionId })),
        )
        expect(used.some(({ status }) => status === 'rejected')).toBe(true)
      })
    }
  })

  it('can be used at the same time at first, by several processes too', async () => {
    const connect = await newDatabase()
    const safe = [raceFreeSessions(connect()), raceFreeSessions(connect()), raceFreeSessions(connect())]
    const used = ids.flatMap((sessionId) => safe.map((service) => service.getSession({ ...key, sessionId })))
    expect(await Promise.all(used)).toEqual(used.map(() => undefined))
  })

  it('can be made at the same time, for a new user and for many, by several processes too', async () => {
    const connect = await newDatabase()
    const [one, two] = [raceFreeSessions(connect()), raceFreeSessions(connect())]
    const requests = ids.flatMap((sessionId) =>
      [key, { ...key, userId: sessionId }].map((k) => ({ ...k, sessionId })),
    )
    const made = await Promise.all(
      requests.flatMap((request) => [one.createSession(request), two.getOrCreateSession(request)]),
    )
    expect(made.map(({ id }) => id)).toEqual(requests.flatMap(({ sessionId }) => [sessionId, sessionId]))
    expect((await one.listSessions({ appName: 'app' })).totalItems).toBe(requests.length)
  })

  it('are found again by the thread when their ids are generated', async () => {
    const connect = await newDatabase()
    const thread = { app: 'app', user: 'ann', threadId: 't1' }
    const runner = (sessionService: DatabaseSessionService) => ({ ...key, sessionService })
    const finder = new SessionFinder({ sessionId: 'generated' })
    const first = connect()
    const found = await Promise.all([1, 2, 3].map(() => finder.find(thread, runner(first))))
    expect(new Set(found.map(({ sessionId }) => sessionId)).size).toBe(1)
    const later = new SessionFinder({ sessionId: 'generated' })
    expect(await later.existing(thread, runner(connect()))).toEqual(found[0])
    expect(await later.existing({ ...thread, user: 'bob' }, runner(first))).toBeUndefined()
  })

  interface RunOptions {
    readonly service: DatabaseSessionService
    readonly sessionId: string
    readonly messages: readonly Message[]
    readonly steps: readonly LlmStep[]
  }

  const weather = new FunctionTool({
    name: 'weather',
    description: 'Tells the weather.',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }, context) => {
      context?.state.set('lastCity', city)
      return { city, degrees: 21, nested_key: { someKey: [1, null] } }
    },
  })

  async function run({ service, sessionId, messages, steps }: RunOptions) {
    let answers = 0
    const session = await prepareRunSession({
      service: raceFreeSessions(service),
      key: { ...key, sessionId },
      plan: ({ events }) =>
        planSession({
          events,
          messages,
          answers: [],
          saved: [],
          rootAuthor: 'root',
          toModelName: (same) => same,
        }),
      temp: { token: 'secret' },
      mark: ({ content }) =>
        content?.role === 'model'
          ? { runId: 'r', messageIds: [`${sessionId}-${messages.length}-${++answers}`] }
          : { runId: 'r' },
    })
    const llm = new ScriptedLlm(steps)
    const agent = new LlmAgent({ name: 'root', model: llm, tools: [weather] })
    const runner = new Runner({ appName: 'app', agent, sessionService: session.service })
    const { content: newMessage } = session.plan.news
    if (!newMessage) throw new Error('There is nothing to do.')
    const request = { userId: 'ann', sessionId, newMessage, runConfig: { streamingMode: StreamingMode.SSE } }
    for await (const _ of runner.runAsync({ ...request, stateDelta: { turn: messages.length } })) continue
    return { session, llm, messages: sessionMessages(session.session.events, { rootAuthor: 'root' }) }
  }

  it('keep the order of events, however fast they come', async () => {
    const service = (await newDatabase())()
    const messages: Message[] = [{ id: 'u1', role: 'user', content: 'Hello' }]
    const { session } = await run({ service, sessionId: 'fast', messages, steps: [says('Hello')] })
    const timestamp = Date.now()
    const order = Array.from({ length: 50 }, (_, index) => `event-${index}`)
    for (const id of order) {
      const event = createEvent({ id, author: 'root', invocationId: 'i', timestamp })
      await session.service.appendEvent({ session: session.session, event })
    }
    const stored = await service.getSession({ ...key, sessionId: 'fast' })
    expect(stored?.events.slice(2).map(({ id }) => id)).toEqual(order)
  })

  it('hold a conversation with tool calls that another process goes on with', async () => {
    const connect = await newDatabase()
    const question: Message = { id: 'u1', role: 'user', content: 'Oslo?' }
    const steps = [callsTool({ name: 'weather', id: 'c1', args: { city: 'Oslo' } }), says('21 ', 'degrees.')]
    const first = await run({ service: connect(), sessionId: 'thread', messages: [question], steps })
    expect(first.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])

    const other = connect()
    const stored = await raceFreeSessions(other).getSession(key)
    expect(stored && sessionMessages(stored.events, { rootAuthor: 'root' })).toEqual(first.messages)
    expect(stored && sharedSessionState(stored)).toEqual({ lastCity: 'Oslo', turn: 1 })
    expect(JSON.stringify(stored)).not.toContain('secret')

    const next: Message = { id: 'u2', role: 'user', content: 'And tomorrow?' }
    const messages = [...first.messages, next]
    const second = await run({ service: other, sessionId: 'thread', messages, steps: [says('22.')] })
    expect(second.session.plan).toMatchObject({ cut: [], add: [], news: { messageIds: ['u2'] } })
    expect(second.llm.calls[0]?.map(({ role }) => role)).toEqual(['user', 'model', 'user', 'model', 'user'])

    const edited: Message = { id: 'u3', role: 'user', content: 'And Paris?' }
    const third = await run({
      service: other,
      sessionId: 'thread',
      messages: [question, edited],
      steps: [says('30.')],
    })
    const reloaded = await raceFreeSessions(connect()).getSession(key)
    expect(third.messages.map(({ content }) => content)).toEqual(['Oslo?', 'And Paris?', '30.'])
    expect(reloaded && sessionMessages(reloaded.events, { rootAuthor: 'root' })).toEqual(third.messages)
  })

  it('hold twenty conversations at the same time apart', async () => {
    const service = (await newDatabase())()
    const threads = Array.from({ length: 20 }, (_, index) => `thread-${index}`)
    await Promise.all(
      threads.map(async (sessionId) => {
        const steps = [callsTool({ name: 'weather', args: { city: sessionId } }), says(`of ${sessionId}`)]
        const messages: Message[] = [{ id: `u-${sessionId}`, role: 'user', content: sessionId }]
        const { messages: seen } = await run({ service, sessionId, messages, steps })
        const stored = await service.getSession({ ...key, sessionId })
        expect(stored && sessionMessages(stored.events, { rootAuthor: 'root' })).toEqual(seen)
        expect(stored && sharedSessionState(stored)).toEqual({ lastCity: sessionId, turn: 1 })
        expect(seen.at(-1)).toMatchObject({ content: `of ${sessionId}` })
      }),
    )
  }, 120_000)
})
