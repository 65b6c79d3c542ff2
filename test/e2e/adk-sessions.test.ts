import type { Message } from '@ag-ui/core'
import {
  FunctionTool,
  InMemoryMemoryService,
  InMemorySessionService,
  LlmAgent,
  Runner,
  StreamingMode,
  type Event,
  type LlmAgentConfig,
  type Session,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk, type AdkOptions } from '../../src/adk/index.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import {
  requestLines,
  callId,
  clientTool,
  historyOf,
  serveAdk,
  stateOf,
  textIn,
  type ServeAdkOptions,
} from '../support/adk/serve-adk.js'
import { ofType } from '../support/run-agent.js'
import { clientVersions, linesOf, serveAgents } from '../support/serve-agents.js'
import { newClient, oldClient } from './support-clients.js'

const runs: string[] = []
const tools = [
  new FunctionTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({ what: z.string() }),
    execute: ({ what }, context) => {
      runs.push(what)
      context?.state.set('last', what)
      context?.state.set('user:secret', 'of the user')
      return { found: what }
    },
  }),
]

const identify = (request: Request) => ({ user: request.headers.get('x-user') ?? 'nobody' })
const ann = { 'x-user': 'ann' }

/** Serves an agent whose sessions were, and may be, written by others. */
async function serveShared(steps: readonly LlmStep[]) {
  runs.length = 0
  const llm = new ScriptedLlm(steps)
  const root = new LlmAgent({ name: 'helper', model: llm, tools })
  const sessionService = new InMemorySessionService()
  const memoryService = new InMemoryMemoryService()
  const key = { appName: 'helper', userId: 'ann', sessionId: 'made-elsewhere' }
  const runner = new Runner({ appName: 'helper', agent: root, sessionService })
  const agent = fromAdk(root, { sessionService, memoryService })
  const served = await serveAgents({ agents: [agent], identify })
  return {
    ...{ llm, served, sessionService, memoryService, key, root },
    session: () => sessionService.getSession(key),
    /** As any program would talk to the agent. */
    sayElsewhere: async (text: string): Promise<void> => {
      if (!(await sessionService.getSession(key))) await sessionService.createSession(key)
      const newMessage = { role: 'user', parts: [{ text }] }
      const runConfig = { streamingMode: StreamingMode.SSE }
      const events: Event[] = []
      for await (const event of runner.runAsync({ ...key, newMessage, runConfig })) events.push(event)
    },
  }
}

const looks = callsTool({ name: 'look', args: { what: 'x' } })
const talkElsewhere = [
  'user: Look',
  'model: look({"what":"x"})',
  'user: look -> {"found":"x"}',
  'model: Found.',
]

describe('a session that a Runner of ADK has written', () => {
  it('is a thread like any other: it is read', async () => {
    const { served, sayElsewhere } = await serveShared([looks, says('Fo', 'und.')])
    await sayElsewhere('Look')
    const lines = ['user: Look', 'assistant: look({"what":"x"})', 'tool: {"found":"x"}', 'assistant: Found.']
    const messages = await historyOf(served, 'made-elsewhere', ann)
    expect(linesOf(messages)).toEqual(lines)
    // The same at every reading.
    expect(await historyOf(served, 'made-elsewhere', ann)).toEqual(messages)
    expect(await stateOf(served, 'made-elsewhere', ann)).toEqual({ last: 'x' })
    for (const makeClient of [newClient, oldClient]) {
      const client = makeClient({ url: served.url, threadId: 'made-elsewhere', headers: ann })
      await client.connectAgent()
      expect(client.messages).toEqual(messages)
      expect(client.state).toEqual({ last: 'x' })
    }
  })

  it('is gone on with by a client that has read it, and by the Runner again', async () => {
    const { llm, served, session, sayElsewhere } = await serveShared([
      looks,
      says('Found.'),
      says('Yes.'),
      says('Here.'),
      says('Back.'),
    ])
    await sayElsewhere('Look')
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    talk.client.setMessages(await historyOf(served, 'made-elsewhere', ann))
    expect(textIn(await talk.say('Sure?'))).toBe('Yes.')
    expect(requestLines(llm.calls[2])).toEqual([...talkElsewhere, 'user: Sure?'])
    expect(talk.client.state).toEqual({ last: 'x' })
    expect(runs).toEqual(['x'])
    // Nothing was written twice.
    expect((await session())?.events.filter(({ author }) => author === 'user')).toHaveLength(2)
    // Whoever has the session goes on with all of it.
    await sayElsewhere('And here?')
    expect(requestLines(llm.calls[3])).toEqual([
      ...talkElsewhere,
      'user: Sure?',
      'model: Yes.',
      'user: And here?',
    ])
  })

  it('is gone on with by a client that knows nothing of it', async () => {
    const { llm, served, sayElsewhere } = await serveShared([looks, says('Found.'), says('Yes.')])
    await sayElsewhere('Look')
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    expect(textIn(await talk.say('Sure?'))).toBe('Yes.')
    expect(requestLines(llm.calls[2])).toEqual([...talkElsewhere, 'user: Sure?'])
    expect(talk.client.messages).toEqual(await historyOf(served, 'made-elsewhere', ann))
    expect(linesOf(talk.client.messages)[0]).toBe('user: Look')
    expect(talk.client.state).toEqual({ last: 'x' })
  })

  it('is edited by a client: what came after is out of the conversation', async () => {
    const { llm, served, sayElsewhere } = await serveShared([
      looks,
      says('Found.'),
      says('Second.'),
      says('Other.'),
    ])
    await sayElsewhere('Look')
    await sayElsewhere('Again')
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    const messages = await historyOf(served, 'made-elsewhere', ann)
    talk.client.setMessages([...messages.slice(0, 4), { ...messages[4], content: 'Anew' } as Message])
    expect(textIn(await talk.send())).toBe('Other.')
    expect(requestLines(llm.calls[3])).toEqual([...talkElsewhere, 'user: Anew'])
  })

  it('has a state that can be patched', async () => {
    const { served, session, sayElsewhere } = await serveShared([looks, says('Found.')])
    await sayElsewhere('Look')
    const body = [{ op: 'add', path: '/theme', value: 'dark' }]
    expect((await served.ask('PATCH /state/made-elsewhere', { body, headers: ann })).status).toBe(200)
    expect((await session())?.state).toMatchObject({ theme: 'dark', last: 'x', 'user:secret': 'of the user' })
    expect(await stateOf(served, 'made-elsewhere', ann)).toEqual({ theme: 'dark', last: 'x' })
  })

  it('is removed with the thread, after it was added to the memory of the user', async () => {
    const { served, session, memoryService, sayElsewhere } = await serveShared([looks, says('Found.')])
    await sayElsewhere('Look')
    const order: string[] = []
    const add = memoryService.addSessionToMemory.bind(memoryService)
    memoryService.addSessionToMemory = async (given: Session) => {
      order.push(`added ${given.id}, ${(await session()) ? 'still there' : 'gone'}`)
      return add(given)
    }
    expect((await served.ask('DELETE /thread/made-elsewhere', { headers: ann })).status).toBe(200)
    expect(order).toEqual(['added made-elsewhere, still there'])
    expect(await session()).toBeUndefined()
    expect((await served.ask('GET /message_snapshot/made-elsewhere', { headers: ann })).status).toBe(404)
    const found = await memoryService.searchMemory({ appName: 'helper', userId: 'ann', query: 'Found' })
    expect(JSON.stringify(found)).toContain('Found.')
  })

  it('is not there for another user', async () => {
    const { served, session, sayElsewhere } = await serveShared([looks, says('Found.')])
    await sayElsewhere('Look')
    const headers = { 'x-user': 'bob' }
    const routes = [
      ['GET /message_snapshot/made-elsewhere', undefined],
      ['GET /state_snapshot/made-elsewhere', undefined],
      ['PATCH /state/made-elsewhere', [{ op: 'add', path: '/x', value: 1 }]],
      ['DELETE /thread/made-elsewhere', undefined],
      ['POST /connect', { threadId: 'made-elsewhere' }],
    ] as const
    for (const [route, body] of routes) {
      const { status, text } = await served.ask(route, { headers, body })
      expect([route, status, text.includes('Found')]).toEqual([route, 404, false])
    }
    expect((await session())?.events).toHaveLength(4)
  })
})

it('a thread of ours is removed with its session, and can be begun anew', async () => {
  const { llm, served, session } = await serveShared([says('One.'), says('Two.')])
  const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
  await talk.say('First')
  expect(await session()).toBeDefined()
  await served.ask('DELETE /thread/made-elsewhere', { headers: ann })
  expect(await session()).toBeUndefined()
  const next = served.talk({ threadId: 'made-elsewhere', headers: ann })
  await next.say('Second')
  expect(requestLines(llm.calls[1])).toEqual(['user: Second'])
})

it('messages of a session of ours have the ids that clients know, when the thread itself is lost', async () => {
  const { served, root, sessionService } = await serveShared([
    looks,
    callsTool({ name: 'pick' }),
    says('Done.'),
    says('Still here.'),
  ])
  const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
  const offered = { tools: [clientTool('pick')] }
  const first = await talk.say('Look', offered)
  await talk.answer({ [callId(first, 'pick')]: 'red' }, offered)
  const other = await serveAgents({ agents: [fromAdk(root, { sessionService })], identify })
  const messages = await historyOf(other, 'made-elsewhere', ann)
  expect(linesOf(messages)).toEqual(linesOf(talk.client.messages))
  expect(messages.map(({ id }) => id)).toEqual(talk.client.messages.map(({ id }) => id))
  // A client that has all of it gets nothing twice.
  const next = other.talk({ threadId: 'made-elsewhere', headers: ann })
  next.client.setMessages(talk.client.messages)
  await next.say('Still there?', offered)
  expect(linesOf(next.client.messages)).toEqual([
    ...linesOf(talk.client.messages),
    'user: Still there?',
    'assistant: Still here.',
  ])
})

describe('state', () => {
  const seen: Record<string, unknown>[] = []

  /** Writes what it is given into the state, and notes what it finds there. */
  const change = new FunctionTool({
    name: 'change',
    description: 'Changes the state.',
    parameters: z.object({ set: z.record(z.string(), z.unknown()) }),
    execute: ({ set }, context) => {
      seen.push({ ...context?.state.toRecord() })
      for (const [key, value] of Object.entries(set)) context?.state.set(key, value)
      return { changed: Object.keys(set) }
    },
  })

  const sets = (set: Record<string, unknown>) => callsTool({ name: 'change', args: { set } })

  async function serveState(
    steps: readonly LlmStep[],
    {
      config = {},
      options = {},
      ...rest
    }: Partial<ServeAdkOptions> & { config?: Partial<LlmAgentConfig>; options?: AdkOptions } = {},
  ) {
    seen.length = 0
    const llm = new ScriptedLlm(steps)
    const service = new InMemorySessionService()
    const make = () =>
      fromAdk(new LlmAgent({ name: 'helper', model: llm, tools: [change], ...config }), {
        sessionService: service,
        ...options,
      })
    const served = await serveAdk({ make, ...rest })
    const session = () => service.getSession({ appName: 'helper', userId: 'local', sessionId: 'thread-1' })
    return { llm, served, service, session }
  }

  const systemOf = (llm: ScriptedLlm, index: number): string =>
    JSON.stringify(llm.requests[index]?.config?.systemInstruction ?? '')

  describe.each(clientVersions)('with the client $version', ({ Client }) => {
    it('#2356: the state goes both ways, keys with a slash or a tilde too', async () => {
      const { llm, served, session } = await serveState(
        [sets({ 'a/b': 1, 'c~d': 2 }), says('ok'), says('ok')],
        {
          config: { instruction: 'The theme is {theme}.' },
        },
      )
      const talk = served.talk({ Client })
      talk.client.setState({ theme: 'dark' })
      const events = await talk.say('Go')
      expect(systemOf(llm, 0)).toContain('The theme is dark.')
      expect(seen[0]).toMatchObject({ theme: 'dark' })
      const deltas = ofType(events, 'STATE_DELTA').flatMap(({ delta }) => delta)
      expect(deltas.map(({ path }) => path).toSorted()).toEqual(['/a~1b', '/c~0d'])
      expect(talk.client.state).toEqual({ theme: 'dark', 'a/b': 1, 'c~d': 2 })
      expect(await stateOf(served)).toEqual({ theme: 'dark', 'a/b': 1, 'c~d': 2 })
      expect((await session())?.state).toMatchObject({ theme: 'dark', 'a/b': 1, 'c~d': 2 })
    })

    it('keys of an app, of a user and of a run are nobody’s business but the server’s', async () => {
      const { served, service, session } = await serveState([
        sets({ 'app:plan': 'gold-plan', 'user:tier': 'gold-tier', 'temp:token': 'gold-token', open: 1 }),
        says('ok'),
      ])
      const talk = served.talk({ Client })
      talk.client.setState({ 'app:plan': 'stolen', 'user:tier': 'stolen', 'temp:token': 'stolen', mine: 1 })
      await talk.say('Go')
      expect(JSON.stringify(seen)).not.toContain('stolen')
      expect(seen[0]).toMatchObject({ mine: 1 })
      const sent = JSON.stringify(
        talk.streams.map(({ events }) => events.filter(({ type }) => type.startsWith('STATE'))),
      )
      expect(sent).not.toMatch(/gold-(plan|tier|token)/)
      expect(sent).not.toMatch(/(app|user|temp):/)
      expect(await stateOf(served)).toEqual({ mine: 1, open: 1 })
      const stored = await session()
      expect(stored?.state).toMatchObject({ 'app:plan': 'gold-plan', 'user:tier': 'gold-tier' })
      expect(JSON.stringify(stored)).not.toContain('stolen')
      expect(stored?.state).not.toHaveProperty('temp:token')
      expect(await service.listSessions({ appName: 'helper', userId: 'local' })).toMatchObject({
        sessions: [{ id: 'thread-1' }],
      })
    })
  })

  it('keys that a tool or the client removes are gone on both sides', async () => {
    const { served, session } = await serveState([sets({ a: null }), says('ok'), sets({}), says('ok')])
    const talk = served.talk()
    talk.client.setState({ a: 1, b: 2, c: 3 })
    const events = await talk.say('Go')
    expect(ofType(events, 'STATE_DELTA').flatMap(({ delta }) => delta)).toMatchObject([
      { op: 'remove', path: '/a' },
    ])
    expect(talk.client.state).toEqual({ b: 2, c: 3 })
    talk.client.setState({ c: 3 })
    await talk.say('Again')
    expect(await stateOf(served)).toEqual({ c: 3 })
    expect(Object.entries((await session())?.state ?? {}).filter(([, value]) => value !== null)).toEqual([
      ['c', 3],
    ])
    const left = Object.entries(seen[1] ?? {}).filter(
      ([key, value]) => !key.startsWith('temp:') && value !== null,
    )
    expect(left).toEqual([['c', 3]])
  })

  it('a patch of the state reaches the session service, and the next run', async () => {
    const { llm, served, session } = await serveState([says('ok'), says('ok')], {
      config: { instruction: 'The theme is {theme}.' },
    })
    const talk = served.talk()
    talk.client.setState({ theme: 'dark' })
    await talk.say('Go')
    const patch = [
      { op: 'replace', path: '/theme', value: 'light' },
      { op: 'add', path: '/more', value: [1] },
    ]
    expect((await served.ask('PATCH /state/thread-1', { body: patch })).status).toBe(200)
    expect((await session())?.state).toMatchObject({ theme: 'light', more: [1] })
    await talk.say('Again')
    expect(systemOf(llm, 1)).toContain('The theme is light.')
    expect(talk.client.state).toEqual({ theme: 'light', more: [1] })
    // It is no message: the model does not see it as one.
    expect(llm.calls[1]).toHaveLength(3)
    const refused = await served.ask('PATCH /state/thread-1', {
      body: [{ op: 'add', path: '/app:plan', value: 'stolen' }],
    })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect((await session())?.state).not.toHaveProperty('app:plan')
  })

  it('#1571/#2206: values of a run are seen by tools and instructions, and stored nowhere', async () => {
    const { llm, served, session } = await serveState([sets({ open: 1 }), says('ok')], {
      config: { instruction: 'Speak to {temp:person}.' },
      options: {
        tempState: async ({ user, threadId }) =>
          Promise.resolve({ person: `${user} in ${threadId}`, token: 'hush-token' }),
      },
      store: 'sqlite',
    })
    const talk = served.talk()
    await talk.say('Go')
    expect(systemOf(llm, 0)).toContain('Speak to local in thread-1.')
    expect(seen[0]).toMatchObject({ 'temp:token': 'hush-token' })
    const kept = JSON.stringify([
      talk.streams.map(({ events }) => events),
      await session(),
      await stateOf(served),
    ])
    expect(kept).not.toContain('hush-token')
  })

  it('context and messages of the system are instructions, in every run anew', async () => {
    const { llm, served } = await serveState([sets({}), says('ok'), says('ok')], {
      config: { instruction: 'Be kind.' },
    })
    const talk = served.talk()
    talk.client.addMessage({ id: 's1', role: 'system', content: 'Answer in verse.' })
    await talk.say('Go', { context: [{ description: 'The page', value: 'checkout' }] })
    for (const index of [0, 1]) {
      const system = systemOf(llm, index)
      expect(system).toContain('Be kind.')
      expect(system).toContain('Answer in verse.')
      expect(system).toContain('The page: checkout')
    }
    expect(JSON.stringify(llm.calls)).not.toContain('verse')
    // Tools have it too.
    expect(seen[0]?.['temp:ag_ui_context']).toEqual([{ description: 'The page', value: 'checkout' }])
    const next = await talk.say('Again', { context: [{ description: 'The page', value: 'home' }] })
    expect(textIn(next)).toBe('ok')
    expect(systemOf(llm, 2)).toContain('The page: home')
    expect(systemOf(llm, 2)).not.toContain('checkout')
  })

  it('a state that the client sends without a message is stored, and nothing is run', async () => {
    const { llm, served, session } = await serveState([says('ok'), says('ok')])
    const talk = served.talk()
    await talk.say('Go')
    talk.client.setState({ theme: 'dark' })
    const events = await talk.send()
    expect(events.at(-1)?.type).toBe('RUN_FINISHED')
    expect(llm.calls).toHaveLength(1)
    await talk.say('Again')
    expect((await session())?.state).toMatchObject({ theme: 'dark' })
  })
})
