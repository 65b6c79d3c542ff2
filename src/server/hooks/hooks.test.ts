import type { Message } from '@ag-ui/core'
import { describe, expect, it, test } from 'vitest'
import {
  expectRefusal,
  fetchServer,
  inputOf,
  textOf,
  typesOf,
  user,
  type FetchServer,
  type FetchServerOptions,
} from '../../../test/support/fetch-server.js'
import { aborted, deferred, ofType, settled } from '../../../test/support/run-agent.js'
import { defineAgent, defineTool, type Agent } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import { scriptedModel, type Script } from '../../models/index.js'
import type { AgentEvent, AgUiEvent } from '../../protocol/index.js'
import type { ThreadKey } from '../../threads/contract.js'
import type { Hooks } from './hooks.js'

type Rest = Omit<FetchServerOptions, 'agents' | 'hooks'>

/** Serves one agent with these hooks. */
function served(hooks: Hooks, agent: Agent = talker(), options: Rest = {}): FetchServer {
  return fetchServer({ agents: [agent], hooks, ...options })
}

/** Says one text in each run. */
function talker(script: Script = () => 'Fine.'): Agent {
  return defineAgent({ name: 'talker', model: scriptedModel(script), retry: { attempts: 1 } })
}

/** Yields these events in each run, and is done. */
function native(events: readonly AgentEvent[]): Agent {
  return {
    name: 'native',
    description: '',
    // eslint-disable-next-line @typescript-eslint/require-await -- the events are there already
    async *run() {
      yield* events
      return { type: 'done' }
    },
  }
}

function text(messageId: string, delta: string): AgentEvent[] {
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId, delta },
    { type: 'TEXT_MESSAGE_END', messageId },
  ]
}

/** Sets the state with a tool, then says something. */
function counter(): Agent {
  const count = defineTool({
    name: 'count',
    description: 'Counts.',
    execute: (_, ctx) => {
      ctx.setState({ count: 1 })
      return 'One.'
    },
  })
  const model = scriptedModel([[{ toolCall: { name: 'count' } }], 'I counted.'])
  return defineAgent({ name: 'counter', model, tools: [count] })
}

function keyOf(thread = 'thread-1'): ThreadKey {
  return { app: 'default', user: 'local', agent: 'talker', thread }
}

/** Whether a run can be had afterwards, with the same server. */
async function expectUsable(made: FetchServer, thread = 'thread-1'): Promise<void> {
  expect(await made.store.leases.isHeld(keyOf(thread))).toBe(false)
  const events = await made.run({ threadId: thread })
  expect(events.at(-1)?.type).toBe('RUN_FINISHED')
}

const secret = 'hunter2'

function fail(): never {
  throw new Error(`cannot log in with ${secret}`)
}

describe('the order of hooks', () => {
  /** Notes each call of each hook, and what the client sees, in one list. */
  function recorder(list: string[], isAsync: boolean): Hooks {
    const note = <T>(line: string, value: T): T | Promise<T> => {
      list.push(line)
      return isAsync ? settled().then(() => value) : value
    }
    return {
      inputRecord: () => note('inputRecord', undefined),
      lock: () => note('lock', () => note('unlock', undefined)),
      inputChange: (input) => note('inputChange', input),
      initialState: () => note('initialState', {}),
      runtimeEvent: (event: AgentEvent) => note(`runtimeEvent ${event.type}`, event),
      translate: (event: AgentEvent) => note(`translate ${event.type}`, undefined),
      event: (event) => note(`event ${event.type}`, event),
      stateSnapshot: (state) => note('stateSnapshot', state),
      outputRecord: (event) => note(`outputRecord ${event.type}`, undefined),
      outputChange: (event) => note(`outputChange ${event.type}`, event),
    }
  }

  const inner = (type: string) => [`runtimeEvent ${type}`, `translate ${type}`, `event ${type}`, ...out(type)]
  const out = (type: string) => [`outputRecord ${type}`, `outputChange ${type}`]

  test.each([
    ['sync', false],
    ['async', true],
  ])('is the same for every run, with %s hooks', async (_, isAsync) => {
    const list: string[] = []
    const made = served(recorder(list, isAsync), counter())
    const events = await made.run()
    expect(events.at(-1)?.type).toBe('RUN_FINISHED')
    const loose = (type: string) => ['runtimeEvent', 'translate', 'event'].map((hook) => `${hook} ${type}`)
    const called = ['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END']
    expect(list).toEqual([
      ...['inputRecord', 'lock', 'inputChange', 'initialState'],
      ...out('RUN_STARTED'),
      ...called.flatMap(inner),
      // How a change of state is sent is decided behind the hooks of the agent.
      ...loose('STATE_SNAPSHOT'),
      'stateSnapshot',
      ...out('STATE_SNAPSHOT'),
      ...out('STATE_DELTA'),
      ...inner('TOOL_CALL_RESULT'),
      // The run stream makes a start and a content of a chunk.
      ...loose('TEXT_MESSAGE_CHUNK'),
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT'].flatMap(out),
      ...inner('TEXT_MESSAGE_END'),
      'stateSnapshot',
      ...out('STATE_SNAPSHOT'),
      ...out('RUN_FINISHED'),
      'unlock',
    ])
  })

  test('the thread is committed, then unlocked, then the client sees the end', async () => {
    const list: string[] = []
    const gate = deferred()
    const made = served({
      lock: () => async () => {
        const stored = await made.history()
        list.push(`unlock: ${stored.length} messages`)
        await gate.promise
      },
    })
    const stream = await made.open('/run', { body: inputOf() })
    await stream.until('TEXT_MESSAGE_END')
    for (let turn = 0; turn < 20; turn++) await settled()
    expect(list).toEqual(['unlock: 2 messages'])
    expect(typesOf(stream.events)).not.toContain('RUN_FINISHED')
    gate.resolve()
    expect((await stream.ended).at(-1)?.type).toBe('RUN_FINISHED')
  })
})

describe('runtimeEvent and event', () => {
  const agent = native(text('m1', 'A secret.'))

  describe.each(['runtimeEvent', 'event'] as const)('%s', (name) => {
    it('leaves out what it gives nothing for', async () => {
      const made = served({ [name]: (e: AgentEvent) => (e.type.startsWith('TEXT') ? undefined : e) }, agent)
      expect(typesOf(await made.run())).toEqual(['RUN_STARTED', 'STATE_SNAPSHOT', 'RUN_FINISHED'])
      expect(await made.history()).toHaveLength(1)
    })

    it('replaces, and the history has what it gave', async () => {
      const hide = (e: AgentEvent) => (e.type === 'TEXT_MESSAGE_CONTENT' ? { ...e, delta: '***' } : e)
      const made = served({ [name]: hide }, agent)
      expect(textOf(await made.run())).toBe('***')
      expect((await made.history()).at(-1)).toMatchObject({ role: 'assistant', content: '***' })
    })

    it('expands to a list', async () => {
      const twice = (e: AgentEvent) => (e.type === 'TEXT_MESSAGE_CONTENT' ? [e, e] : e)
      const made = served({ [name]: twice }, agent)
      expect(textOf(await made.run())).toBe('A secret.A secret.')
      expect((await made.history()).at(-1)).toMatchObject({ content: 'A secret.A secret.' })
    })

    it.each(['TEXT_MESSAGE_START', 'TEXT_MESSAGE_END'])('may leave out %s', async (type) => {
      const made = served({ [name]: (e: AgentEvent) => (e.type === type ? [] : e) }, agent)
      expect((await made.run()).at(-1)?.type).toBe('RUN_FINISHED')
      await made.run()
    })

    it.each(['TOOL_CALL_START', 'TOOL_CALL_END', 'TOOL_CALL_RESULT'])('may leave out %s', async (type) => {
      const made = served({ [name]: (e: AgentEvent) => (e.type === type ? undefined : e) }, counter())
      const events = await made.run()
      expect(events.at(-1)?.type).toBe('RUN_FINISHED')
      expect(textOf(events)).toBe('I counted.')
    })

    it.each([null, 'text', 7])('fails the run with HOOK_ERROR when it gives %j', async (value) => {
      const made = served({ [name]: () => value as unknown as AgentEvent }, agent)
      expect((await made.run()).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'HOOK_ERROR' })
    })
  })
})

describe('a hook on the events of the agent', () => {
  const wrong = [null, 5, {}].flatMap((value) => [value, Promise.resolve(value)])

  test.each(wrong)('that gives neither an event nor a list fails the run', async (value) => {
    const made = served({ event: () => value as never })
    expect((await made.run()).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'HOOK_ERROR' })
  })
})

describe('the state of an agent', () => {
  it('is the same when a hook gives copies of all events', async () => {
    const made = served({ event: (event) => ({ ...event }) }, counter())
    expect(ofType(await made.run({ state: { kept: 1 } }), 'STATE_SNAPSHOT').at(-1)?.snapshot).toEqual({
      count: 1,
    })
    const { body } = await made.ask('GET /state_snapshot/thread-1')
    expect(body).toMatchObject({ snapshot: { count: 1 } })
  })

  it('is stored as a hook has changed it', async () => {
    const hide = (event: AgentEvent) =>
      event.type === 'STATE_SNAPSHOT' ? { ...event, snapshot: { count: 'many' } } : event
    const made = served({ event: hide }, counter())
    const events = await made.run()
    expect(ofType(events, 'STATE_SNAPSHOT').at(-1)?.snapshot).toEqual({ count: 'many' })
    const { body } = await made.ask('GET /state_snapshot/thread-1')
    expect(body).toMatchObject({ snapshot: { count: 'many' } })
  })
})

describe('translate', () => {
  const custom: AgentEvent = { type: 'CUSTOM', name: 'native.text', value: 'Hello.' }
  const translate: Hooks['translate'] = (event: AgentEvent) => {
    if (event.type !== 'CUSTOM') return undefined
    return event.name === 'native.text' ? text('m1', String(event.value)) : []
  }

  it('makes of an event what it gives, nothing of it for an empty list, and the usual for undefined', async () => {
    const hidden: AgentEvent = { type: 'CUSTOM', name: 'native.noise', value: 1 }
    const made = served({ translate }, native([custom, hidden, ...text('m2', 'Bye.')]))
    const events = await made.run()
    expect(textOf(events)).toBe('Hello.Bye.')
    expect(typesOf(events)).not.toContain('CUSTOM')
  })

  it('works on what runtimeEvent gives, and event on what it gives itself', async () => {
    const seen: string[] = []
    const made = served(
      {
        runtimeEvent: (event) => [event, custom],
        translate,
        event: (event) => {
          seen.push(event.type)
          return event
        },
      },
      native([{ type: 'CUSTOM', name: 'native.noise', value: 1 }]),
    )
    await made.run()
    expect(seen).toEqual(['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'])
  })
})

describe('inputChange', () => {
  it('rewrites what is run, and what is stored', async () => {
    const model = scriptedModel(['Fine.'])
    const made = served(
      {
        inputChange: (input) => ({
          ...input,
          messages: input.messages.map(
            (one): Message => ({ ...one, content: 'Something harmless.' }) as Message,
          ),
        }),
      },
      defineAgent({ name: 'talker', model }),
    )
    await made.run({ messages: [user('u1', `My password is ${secret}.`)] })
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('Something harmless.')
    expect(JSON.stringify([model.requests[0]?.messages, await made.history()])).not.toContain(secret)
  })

  it('that adds to a message does not make the next request an edit of it', async () => {
    const model = scriptedModel((_, index) => `Answer ${index + 1}.`)
    const inputChange: Hooks['inputChange'] = (input) => {
      const newest = input.messages.at(-1)
      if (newest?.role !== 'user' || typeof newest.content !== 'string') return input
      const content = `${newest.content} (It is Monday.)`
      return { ...input, messages: [...input.messages.slice(0, -1), { ...newest, content }] }
    }
    const made = served({ inputChange }, defineAgent({ name: 'talker', model }))
    await made.run({ messages: [user('u1', 'One?')] })
    const answer = (await made.history()).slice(1)
    const events = await made.run({ messages: [user('u1', 'One?'), ...answer, user('u2', 'Two?')] })
    expect(ofType(events, 'CUSTOM')).toEqual([])
    expect(model.requests[1]?.messages).toMatchObject([
      { role: 'user', content: 'One? (It is Monday.)' },
      { role: 'assistant', content: 'Answer 1.' },
      { role: 'user', content: 'Two? (It is Monday.)' },
    ])
    // What the person changes is an edit all the same.
    const edited = await made.run({ messages: [user('u1', 'Another?')] })
    expect(ofType(edited, 'CUSTOM')).toMatchObject([{ name: 'millrace.forked' }])
  })

  it.each<[string, unknown]>([
    ['a message without content', { messages: [{ id: 'u1', role: 'user' }] }],
    ['content that is a number', { messages: [{ id: 'u1', role: 'user', content: 5 }] }],
    ['an id that is a number', { messages: [{ id: 7, role: 'user', content: 'Hi' }] }],
    ['no messages', { messages: undefined }],
    ['an id that is too long', { messages: [user('u'.repeat(1000), 'Hi')] }],
  ])('that gives %s is refused, and harms nothing', async (_what, wrong) => {
    let isWrong = true
    const inputChange = ((input) =>
      isWrong ? { ...input, ...(wrong as object) } : input) satisfies Hooks['inputChange']
    const made = served({ inputChange })
    expectRefusal(await made.ask('POST /run', { body: inputOf() }), 500, 'HOOK_ERROR')
    isWrong = false
    expect((await made.run()).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect(await made.history()).toHaveLength(2)
  })

  it('cannot change the thread or the run', async () => {
    const made = served({ inputChange: (input) => ({ ...input, threadId: 'other', runId: 'other' }) })
    const events = await made.run({ runId: 'run-own' })
    expect(events[0]).toMatchObject({ threadId: 'thread-1', runId: 'run-own' })
    expect(await made.history()).toHaveLength(2)
    expect((await made.ask('GET /message_snapshot/other')).status).toBe(404)
  })

  it('sees open interrupts and pending tool calls', async () => {
    const seen: unknown[] = []
    const ask = defineTool({
      name: 'ask',
      description: 'Asks.',
      execute: (_, ctx) => ctx.interrupt({ message: 'Sure?' }),
    })
    const pick = { name: 'pick', description: 'Picks.', parameters: {} }
    const model = scriptedModel([[{ toolCall: { name: 'pick' } }], [{ toolCall: { name: 'ask' } }]])
    const made = served(
      {
        inputChange: (input, { thread, key }) => {
          const { interrupts, pendingToolCalls } = thread
          seen.push([key.thread, interrupts.map(({ message }) => message), pendingToolCalls])
          return input
        },
      },
      defineAgent({ name: 'talker', model, tools: [ask] }),
    )
    await made.run({ tools: [pick] })
    await made.run({ tools: [pick] })
    await made.run({ tools: [pick] })
    const waiting = [{ id: 'call-1', name: 'pick', timestamp: made.clock.now() }]
    expect(seen).toEqual([
      ['thread-1', [], []],
      ['thread-1', [], waiting],
      ['thread-1', ['Sure?'], waiting],
    ])
  })

  it('that gives nothing is refused before anything runs', async () => {
    const made = served({ inputChange: () => undefined as never })
    expectRefusal(await made.ask('POST /run', { body: inputOf() }), 500, 'HOOK_ERROR')
    expect((await made.ask('GET /message_snapshot/thread-1')).status).toBe(404)
  })
})

describe('lock', () => {
  it('refuses with its own code', async () => {
    const busy = new MillraceError('THREAD_IS_LOCKED', 'The desk is closed.')
    const made = served({ lock: () => Promise.reject(busy) })
    const refused = await made.ask('POST /run', { body: inputOf() })
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { code: 'THREAD_IS_LOCKED', message: 'The desk is closed.' } },
    })
    expect(await made.store.leases.isHeld(keyOf())).toBe(false)
  })

  it('that breaks is a HOOK_ERROR', async () => {
    const made = served({ lock: fail })
    const refused = await made.ask('POST /run', { body: inputOf() })
    expectRefusal(refused, 500, 'HOOK_ERROR')
    expect(refused.text).not.toContain(secret)
  })

  it('comes before the lease', async () => {
    const isLeased: boolean[] = []
    const made = served({
      lock: async ({ key }) => {
        isLeased.push(await made.store.leases.isHeld(key))
        return async () => void isLeased.push(await made.store.leases.isHeld(key))
      },
    })
    await made.run()
    expect(isLeased).toEqual([false, false])
  })
})

describe('what lock gives is called exactly once', () => {
  /** Serves with a lock that counts, and gives how often it was taken and given back. */
  function counted(agent: Agent = talker(), hooks: Hooks = {}, options: Rest = {}) {
    const count = { locked: 0, unlocked: 0 }
    const lock: Hooks['lock'] = () => {
      count.locked++
      return () => {
        count.unlocked++
      }
    }
    return { count, made: served({ ...hooks, lock }, agent, options) }
  }
  const once = { locked: 1, unlocked: 1 }

  test('after a success', async () => {
    const { count, made } = counted()
    await made.run()
    expect(count).toEqual(once)
  })

  test('when the agent fails', async () => {
    const { count, made } = counted(talker([[{ error: { status: 401 } }]]))
    expect((await made.run()).at(-1)?.type).toBe('RUN_ERROR')
    expect(count).toEqual(once)
  })

  test('when the run is cancelled', async () => {
    const { count, made } = counted(talker([['I', { wait: aborted }]]))
    const stream = await made.open('/run', { body: inputOf() })
    await stream.until('TEXT_MESSAGE_CONTENT')
    expect(count).toEqual({ locked: 1, unlocked: 0 })
    await made.ask('POST /cancel', { body: { threadId: 'thread-1' } })
    expect(count).toEqual(once)
    await stream.ended
  })

  test('when the time is over', async () => {
    const { count, made } = counted(talker([['I', { wait: aborted }]]), {}, { limits: { runTimeoutMs: 100 } })
    const stream = await made.open('/run', { body: inputOf() })
    await stream.until('TEXT_MESSAGE_CONTENT')
    await made.clock.advance(100)
    await stream.ended
    expect(count).toEqual(once)
  })

  test('when the thread is busy', async () => {
    const { count, made } = counted()
    await made.store.leases.acquire(keyOf(), { owner: 'other', ttlMs: 1000 })
    expectRefusal(await made.ask('POST /run', { body: inputOf() }), 409, 'THREAD_IS_LOCKED')
    expect(count).toEqual(once)
  })

  test('and lock is not asked when there are too many runs', async () => {
    const { count, made } = counted(talker([['I', { wait: aborted }]]), {}, { limits: { runs: 1 } })
    const stream = await made.open('/run', { body: inputOf() })
    await stream.until('TEXT_MESSAGE_CONTENT')
    const refused = await made.ask('POST /run', { body: inputOf({ threadId: 'thread-2' }) })
    expectRefusal(refused, 429, 'TOO_MANY_RUNS')
    expect(count).toEqual({ locked: 1, unlocked: 0 })
  })

  test('when a later hook refuses', async () => {
    const { count, made } = counted(talker(), { inputChange: fail })
    expectRefusal(await made.ask('POST /run', { body: inputOf() }), 500, 'HOOK_ERROR')
    expect(count).toEqual(once)
  })

  test('when the last event fails', async () => {
    const { count, made } = counted(talker(), {
      outputRecord: ({ type }) => (type === 'RUN_FINISHED' ? fail() : undefined),
    })
    expect((await made.run()).at(-1)).toMatchObject({ code: 'HOOK_ERROR' })
    expect(count).toEqual(once)
  })

  test('when nothing is new, or the plan refuses', async () => {
    const { count, made } = counted()
    const messages = [user('u1', 'Hello.')]
    await made.run({ messages })
    await made.run({ messages, runId: 'run-same' })
    await made.run({ messages, runId: 'run-same' })
    const refused = await made.run({ resume: [{ interruptId: 'none', status: 'resolved' }] })
    expect(refused.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'INVALID_RESUME' })
    expect(count).toEqual({ locked: 4, unlocked: 4 })
  })

  test('and when it throws, the run has ended well and the thread is free', async () => {
    const made = served({ lock: () => fail })
    expect((await made.run()).at(-1)?.type).toBe('RUN_FINISHED')
    expect(made.logged.filter(({ level }) => level === 'error')).toHaveLength(1)
    expect(await made.metric('hook_failures_total')).toEqual({ 'hook="lock"': 1 })
    await expectUsable(made)
  })
})

const never = new Promise<never>(() => undefined)

describe('runtimeTimeout', () => {
  const limits = { runTimeoutMs: 1000, hookTimeoutMs: 1000 }
  const slow = () => talker([['Let me', { wait: aborted }], 'Fine.'])

  async function runLate(hooks: Hooks) {
    const made = served(hooks, slow(), { limits })
    const stream = await made.open('/run', { body: inputOf() })
    await stream.until('TEXT_MESSAGE_CONTENT')
    await made.clock.advance(999)
    expect(stream.events.at(-1)?.type).toBe('TEXT_MESSAGE_CONTENT')
    await made.clock.advance(1)
    return { made, events: await stream.ended }
  }

  it('says something in the place of an error, and the run ends as cancelled, not as a success', async () => {
    const seen: string[] = []
    const { made, events } = await runLate({
      runtimeTimeout: ({ runId }) => {
        seen.push(runId)
        return text('late', 'Sorry, that took too long.')
      },
    })
    expect(seen).toHaveLength(1)
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
    expect(textOf(events)).toBe('Let meSorry, that took too long.')
    expect((await made.history()).at(-1)).toMatchObject({ content: 'Sorry, that took too long.' })
    await expectUsable(made)
  })

  it('leaves the error when it gives nothing', async () => {
    const { made, events } = await runLate({ runtimeTimeout: () => Promise.resolve(undefined) })
    expect(events.at(-1)).toEqual({
      type: 'RUN_ERROR',
      code: 'EXECUTION_TIMEOUT',
      message: 'The run took longer than 1000 ms.',
    })
    await expectUsable(made)
  })

  it('is not called for a run that is in time or cancelled', async () => {
    let calls = 0
    const made = served({ runtimeTimeout: () => (calls++, undefined) }, slow(), { limits })
    const stream = await made.open('/run', { body: inputOf() })
    await stream.until('TEXT_MESSAGE_CONTENT')
    await made.ask('POST /cancel', { body: { threadId: 'thread-1' } })
    await stream.ended
    await made.run()
    await made.clock.advance(5000)
    expect(calls).toBe(0)
  })

  it('does not keep a run for ever', async () => {
    const made = served({ runtimeTimeout: () => never }, slow(), { limits })
    const stream = await made.open('/run', { body: inputOf() })
    await stream.until('RUN_STARTED')
    await settled()
    for (let n = 0; n < 5; n++) await made.clock.advance(1000)
    expect((await stream.ended).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'EXECUTION_TIMEOUT' })
    expect(await made.store.leases.isHeld(keyOf('thread-1'))).toBe(false)
  })

  it('that breaks is a HOOK_ERROR', async () => {
    const { made, events } = await runLate({ runtimeTimeout: fail })
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'HOOK_ERROR' })
    await expectUsable(made)
  })
})

describe('stateSnapshot', () => {
  const lastSnapshot = (events: readonly AgUiEvent[]): unknown =>
    ofType(events, 'STATE_SNAPSHOT').at(-1)?.snapshot

  it('changes what is shown at the end, not what is stored', async () => {
    const made = served({ stateSnapshot: (state) => ({ shown: state }) })
    expect(lastSnapshot(await made.run({ state: { count: 1 } }))).toEqual({ shown: { count: 1 } })
    const { body } = await made.ask('GET /state_snapshot/thread-1')
    expect(body).toMatchObject({ snapshot: { count: 1 } })
  })

  it.each<[string, Hooks]>([
    ['it', { stateSnapshot: (state) => ({ ...(state as object), card: '***' }) }],
    [
      'outputChange',
      {
        outputChange: (event) =>
          event.type === 'STATE_SNAPSHOT'
            ? { ...event, snapshot: { ...(event.snapshot as object), card: '***' } }
            : event,
      },
    ],
  ])(
    'what %s has changed is not taken for a change by the client that sends it back',
    async (_name, hooks) => {
      const made = served(hooks)
      const first = await made.run({ state: { card: '4111', count: 1 } })
      expect(lastSnapshot(first)).toEqual({ card: '***', count: 1 })
      const messages = [...(await made.history()), user('u2', 'Again.')]
      const second = await made.run({ messages, state: { card: '***', count: 2 } })
      expect(ofType(second, 'STATE_SNAPSHOT').map(({ snapshot }): unknown => snapshot)).toEqual([
        { card: '***', count: 2 },
        { card: '***', count: 2 },
      ])
      const { body } = await made.ask('GET /state_snapshot/thread-1')
      expect(body).toMatchObject({ snapshot: { card: '4111', count: 2 } })
    },
  )

  it('sees only what clients may see', async () => {
    const seen: unknown[] = []
    const snapshot = { shown: 1, 'user:token': secret }
    const agent = native([{ type: 'STATE_SNAPSHOT', snapshot }])
    const made = served({ stateSnapshot: (state) => void seen.push(state) }, agent)
    await made.run()
    expect(seen).toEqual([{ shown: 1 }])
  })

  it('suppresses it', async () => {
    const made = served({ stateSnapshot: () => undefined })
    expect(typesOf(await made.run())).not.toContain('STATE_SNAPSHOT')
    const messages = [...(await made.history()), user('u2', 'Again.')]
    expect(typesOf(await made.run({ messages, state: {} }))).not.toContain('STATE_SNAPSHOT')
  })

  it('that breaks before a run has begun refuses it, and nothing is changed', async () => {
    let isBroken = false
    const stateSnapshot = (state: unknown): unknown => (isBroken ? fail() : state)
    const made = served({ stateSnapshot })
    await made.run({ state: { count: 1 } })
    const before = await made.history()
    isBroken = true
    const body = inputOf({ runId: 'run-2', messages: [...before, user('u2', 'Again.')], state: undefined })
    expectRefusal(await made.ask('POST /run', { body }), 500, 'HOOK_ERROR')
    isBroken = false
    expect(await made.history()).toEqual(before)
    await expectUsable(made)
  })

  it('is called at a pause', async () => {
    const ask = defineTool({
      name: 'ask',
      description: 'Asks.',
      execute: (_, ctx) => ctx.interrupt({ message: 'Sure?' }),
    })
    const model = scriptedModel([[{ toolCall: { name: 'ask' } }]])
    const made = served(
      { stateSnapshot: () => ({ at: 'pause' }) },
      defineAgent({ name: 'talker', model, tools: [ask] }),
    )
    const events = await made.run()
    expect(lastSnapshot(events)).toEqual({ at: 'pause' })
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'interrupt' } })
  })

  it('that gives what is not JSON fails the run', async () => {
    const made = served({ stateSnapshot: () => ({ later: Promise.resolve(1) }) })
    expect((await made.run()).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'ENCODING_ERROR' })
    await made.ask('GET /state_snapshot/thread-1')
  })
})

describe('outputChange', () => {
  it('changes what is sent and logged, and the history does not see it', async () => {
    const made = served({
      outputChange: (event) =>
        event.type === 'TEXT_MESSAGE_CONTENT' ? { ...event, delta: event.delta.toUpperCase() } : event,
    })
    const stream = await made.open('/run', { body: inputOf() })
    expect(textOf(await stream.ended)).toBe('FINE.')
    expect((await made.history()).at(-1)).toMatchObject({ content: 'Fine.' })
    const headers = { 'last-event-id': stream.ids[0] ?? '' }
    const again = await made.open('/connect', { body: { threadId: 'thread-1' }, headers })
    expect(textOf(await again.ended)).toBe('FINE.')
  })

  const broken: readonly [string, (event: AgUiEvent) => unknown][] = [
    ['the type', (event) => ({ ...event, type: 'CUSTOM', name: 'x', value: 1 })],
    ['the message id', (event) => ('messageId' in event ? { ...event, messageId: 'other' } : event)],
    ['the run id', (event) => ('runId' in event ? { ...event, runId: 'other' } : event)],
    ['all of it', () => undefined],
  ]

  test.each(broken)('that changes %s fails the run', async (_, change) => {
    const made = served({ outputChange: (event) => change(event) as AgUiEvent })
    const events = await made.run()
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'HOOK_ERROR' })
    expect(JSON.stringify(events)).not.toContain('other')
  })

  const malformed: readonly [string, (event: AgUiEvent) => object][] = [
    ['a number for a text', (event) => ({ ...event, delta: 1 })],
    ['no text', (event) => ({ ...event, delta: undefined })],
    ['null for a text', (event) => ({ ...event, delta: null })],
    ['a number in the event itself', (event) => Object.assign(event, { delta: 1 })],
  ]

  test.each(malformed)('that makes %s fails the run, and the stream stays valid', async (_, change) => {
    const made = served({
      outputChange: (event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? (change(event) as AgUiEvent) : event),
    })
    const events = await made.run()
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'HOOK_ERROR' })
    expect(made.logText()).toContain('TEXT_MESSAGE_CONTENT.delta')
  })

  /** What JSON would lose without a word. */
  const lost = { later: Promise.resolve(1) }

  const spoilt: readonly [string, (event: AgUiEvent) => AgUiEvent | Promise<AgUiEvent>][] = [
    ['a copy', (event) => ({ ...event, rawEvent: lost })],
    ['a copy, later', (event) => Promise.resolve({ ...event, rawEvent: lost })],
    ['the event itself', (event) => Object.assign(event, { rawEvent: lost })],
  ]

  test.each(spoilt)('that makes of %s something that is not JSON fails the run', async (_, spoil) => {
    const made = served({
      outputChange: (event) => (event.type === 'TEXT_MESSAGE_END' ? spoil(event) : event),
    })
    const events = await made.run()
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'ENCODING_ERROR' })
    expect(JSON.stringify(events)).not.toContain('rawEvent')
    expect(made.logText()).toContain('rawEvent.later is a Promise')
    expect((await made.ask('GET /metrics')).text).toContain('hook="outputChange"} 1')
    expect(await made.store.leases.isHeld(keyOf())).toBe(false)
  })

  it('that spoils a call of the client fails the run, and the call is sent as it was', async () => {
    const pick = { name: 'pick', description: 'Picks.', parameters: {} }
    const made = served(
      { outputChange: (event) => (event.type === 'TOOL_CALL_END' ? { ...event, rawEvent: lost } : event) },
      talker(() => [{ toolCall: { name: 'pick' } }]),
    )
    const events = await made.run({ tools: [pick] })
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'ENCODING_ERROR' })
    expect(typesOf(events)).toContain('TOOL_CALL_END')
  })
})

describe('outputRecord', () => {
  /** The events it got, for each request. */
  async function recorded(made: FetchServer, seen: AgUiEvent[], fields: object) {
    seen.length = 0
    const events = await made.run(fields)
    return { sent: events, seen: [...seen] }
  }

  it('gets every event that is sent, also when nothing is run', async () => {
    const seen: AgUiEvent[] = []
    const made = served({ outputRecord: (event) => void seen.push(event) })
    const first = inputOf()
    const requests = [
      first,
      first,
      inputOf({ resume: [{ interruptId: 'none', status: 'resolved' }] }),
      inputOf(),
    ]
    for (const request of requests) {
      const { sent, seen: recordedEvents } = await recorded(made, seen, request)
      expect(recordedEvents).toEqual(sent)
    }
  })

  it('gets the error that another hook makes of the end', async () => {
    const seen: string[] = []
    const made = served({
      outputRecord: (event) => void seen.push(event.type),
      stateSnapshot: fail,
    })
    const events = await made.run()
    expect(seen).toEqual(typesOf(events))
    expect(seen.at(-1)).toBe('RUN_ERROR')
  })
})

describe('a hook that throws', () => {
  const before = ['inputRecord', 'lock', 'inputChange'] as const
  const during = [
    'runtimeEvent',
    'translate',
    'event',
    'stateSnapshot',
    'outputRecord',
    'outputChange',
  ] as const

  /** Hooks of which one throws, in the first request only. */
  function breaking(name: keyof Hooks, error: Error, isAsync = false): Hooks {
    let isBroken = true
    const hook = (value: unknown) => {
      if (!isBroken) return name === 'lock' ? undefined : value
      if (isAsync) return Promise.reject(error)
      throw error
    }
    const mend = () => void (isBroken = false)
    // Not a member that the server sees: it refuses hooks that it does not know.
    return Object.defineProperty({ [name]: hook }, 'mend', { value: mend })
  }

  const mend = (hooks: Hooks) => (hooks as { mend?: () => void }).mend?.()

  test.each(before.flatMap((name) => [[name, false] as const, [name, true] as const]))(
    '%s refuses the request (async: %s)',
    async (name, isAsync) => {
      const hooks = breaking(name, new Error(secret), isAsync)
      const made = served(hooks)
      const refused = await made.ask('POST /run', { body: inputOf() })
      expectRefusal(refused, 500, 'HOOK_ERROR')
      expect(refused.text).toContain('The server could not process the run.')
      expect(refused.text).not.toContain(secret)
      expect(made.logText()).toContain('HOOK_ERROR')
      expect(made.logText()).not.toContain(secret)
      expect(await made.metric('hook_failures_total')).toEqual({ [`hook="${name}"`]: 1 })
      expect((await made.ask('GET /message_snapshot/thread-1')).status).toBe(404)
      mend(hooks)
      await expectUsable(made)
    },
  )

  test.each(during.flatMap((name) => [[name, false] as const, [name, true] as const]))(
    '%s fails the run (async: %s)',
    async (name, isAsync) => {
      const hooks = breaking(name, new Error(secret), isAsync)
      const made = served(hooks)
      const events = await made.run()
      expect(events.at(-1)).toEqual({
        type: 'RUN_ERROR',
        code: 'HOOK_ERROR',
        message: 'The server could not process the run.',
      })
      expect(JSON.stringify(events)).not.toContain(secret)
      expect(made.logText()).toContain('HOOK_ERROR')
      expect(made.logText()).not.toContain(secret)
      const counts = await made.metric('hook_failures_total')
      expect(Object.keys(counts)).toEqual([`hook="${name}"`])
      expect(await made.metric('runs_ended_total')).toEqual({ 'agent="talker",status="failed"': 1 })
      mend(hooks)
      await expectUsable(made)
    },
  )

  const own = new MillraceError('INVALID_INPUT', 'Say please.')

  test.each(before)('%s refuses with a code of its own', async (name) => {
    const made = served(breaking(name, own))
    expect(await made.ask('POST /run', { body: inputOf() })).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_INPUT', message: 'Say please.' } },
    })
  })

  test.each(during)('%s fails the run with a code of its own', async (name) => {
    const made = served(breaking(name, own))
    expect((await made.run()).at(-1)).toEqual({
      ...{ type: 'RUN_ERROR', code: 'INVALID_INPUT', message: 'Say please.' },
    })
  })
})

describe('a hook that throws at one event', () => {
  const open = native(text('m1', 'Open.').slice(0, 2))
  const every = ['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'] as const
  const last = ['STATE_SNAPSHOT', 'RUN_FINISHED'] as const

  describe.each(['outputRecord', 'outputChange'] as const)('%s', (name) => {
    const at = (type: string): Hooks => ({
      [name]: (event: AgUiEvent) => (event.type === type ? fail() : event),
    })

    test.each([...every, ...last])('fails the run at %s, once', async (type) => {
      const made = served(at(type))
      const events = await made.run()
      expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'HOOK_ERROR' })
      expect(await made.metric('hook_failures_total')).toEqual({ [`hook="${name}"`]: 1 })
      const { body } = await made.ask('GET /thread/list')
      expect(body).toMatchObject({ threads: [{ lastRun: { status: 'failed' } }] })
    })

    test('fails the run at an event that only ends what the agent left open', async () => {
      const made = served(at('TEXT_MESSAGE_END'), open)
      const events = await made.run()
      expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'HOOK_ERROR' })
      expect(made.logText()).toContain('HOOK_ERROR')
      expect(made.logText()).not.toContain(secret)
    })

    test('changes nothing about an error that is sent already', async () => {
      const made = served(at('RUN_ERROR'), talker([[{ error: { status: 401 } }], 'Fine.']))
      expect((await made.run()).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'MODEL_ERROR' })
      await expectUsable(made)
    })

    test('fails an interrupted run, and its interrupts are raised again', async () => {
      const ask = defineTool({
        name: 'ask',
        description: 'Asks.',
        execute: (_, ctx) => ctx.interrupt({ message: 'Sure?' }),
      })
      const model = scriptedModel([[{ toolCall: { name: 'ask' } }]])
      let isBroken = true
      const made = served(
        { [name]: (event: AgUiEvent) => (isBroken && event.type === 'RUN_FINISHED' ? fail() : event) },
        defineAgent({ name: 'talker', model, tools: [ask] }),
      )
      expect((await made.run()).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'HOOK_ERROR' })
      isBroken = false
      expect((await made.run()).at(-1)).toMatchObject({
        type: 'RUN_FINISHED',
        outcome: { type: 'interrupt', interrupts: [{ message: 'Sure?' }] },
      })
    })
  })
})
