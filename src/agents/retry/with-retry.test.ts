import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import {
  createClient,
  idOf,
  inputOf,
  ofType,
  play,
  rejectedIn,
  settled,
} from '../../../test/support/run-agent.js'
import { manualClock, type ManualClock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { sequentialIds } from '../../core/ids.js'
import { scriptedModel } from '../../models/index.js'
import type { AgentEvent, AgUiEvent } from '../../protocol/index.js'
import { assertValidStream } from '../../testing/index.js'
import type { Agent, Control, RunContext } from '../contract.js'
import { defineAgent } from '../chat/chat-agent.js'
import { defineTool } from '../tools/define-tool.js'
import { run, type RunOptions } from '../run/run.js'
import { withRetry, type WithRetryOptions } from './with-retry.js'

type Attempt = (ctx: RunContext) => AsyncGenerator<AgentEvent, Control | undefined>

/** An agent that does one thing after the other, each time it is run. The last one is done again and again. */
function scripted(...attempts: Attempt[]): Agent & { readonly runs: RunContext[] } {
  const runs: RunContext[] = []
  return {
    name: 'a',
    description: 'Tries.',
    runs,
    async *run(ctx) {
      const attempt = attempts[Math.min(runs.length, attempts.length - 1)]
      runs.push(ctx)
      return (attempt && (yield* attempt(ctx))) ?? { type: 'done' }
    },
  }
}

const text = (messageId: string, delta: string): AgentEvent[] => [
  { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId, delta },
]

/** Says something, and then fails. */
function fails(events: readonly AgentEvent[] = [], error: unknown = new Error('kaput')): Attempt {
  return async function* () {
    yield* events
    await Promise.resolve()
    throw error
  }
}

const answers: Attempt = async function* () {
  yield* text('good', 'Whole.')
  await Promise.resolve()
  return undefined
}

const question: Message = { id: 'u1', role: 'user', content: 'Go.' }

/** Runs to the end while the time passes, and lints what came. */
async function runThrough(agent: Agent, clock: ManualClock = manualClock(), options: RunOptions = {}) {
  const request = { threadId: 't', runId: 'r', messages: [question] }
  const running = run(agent, request, { clock, newId: sequentialIds(), ...options })
  const events: AgUiEvent[] = []
  const reading = (async () => {
    for await (const event of running) events.push(event)
  })()
  const ended = reading.then(() => true)
  while (!(await Promise.race([ended, clock.advance(500)])));
  assertValidStream(events, { input: inputOf(request, running) })
  return { events, outcome: await running.result }
}

function retriesIn(events: readonly AgUiEvent[]) {
  return ofType(events, 'CUSTOM').flatMap(({ name, value }) =>
    name === 'millrace.retry' ? [value as object] : [],
  )
}

describe('an agent that fails and is run again', () => {
  test('has what it had shown closed and marked, and the client is told', async () => {
    const agent = scripted(fails(text('m1', 'Half a ')), answers)
    const { events, outcome } = await runThrough(withRetry(agent))
    expect(outcome).toMatchObject({ type: 'completed', text: 'Whole.' })
    expect(rejectedIn(events)).toMatchObject([
      { content: 'Half a ', metadata: { millrace: { rejected: 'The agent failed.' } } },
    ])
    expect(outcome.messages.map(({ content }) => content)).toEqual(['Go.', 'Whole.'])
    expect(retriesIn(events)).toEqual([
      {
        reason: 'The agent failed.',
        attempt: 1,
        maxRetries: 3,
        agent: 'a',
        next: 'same-agent',
        delayMs: 1000,
        messageIds: ['m1'],
      },
    ])
    expect(ofType(events, 'RUN_ERROR')).toEqual([])
  })

  test('sees the same conversation: the message of the user is not added again', async () => {
    const agent = scripted(fails(text('m1', 'Half')), fails(text('m2', 'Half')), answers)
    const { outcome } = await runThrough(withRetry(agent))
    expect(agent.runs.map(({ messages }) => messages)).toEqual([[question], [question], [question]])
    expect(outcome.messages.filter(({ role }) => role === 'user')).toEqual([question])
  })

  test('waits 1, 2 and 4 seconds', async () => {
    const clock = manualClock()
    const times: number[] = []
    const note: Attempt = async function* (ctx) {
      times.push(clock.now())
      yield* times.length < 4 ? fails()(ctx) : answers(ctx)
      return undefined
    }
    await runThrough(withRetry(scripted(note)), clock)
    expect(times).toEqual([0, 1000, 3000, 7000])
  })

  test('waits as configured, as chance has it, and as long as a provider asks', async () => {
    const details = { retryable: true, retryAfterMs: 9000 }
    const late = new MillraceError('MODEL_ERROR', 'busy', { details })
    const agent = scripted(fails(), fails(), fails([], late), answers)
    const pauses = { delayMs: 2000, factor: 3, maxDelayMs: 5000, jitter: 0.5, random: () => 0.5 }
    const { events } = await runThrough(withRetry(agent, pauses))
    expect(retriesIn(events)).toMatchObject([{ delayMs: 1500 }, { delayMs: 3750 }, { delayMs: 9000 }])
  })

  test('has everything closed that was open: reasoning, steps and subagents', async () => {
    const events: AgentEvent[] = [
      { type: 'STEP_STARTED', stepName: 'think' },
      { type: 'REASONING_START', messageId: 's1' },
      { type: 'REASONING_MESSAGE_START', messageId: 'r1', role: 'reasoning' },
      { type: 'REASONING_MESSAGE_CONTENT', messageId: 'r1', delta: 'Hm.' },
      { type: 'SUBAGENT_STARTED', subagentRunId: 'sub', name: 'helper' },
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'h1', delta: 'Help', subagentRunId: 'sub' },
    ]
    const played = await runThrough(withRetry(scripted(fails(events), answers)))
    const types = played.events.map(({ type }) => type)
    const retryAt = types.indexOf('CUSTOM')
    for (const end of ['REASONING_MESSAGE_END', 'REASONING_END', 'STEP_FINISHED', 'SUBAGENT_ERROR'] as const)
      expect(types.slice(0, retryAt)).toContain(end)
    expect(retriesIn(played.events)).toMatchObject([{ messageIds: ['r1', 'h1'] }])
    expect(rejectedIn(played.events).map(({ id }) => id)).toEqual(['r1', 'h1'])
    expect(played.outcome.messages.map(({ id }) => id)).toEqual(['u1', 'good'])
  })

  test('does not go on with a message that a chunk without an id had begun', async () => {
    const chunk = (delta: string): AgentEvent => ({ type: 'TEXT_MESSAGE_CHUNK', delta })
    const whole: Attempt = async function* () {
      yield* [chunk('Who'), chunk('le.')]
      await Promise.resolve()
      return undefined
    }
    const { events, outcome } = await runThrough(
      withRetry(scripted(fails([chunk('Half '), chunk('a ')]), whole)),
    )
    expect(rejectedIn(events).map(({ content }) => content)).toEqual(['Half a '])
    expect(outcome.messages.slice(1).map(({ content }) => content)).toEqual(['Whole.'])
  })

  test('has encrypted values sent once, also those for a message of the thread', async () => {
    const encrypted = (entityId: string): AgentEvent => ({
      type: 'REASONING_ENCRYPTED_VALUE',
      subtype: 'message',
      entityId,
      encryptedValue: `for ${entityId}`,
    })
    const reasons: Attempt = async function* (ctx) {
      yield { type: 'REASONING_MESSAGE_CHUNK', messageId: 'r1', delta: 'Hm.' }
      yield* [encrypted('r1'), encrypted('u1')]
      return yield* answers(ctx)
    }
    const { events, outcome } = await runThrough(withRetry(scripted(reasons)))
    expect(ofType(events, 'REASONING_ENCRYPTED_VALUE').map(({ entityId }) => entityId)).toEqual(['u1', 'r1'])
    expect(outcome.messages.map(({ id }) => id)).toEqual(['u1', 'r1', 'good'])
  })

  test('can fail inside another agent', async () => {
    const inner = withRetry(scripted(fails(text('m1', 'Half')), answers))
    const outer: Agent = {
      name: 'outer',
      description: '',
      run: (ctx) => ctx.delegate(inner, { segment: '1', messages: ctx.messages }),
    }
    const { events, outcome } = await runThrough(outer)
    expect(outcome.type).toBe('completed')
    expect(ofType(events, 'SUBAGENT_STARTED')).toHaveLength(1)
    const rejected = rejectedIn(events).map(({ id, subagentRunId }) => [id, typeof subagentRunId])
    expect(rejected).toEqual([['m1', 'string']])
    expect(outcome.messages.map(({ id }) => id)).toEqual(['u1', 'good'])
  })

  test('takes back what an ended subagent has said, though it can bear no mark', async () => {
    const helper = scripted(fails(text('h1', 'Half')))
    const delegating: Attempt = (ctx) => ctx.delegate(helper, { segment: '1', messages: [] })
    const { events, outcome } = await runThrough(withRetry(scripted(delegating, answers)))
    expect(ofType(events, 'SUBAGENT_STARTED')).toHaveLength(1)
    expect(retriesIn(events)).toMatchObject([{ messageIds: ['h1'] }])
    expect(outcome.messages.map(({ id }) => id)).toEqual(['u1', 'good'])
  })
})

test('after the last retry there is one RUN_ERROR, and the last error is the cause', async () => {
  const last = new Error('kaput again')
  const agent = scripted(fails(), fails(), fails([], last))
  const { events, outcome } = await runThrough(withRetry(agent, { maxRetries: 2 }))
  expect(ofType(events, 'RUN_ERROR')).toMatchObject([
    { code: 'MAX_RETRIES_EXCEEDED', message: "Agent 'a' failed, also after 2 retries." },
  ])
  expect(ofType(events, 'RUN_FINISHED')).toEqual([])
  expect(outcome).toMatchObject({ type: 'failed', error: { code: 'MAX_RETRIES_EXCEEDED', cause: last } })
  expect(agent.runs).toHaveLength(3)
})

test('without retries the agent fails as it would alone', async () => {
  const { events, outcome } = await runThrough(withRetry(scripted(fails()), { maxRetries: 0 }))
  expect(outcome).toMatchObject({ error: { message: 'kaput' } })
  expect(retriesIn(events)).toEqual([])
})

describe('an error that may pass is', () => {
  const cause = Object.assign(new Error('x'), { code: 'ECONNRESET' })
  test.each<[string, unknown]>([
    ['one that says nothing of itself', new Error('kaput')],
    ['a value that is no error', 'kaput'],
    ['a status of the server', Object.assign(new Error('x'), { status: 503 })],
    ['a model error that says so', new MillraceError('MODEL_ERROR', 'x', { details: { retryable: true } })],
    ['a model error that the network caused', new MillraceError('MODEL_ERROR', 'x', { cause })],
    ['a model error that says nothing', new MillraceError('MODEL_ERROR', 'x')],
    ['an agent error of such a cause', new MillraceError('AGENT_ERROR', 'x', { cause })],
  ])('%s', async (_, error) => {
    const { outcome } = await runThrough(withRetry(scripted(fails([], error), answers)))
    expect(outcome.type).toBe('completed')
  })
})

describe('there is no retry of', () => {
  test.each<[string, unknown]>([
    ['an abort', new DOMException('stopped', 'AbortError')],
    ['a refusal', Object.assign(new Error('x'), { status: 400 })],
    ['a refusal by status code', Object.assign(new Error('x'), { statusCode: 404 })],
    ['a model that gave up', new MillraceError('MODEL_ERROR', 'x', { details: { retryable: false } })],
    ['a model that refuses', new MillraceError('MODEL_ERROR', 'x', { details: { status: 401 } })],
    ['another error of ours', new MillraceError('MAX_ITERATIONS', 'x')],
    ['an agent error of such a cause', new MillraceError('AGENT_ERROR', 'x', { cause: { status: 403 } })],
  ])('%s', async (_, error) => {
    const agent = scripted(fails([], error), answers)
    const { outcome } = await runThrough(withRetry(agent))
    expect(outcome).toMatchObject({ type: 'failed', error })
    expect(agent.runs).toHaveLength(1)
  })

  test('what the judge refuses; it may also allow, or leave it open', async () => {
    const refused = Object.assign(new Error('x'), { status: 400 })
    const verdicts = [true, undefined, false]
    const judged: unknown[] = []
    const isRetryable = (error: unknown) => {
      judged.push(error)
      return verdicts.shift()
    }
    const agent = scripted(fails([], refused), fails())
    const { outcome } = await runThrough(withRetry(agent, { isRetryable }))
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'kaput' } })
    expect(judged[0]).toBe(refused)
    expect(agent.runs).toHaveLength(3)
  })

  test('an interrupt', async () => {
    const asks: Attempt = async function* (ctx) {
      const answer = await ctx.interrupt({ message: 'Really?' })
      yield* text('good', answer.status)
      return undefined
    }
    const agent = scripted(asks)
    const client = createClient(withRetry(agent))
    const asked = await client.say('Go.')
    expect(agent.runs).toHaveLength(1)
    const { outcome } = await client.answer({ [idOf(asked)]: 'yes' })
    expect(outcome).toMatchObject({ type: 'completed', text: 'resolved' })
  })
})

describe('tools', () => {
  const called: AgentEvent[] = [
    { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'pay' },
    { type: 'TOOL_CALL_END', toolCallId: 'c1' },
  ]
  const result: AgentEvent = { type: 'TOOL_CALL_RESULT', messageId: 't1', toolCallId: 'c1', content: 'paid' }
  const resuming: WithRetryOptions = { resumesAfterFailure: true }

  test.each<[string, AgentEvent[], WithRetryOptions, number]>([
    ['a call without a result', called, {}, 1],
    ['a call without a result, also of an agent that goes on', called, resuming, 1],
    ['a result, since the call would be made again', [...called, result], {}, 1],
    ['a result of an agent that goes on behind it', [...called, result], resuming, 2],
  ])('%s: so many attempts', async (_, events, options, runs) => {
    const agent = scripted(fails(events), answers)
    const { outcome } = await runThrough(withRetry(agent, options))
    expect(agent.runs).toHaveLength(runs)
    expect(outcome.type).toBe(runs === 1 ? 'failed' : 'completed')
  })

  test('an agent may say of itself that it resumes; complete messages are not rejected then', async () => {
    const complete: AgentEvent[] = [
      ...text('m1', 'Let me pay.'),
      { type: 'TEXT_MESSAGE_END', messageId: 'm1' },
    ]
    const attempt = fails([...complete, ...called, result, ...text('m2', 'Half')])
    const agent = { ...scripted(attempt, answers), resumesAfterFailure: true }
    const { events, outcome } = await runThrough(withRetry(agent))
    expect(retriesIn(events)).toMatchObject([{ messageIds: ['m2'] }])
    expect(rejectedIn(events).map(({ id }) => id)).toEqual(['m2'])
    expect(outcome.messages.map(({ id }) => id)).toContain('m1')
  })

  test('a resumed run is not run again: it can be resumed once more', async () => {
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      execute: async (_, ctx) => (await ctx.interrupt({ message: 'Pay?' })).status,
    })
    const busy = { error: { status: 503, message: 'busy' } }
    const model = scriptedModel([[{ toolCall: { id: 'c1', name: 'pay' } }], [busy], 'Done.'])
    const agent = withRetry(defineAgent({ name: 'a', model, tools: [pay], retry: { attempts: 1 } }), {
      isRetryable: () => true,
    })
    const client = createClient(agent)
    const asked = await client.say('Go.')
    const { events, outcome } = await client.answer({ [idOf(asked)]: 'yes' })
    expect(outcome.type).toBe('failed')
    expect(retriesIn(events)).toEqual([])
    const again = await client.answer({ [idOf(asked)]: 'yes' })
    expect(again.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
  })

  test('neither is one that had its answer and then failed', async () => {
    const asks: Attempt = async function* (ctx) {
      await ctx.interrupt({ message: 'Really?' })
      yield* fails(text('m1', 'Half'))(ctx)
      return undefined
    }
    const agent = scripted(asks, asks, answers)
    const client = createClient(withRetry(agent))
    const { outcome } = await client.answer({ [idOf(await client.say('Go.'))]: 'yes' })
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'kaput' } })
    expect(agent.runs).toHaveLength(2)
  })

  test('an agent that goes on gets its saved position in every attempt, once', async () => {
    const frames: unknown[] = []
    const attempt: Attempt = async function* (ctx) {
      frames.push(ctx.resume.takeFrame(), ctx.resume.takeFrame())
      yield* frames.length < 4 ? fails()(ctx) : answers(ctx)
      return undefined
    }
    const agent = { ...scripted(attempt), resumesAfterFailure: true }
    const ctx = contextWith({
      resume: {
        ...contextWith({}).resume,
        answers: new Map([['q', { status: 'cancelled' }]]),
        takeFrame: () => 'saved',
      },
    })
    const events: AgentEvent[] = []
    for await (const event of withRetry(agent, { delayMs: 0 }).run(ctx)) events.push(event)
    expect(frames).toEqual(['saved', undefined, 'saved', undefined])
  })
})

/** Only what is looked at when an agent is run by hand. */
function contextWith(fields: Partial<RunContext>): RunContext {
  const signal = new AbortController().signal
  const base = {
    signal,
    resumed: undefined,
    resume: { answers: new Map() },
    services: { newId: sequentialIds(), shouldStop: () => false },
  }
  return { ...base, ...fields } as unknown as RunContext
}

describe('who stops', () => {
  const request = { threadId: 't', runId: 'r', messages: [question] }

  test('during the delay ends it at once', async () => {
    const clock = manualClock()
    const agent = scripted(fails(), answers)
    const stop = new AbortController()
    const playing = play(withRetry(agent), request, { clock, signal: stop.signal })
    await clock.advance(500)
    stop.abort()
    expect((await playing).outcome.type).toBe('cancelled')
    expect(agent.runs).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  test('at a safe point ends it instead of the next attempt', async () => {
    const clock = manualClock()
    const agent = scripted(fails(), answers)
    const running = run(withRetry(agent), request, { clock })
    await clock.advance(500)
    running.cancel({ at: 'model' })
    await clock.advance(500)
    expect((await running.result).type).toBe('cancelled')
    expect(agent.runs).toHaveLength(1)
  })

  test('reading closes the agent', async () => {
    let isClosed = false
    const endless: Attempt = async function* () {
      try {
        for (;;) yield await Promise.resolve<AgentEvent>({ type: 'CUSTOM', name: 'tick', value: 1 })
      } finally {
        isClosed = true
      }
    }
    for await (const event of run(withRetry(scripted(endless)), request)) if (event.type === 'CUSTOM') break
    await settled()
    expect(isClosed).toBe(true)
  })
})

test('everything else of the agent is passed through, also from a class', () => {
  const memory = { read: () => Promise.resolve(undefined), writeState: nothing, forget: nothing }
  class Own implements Agent {
    readonly #name = 'own'
    readonly description = 'Mine.'
    readonly shape = { kind: 'own' }
    readonly capabilities = {}
    readonly examples = ['Hi']
    readonly memory = memory
    readonly hasNativeEvents = true
    get name() {
      return this.#name
    }
    async *run(): AsyncGenerator<AgentEvent, Control> {
      yield* text('m1', await Promise.resolve(this.#name))
      return { type: 'done' }
    }
  }
  const agent = new Own()
  const { name, description, shape, capabilities, examples, hasNativeEvents } = agent
  expect(withRetry(agent)).toEqual({
    ...{ name, description, shape, capabilities, examples, memory, hasNativeEvents },
    run: expect.any(Function) as unknown,
  })
  expect(Object.keys(withRetry(scripted(answers)))).toEqual(['name', 'description', 'run'])
})

function nothing(): Promise<void> {
  return Promise.resolve()
}

test.each(['maxRetries', 'delayMs', 'factor', 'maxDelayMs', 'jitter'])(
  'an option is checked: %s',
  (option) => {
    expect(() => withRetry(scripted(answers), { [option]: -1 })).toThrow(
      expect.objectContaining({ code: 'INVALID_AGENT', message: expect.stringContaining(option) as string }),
    )
  },
)

test('the messages of the last attempt are taken back, too, when no retry is left', async () => {
  const agent = scripted(async function* () {
    yield* text(`draft-${Math.random()}`, 'Half an ans')
    await Promise.resolve()
    throw new Error('broken')
  })
  const { outcome } = await play(withRetry(agent, { maxRetries: 1, delayMs: 0 }), 'Go.')
  expect(outcome).toMatchObject({ type: 'failed', error: { code: 'MAX_RETRIES_EXCEEDED' } })
  expect(outcome.messages.filter(({ role }) => role === 'assistant')).toEqual([])
})
