import {
  BasePlugin,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  START,
  Workflow,
  type AppendEventRequest,
  type BaseSessionService,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk, type AdkOptions } from '../../src/adk/index.js'
import { withRetry } from '../../src/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { callsTool, partial, says, ScriptedLlm, whole, type LlmStep } from '../support/adk/scripted-llm.js'
import {
  requestLines,
  callId,
  clientTool,
  historyOf,
  serveAdk,
  textIn,
  type ServeAdkOptions,
} from '../support/adk/serve-adk.js'
import { failsWith } from '../support/adk/session-rig.js'
import { aborted, deferred, ofType } from '../support/run-agent.js'
import { clientVersions, linesOf, type ServedAgents } from '../support/serve-agents.js'
import { inputOf, user } from './support-server.js'

const work = deferredTool()

/** A tool that works until it is stopped. */
function deferredTool() {
  let started = deferred()
  const tool = new FunctionTool({
    name: 'work',
    description: 'Works.',
    parameters: z.object({}),
    execute: async (_, context) => {
      started.resolve()
      const signal = context?.invocationContext.abortSignal
      if (signal) await aborted(signal)
      return { done: true }
    },
  })
  return {
    tool,
    started: () => started.promise,
    reset() {
      started = deferred()
    },
  }
}

async function serveFragile(
  steps: readonly LlmStep[],
  {
    tools = [work.tool],
    options = {},
    agent = {},
    ...rest
  }: Partial<ServeAdkOptions> & {
    tools?: LlmAgent['tools']
    options?: AdkOptions
    agent?: Partial<ConstructorParameters<typeof LlmAgent>[0]>
  } = {},
) {
  work.reset()
  const llm = new ScriptedLlm(steps)
  const make = () => fromAdk(new LlmAgent({ name: 'helper', model: llm, tools, ...agent }), options)
  return { llm, served: await serveAdk({ make, ...rest }) }
}

type Talk = ReturnType<ServedAgents['talk']>

/** The client throws when a run fails; what it was told is in the stream. */
async function failing(talk: Talk, text: string): Promise<readonly AgUiEvent[]> {
  await talk.say(text).catch(() => undefined)
  return talk.streams.at(-1)?.events ?? []
}

/** A model that says a piece and then waits to be stopped. */
function endless(
  stopped: { isStopped: boolean },
  speaking: { resolve: (value: undefined) => void },
): LlmStep {
  return async function* (_, signal) {
    yield partial('What I have said so far')
    speaking.resolve(undefined)
    if (signal) await aborted(signal)
    stopped.isStopped = true
  }
}

describe.each(clientVersions)('with the client $version', ({ Client }) => {
  it('a run is cancelled: the model is stopped, and the thread goes on', async () => {
    const state = { isStopped: false }
    const speaking = deferred<undefined>()
    const { llm, served } = await serveFragile([endless(state, speaking), says('Here again.')])
    const talk = served.talk({ Client })
    const running = talk.say('Go').catch(() => undefined)
    await speaking.promise
    const { status } = await served.ask('POST /cancel', { body: { threadId: 'thread-1' } })
    await running
    expect([status, state.isStopped]).toEqual([200, true])
    expect(talk.client.messages.at(-1)).toMatchObject({ content: 'What I have said so far' })
    expect(textIn(await talk.say('And now?'))).toBe('Here again.')
    const lines = requestLines(llm.calls[1])
    expect([lines[0], lines.at(-1)]).toEqual(['user: Go', 'user: And now?'])
    expect(lines.join()).toContain('said so far')
  })
})

it('a run is cancelled while a tool is at work: the open call is in nobody’s way', async () => {
  const { llm, served } = await serveFragile([
    callsTool({ name: 'work' }),
    says('Never mind then.'),
    says('Bye.'),
  ])
  const talk = served.talk()
  const running = talk.say('Go').catch(() => undefined)
  await work.started()
  expect((await served.ask('POST /cancel', { body: { threadId: 'thread-1' } })).status).toBe(200)
  await running
  expect(textIn(await talk.say('And now?'))).toBe('Never mind then.')
  const contents = llm.calls[1] ?? []
  const count = (kind: 'functionCall' | 'functionResponse'): number =>
    contents.flatMap(({ parts = [] }) => parts.filter((part) => part[kind])).length
  expect(count('functionCall')).toBe(count('functionResponse'))
  expect(requestLines(contents).at(-1)).toMatch(/And now\?$/)
  expect(textIn(await talk.say('Bye'))).toBe('Bye.')
})

it.each([
  ['continue', false],
  ['cancel', true],
] as const)('a client that goes away: %s', async (onDisconnect, isCancelled) => {
  const speaking = deferred<undefined>()
  const mayEnd = deferred()
  const ended = deferred<boolean>()
  const { served } = await serveFragile(
    [
      async function* (_, signal) {
        yield partial('One ')
        speaking.resolve(undefined)
        await Promise.race([mayEnd.promise, ...(signal ? [aborted(signal)] : [])])
        ended.resolve(signal?.aborted === true)
        if (signal?.aborted !== true) yield* says('One ', 'two.').slice(1)
      },
    ],
    { onDisconnect },
  )
  const talk = served.talk()
  const running = talk.say('Go').catch(() => undefined)
  await speaking.promise
  talk.client.abortRun()
  await running
  if (!isCancelled) mayEnd.resolve()
  expect(await ended.promise).toBe(isCancelled)
  const text = isCancelled ? 'One ' : 'One two.'
  await expect.poll(async () => (await historyOf(served).catch(() => [])).at(-1)?.content).toBe(text)
})

/** Gives nothing, and throws anything. */
function throwing(thrown: unknown): AsyncIterable<never> {
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- this is the case
  const next = () => Promise.reject(thrown)
  return { [Symbol.asyncIterator]: () => ({ next }) }
}

function throwingOnce(): () => undefined {
  let left = 1
  return () => {
    if (left-- > 0) throw new Error('callback-secret')
    return undefined
  }
}

const broken = (tool: () => unknown) =>
  new FunctionTool({ name: 'work', description: 'Works.', parameters: z.object({}), execute: tool })

class Throwing extends BasePlugin {
  #left = 1

  readonly #where: 'beforeRun' | 'beforeModel' | 'onEvent'

  constructor(where: 'beforeRun' | 'beforeModel' | 'onEvent') {
    super('throwing')
    this.#where = where
  }

  #throw(): Promise<undefined> {
    if (this.#left-- > 0) throw new Error('plugin-secret')
    return Promise.resolve(undefined)
  }

  override beforeRunCallback(): Promise<undefined> {
    return this.#where === 'beforeRun' ? this.#throw() : Promise.resolve(undefined)
  }

  override beforeModelCallback(): Promise<undefined> {
    return this.#where === 'beforeModel' ? this.#throw() : Promise.resolve(undefined)
  }

  override onEventCallback(): Promise<undefined> {
    return this.#where === 'onEvent' ? this.#throw() : Promise.resolve(undefined)
  }
}

/** A session service that is down, where and as often as it is told. */
function weakSessions(method: keyof BaseSessionService, times: number): BaseSessionService {
  const inner = new InMemorySessionService()
  let left = times
  return new Proxy(inner, {
    get(target, name): unknown {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== method) return value.bind(target)
      return (...args: readonly unknown[]): unknown => {
        if (left-- > 0) return Promise.reject(new Error('store-secret'))
        return Reflect.apply(value, target, args)
      }
    },
  })
}

describe('#1892: one RUN_ERROR, and a thread that goes on, after', () => {
  const rows: readonly {
    readonly name: string
    readonly first: readonly LlmStep[]
    readonly code: string
    readonly options?: AdkOptions
    readonly tools?: LlmAgent['tools']
    readonly agent?: Partial<ConstructorParameters<typeof LlmAgent>[0]>
  }[] = [
    { name: 'an error of the model', first: [[new Error('model-secret')]], code: 'MODEL_ERROR' },
    {
      name: 'an error of the model in the middle of a text',
      first: [[partial('Half '), new Error('model-secret')]],
      code: 'MODEL_ERROR',
    },
    {
      name: 'a model that throws what is no error',
      first: [() => throwing('model-secret')],
      code: 'AGENT_ERROR',
    },
    {
      name: 'a refusal of the model',
      first: [[whole([], { errorCode: 'SAFETY', errorMessage: 'model-secret' })]],
      code: 'MODEL_ERROR',
    },
    ...(['beforeRun', 'beforeModel', 'onEvent'] as const).map((where) => ({
      name: `a plugin that throws: ${where}`,
      first: where === 'onEvent' ? [says('x')] : [],
      code: 'AGENT_ERROR',
      options: { plugins: [new Throwing(where)] },
    })),
    ...(['beforeModelCallback', 'afterModelCallback'] as const).map((where) => ({
      name: `a callback of the agent that throws, which is no failure of the model: ${where}`,
      first: where === 'afterModelCallback' ? [says('x')] : [],
      code: 'AGENT_ERROR',
      agent: { [where]: throwingOnce() },
    })),
    {
      name: 'more model calls than `maxLlmCalls` allows',
      first: [callsTool({ name: 'work' })],
      code: 'MAX_ITERATIONS',
      options: { runConfig: { maxLlmCalls: 1 } },
      tools: [broken(() => 'ok')],
    },
    ...(['createSession', 'appendEvent'] as const).map((method) => ({
      name: `a session service that is down: ${method}`,
      first: [],
      code: 'AGENT_ERROR',
      options: { sessionService: weakSessions(method, 1) },
    })),
  ]

  it.each(rows)('$name', async ({ first, code, options = {}, tools, agent = {} }) => {
    const { llm, served } = await serveFragile([...first, says('Fine now.')], {
      options,
      agent,
      ...(tools ? { tools } : {}),
    })
    const talk = served.talk()
    const events = await failing(talk, 'Go')
    expect(ofType(events, 'RUN_ERROR')).toMatchObject([{ code }])
    expect(events.at(-1)?.type).toBe('RUN_ERROR')
    expect(JSON.stringify(events)).not.toMatch(/-secret/)
    expect(textIn(await talk.say('Again'))).toBe('Fine now.')
    const lines = requestLines(llm.calls.at(-1))
    expect(lines.join('\n')).toMatch(/Go[^]*Again$/)
    expect(lines.join('\n').match(/Go/g)).toHaveLength(1)
  })

  it('a refusal, and no run, when sessions cannot be read', async () => {
    const { llm, served } = await serveFragile([says('Fine now.')], {
      options: { sessionService: weakSessions('getSession', 1) },
    })
    const body = inputOf({ messages: [user('u1', 'Go')] })
    const { status, body: refusal } = await served.ask('POST /run', { body })
    expect([status, refusal]).toMatchObject([503, { error: { code: 'STORE_ERROR' } }])
    expect(JSON.stringify(refusal)).not.toContain('-secret')
    expect(textIn(await served.talk().say('Again'))).toBe('Fine now.')
    expect(llm.calls).toHaveLength(1)
  })

  it.each([
    ['an error', new Error('tool-secret')],
    ['what is no error', 'tool-secret'],
  ])('no error at all when a tool throws %s: the model is told', async (_, thrown) => {
    const { llm, served } = await serveFragile([callsTool({ name: 'work' }), says('It is broken.')], {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- this is the case
      tools: [broken(() => Promise.reject(thrown))],
    })
    const talk = served.talk()
    expect(textIn(await talk.say('Go'))).toBe('It is broken.')
    expect(requestLines(llm.calls[1])[2]).toMatch(/^user: work -> .*error/)
  })

  it('the same run is tried again by the client: it goes on, and says nothing twice', async () => {
    const { llm, served } = await serveFragile([[new Error('x')], says('Fine now.')])
    const talk = served.talk()
    await failing(talk, 'Go')
    expect(textIn(await talk.send())).toBe('Fine now.')
    expect(requestLines(llm.calls[1])).toEqual(['user: Go'])
  })

  it('a session service that fails to store the answer', async () => {
    let left = 1
    class Weak extends InMemorySessionService {
      override async appendEvent(request: AppendEventRequest) {
        if (request.event.author !== 'user' && left-- > 0) throw new Error('store-secret')
        return super.appendEvent(request)
      }
    }
    const { llm, served } = await serveFragile([says('Lost.'), says('Fine now.')], {
      options: { sessionService: new Weak() },
    })
    const talk = served.talk()
    const events = await failing(talk, 'Go')
    expect(ofType(events, 'RUN_ERROR')).toHaveLength(1)
    expect(textIn(await talk.say('Again'))).toBe('Fine now.')
    expect(requestLines(llm.calls[1]).at(-1)).toMatch(/Again$/)
  })
})

it('a call of a tool that nobody has is told to the model, and is no failure', async () => {
  const { llm, served } = await serveFragile([callsTool({ name: 'nothing_like_it' }), says('Sorry.')])
  const events = await served.talk().say('Go', { tools: [clientTool('pick')] })
  expect(textIn(events)).toBe('Sorry.')
  expect(events.at(-1)?.type).toBe('RUN_FINISHED')
  expect(requestLines(llm.calls[1])[2]).toMatch(/^user: nothing_like_it -> .*no tool/)
})

describe('retries', () => {
  const runs: string[] = []
  const pay = new FunctionTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    execute: ({ amount }) => {
      runs.push(String(amount))
      return { paid: amount }
    },
  })

  async function servePatient(steps: readonly LlmStep[], maxRetries = 2) {
    runs.length = 0
    const llm = new ScriptedLlm(steps)
    const sessionService = new InMemorySessionService()
    const make = () =>
      withRetry(fromAdk(new LlmAgent({ name: 'helper', model: llm, tools: [pay] }), { sessionService }), {
        maxRetries,
        delayMs: 0,
      })
    const served = await serveAdk({ make })
    const session = async () => {
      const found = await sessionService.getSession({
        appName: 'helper',
        userId: 'local',
        sessionId: 'thread-1',
      })
      return found?.events ?? []
    }
    return { llm, served, session }
  }

  const busy = [failsWith(503)]

  it('a model that fails is asked again: the message is stored once, and what was half said is taken back', async () => {
    const { llm, served, session } = await servePatient([
      [partial('Half a wo'), failsWith(503)],
      busy,
      says('All of it.'),
      says('Bye.'),
    ])
    const talk = served.talk()
    const events = await talk.say('Go')
    expect(events.at(-1)?.type).toBe('RUN_FINISHED')
    expect(ofType(events, 'CUSTOM').filter(({ name }) => name === 'millrace.retry')).toHaveLength(2)
    expect(llm.calls.map((contents) => requestLines(contents))).toEqual([
      ['user: Go'],
      ['user: Go'],
      ['user: Go'],
    ])
    const said = (await session()).filter(({ author, content }) => author === 'user' && content)
    expect(said).toHaveLength(1)
    await talk.say('Bye')
    expect(requestLines(llm.calls[3])).toEqual(['user: Go', 'model: All of it.', 'user: Bye'])
  })

  it('a tool that has run does not run again', async () => {
    const { llm, served, session } = await servePatient([
      callsTool({ name: 'pay', args: { amount: 3 } }),
      busy,
      busy,
      says('Paid.'),
      says('Bye.'),
    ])
    const talk = served.talk()
    const events = await talk.say('Pay')
    expect([textIn(events), runs]).toEqual(['Paid.', ['3']])
    expect(ofType(events, 'TOOL_CALL_START')).toHaveLength(1)
    expect(ofType(events, 'TOOL_CALL_RESULT')).toHaveLength(1)
    const paid = ['user: Pay', 'model: pay({"amount":3})', 'user: pay -> {"paid":3}']
    for (const index of [1, 2, 3]) expect(requestLines(llm.calls[index])).toEqual(paid)
    const said = (await session()).filter(({ author, content }) => author === 'user' && content)
    expect(said).toHaveLength(1)
    expect(linesOf(await historyOf(served))).toEqual([
      'user: Pay',
      'assistant: pay({"amount":3})',
      'tool: {"paid":3}',
      'assistant: Paid.',
    ])
    await talk.say('Bye')
    expect(requestLines(llm.calls[4])).toEqual([...paid, 'model: Paid.', 'user: Bye'])
  })

  it('one RUN_ERROR when it never works, and the thread goes on', async () => {
    const { llm, served, session } = await servePatient([busy, busy, busy, says('Fine.')])
    const talk = served.talk()
    await talk.say('Go').catch(() => undefined)
    const events = talk.streams[0]?.events ?? []
    expect(ofType(events, 'RUN_ERROR')).toMatchObject([{ code: 'MAX_RETRIES_EXCEEDED' }])
    expect(events.at(-1)?.type).toBe('RUN_ERROR')
    expect(llm.calls).toHaveLength(3)
    expect(textIn(await talk.say('Again'))).toBe('Fine.')
    const said = (await session()).filter(({ author, content }) => author === 'user' && content)
    expect(said.length).toBeGreaterThanOrEqual(2)
    expect(requestLines(llm.calls[3]).join('\n').match(/Go/g)).toHaveLength(1)
  })

  it('a refusal is not tried again', async () => {
    const { llm, served } = await servePatient([[failsWith(400)], says('x')])
    const talk = served.talk()
    await talk.say('Go').catch(() => undefined)
    expect(ofType(talk.streams[0]?.events ?? [], 'RUN_ERROR')).toMatchObject([{ code: 'MODEL_ERROR' }])
    expect(llm.calls).toHaveLength(1)
  })

  it('an answer to a client’s tool is given once over all attempts', async () => {
    const { llm, served, session } = await servePatient([callsTool({ name: 'pick' }), busy, says('Red.')])
    const talk = served.talk()
    const tools = [clientTool('pick')]
    const first = await talk.say('Go', { tools })
    const events = await talk.answer({ [callId(first, 'pick')]: 'red' }, { tools })
    expect(textIn(events)).toBe('Red.')
    expect(requestLines(llm.calls[2])).toEqual([
      'user: Go',
      'model: pick({})',
      'user: pick -> {"result":"red"}',
    ])
    const responses = (await session()).flatMap(({ content }) =>
      (content?.parts ?? []).filter(({ functionResponse }) => functionResponse),
    )
    expect(responses).toHaveLength(1)
  })

  it('nodes of a workflow that are done are not run again', async () => {
    runs.length = 0
    const a = new ScriptedLlm([says('A.')])
    const b = new ScriptedLlm([callsTool({ name: 'pay', args: { amount: 3 } }), busy, says('B.')])
    const nodes = [new LlmAgent({ name: 'a', model: a }), new LlmAgent({ name: 'b', model: b, tools: [pay] })]
    const root = new Workflow({ name: 'flow', edges: [[START, ...nodes]] })
    const served = await serveAdk({ make: () => withRetry(fromAdk(root), { delayMs: 0 }) })
    expect(textIn(await served.talk().say('Go'))).toBe('A.B.')
    expect([a.calls.length, b.calls.length, runs]).toEqual([1, 3, ['3']])
    expect(requestLines(b.calls[2])).toEqual([
      'user: A.',
      'model: pay({"amount":3})',
      'user: pay -> {"paid":3}',
    ])
  })
})
