import type { Message } from '@ag-ui/core'
import {
  AgentTool,
  BaseSessionService,
  createEvent,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  LogLevel,
  Runner,
  setLogLevel,
  StreamingMode,
  Workflow,
  type BaseTool,
  type Event,
  type Session,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../../../test/support/adk/scripted-llm.js'
import { manualClock } from '../../core/clock.js'
import type { Part } from '../adk-types.js'
import { eventMark } from './marks.js'
import { sessionMessages } from './history.js'
import { planSession, type PlanInput, type SessionPlan } from './plan-session.js'
import { prepareRunSession, repeatedInputs, type RunSession, type RunSessionOptions } from './run-session.js'
import { raceFreeSessions } from './race-free-sessions.js'
import { applySessionDelta, toSessionDelta } from './session-state.js'

setLogLevel(LogLevel.ERROR)

const key = { appName: 'app', userId: 'ann', sessionId: 'thread' }

interface Setup {
  readonly service?: BaseSessionService
  readonly messages: readonly Message[]
  readonly plan?: Partial<PlanInput>
  readonly run?: Partial<RunSessionOptions>
}

function open({ service = new InMemorySessionService(), messages, plan, run }: Setup): Promise<RunSession> {
  let count = 0
  return prepareRunSession({
    service: raceFreeSessions(service),
    key,
    plan: ({ events }) =>
      planSession({
        events,
        messages,
        answers: [],
        saved: [],
        rootAuthor: 'root',
        toModelName: (name) => name,
        ...plan,
      }),
    temp: {},
    mark: ({ author, content }) => {
      const isText = author !== 'user' && content?.parts?.some(({ text }) => text)
      return { runId: 'run', ...(isText ? { messageIds: [`answer-${++count}-${messages.length}`] } : {}) }
    },
    ...run,
  })
}

interface Going {
  readonly steps: readonly LlmStep[]
  readonly tools?: readonly BaseTool[]
  readonly stateDelta?: Record<string, unknown>
  readonly agent?: Runner['agent']
}

async function go(session: RunSession, { steps, tools = [], stateDelta, agent }: Going) {
  const llm = new ScriptedLlm(steps)
  const runner = new Runner({
    appName: key.appName,
    agent: agent ?? new LlmAgent({ name: 'root', model: llm, tools: [...tools] }),
    sessionService: session.service,
  })
  const events: Event[] = []
  const { content: newMessage } = session.plan.news
  if (!newMessage) throw new Error('There is nothing to do.')
  const request = { ...key, newMessage, runConfig: { streamingMode: StreamingMode.SSE } }
  for await (const event of runner.runAsync({ ...request, ...(stateDelta ? { stateDelta } : {}) }))
    events.push(event)
  return { llm, events }
}

async function stored(service: BaseSessionService): Promise<Session> {
  const session = await service.getSession(key)
  if (!session) throw new Error('There is no session.')
  return session
}

const user = (id: string, content = id): Message => ({ id, role: 'user', content })
const assistant = (id: string, content: string): Message => ({ id, role: 'assistant', content })

describe('the session of a run', () => {
  it('keeps a conversation with tool calls in the service of the team, marked', async () => {
    const service = new InMemorySessionService()
    const session = await open({ service, messages: [user('u1', 'Weather?')] })
    expect(session.service).toBeInstanceOf(BaseSessionService)
    const weather = new FunctionTool({
      name: 'weather',
      description: 'weather',
      parameters: z.object({}),
      execute: (_, context) => {
        context?.state.set('asked', true)
        return { degrees: 21 }
      },
    })
    const { llm } = await go(session, {
      steps: [callsTool({ name: 'weather', id: 'c1' }), says('It is ', '21.')],
      tools: [weather],
      stateDelta: { city: 'Oslo' },
    })
    const { events, state } = await stored(service)
    expect(llm.calls[1]?.map(({ role }) => role)).toEqual(['user', 'model', 'user'])
    expect(events.map(({ author }) => author)).toEqual(['user', 'root', 'root', 'root'])
    expect(events.map((event) => eventMark(event).runId)).toEqual(['run', 'run', 'run', 'run'])
    expect(eventMark(events[0] ?? {}).messageIds).toEqual(['u1'])
    expect(session.events.map(({ id }) => id)).toEqual(events.map(({ id }) => id))
    expect(state).toEqual({ city: 'Oslo', asked: true })
    expect(session.session.state).toEqual({ city: 'Oslo', asked: true })
    expect(sessionMessages(events, { rootAuthor: 'root' })).toMatchObject([
      { id: 'u1', content: 'Weather?' },
      { id: 'c1', toolCalls: [{ id: 'c1' }] },
      { toolCallId: 'c1', content: '{"degrees":21}' },
      { id: 'answer-1-1', content: 'It is 21.' },
    ])
  })

  it('is loaded once, and the Runner works on it without a copy', async () => {
    const loads: string[] = []
    class Counting extends InMemorySessionService {
      override getSession(request: Parameters<InMemorySessionService['getSession']>[0]) {
        loads.push(request.sessionId)
        return super.getSession(request)
      }
    }
    const service = new Counting()
    await service.createSession(key)
    const session = await open({ service, messages: [user('u1')] })
    await go(session, { steps: [says('Hello')] })
    expect(loads).toEqual(['thread'])
    expect(await session.service.getSession(key)).toBe(session.session)
  })

  it('brings in what the thread has and the session lost, and tells the model about all of it', async () => {
    const messages = [user('u1', 'I am Ann.'), assistant('a1', 'Hello Ann.'), user('u2', 'Who am I?')]
    const service = new InMemorySessionService()
    const session = await open({ service, messages })
    const { llm } = await go(session, { steps: [says('Ann.')] })
    const texts = llm.calls[0]?.map(({ parts }) => parts?.map(({ text }) => text).join(''))
    expect(texts).toEqual(['I am Ann.', 'Hello Ann.', 'Who am I?'])
    expect(sessionMessages((await stored(service)).events, { rootAuthor: 'root' }).slice(0, 3)).toEqual(
      messages,
    )
  })

  it('hides what was cut off from the model and from the history, and deletes nothing', async () => {
    const service = new InMemorySessionService()
    await go(await open({ service, messages: [user('u1', 'One')] }), { steps: [says('1')] })
    const session = await open({ service, messages: [user('u2', 'Two')] })
    const { llm } = await go(session, { steps: [says('2')] })
    expect(llm.calls[0]).toEqual([{ role: 'user', parts: [{ text: 'Two' }] }])
    const { events } = await stored(service)
    expect(events).toHaveLength(5)
    expect(events.every(({ invocationId }) => invocationId !== '')).toBe(true)
    expect(sessionMessages(events).map(({ content }) => content)).toEqual(['Two', '2'])
    const again = await open({
      service,
      messages: [user('u2', 'Two'), assistant('answer-1-1', '2'), user('u3')],
    })
    expect(again.plan).toMatchObject({ cut: [], add: [] })
  })

  it('gives times that only go up, from the clock for what it writes itself', async () => {
    const service = new InMemorySessionService()
    const messages = [user('u1'), assistant('a1', 'A'), user('u2')]
    const session = await open({ service, messages, run: { clock: manualClock(5_000) } })
    const at = (timestamp: number): Event => createEvent({ author: 'root', invocationId: 'i', timestamp })
    for (const time of [4_000, 9_000, 9_000, 9_000.5, 10]) {
      await session.service.appendEvent({ session: session.session, event: at(time) })
    }
    const times = (await stored(service)).events.map(({ timestamp }) => timestamp)
    expect(times).toEqual([5_000, 5_001, 5_002, 9_000, 9_001, 9_002, 9_003])
  })

  it('stores one event after the other, also when several come together', async () => {
    let atWork = 0
    class Slow extends InMemorySessionService {
      override async appendEvent(request: Parameters<InMemorySessionService['appendEvent']>[0]) {
        expect(++atWork).toBe(1)
        await Promise.resolve()
        atWork--
        return super.appendEvent(request)
      }
    }
    const session = await open({ service: new Slow(), messages: [user('u1')] })
    const ids = ['e1', 'e2', 'e3']
    const append = (id: string) =>
      session.service.appendEvent({
        session: session.session,
        event: createEvent({ id, author: 'root', invocationId: 'i', timestamp: 7 }),
      })
    await Promise.all(ids.map(append))
    expect(session.session.events.map(({ id }) => id)).toEqual(ids)
  })

  it('stores nothing of what is partial', async () => {
    const service = new InMemorySessionService()
    const session = await open({ service, messages: [user('u1')] })
    await go(session, { steps: [says('a', 'b', 'c')] })
    expect(session.events).toHaveLength(2)
    expect(session.session.events).toHaveLength(2)
  })
})

describe('values of one run', () => {
  it('are seen by tools, with those that tools add, and stored nowhere', async () => {
    const seen: unknown[] = []
    const look = new FunctionTool({
      name: 'look',
      description: 'look',
      parameters: z.object({}),
      execute: (_, context) => {
        seen.push(context?.state.get('temp:token'), context?.state.get('temp:mine'))
        context?.state.set('temp:mine', 'added')
        return {}
      },
    })
    const service = new InMemorySessionService()
    const session = await open({
      service,
      messages: [user('u1')],
      run: { temp: { token: 't', 'temp:other': 'o' } },
    })
    const steps = [callsTool({ name: 'look' }), callsTool({ name: 'look' }), says('Done')]
    const { events } = await go(session, { steps, tools: [look] })
    expect(seen).toEqual(['t', undefined, 't', 'added'])
    expect(session.session.state).toEqual({ 'temp:token': 't', 'temp:other': 'o', 'temp:mine': 'added' })
    expect(JSON.stringify([await stored(service), events])).not.toContain('temp:')
  })

  it('do not let what is kept for a user be changed under other sessions', async () => {
    const service = new InMemorySessionService()
    const other = await service.createSession({ ...key, sessionId: 'other' })
    const first = await open({ service, messages: [user('u1')] })
    await go(first, { steps: [says('A')], stateDelta: { 'user:list': ['a'], 'app:list': ['a'] } })
    const session = await open({ service, messages: [user('u1'), assistant('answer-1-1', 'A'), user('u2')] })
    for (const name of ['user:list', 'app:list']) (session.session.state[name] as string[]).push('b')
    const { state } = (await service.getSession({ ...key, sessionId: other.id })) ?? {}
    expect(state).toEqual({ 'user:list': ['a'], 'app:list': ['a'] })
  })
})

describe('an attempt that failed', () => {
  it('is gone on with: the message is stored once, tools are not run again', async () => {
    const service = new InMemorySessionService()
    let runs = 0
    const count = new FunctionTool({
      name: 'count',
      description: 'c',
      parameters: z.object({}),
      execute: () => ({ runs: ++runs }),
    })
    const first = await open({ service, messages: [user('u1', 'Count')] })
    await go(first, {
      steps: [callsTool({ name: 'count', id: 'c1' }), [new Error('overloaded')]],
      tools: [count],
    })
    const second = await open({ service, messages: [user('u1', 'Count')], plan: { runId: 'run' } })
    expect(second.plan.news).toMatchObject({ isDelivered: true, messageIds: ['u1'] })
    const { llm } = await go(second, { steps: [says('Once')], tools: [count], stateDelta: { tries: 2 } })
    expect(llm.calls[0]?.flatMap(({ parts }) => parts?.map((part) => Object.keys(part)[0]))).toEqual([
      'text',
      'functionCall',
      'functionResponse',
    ])
    expect(runs).toBe(1)
    const { events, state } = await stored(service)
    expect(sessionMessages(events).filter(({ role }) => role === 'user')).toEqual([user('u1', 'Count')])
    expect(state).toEqual({ tries: 2 })
    expect(second.session.state).toEqual({ tries: 2 })
    expect(second.session.events.every(({ content, errorCode }) => content ?? errorCode)).toBe(true)
  })
})

describe('a change of the state before the run', () => {
  it('is stored, and is not taken for what the user says', async () => {
    const service = new InMemorySessionService()
    await go(await open({ service, messages: [user('u1')] }), { steps: [[new Error('overloaded')]] })
    const session = await open({ service, messages: [user('u1')] })
    expect(session.plan.news.isDelivered).toBe(true)
    const event = createEvent({ author: 'user', invocationId: 'i', actions: { stateDelta: { a: 1 } } })
    await session.service.appendEvent({ session: session.session, event })
    expect(session.session).toMatchObject({
      state: { a: 1 },
      events: [{ author: 'user' }, { errorCode: 'UNKNOWN_ERROR' }],
    })
    await go(session, { steps: [says('Hello')] })
    const { events, state } = await stored(service)
    expect(state).toEqual({ a: 1 })
    expect(events.filter(({ author, content }) => author === 'user' && content)).toHaveLength(1)
  })
})

describe('other sessions', () => {
  it('of an agent that is a tool end with the run', async () => {
    const service = new InMemorySessionService()
    const inner = new LlmAgent({
      name: 'inner',
      description: 'i',
      model: new ScriptedLlm([says('from inside')]),
    })
    const session = await open({ service, messages: [user('u1')] })
    const steps = [callsTool({ name: 'inner', args: { request: 'go' } }), says('Done')]
    const { llm } = await go(session, { steps, tools: [new AgentTool({ agent: inner })] })
    expect(JSON.stringify(llm.calls[1])).toContain('from inside')
    expect((await service.listSessions({ appName: 'inner' })).sessions).toEqual([])
    expect((await service.listSessions({ appName: 'app' })).sessions).toHaveLength(1)
  })

  it('do not become the session of the run', async () => {
    const session = await open({ messages: [user('u1')] })
    expect(await session.service.getSession({ ...key, userId: 'bob' })).toBeUndefined()
    expect(await session.service.createSession({ ...key, appName: 'else' })).not.toBe(session.session)
    expect(await session.service.createSession(key)).toBe(session.session)
  })
})

describe('a workflow', () => {
  it('gives its nodes what the one before returned, which is no message of the user', async () => {
    const llm = new ScriptedLlm([says('draft'), says('final')])
    const edges = [
      ['START', new LlmAgent({ name: 'writer', model: llm }), new LlmAgent({ name: 'editor', model: llm })],
    ]
    const agent = new Workflow({ name: 'root', edges: edges as never })
    const service = new InMemorySessionService()
    const session = await open({ service, messages: [user('u1', 'Write')] })
    await go(session, { steps: [], agent })
    const { events } = await stored(service)
    expect(events.filter(({ author }) => author === 'user').length).toBeGreaterThan(1)
    expect(sessionMessages(events).filter(({ role }) => role === 'user')).toEqual([user('u1', 'Write')])
    const unmarked = events.map(({ customMetadata: _, ...event }) => event)
    expect(sessionMessages(unmarked).filter(({ role }) => role === 'user')).toHaveLength(1)
  })
})

describe('a service that fails', () => {
  class Failing extends InMemorySessionService {
    left = 1
    override appendEvent(request: Parameters<InMemorySessionService['appendEvent']>[0]) {
      if (this.left-- > 0) return super.appendEvent(request)
      return Promise.reject(new Error('disk full'))
    }
  }

  it('ends the run, and what was not stored is not seen', async () => {
    const session = await open({ service: new Failing(), messages: [user('u1')] })
    await expect(go(session, { steps: [says('A')] })).rejects.toThrow('disk full')
    expect(session.events).toHaveLength(1)
    expect(session.session.events).toHaveLength(1)
  })

  it('lets no run begin when the session cannot be made ready', async () => {
    const messages = [user('u1'), assistant('a1', 'A'), user('u2')]
    await expect(open({ service: new Failing(), messages })).rejects.toThrow('disk full')
  })
})

describe('inputs that a workflow repeats', () => {
  const event = (author: string, parts: Part[], branch?: string): Event =>
    createEvent({ author, content: { role: 'user', parts }, ...(branch ? { branch } : {}) })
  const input = (text: string, branch?: string): Event => event('user', [{ text }], branch)
  const result: Part = { functionResponse: { id: 'c1', name: 'pick', response: {} } }
  const kept = [
    input('Go'),
    event('a', [{ text: 'A.' }]),
    input('A.'),
    event('b', [{ functionCall: { id: 'c1', name: 'pick', args: {} } }]),
  ]

  function planned(news: Partial<SessionPlan['news']>, keep: readonly Event[] = kept): SessionPlan {
    const none = { content: undefined, messageIds: [], isDelivered: false, mark: {} }
    const empty = {
      cut: [],
      note: undefined,
      add: [],
      authors: [],
      problems: [],
      instructions: [],
      plainCount: 0,
    }
    return { ...empty, keep, recent: keep, news: { ...none, ...news } }
  }

  it('the input of a node that goes on with a result is no news, once', () => {
    const repeats = repeatedInputs(planned({ content: { role: 'user', parts: [result] } }))
    expect([repeats(input('Go')), repeats(input('A.', 'other')), repeats(input('A.'))]).toEqual([
      false,
      false,
      true,
    ])
    // The node is run anew in a later round.
    expect(repeats(input('A.'))).toBe(false)
  })

  it('a first node is given the result itself', () => {
    const repeats = repeatedInputs(planned({ content: { role: 'user', parts: [result] } }))
    expect(repeats(event('user', [result]))).toBe(true)
  })

  it('the input of a node that has failed in an attempt before is no news', () => {
    const keep = [
      input('Go'),
      event('a', [{ text: 'A.' }]),
      input('A.'),
      createEvent({ author: 'b', errorCode: '503' }),
    ]
    const repeats = repeatedInputs(planned({ isDelivered: true }, keep))
    expect([repeats(input('Go')), repeats(input('A.'))]).toEqual([false, true])
  })

  it('nothing is repeated in a run that begins', () => {
    const repeats = repeatedInputs(planned({ content: { role: 'user', parts: [{ text: 'Go' }] } }, []))
    expect(repeats(input('Go'))).toBe(false)
  })
})

describe('state', () => {
  const known = { isNew: false }

  describe('what a session is told of the state of a thread', () => {
    it('is what has changed, and null for what is gone', () => {
      const session = { same: { a: [1] }, changed: 1, gone: 'x', wasGone: null }
      const delta = toSessionDelta({ same: { a: [1] }, changed: 2, added: true }, session, known)
      expect(delta).toEqual({ changed: 2, added: true, gone: null })
    })

    it('is nothing when both are equal, also where one has null and the other nothing', () => {
      expect(toSessionDelta({ a: 1, b: null }, { a: 1, c: null }, known)).toEqual({})
    })

    it('never touches keys of an app, of a user, of a run, or of ours', () => {
      const thread = { 'app:a': 1, 'user:a': 1, 'temp:a': 1, millrace_thread_id: 'forged' }
      const session = { 'app:b': 1, 'user:b': 1, 'temp:b': 1, millrace_thread_id: 't' }
      expect(toSessionDelta(thread, session, known)).toEqual({})
    })

    it('leaves the keys of a session that the thread meets for the first time', () => {
      expect(toSessionDelta({ a: 1 }, { own: 2 }, { isNew: true })).toEqual({ a: 1 })
    })

    it.each([undefined, null, ['a'], 'text', 7])(
      'is nothing for the state %j, which has no keys',
      (state) => {
        expect(toSessionDelta(state, { own: 2 }, known)).toEqual({})
      },
    )

    it('takes names of members of objects for keys like any other', () => {
      expect(toSessionDelta({ toString: 1 }, {}, known)).toEqual({ toString: 1 })
      expect(toSessionDelta(JSON.parse('{"__proto__":{"a":1}}'), {}, known)).toEqual(
        JSON.parse('{"__proto__":{"a":1}}'),
      )
    })
  })

  describe('the state of a thread after a change in the session', () => {
    it('has new values, and not what was removed', () => {
      const delta = { changed: 2, gone: null, undone: undefined, added: [1] }
      expect(applySessionDelta({ kept: 0, changed: 1, gone: 1, undone: 1 }, delta)).toEqual({
        kept: 0,
        changed: 2,
        added: [1],
      })
    })

    it('is the same object when nothing changes', () => {
      const state = { a: { b: 1 } }
      expect(
        applySessionDelta(state, { a: { b: 1 }, gone: null, 'user:x': 1, 'temp:y': 2, 'app:z': 3 }),
      ).toBe(state)
      expect(applySessionDelta(undefined, {})).toBeUndefined()
    })

    it('is left as it was made', () => {
      const state = Object.freeze({ a: 1 })
      expect(applySessionDelta(state, { a: 2 })).toEqual({ a: 2 })
      expect(state).toEqual({ a: 1 })
    })

    it('begins with an object where there was none', () => {
      expect(applySessionDelta(undefined, { a: 1 })).toEqual({ a: 1 })
      expect(applySessionDelta(null, { a: 1 })).toEqual({ a: 1 })
    })

    it('stays what the client made it when that is no object', () => {
      const list = ['client']
      expect(applySessionDelta(list, { a: 1 })).toBe(list)
    })
  })
})
