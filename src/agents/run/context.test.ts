import { describe, expect, test } from 'vitest'
import {
  aborted,
  createClient,
  idOf,
  interruptsOf,
  ofType,
  play,
  resultsIn,
  settled,
  linted,
} from '../../../test/support/run-agent.js'
import { merge } from '../../core/merge.js'
import { scriptedModel } from '../../models/index.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control, RunContext } from '../contract.js'
import { defineAgent } from '../chat/chat-agent.js'
import { defineTool } from '../tools/define-tool.js'
import { run } from './run.js'

type Body = (ctx: RunContext) => AsyncGenerator<AgentEvent, Control>

function agentOf(name: string, body: Body): Agent {
  return { name, description: `The ${name}.`, run: body }
}

function* textMessage(id: string, delta: string): Generator<AgentEvent> {
  yield { type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' }
  yield { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta }
  yield { type: 'TEXT_MESSAGE_END', messageId: id }
}

/** Asks one question and says what it heard. */
const asking = (name: string, log: string[] = []): Agent =>
  agentOf(name, async function* (ctx) {
    log.push(name)
    const answer = await ctx.interrupt({ message: `${name}?`, state: { by: name } })
    yield* textMessage(ctx.services.newId('message'), `${name} heard ${JSON.stringify(answer)}`)
    return { type: 'done', result: name }
  })

const talking = (name: string): Agent =>
  agentOf(name, async function* (ctx) {
    await Promise.resolve()
    yield* textMessage(ctx.services.newId('message'), `${name} talks`)
    return { type: 'done', result: name }
  })

describe('an agent written by hand', () => {
  test('raises an interrupt, and runs again with the answer and its state', async () => {
    const seen: unknown[] = []
    const agent = agentOf('hand', async function* (ctx) {
      seen.push(ctx.resumed)
      const answer = await ctx.interrupt({ message: 'Go on?', state: { step: 1 } })
      yield* textMessage(ctx.services.newId('message'), JSON.stringify(answer))
      return { type: 'done', result: answer }
    })
    const client = createClient(agent)
    const first = await client.say('Hi.')
    expect(interruptsOf(first)).toEqual([{ id: idOf(first), reason: 'input_required', message: 'Go on?' }])
    const second = await client.answer({ [idOf(first)]: 'yes' })
    expect(second.outcome).toMatchObject({
      type: 'completed',
      text: '{"status":"resolved","payload":"yes"}',
      result: { status: 'resolved', payload: 'yes' },
    })
    expect(seen).toEqual([undefined, { state: { step: 1 } }])
  })

  test('goes on from the frame it saved, once', async () => {
    const log: string[] = []
    const agent = agentOf('hand', async function* (ctx) {
      const frame = ctx.resume.takeFrame() as { step: number } | undefined
      expect(ctx.resume.takeFrame()).toBeUndefined()
      if (frame === undefined) {
        log.push('step 1')
        yield* textMessage(ctx.services.newId('message'), 'First half.')
      }
      log.push('step 2')
      const inner = yield* ctx.delegate(asking('inner'), { segment: 'inner', messages: [] })
      if (inner.type !== 'interrupted') return inner
      return { ...inner, frames: { ...inner.frames, [ctx.span.address]: { step: 1 } } }
    })
    const client = createClient(agent)
    const first = await client.say('Hi.')
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(second.outcome).toMatchObject({ type: 'completed', result: 'inner' })
    expect(log).toEqual(['step 1', 'step 2', 'step 2'])
  })

  test.each<[string, (error: unknown) => unknown]>([
    ['goes on', () => undefined],
    [
      'throws something else',
      () => {
        throw new Error('something else')
      },
    ],
  ])('is interrupted all the same when it catches the signal and %s', async (_how, react) => {
    const agent = agentOf('hand', async function* (ctx) {
      await ctx.interrupt({ message: 'Sure?' }).catch(react)
      yield* textMessage(ctx.services.newId('message'), 'Done.')
      return { type: 'done' }
    })
    const client = createClient(agent)
    const first = await client.say('Hi.')
    expect(interruptsOf(first)).toMatchObject([{ message: 'Sure?' }])
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
  })

  test('changes the state: the client gets the difference when the event is yielded', async () => {
    const agent = agentOf('hand', async function* (ctx) {
      await Promise.resolve()
      yield ctx.setState({ n: 1, list: [1] })
      yield ctx.setState((state: { n: number; list: number[] }) => ({ ...state, list: [...state.list, 2] }))
      // The same again is no change.
      yield ctx.setState((state: unknown) => state)
      return { type: 'done', result: ctx.state }
    })
    const { events, outcome } = await play(agent, { messages: [], state: { n: 0 } })
    expect(ofType(events, 'STATE_DELTA').map(({ delta }) => delta)).toEqual([
      [
        { op: 'replace', path: '/n', value: 1 },
        { op: 'add', path: '/list', value: [1] },
      ],
      [{ op: 'add', path: '/list/1', value: 2 }],
    ])
    expect(outcome).toMatchObject({ state: { n: 1, list: [1, 2] }, result: { n: 1, list: [1, 2] } })
  })

  test.each<[unknown, unknown]>([
    [{ a: 1 }, [1]],
    [[1], { a: 1 }],
    [{ a: 1 }, 7],
    [7, null],
    [null, { a: 1 }],
  ])('changes the state from %j to %j with a snapshot', async (before, after) => {
    const agent = agentOf('hand', async function* (ctx) {
      await Promise.resolve()
      yield ctx.setState(before)
      yield ctx.setState(after)
      return { type: 'done' }
    })
    const { events, outcome } = await play(agent, { messages: [] })
    expect(ofType(events, 'STATE_SNAPSHOT').at(-1)).toMatchObject({ snapshot: after })
    expect(outcome.state).toEqual(after)
  })

  test('may write state events of its own: what the client holds counts', async () => {
    const agent = agentOf('hand', async function* (ctx) {
      await Promise.resolve()
      yield { type: 'STATE_SNAPSHOT', snapshot: { theirs: 1 } }
      yield ctx.setState({ ours: 1 })
      return { type: 'done' }
    })
    expect((await play(agent, { messages: [] })).outcome.state).toEqual({ ours: 1 })
  })

  test('counts tokens and tells of problems', async () => {
    const problems: string[] = []
    const agent = agentOf('hand', async function* (ctx) {
      yield* []
      ctx.services.addUsage({ provider: 'p', model: 'm', inputTokens: 2 })
      ctx.services.addUsage({ provider: 'p', model: 'm', inputTokens: 3 })
      ctx.services.report('odd')
      return await Promise.resolve({ type: 'done' })
    })
    const { outcome } = await play(agent, 'Hi.', { onProblem: (problem) => problems.push(problem) })
    expect(outcome.usage).toEqual([{ provider: 'p', model: 'm', inputTokens: 5 }])
    expect(problems).toEqual(['odd'])
  })

  test('gets call ids that nobody in the thread uses', async () => {
    const agent = agentOf('hand', async function* (ctx) {
      yield* []
      const ids = ['c1', 'c2', 'c2', ''].map((wanted) => ctx.services.callId(wanted))
      return await Promise.resolve({ type: 'done', result: ids })
    })
    const taken = { id: 'c1', type: 'function', function: { name: 'x', arguments: '{}' } } as const
    const { outcome } = await play(agent, [
      { id: 'a1', role: 'assistant', toolCalls: [taken], subagentRunId: 'other' },
      { id: 't1', role: 'tool', toolCallId: 'c1', content: 'x', subagentRunId: 'other' },
    ])
    if (outcome.type !== 'completed') throw new Error('not completed')
    const ids = outcome.result as string[]
    expect(ids[1]).toBe('c2')
    expect(new Set([...ids, 'c1', '']).size).toBe(6)
  })
})

describe('an agent that runs others', () => {
  test('shows each in a span of its own, also one in another', async () => {
    const middle = agentOf('middle', async function* (ctx) {
      yield* ctx.delegate(talking('leaf'), { segment: '1', messages: [] })
      yield* textMessage(ctx.services.newId('message'), 'middle talks')
      return { type: 'done' }
    })
    const root = agentOf('root', async function* (ctx) {
      yield* ctx.delegate(middle, { segment: '1', messages: [] })
      yield* ctx.delegate(talking('leaf'), { segment: '2', messages: [] })
      return { type: 'done' }
    })
    const { events } = await play(root, 'Hi.')
    const [first, second, third] = ofType(events, 'SUBAGENT_STARTED')
    expect([first?.name, second?.name, third?.name]).toEqual(['middle', 'leaf', 'leaf'])
    expect(second?.parentSubagentRunId).toBe(first?.subagentRunId)
    expect(third).not.toHaveProperty('parentSubagentRunId')
    expect(
      ofType(events, 'TEXT_MESSAGE_CONTENT').map(({ delta, subagentRunId }) => [delta, subagentRunId]),
    ).toEqual([
      ['leaf talks', second?.subagentRunId],
      ['middle talks', first?.subagentRunId],
      ['leaf talks', third?.subagentRunId],
    ])
    expect(ofType(events, 'SUBAGENT_FINISHED')).toHaveLength(3)
  })

  test('hears what they return, and what they throw', async () => {
    const broken = agentOf('broken', () => {
      throw new Error('secret')
    })
    const root = agentOf('root', async function* (ctx) {
      const control = yield* ctx.delegate(talking('leaf'), { segment: '1', messages: [] })
      let caught: unknown
      try {
        yield* ctx.delegate(broken, { segment: '2', messages: [] })
      } catch (error) {
        caught = (error as Error).message
      }
      return { type: 'done', result: [control, caught] }
    })
    const { events, outcome } = await play(root, 'Hi.')
    expect(outcome).toMatchObject({ result: [{ type: 'done', result: 'leaf' }, 'secret'] })
    expect(ofType(events, 'SUBAGENT_ERROR')).toMatchObject([
      { message: 'The agent failed.', code: 'AGENT_ERROR' },
    ])
  })

  test('keeps its own answers while one of them is interrupted', async () => {
    const asked: string[] = []
    const root = agentOf('root', async function* (ctx) {
      asked.push('root')
      const answer = await ctx.interrupt({ message: 'root?' })
      const inner = yield* ctx.delegate(asking('inner'), { segment: '1', messages: [] })
      return inner.type === 'interrupted' ? inner : { type: 'done', result: answer }
    })
    const client = createClient(root)
    const first = await client.say('Hi.')
    const second = await client.answer({ [idOf(first, 'root?')]: 'go' })
    const third = await client.answer({ [idOf(second, 'inner?')]: 1 })
    expect(third.outcome).toMatchObject({ result: { status: 'resolved', payload: 'go' } })
    expect(asked).toHaveLength(3)
  })

  test('is spared those that wait for an answer they did not get', async () => {
    const log: string[] = []
    const both = ['left', 'right'].map((name) => asking(name, log))
    const root = agentOf('root', async function* (ctx) {
      const lanes = both.map(
        (agent) => (signal: AbortSignal) =>
          ctx.delegate(agent, { segment: agent.name, messages: [], signal }),
      )
      const source = merge(lanes, {
        signal: ctx.signal,
        clock: ctx.services.clock,
        onStrayError: () => undefined,
      })
      for (;;) {
        const step = await source.next()
        if (step.done !== true) {
          yield step.value.value
          continue
        }
        const open = step.value.flatMap((control) => (control.type === 'interrupted' ? [control] : []))
        if (open.length === 0) return { type: 'done' }
        return {
          type: 'interrupted',
          openInterrupts: open.flatMap(({ openInterrupts }) => openInterrupts),
          frames: Object.assign({}, ...open.map(({ frames }) => frames)) as Record<string, unknown>,
        }
      }
    })
    const client = createClient(root)
    const first = await client.say('Hi.')
    expect(interruptsOf(first).map(({ message }) => message)).toEqual(['left?', 'right?'])
    const second = await client.answer({ [idOf(first, 'right?')]: 1 })
    expect(interruptsOf(second).map(({ id }) => id)).toEqual([idOf(first, 'left?')])
    expect(log).toEqual(['left', 'right', 'right'])
    expect(ofType(second.events, 'SUBAGENT_STARTED').map(({ name }) => name)).toEqual(['right'])
  })

  test('gives them its client tools, unless they answer a call', async () => {
    const seen: unknown[] = []
    const leaf = agentOf('leaf', async function* ({ client }) {
      yield* []
      seen.push(client.tools.length)
      return await Promise.resolve({ type: 'done' })
    })
    const root = agentOf('root', async function* (ctx) {
      yield* ctx.delegate(leaf, { segment: '1', messages: [] })
      yield* ctx.delegate(leaf, { segment: '2', messages: [], toolCallId: 'c1' })
      return { type: 'done' }
    })
    await createClient(root, [{ name: 'paint', description: 'Paints.' }]).say('Hi.')
    expect(seen).toEqual([1, 0])
  })

  test('has them closed when the reader leaves', async () => {
    const log: string[] = []
    const leaf = agentOf('leaf', async function* ({ signal }) {
      try {
        yield { type: 'CUSTOM', name: 'tick', value: 1 }
        await aborted(signal)
        return { type: 'done' }
      } finally {
        log.push('leaf closed')
      }
    })
    const root = agentOf('root', async function* (ctx) {
      try {
        return yield* ctx.delegate(leaf, { segment: '1', messages: [] })
      } finally {
        log.push('root closed')
      }
    })
    const running = run(root, 'Hi.')
    for await (const event of linted(running, 'Hi.')) if (event.type === 'CUSTOM') break
    expect((await running.result).type).toBe('cancelled')
    await settled()
    expect(log).toEqual(['leaf closed', 'root closed'])
  })

  test('may run a chat agent whose tool raises an interrupt', async () => {
    const book = defineTool({
      name: 'book',
      description: 'Books.',
      execute: async (_args, { interrupt }) => (await interrupt({ message: 'Book?' })).status,
    })
    const model = scriptedModel([[{ toolCall: { id: 'c1', name: 'book' } }], 'Booked.'])
    const chat = defineAgent({ name: 'chat', description: 'Chats.', model, tools: [book] })
    const root = agentOf('root', (ctx) => ctx.delegate(chat, { segment: '1', messages: ctx.messages }))
    const client = createClient(root)
    const first = await client.say('Hi.')
    expect(interruptsOf(first)).toMatchObject([
      { toolCallId: 'c1', subagentRunId: expect.any(String) as string },
    ])
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(resultsIn(second.events)).toEqual(['c1: resolved'])
    expect(second.outcome.type).toBe('completed')
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  })
})
