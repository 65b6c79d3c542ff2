import type { Message } from '@ag-ui/core'
import { beforeEach, describe, expect, test } from 'vitest'
import { changeOf, hold, keyOf, logOf, runOf, stored } from '../../../test/support/store-contract/rig.js'
import { createServerContext, type ContextUnderTest } from '../../../test/support/server-context.js'
import {
  createRunStream,
  displayMark,
  rejectMessage,
  rewriteMessages,
  type AgentEvent,
  type AgUiEvent,
} from '../../protocol/index.js'
import { assertValidStream } from '../../testing/index.js'
import type { RunStart, Thread, ThreadChange } from '../../threads/contract.js'
import { createStateRulesOf } from '../state/state-rules.js'
import { loadThread, recoverThread } from './recover-thread.js'

const key = keyOf('t')
const request: Message = { id: 'u1', role: 'user', content: 'Is it raining?' }
const earlier: Message = { id: 'u0', role: 'user', content: 'Hello.' }
const nothing: RunStart = { keep: 0, append: [request], state: {}, clientTools: [] }
let under: ContextUnderTest

beforeEach(() => {
  under = createServerContext({ stateRulesOf: createStateRulesOf({ private: ['ledger'] }) })
})

interface Lost {
  readonly start?: Partial<RunStart>
  /** What the agent has written. */
  readonly events?: readonly AgentEvent[]
  /** Events between RUN_STARTED and those of the agent. */
  readonly catchUp?: readonly AgUiEvent[]
  /** What was committed before. */
  readonly before?: Partial<ThreadChange>
  /** Whether even RUN_STARTED is missing. */
  readonly isEmpty?: boolean
}

/** Leaves a run as a process leaves it that dies. Gives what its log has. */
async function lose(lost: Lost = {}): Promise<AgUiEvent[]> {
  const { events = [], catchUp = [], before, isEmpty = false } = lost
  const { store } = under.server
  const lease = await hold(store, key)
  if (before) await store.threads.commit(lease, changeOf(before))
  const start = { ...nothing, ...lost.start }
  await store.threads.begin(lease, runOf('r1', { start: { ...start, catchUp: catchUp.length } }))
  const logged: AgUiEvent[] = []
  const messages = [...(before?.append ?? []).slice(0, start.keep), ...start.append]
  const emit = (event: AgUiEvent): void => {
    logged.push(event)
    if (event.type === 'RUN_STARTED') logged.push(...catchUp)
  }
  const stream = createRunStream({ threadId: 't', runId: 'r1', messages, state: start.state, emit })
  for (const event of events) stream.write(event)
  const lines = isEmpty ? [] : logged.map((event) => JSON.stringify(event))
  await store.log.append(lease, { runId: 'r1', firstSeq: 0, lines })
  await store.leases.release(lease)
  return isEmpty ? [] : logged
}

/** Recovers, and checks that the log is a whole stream then. */
async function recovered(logged: readonly AgUiEvent[], input?: object): Promise<Thread> {
  const { server } = under
  const thread = await loadThread(server, key)
  if (!thread) throw new Error('The thread is gone.')
  const log = (await logOf(server.store, key, 'r1')).map(({ json }) => JSON.parse(json) as AgUiEvent)
  expect(log.slice(0, logged.length)).toEqual(logged)
  assertValidStream(log, input ? { input } : {})
  expect(log.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'RUN_LOST' })
  expect(thread).toEqual(await stored(server.store, key))
  expect(thread.run).toMatchObject({ status: 'lost', endedAt: 1_000, error: { code: 'RUN_LOST' } })
  expect(thread.run).not.toHaveProperty('start')
  expect(await server.store.leases.isHeld(key)).toBe(false)
  return thread
}

const text: AgentEvent[] = [
  { type: 'TEXT_MESSAGE_START', messageId: 'a1', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a1', delta: 'It is ' },
]

function call(id: string, name: string, isEnded: boolean): AgentEvent[] {
  return [
    { type: 'TOOL_CALL_START', toolCallId: id, toolCallName: name, parentMessageId: 'a2' },
    { type: 'TOOL_CALL_ARGS', toolCallId: id, delta: '{"a":' },
    ...(isEnded ? ([{ type: 'TOOL_CALL_END', toolCallId: id }] as const) : []),
  ]
}

describe('what a lost run leaves in its thread', () => {
  test('is what counts: no draft that was rejected, and the new version of what was rewritten', async () => {
    const chunk = (messageId: string, delta: string): AgentEvent => ({
      type: 'TEXT_MESSAGE_CHUNK',
      messageId,
      delta,
    })
    const draft = { id: 'd1', role: 'assistant' as const }
    const redacted: Message = { ...earlier, content: '[removed]' }
    const events = [
      ...[chunk('d1', 'Half'), ...rejectMessage(draft, 'busy'), chunk('a1', 'ann@x.org')],
      rewriteMessages([{ id: 'a1', role: 'assistant', content: '[mail]' }, redacted]),
      { type: 'TEXT_MESSAGE_END' as const, messageId: 'a1' },
    ]
    const logged = await lose({ events, before: { append: [earlier] }, start: { keep: 1 } })
    const { messages } = await recovered(logged)
    expect(messages).toEqual([redacted, request, { id: 'a1', role: 'assistant', content: '[mail]' }])
  })

  test('is the state without what a hook has made of it for clients', async () => {
    const shown = { type: 'STATE_SNAPSHOT', snapshot: { card: '***' }, metadata: displayMark } as const
    const delta = [{ op: 'add' as const, path: '/count', value: 1 }]
    const start = { state: { card: '4111' } }
    const logged = await lose({ start, events: [shown, { type: 'STATE_DELTA', delta }, shown] })
    expect((await recovered(logged)).state).toEqual({ card: '4111', count: 1 })
  })

  test('is its text, cut off, behind the user message', async () => {
    const { messages, version, title } = await recovered(await lose({ events: text }))
    const metadata = { millrace: { cutOff: true } }
    expect(messages).toEqual([request, { id: 'a1', role: 'assistant', content: 'It is ', metadata }])
    expect([version, title]).toEqual([1, 'Is it raining?'])
  })

  test('is the user message alone when it has written nothing', async () => {
    const { messages } = await recovered(await lose())
    expect(messages).toEqual([request])
  })

  test('is the user message alone when not even the start was logged', async () => {
    const { messages } = await recovered(await lose({ isEmpty: true }))
    expect(messages).toEqual([request])
  })

  test('has a tool call that was not finished, which nobody waits for', async () => {
    const { messages, pendingToolCalls } = await recovered(
      await lose({ events: call('c1', 'search', false) }),
    )
    const metadata = { millrace: { cutOff: true } }
    expect(messages.at(-1)).toMatchObject({ role: 'assistant', toolCalls: [{ id: 'c1', metadata }] })
    expect(pendingToolCalls).toEqual([])
  })

  test('has a result for a call that was at work, which says that it is lost', async () => {
    const { messages } = await recovered(
      await lose({ events: [...call('c1', 'search', true), ...call('c2', 'search', false)] }),
    )
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(messages.at(-1)).toMatchObject({
      ...{ toolCallId: 'c1', error: expect.stringContaining('is lost') as string },
      content: expect.stringContaining('may or may not have been carried out') as string,
    })
  })

  test('has no second result for a call that has one', async () => {
    const result: AgentEvent = {
      ...{ type: 'TOOL_CALL_RESULT', messageId: 't1', toolCallId: 'c1', content: 'rain' },
    }
    const { messages } = await recovered(await lose({ events: [...call('c1', 'search', true), result] }))
    expect(messages.slice(2)).toMatchObject([{ role: 'tool', content: 'rain' }])
  })

  test('has results for the calls of subagents too', async () => {
    const events: AgentEvent[] = [
      ...call('c1', 'helper', true),
      { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'helper' },
      ...call('c2', 'search', true).map((event) => ({
        ...event,
        subagentRunId: 's1',
        ...(event.type === 'TOOL_CALL_START' ? { parentMessageId: 'a3' } : {}),
      })),
    ]
    const { messages } = await recovered(await lose({ events }))
    expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([
      { toolCallId: 'c1' },
      { toolCallId: 'c2', subagentRunId: 's1' },
    ])
  })

  test('has a call for the client, which can still be answered', async () => {
    const start = { clientTools: ['choose'] }
    const logged = await lose({ start, events: call('c1', 'choose', true) })
    const { pendingToolCalls } = await recovered(logged)
    expect(pendingToolCalls).toEqual([{ id: 'c1', name: 'choose', timestamp: 1000 }])
  })

  test('has no mark on what was finished', async () => {
    const said: AgentEvent[] = [...text, { type: 'TEXT_MESSAGE_END', messageId: 'a1' }]
    const { messages } = await recovered(await lose({ events: said }))
    expect(messages.at(-1)).toEqual({ id: 'a1', role: 'assistant', content: 'It is ' })
  })

  test('has what a subagent has said, and the subagent is ended', async () => {
    const events: AgentEvent[] = [
      { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'helper' },
      { type: 'TEXT_MESSAGE_START', messageId: 'a1', role: 'assistant', subagentRunId: 's1' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a1', delta: 'Half', subagentRunId: 's1' },
      { type: 'STEP_STARTED', stepName: 'look', subagentRunId: 's1' },
    ]
    const { messages } = await recovered(await lose({ events }))
    const metadata = { millrace: { cutOff: true } }
    expect(messages.at(-1)).toMatchObject({ id: 'a1', content: 'Half', subagentRunId: 's1', metadata })
  })

  test('goes behind what was there, and replaces what the run has cut off', async () => {
    const before = { append: [earlier, request], state: {}, title: 'Hello.' }
    const edited: Message = { id: 'u2', role: 'user', content: 'Is it snowing?' }
    const logged = await lose({ before, start: { keep: 1, append: [edited] }, events: text })
    const { messages, version, title } = await recovered(logged, {
      ...{ threadId: 't', runId: 'r1', protocolVersion: '1.0', tools: [], context: [], state: {} },
      messages: [earlier, edited],
    })
    expect(messages.map(({ id }) => id)).toEqual(['u0', 'u2', 'a1'])
    expect([version, title]).toEqual([2, 'Hello.'])
  })

  test('are its interrupts, its checkpoint, and calls that were open before', async () => {
    const interrupts = [{ id: 'i1', reason: 'tool_call' }]
    const pendingToolCalls = [{ id: 'c0', name: 'choose' }]
    const calls = [{ id: 'c0', type: 'function' as const, function: { name: 'choose', arguments: '{}' } }]
    const caller: Message = { id: 'a0', role: 'assistant', toolCalls: calls }
    const before = { append: [earlier, caller], interrupts, pendingToolCalls, checkpoint: { step: 3 } }
    const thread = await recovered(await lose({ before, start: { keep: 2, append: [] } }))
    expect(thread).toMatchObject({ interrupts, pendingToolCalls, checkpoint: { step: 3 } })
  })

  test('are no calls that it has cut off', async () => {
    const pendingToolCalls = [{ id: 'c0', name: 'choose' }]
    const calls = [{ id: 'c0', type: 'function' as const, function: { name: 'choose', arguments: '{}' } }]
    const caller: Message = { id: 'a0', role: 'assistant', toolCalls: calls }
    const before = { append: [earlier, caller], pendingToolCalls }
    const thread = await recovered(await lose({ before, start: { keep: 1, append: [request] } }))
    expect(thread.pendingToolCalls).toEqual([])
  })
})

describe('the state of a lost run', () => {
  test('has its changes, and what clients may not see as it was at the start', async () => {
    const state = { city: 'Rome', ledger: [1], 'user:name': 'Ann', 'temp:x': 1 }
    const events: AgentEvent[] = [
      { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/city', value: 'Oslo' }] },
    ]
    const thread = await recovered(await lose({ start: { state }, events }), {
      ...{ threadId: 't', runId: 'r1', protocolVersion: '1.0', tools: [], context: [] },
      ...{ messages: [request], state: { city: 'Rome' } },
    })
    expect(thread.state).toEqual({ city: 'Oslo', ledger: [1], 'user:name': 'Ann' })
  })

  test('keeps what is private also when a snapshot without it was shown', async () => {
    const events: AgentEvent[] = [
      { type: 'STATE_SNAPSHOT', snapshot: { city: 'Oslo' } },
      { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/days', value: 2 }] },
    ]
    const thread = await recovered(await lose({ start: { state: { city: 'Rome', ledger: [1] } }, events }))
    expect(thread.state).toEqual({ city: 'Oslo', days: 2, ledger: [1] })
  })
})

test('the state of a lost run keeps what is private for its agent', async () => {
  const agents = new Map([[key.agent, { privateKeys: ['ledger'] }]])
  under = createServerContext({ stateRulesOf: createStateRulesOf({}, agents) })
  const events: AgentEvent[] = [{ type: 'STATE_SNAPSHOT', snapshot: { city: 'Oslo' } }]
  const thread = await recovered(await lose({ start: { state: { city: 'Rome', ledger: [1] } }, events }))
  expect(thread.state).toEqual({ city: 'Oslo', ledger: [1] })
})

describe('the log of a lost run', () => {
  test('is not believed about what only brought its client up to date', async () => {
    const waiting: Message = { id: 'u9', role: 'user', content: 'Not taken.' }
    const catchUp: AgUiEvent[] = [
      { type: 'MESSAGES_SNAPSHOT', messages: [request, waiting] },
      { type: 'STATE_SNAPSHOT', snapshot: {} },
    ]
    const { messages } = await recovered(await lose({ catchUp, events: text }))
    expect(messages.map(({ id }) => id)).toEqual(['u1', 'a1'])
  })

  test('gets an end with numbers that no client can have seen', async () => {
    const logged = await lose({ events: text })
    const { run } = await recovered(logged)
    const log = await logOf(under.server.store, key, 'r1')
    expect(log[logged.length]?.seq).toBeGreaterThan(100_000)
    expect(run?.nextSeq).toBe((log.at(-1)?.seq ?? 0) + 1)
  })

  test('may have what a hook has made unreadable: the rest is kept, and the thread can be used', async () => {
    const { store } = under.server
    const logged = await lose({ events: text })
    const lease = await hold(store, key)
    const lines = [
      '{"type":"TEXT_MESSAGE_CONTENT","messageId":"a1","delta":null}',
      '{"type":"TEXT_MESSAGE_CONTENT","messageId":"a1","delta":"dry."}',
    ]
    await store.log.append(lease, { runId: 'r1', firstSeq: logged.length, lines })
    await store.leases.release(lease)
    const thread = await loadThread(under.server, key)
    expect(thread?.messages.at(-1)).toMatchObject({ content: 'It is dry.' })
    expect(under.logged).toContain('warn an event in the log of a lost run cannot be read')
  })
})

describe('loading a thread', () => {
  test('is left alone when its run has ended, or there is none', async () => {
    expect(await loadThread(under.server, key)).toBeUndefined()
    const lease = await hold(under.server.store, key)
    await under.server.store.threads.commit(lease, changeOf({ run: runOf('r0', { status: 'completed' }) }))
    expect(await loadThread(under.server, key)).toMatchObject({ version: 1 })
    expect(await recoverThread(under.server, lease)).toMatchObject({ version: 1 })
  })

  test('is left alone while its run is at work in another process', async () => {
    await lose({ events: text })
    await hold(under.server.store, key)
    expect((await loadThread(under.server, key))?.run?.status).toBe('running')
    expect(under.logged).toEqual([])
  })

  test('by many at once is recovered once, and all get the same', async () => {
    await lose({ events: text })
    const all = await Promise.all(Array.from({ length: 10 }, () => loadThread(under.server, key)))
    expect(new Set(all.map((thread) => thread?.run?.status))).toEqual(new Set(['lost']))
    expect(new Set(all.map((thread) => thread?.version))).toEqual(new Set([1]))
    expect(under.server.metrics.render()).toContain('status="lost"} 1')
  })

  test('is free again when it could not be recovered', async () => {
    await lose({ events: text })
    const { server } = under
    const commit = () => Promise.reject(new Error('full'))
    const failing = { ...server, store: { ...server.store, threads: { ...server.store.threads, commit } } }
    await expect(loadThread(failing, key)).rejects.toThrow('full')
    expect(await server.store.leases.isHeld(key)).toBe(false)
    expect((await loadThread(server, key))?.run?.status).toBe('lost')
  })
})
