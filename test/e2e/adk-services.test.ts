import {
  FunctionTool,
  InMemoryMemoryService,
  InMemorySessionService,
  LlmAgent,
  LOAD_ARTIFACTS,
  LOAD_MEMORY,
  PRELOAD_MEMORY,
  Runner,
  SequentialAgent,
  type BaseTool,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import { fromAdk, type AdkOptions } from '../../src/adk/index.js'
import { RecentSessions } from '../../src/adk/session/recent-sessions.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import { historyOf, requestLines, serveAdk, stateOf, textIn } from '../support/adk/serve-adk.js'
import { linesOf, serveAgents, type ServedAgents } from '../support/serve-agents.js'

const identify = (request: Request) => ({ user: request.headers.get('x-user') ?? 'nobody' })
const ann = { 'x-user': 'ann' }

function agentWith(steps: readonly LlmStep[], tools: BaseTool[] = []) {
  const llm = new ScriptedLlm(steps)
  return { llm, root: new LlmAgent({ name: 'helper', model: llm, tools }) }
}

/** A session as another program has left it. */
async function leaveSession(
  service: InMemorySessionService,
  sessionId: string,
  userId = 'ann',
  text = 'Hello',
) {
  const runner = new Runner({
    appName: 'helper',
    agent: agentWith([says('Hi.')]).root,
    sessionService: service,
  })
  await service.createSession({ appName: 'helper', userId, sessionId })
  const newMessage = { role: 'user', parts: [{ text }] }
  for await (const _ of runner.runAsync({ userId, sessionId, newMessage })) continue
}

interface ListedThread {
  readonly threadId: string
  readonly title: string
  readonly status: string
  readonly messageCount: number
}

async function listOf(served: ServedAgents, query = '', headers = ann) {
  const { body } = await served.ask(`GET /thread/list${query}`, { headers })
  return body as { threads: ListedThread[]; nextCursor?: string }
}

describe('with a function that makes Runners', () => {
  async function serveFactory(steps: readonly LlmStep[]) {
    const sessionService = new InMemorySessionService()
    const memoryService = new InMemoryMemoryService()
    const { llm, root } = agentWith(steps)
    const agent = fromAdk(
      () => new Runner({ appName: 'helper', agent: root, sessionService, memoryService }),
      { name: 'maker' },
    )
    const session = (sessionId: string) =>
      sessionService.getSession({ appName: 'helper', userId: 'ann', sessionId })
    const remembered = async () =>
      JSON.stringify(await memoryService.searchMemory({ appName: 'helper', userId: 'ann', query: 'Secret' }))
    return {
      ...{ llm, session, sessionService, remembered },
      served: await serveAgents({ agents: [agent], identify }),
    }
  }

  it('a deleted thread is gone from the session service, and long-term memory has received it', async () => {
    const { served, session, remembered } = await serveFactory([says('Secret noted.')])
    await served.talk({ headers: ann }).say('Note it')
    expect((await session('thread-1'))?.events).toHaveLength(2)
    const { status, body } = await served.ask('DELETE /thread/thread-1', { headers: ann })
    expect([status, body]).toEqual([200, { status: 'deleted' }])
    expect(await session('thread-1')).toBeUndefined()
    expect(await remembered()).toContain('Secret noted.')
  })

  it('a session of another program is a thread: read, listed, patched and deleted', async () => {
    const { served, session, sessionService } = await serveFactory([])
    await leaveSession(sessionService, 'elsewhere')
    expect(linesOf(await historyOf(served, 'elsewhere', ann))).toEqual(['user: Hello', 'assistant: Hi.'])
    expect((await listOf(served)).threads).toMatchObject([{ threadId: 'elsewhere', title: 'Hello' }])
    const body = [{ op: 'add', path: '/theme', value: 'dark' }]
    expect((await served.ask('PATCH /state/elsewhere', { headers: ann, body })).status).toBe(200)
    expect((await session('elsewhere'))?.state).toMatchObject({ theme: 'dark' })
    expect(await stateOf(served, 'elsewhere', ann)).toEqual({ theme: 'dark' })
    expect((await served.ask('DELETE /thread/elsewhere', { headers: ann })).status).toBe(200)
    expect(await session('elsewhere')).toBeUndefined()
  })
})

describe('a session that another program made, without events', () => {
  async function serveEmpty(steps: readonly LlmStep[] = []) {
    const sessionService = new InMemorySessionService()
    const key = { appName: 'helper', userId: 'ann', sessionId: 'made' }
    await sessionService.createSession({ ...key, state: { theme: 'dark', 'temp:x': 1 } })
    const { llm, root } = agentWith(steps)
    const served = await serveAgents({ agents: [fromAdk(root, { sessionService })], identify })
    return { llm, served, session: () => sessionService.getSession(key) }
  }

  it('is a thread with a state: read, connected to, patched and deleted', async () => {
    const { served, session } = await serveEmpty()
    expect(await stateOf(served, 'made', ann)).toEqual({ theme: 'dark' })
    expect(await historyOf(served, 'made', ann)).toEqual([])
    const { events } = await served.stream('/connect', { headers: ann, body: { threadId: 'made' } })
    expect(events.find(({ type }) => type === 'STATE_SNAPSHOT')).toMatchObject({
      snapshot: { theme: 'dark' },
    })
    const body = [{ op: 'replace', path: '/theme', value: 'light' }]
    expect((await served.ask('PATCH /state/made', { headers: ann, body })).status).toBe(200)
    expect((await session())?.state).toMatchObject({ theme: 'light' })
    expect((await served.ask('DELETE /thread/made', { headers: ann })).status).toBe(200)
    expect(await session()).toBeUndefined()
    expect((await served.ask('GET /state_snapshot/made', { headers: ann })).status).toBe(404)
  })

  it('takes the history that a client brings, and keeps its state', async () => {
    const { llm, served, session } = await serveEmpty([says('As I said.')])
    const talk = served.talk({ threadId: 'made', headers: ann })
    talk.client.setMessages([
      { id: 'u1', role: 'user', content: 'Hello' },
      { id: 'a1', role: 'assistant', content: 'Hi.' },
    ])
    await talk.say('What?')
    expect(requestLines(llm.calls[0])).toEqual(['user: Hello', 'model: Hi.', 'user: What?'])
    expect(talk.client.state).toEqual({ theme: 'dark' })
    expect((await session())?.state).toEqual({ theme: 'dark' })
  })
})

describe('the list of threads', () => {
  async function serveSessions(
    options: AdkOptions = {},
    steps: readonly LlmStep[] = [says('Yes.'), says('Yes.')],
  ) {
    const sessionService = new InMemorySessionService()
    const agent = fromAdk(agentWith(steps).root, { sessionService, ...options })
    return { sessionService, served: await serveAgents({ agents: [agent], identify }) }
  }

  it('has sessions that only the session service knows, after all others, and of this user only', async () => {
    const { served, sessionService } = await serveSessions()
    await leaveSession(sessionService, 'elsewhere')
    await leaveSession(sessionService, 'of-bob', 'bob')
    await served.talk({ threadId: 'ours', headers: ann }).say('Here?')
    const { threads, nextCursor } = await listOf(served)
    expect(threads).toMatchObject([
      { threadId: 'ours', title: 'Here?', messageCount: 2 },
      { threadId: 'elsewhere', title: 'Hello', status: 'idle', messageCount: 2 },
    ])
    expect(nextCursor).toBeUndefined()
    // Once it is stored, it stands among the others, and not twice.
    await served.talk({ threadId: 'elsewhere', headers: ann }).say('Go on')
    const after = await listOf(served)
    expect(after.threads.map(({ threadId }) => threadId)).toEqual(['elsewhere', 'ours'])
  })

  it.each([1, 2, 3, 5])('has each of them once, in pages of %i', async (limit) => {
    const { served, sessionService } = await serveSessions()
    for (const id of ['a', 'b', 'c', 'd']) await leaveSession(sessionService, id)
    await served.talk({ threadId: 'ours', headers: ann }).say('Here?')
    const seen: string[] = []
    let cursor = ''
    do {
      const page = await listOf(served, `?limit=${limit}${cursor}`)
      expect(page.threads.length).toBeLessThanOrEqual(limit)
      seen.push(...page.threads.map(({ threadId }) => threadId))
      cursor = page.nextCursor === undefined ? '' : `&cursor=${encodeURIComponent(page.nextCursor)}`
    } while (cursor !== '')
    expect(seen[0]).toBe('ours')
    expect(seen.toSorted()).toEqual(['a', 'b', 'c', 'd', 'ours'])
  })

  it('has sessions without events too: every page but the last is full', async () => {
    const { served, sessionService } = await serveSessions()
    await leaveSession(sessionService, 'talked')
    for (const sessionId of ['empty-1', 'empty-2', 'empty-3'])
      await sessionService.createSession({ appName: 'helper', userId: 'ann', sessionId })
    const first = await listOf(served, '?limit=3')
    const second = await listOf(served, `?limit=3&cursor=${encodeURIComponent(first.nextCursor ?? '')}`)
    expect([first.threads.length, second.threads.length, second.nextCursor]).toEqual([3, 1, undefined])
    const all = [...first.threads, ...second.threads]
    const ids = all.map(({ threadId }) => threadId).toSorted()
    expect(ids).toEqual(['empty-1', 'empty-2', 'empty-3', 'talked'])
    expect(all.find(({ threadId }) => threadId === 'empty-1')).toMatchObject({ title: '', messageCount: 0 })
  })

  it('finds them by a function of the user, and leaves them out when it needs to know the thread', async () => {
    const byUser = await serveSessions({ userId: ({ app, user }) => `${app}/${user}` })
    await leaveSession(byUser.sessionService, 'elsewhere', 'default/ann')
    expect((await listOf(byUser.served)).threads).toHaveLength(1)
    const byThread = await serveSessions({ userId: ({ threadId }) => `user of ${threadId}` })
    await leaveSession(byThread.sessionService, 'elsewhere', 'user of elsewhere')
    expect((await listOf(byThread.served)).threads).toEqual([])
    expect(await historyOf(byThread.served, 'elsewhere', ann)).toHaveLength(2)
  })

  it('has sessions with generated ids under the ids of their threads', async () => {
    const { served, sessionService } = await serveSessions({ sessionId: 'generated' })
    await served.talk({ threadId: 'ours', headers: ann }).say('Here?')
    await leaveSession(sessionService, 'not-ours')
    // As another server with the same session service and another thread store sees it.
    const agent = fromAdk(agentWith([]).root, { sessionService, sessionId: 'generated' })
    const other = await serveAgents({ agents: [agent], identify })
    expect((await listOf(other)).threads).toMatchObject([{ threadId: 'ours', title: 'Here?' }])
    expect((await listOf(served)).threads).toHaveLength(1)
  })
})

describe('sessions that nobody gave a service for', () => {
  it('go before their threads, the longest unused first, after long-term memory has received them', async () => {
    const given: string[] = []
    const memoryService = new InMemoryMemoryService()
    memoryService.addSessionToMemory = ({ id }) => Promise.resolve(void given.push(id))
    const sessionService = new RecentSessions({ memoryService, max: 2 })
    const { llm, root } = agentWith(['A1.', 'B1.', 'A2.', 'C1.', 'B2.'].map((text) => says(text)))
    const served = await serveAdk({ make: () => fromAdk(root, { sessionService }), store: 'sqlite' })
    const [a, b, c] = ['a', 'b', 'c'].map((threadId) => served.talk({ threadId }))
    await a?.say('To A')
    await b?.say('To B')
    await a?.say('More')
    expect(given).toEqual([])
    await c?.say('To C')
    expect(given).toEqual(['b'])
    const { sessions } = await sessionService.listSessions({ appName: 'helper', userId: 'local' })
    expect(sessions.map(({ id }) => id)).toEqual(['a', 'c'])
    // Its thread goes on as if nothing had happened.
    expect(textIn((await b?.say('More')) ?? [])).toBe('B2.')
    expect(requestLines(llm.calls[4])).toEqual(['user: To B', 'model: B1.', 'user: More'])
    expect(given).toEqual(['b', 'a'])
  })

  it('stay when long-term memory refuses them, and the run does not mind', async () => {
    const memoryService = new InMemoryMemoryService()
    memoryService.addSessionToMemory = () => Promise.reject(new Error('No room.'))
    const sessionService = new RecentSessions({ memoryService, max: 1 })
    const { root } = agentWith([says('A.'), says('B.')])
    const served = await serveAdk({ make: () => fromAdk(root, { sessionService }) })
    await served.talk({ threadId: 'a' }).say('Go')
    expect(textIn(await served.talk({ threadId: 'b' }).say('Go'))).toBe('B.')
    expect(served.logged.join()).toContain('warn')
    expect((await sessionService.listSessions({ appName: 'helper', userId: 'local' })).sessions).toHaveLength(
      2,
    )
  })
})

describe('without services in memory', () => {
  const sessionsOnly = (): AdkOptions => ({
    inMemoryServices: false,
    sessionService: new InMemorySessionService(),
  })

  it('a session service alone is enough', async () => {
    const { root } = agentWith([says('One.'), says('Two.')])
    const talk = (await serveAdk({ make: () => fromAdk(root, sessionsOnly()) })).talk()
    await talk.say('Go')
    expect(textIn(await talk.say('On'))).toBe('Two.')
  })

  it('a missing session service is an error at once', () => {
    const make = () => fromAdk(agentWith([]).root, { inMemoryServices: false })
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }) as Error)
    expect(make).toThrow(/sessionService/)
  })

  it.each([
    ['load_artifacts', 'artifactService', LOAD_ARTIFACTS],
    ['load_memory', 'memoryService', LOAD_MEMORY],
    ['preload_memory', 'memoryService', PRELOAD_MEMORY],
  ])('the tool %s needs its %s, anywhere in the tree', (name, service, tool) => {
    const { root } = agentWith([], [tool])
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- people use it
    const line = new SequentialAgent({ name: 'line', subAgents: [root] })
    const make = () => fromAdk(line, sessionsOnly())
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }) as Error)
    expect(make).toThrow(new RegExp(`'${name}' of agent 'helper' needs .${service}`))
  })

  it('a tool that saves an artifact gets the error', async () => {
    const save = new FunctionTool({
      name: 'save',
      description: 'Saves.',
      execute: async (_, context) => String(await context?.saveArtifact('a.txt', { text: 'x' })),
    })
    const { llm, root } = agentWith([callsTool({ name: 'save' }), says('Sorry.')], [save])
    const talk = (await serveAdk({ make: () => fromAdk(root, sessionsOnly()) })).talk()
    expect(textIn(await talk.say('Go'))).toBe('Sorry.')
    expect(requestLines(llm.calls[1]).at(-1)).toContain('Artifact service is not initialized')
  })
})
