import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { aborted, deferred, play, settled, linted } from '../../../test/support/run-agent.js'
import { MillraceError } from '../../core/errors.js'
import { scriptedModel } from '../../models/index.js'
import type { AgentEvent, AgUiEvent } from '../../protocol/index.js'
import type { Agent, Control, RunContext } from '../contract.js'
import { defineAgent } from '../chat/chat-agent.js'
import { run } from './run.js'

type Body = (ctx: RunContext) => AsyncGenerator<AgentEvent, Control>

function agentOf(body: Body): Agent {
  return { name: 'hand', description: 'Written by hand.', run: body }
}

const chatty = (count: number, written: string[] = []): Agent =>
  agentOf(async function* () {
    await Promise.resolve()
    for (let index = 0; index < count; index++) {
      written.push(String(index))
      yield { type: 'CUSTOM', name: 'count', value: index }
    }
    return { type: 'done' }
  })

describe('a run', () => {
  test('gives AG-UI events and then its outcome', async () => {
    const agent = defineAgent({ name: 'concierge', model: scriptedModel(['It rains.']) })
    const { events, outcome } = await play(agent, 'Is it raining?')
    expect(events.map(({ type }) => type)).toEqual([
      'RUN_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ])
    expect(outcome).toMatchObject({ type: 'completed', text: 'It rains.', pendingToolCalls: [], usage: [] })
    expect(outcome.messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Is it raining?'],
      ['assistant', 'It rains.'],
    ])
  })

  test('starts before anybody reads it', async () => {
    const begun = deferred()
    const agent = agentOf(async function* () {
      begun.resolve()
      yield* []
      return await Promise.resolve({ type: 'done' })
    })
    const running = run(agent, 'Go.')
    await begun.promise
    expect((await running.result).type).toBe('completed')
  })

  test('comes to its result without a reader, however many events there are', async () => {
    const outcome = await run(chatty(1000), 'Go.', { bufferSize: 4 }).result
    expect(outcome.type).toBe('completed')
  })

  test('waits for a slow reader when its buffer is full', async () => {
    const written: string[] = []
    const reader = run(chatty(100, written), 'Go.', { bufferSize: 4 })[Symbol.asyncIterator]()
    await reader.next()
    await settled()
    expect(written.length).toBeGreaterThan(0)
    expect(written.length).toBeLessThan(10)
    await reader.return?.()
  })

  test('waits for somebody to come when nobody reads it or wants its result', async () => {
    const written: string[] = []
    const running = run(chatty(100, written), 'Go.', { bufferSize: 4 })
    await settled()
    expect(written.length).toBeLessThan(10)
    const events: AgUiEvent[] = []
    for await (const event of linted(running, 'Go.')) events.push(event)
    expect(events).toHaveLength(102)
  })

  test('can be read once', async () => {
    const running = run(chatty(1), 'Go.')
    const reader = running[Symbol.asyncIterator]()
    expect(() => running[Symbol.asyncIterator]()).toThrow(
      expect.objectContaining({ code: 'RUN_CLOSED', message: 'A run can be read once.' }),
    )
    await reader.return?.()
  })

  test('says so to a reader who comes after events were dropped', async () => {
    const running = run(chatty(10), 'Go.', { bufferSize: 4 })
    await running.result
    const events: AgUiEvent[] = []
    const read = async (): Promise<void> => {
      for await (const event of linted(running, 'Go.')) events.push(event)
    }
    await expect(read()).rejects.toMatchObject({ code: 'RUN_CLOSED' })
    expect(events).toHaveLength(4)
  })

  test('can be read after its result when the buffer held all of it', async () => {
    const request: Message[] = [{ id: 'u1', role: 'user', content: 'Go.' }]
    const running = run(chatty(3), request)
    await running.result
    const events: AgUiEvent[] = []
    for await (const event of linted(running, request)) events.push(event)
    expect(events).toHaveLength(5)
  })
})

describe('a reader who leaves early', () => {
  test('cancels the run: model and tools are aborted and clean up', async () => {
    const log: string[] = []
    const model = scriptedModel((request) => {
      request.signal.addEventListener('abort', () => log.push('model aborted'))
      return ['One ', { wait: aborted }, 'two.']
    })
    const running = run(defineAgent({ name: 'talker', model }), 'Talk.')
    for await (const event of linted(running, 'Talk.')) if (event.type === 'TEXT_MESSAGE_CONTENT') break
    const outcome = await running.result
    expect(outcome.type).toBe('cancelled')
    expect(log).toEqual(['model aborted'])
    expect(outcome.messages.at(-1)).toMatchObject({
      content: 'One ',
      metadata: { millrace: { cutOff: true } },
    })
  })

  test('runs the finally blocks of an agent that was held back', async () => {
    const log: string[] = []
    const agent = agentOf(async function* ({ signal }) {
      try {
        await Promise.resolve()
        for (;;) yield { type: 'CUSTOM', name: 'tick', value: 1 }
      } finally {
        log.push(`closed, aborted: ${signal.aborted}`)
      }
    })
    const running = run(agent, 'Go.', { bufferSize: 2 })
    for await (const event of linted(running, 'Go.')) if (event.type === 'CUSTOM') break
    expect((await running.result).type).toBe('cancelled')
    expect(log).toEqual(['closed, aborted: true'])
  })

  test('need not wait for the next event', async () => {
    const agent = agentOf(async function* ({ signal }) {
      yield { type: 'CUSTOM', name: 'tick', value: 1 }
      await aborted(signal)
      return { type: 'done' }
    })
    const running = run(agent, 'Go.')
    const reader = running[Symbol.asyncIterator]()
    await reader.next()
    await reader.next()
    const pending = reader.next().catch((error: unknown) => error)
    await reader.return?.()
    await pending
    expect((await running.result).type).toBe('cancelled')
  })

  test('cancels the run also when it never read an event', async () => {
    const agent = agentOf(async function* ({ signal }) {
      yield* []
      await aborted(signal)
      return { type: 'done' }
    })
    const running = run(agent, 'Go.')
    await running[Symbol.asyncIterator]().return?.()
    expect((await running.result).type).toBe('cancelled')
  })
})

describe('an agent that fails', () => {
  test('ends the run with RUN_ERROR, in neutral words', async () => {
    const agent = agentOf(async function* () {
      await Promise.resolve()
      yield { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', delta: 'Wait' }
      throw new Error('password is 1234')
    })
    const { events, outcome } = await play(agent, 'Go.')
    expect(events.at(-1)).toEqual({ type: 'RUN_ERROR', message: 'The agent failed.', code: 'AGENT_ERROR' })
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'password is 1234' } })
  })

  test('fails the run also when it throws before it yields', async () => {
    const agent = agentOf(() => {
      throw new MillraceError('MAX_ITERATIONS', 'Enough.')
    })
    const { events } = await play(agent, 'Go.')
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: 'Enough.', code: 'MAX_ITERATIONS' })
  })

  test('fails the run when it writes an event that has no meaning', async () => {
    const agent = agentOf(async function* () {
      await Promise.resolve()
      yield { type: 'CUSTOM', name: 7, value: 1 } as unknown as AgentEvent
      return { type: 'done' }
    })
    const { outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'INVALID_EVENT' } })
  })
})

test('a state that is not JSON fails the run that touches it, and the run only', async () => {
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const agent = agentOf(async function* (ctx) {
    await Promise.resolve()
    yield ctx.setState((state: object) => ({ ...state, more: 1 }))
    return { type: 'done' }
  })
  const outcome = await run(agent, { messages: [], state: circle }).result
  expect(outcome.type).toBe('failed')
})

describe('how an agent ends', () => {
  test.each<[Control, unknown]>([
    [
      { type: 'done', result: { rain: true } },
      { type: 'completed', result: { rain: true } },
    ],
    [
      { type: 'exit', result: 'bye' },
      { type: 'completed', result: 'bye' },
    ],
    [{ type: 'break' }, { type: 'completed' }],
    [{ type: 'cancelled' }, { type: 'cancelled' }],
    [
      { type: 'transfer', to: 'other' },
      { type: 'failed', error: { code: 'INVALID_AGENT' } },
    ],
  ])('%j is told in the outcome', async (control, expected) => {
    const agent = agentOf(async function* () {
      yield* []
      return await Promise.resolve(control)
    })
    expect((await play(agent, 'Go.')).outcome).toMatchObject(expected as object)
  })

  test('a result that is not JSON fails the run', async () => {
    const agent = agentOf(async function* () {
      yield* []
      return await Promise.resolve({ type: 'done', result: Symbol('no') })
    })
    const { outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'ENCODING_ERROR' } })
  })
})

describe('a request', () => {
  const echo = agentOf(async function* (ctx) {
    yield { type: 'CUSTOM', name: 'seen', value: JSON.parse(JSON.stringify(ctx)) as unknown }
    return await Promise.resolve({ type: 'done' })
  })

  test('may be all that an AG-UI input has', async () => {
    const fields = {
      threadId: 't1',
      runId: 'r1',
      parentRunId: 'r0',
      messages: [{ id: 'u1', role: 'user', content: 'Hi.' }],
      state: { a: 1 },
      tools: [{ name: 'paint', description: 'Paints.' }],
      context: [{ description: 'locale', value: 'nb' }],
      forwardedProps: { x: 1 },
    } as const
    const { events } = await play(echo, fields)
    expect(events[0]).toMatchObject({ type: 'RUN_STARTED', threadId: 't1', runId: 'r1', parentRunId: 'r0' })
    expect(events[1]).toMatchObject({
      value: {
        threadId: 't1',
        runId: 'r1',
        messages: fields.messages,
        state: fields.state,
        client: {
          tools: fields.tools,
          context: fields.context,
          forwardedProps: fields.forwardedProps,
        },
        span: { address: 'hand' },
      },
    })
  })

  test('gets ids of its own when it names none', async () => {
    const first = run(echo, 'Hi.')
    const second = run(echo, 'Hi.')
    expect(first.threadId).not.toBe(second.threadId)
    expect(first.runId).not.toBe(second.runId)
    await Promise.all([first.result, second.result])
  })

  test('is refused at once when a message has no id', () => {
    expect(() => run(echo, [{ role: 'user', content: 'Hi.' } as unknown as Message])).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    )
  })
})
