import { expect, it } from 'vitest'
import { aborted, deferred, play } from '../../../test/support/run-agent.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control } from '../contract.js'
import { run } from './run.js'

/** An agent as it may be written without types. */
function agentOf(body: (signal: AbortSignal) => AsyncGenerator<AgentEvent, unknown>): Agent {
  return {
    name: 'hand',
    description: 'Written by hand.',
    run: ({ signal }) => body(signal) as AsyncGenerator<AgentEvent, Control>,
  }
}

const returning = (value: unknown): Agent =>
  agentOf(async function* () {
    yield { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', delta: 'Hello.' }
    return await Promise.resolve(value)
  })

it.each([
  ['nothing', undefined],
  ['null', null],
  ['a number', 5],
  ['a text', 'done'],
  ['an empty object', {}],
  ['an unknown type', { type: 'x' }],
  ['a type that is almost right', { type: 'interrupt' }],
  ['a name that every object has', { type: 'toString' }],
  ['a question without points', { type: 'interrupted' }],
])('an agent that returns %s fails as an invalid one', async (_name, value) => {
  const { events, outcome } = await play(returning(value), 'Go.')
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'INVALID_AGENT' })
  expect(outcome).toMatchObject({ type: 'failed', error: { code: 'INVALID_AGENT' } })
  expect((outcome as { error: Error }).error.message).toContain("'hand'")
})

const refuse = (): never => {
  throw new Error('Do not look.')
}
const traps: Readonly<Record<string, ProxyHandler<Error>>> = {
  'its members': { get: refuse },
  'what it has': { has: refuse },
  'what it is': { getPrototypeOf: refuse },
  anything: { get: refuse, has: refuse, getPrototypeOf: refuse, ownKeys: refuse },
}
const unreadable = (what: string): Error => new Proxy(new Error('hidden'), traps[what] ?? {})

it.each(Object.keys(traps))(
  'fails with an error that can be logged when one does not show %s',
  async (what) => {
    const agent = agentOf(async function* () {
      yield { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', delta: 'Hello.' }
      await Promise.reject(unreadable(what))
    })
    const { events, outcome } = await play(agent, 'Go.')
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'AGENT_ERROR' })
    expect(outcome).toMatchObject({ type: 'failed', error: { message: expect.any(String) as unknown } })
  },
)

it('ends when an agent that is cancelled throws what cannot be looked at', async () => {
  const begun = deferred()
  const agent = agentOf(async function* (signal) {
    yield { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', delta: 'Hello.' }
    begun.resolve()
    await aborted(signal)
    await Promise.reject(unreadable('anything'))
  })
  const running = run(agent, 'Go.')
  await begun.promise
  running.cancel()
  expect((await running.result).type).toBe('cancelled')
})

it('ends as a failure when what an agent says of its usage cannot be added up', async () => {
  const agent: Agent = {
    name: 'hand',
    description: 'Written by hand.',
    async *run(ctx) {
      yield { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', delta: 'Hello.' }
      ctx.services.addUsage(null as never)
      return await Promise.resolve({ type: 'done' })
    },
  }
  const { events, outcome } = await play(agent, 'Go.')
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'AGENT_ERROR' })
  expect(outcome).toMatchObject({ type: 'failed', usage: [], messages: [{}, { content: 'Hello.' }] })
})
