import {
  BasePlugin,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  type AppendEventRequest,
  type BaseSessionService,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk, type AdkOptions } from '../../src/adk/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import {
  asked,
  clientTool,
  historyOf,
  serveAdk,
  textIn,
  type ServeAdkOptions,
} from '../support/adk/serve-adk.js'
import { callsTool, partial, says, ScriptedLlm, whole, type LlmStep } from '../support/adk/scripted-llm.js'
import { aborted, deferred, ofType } from '../support/run-agent.js'
import { clientVersions, type ServedAgents } from '../support/serve-agents.js'
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
    ...rest
  }: Partial<ServeAdkOptions> & { tools?: LlmAgent['tools']; options?: AdkOptions } = {},
) {
  work.reset()
  const llm = new ScriptedLlm(steps)
  const make = () => fromAdk(new LlmAgent({ name: 'helper', model: llm, tools }), options)
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
    const lines = asked(llm.calls[1])
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
  expect(asked(contents).at(-1)).toMatch(/And now\?$/)
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
      code: where === 'beforeModel' ? 'MODEL_ERROR' : 'AGENT_ERROR',
      options: { plugins: [new Throwing(where)] },
    })),
    ...(['createSession', 'appendEvent'] as const).map((method) => ({
      name: `a session service that is down: ${method}`,
      first: [],
      code: 'AGENT_ERROR',
      options: { sessionService: weakSessions(method, 1) },
    })),
  ]

  it.each(rows)('$name', async ({ first, code, options = {}, tools }) => {
    const { llm, served } = await serveFragile([...first, says('Fine now.')], {
      options,
      ...(tools ? { tools } : {}),
    })
    const talk = served.talk()
    const events = await failing(talk, 'Go')
    expect(ofType(events, 'RUN_ERROR')).toMatchObject([{ code }])
    expect(events.at(-1)?.type).toBe('RUN_ERROR')
    expect(JSON.stringify(events)).not.toMatch(/-secret/)
    expect(textIn(await talk.say('Again'))).toBe('Fine now.')
    const lines = asked(llm.calls.at(-1))
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
    expect(asked(llm.calls[1])[2]).toMatch(/^user: work -> .*error/)
  })

  it('the same run is tried again by the client: it goes on, and says nothing twice', async () => {
    const { llm, served } = await serveFragile([[new Error('x')], says('Fine now.')])
    const talk = served.talk()
    await failing(talk, 'Go')
    expect(textIn(await talk.send())).toBe('Fine now.')
    expect(asked(llm.calls[1])).toEqual(['user: Go'])
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
    expect(asked(llm.calls[1]).at(-1)).toMatch(/Again$/)
  })
})

it('a call of a tool that nobody has is told to the model, and is no failure', async () => {
  const { llm, served } = await serveFragile([callsTool({ name: 'nothing_like_it' }), says('Sorry.')])
  const events = await served.talk().say('Go', { tools: [clientTool('pick')] })
  expect(textIn(events)).toBe('Sorry.')
  expect(events.at(-1)?.type).toBe('RUN_FINISHED')
  expect(asked(llm.calls[1])[2]).toMatch(/^user: nothing_like_it -> .*no tool/)
})
