import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { describe, expect, test } from 'vitest'
import type { GraphEvent } from '../graph-event.js'
import { brief } from '../../../test/support/brief.js'
import {
  answer,
  modelStart,
  nodeEnd,
  nodeStart,
  toolStart,
  translateEvents,
} from '../../../test/support/langgraph/translate-events.js'

const values = (state: Record<string, unknown>): GraphEvent => ({ type: 'values', values: state })
const custom = (name: string, value: unknown): GraphEvent => ({
  type: 'custom',
  name,
  value,
  runId: undefined,
})

describe('the state', () => {
  test("is shown without messages, private keys and what is LangGraph's own, when it changes", () => {
    const state = { messages: [], plan: ['a'], key: 'secret', __x__: 1 }
    const { loose } = translateEvents([values(state), values({ ...state, key: 'other' })], {
      isPrivate: (key) => key === 'key',
    })
    expect(loose).toEqual([{ type: 'STATE_SNAPSHOT', snapshot: { plan: ['a'] } }])
  })

  test('is not the questions that come in its place', () => {
    const { state } = translateEvents([values({ n: 1 }), values({ __interrupt__: [] })])
    expect(state).toEqual({ n: 1 })
  })

  test('is made JSON, and what cannot be is reported once', () => {
    class Account {
      owner = 'Ann'
    }
    const circle: Record<string, unknown> = { deep: { list: [1, 2n, NaN, undefined] } }
    circle.self = circle
    const state = {
      circle,
      fn: () => 1,
      account: new Account(),
      map: new Map(),
      when: new Date(0),
      no: undefined,
    }
    const { state: shown, problems } = translateEvents([values(state), values({ ...state, n: 1 })])
    expect(shown).toEqual({
      circle: { deep: { list: [1, null, null, null] } },
      when: '1970-01-01T00:00:00.000Z',
      n: 1,
    })
    expect(problems).toEqual([
      'state.circle.deep.list[1] is a value of type bigint, not JSON; it was left out',
      'state.circle.self is a circle, not JSON; it was left out',
      'state.fn is a value of type function, not JSON; it was left out',
      'state.account is a Account, not JSON; it was left out',
      'state.map is a Map, not JSON; it was left out',
    ])
  })

  test('may hold messages under other keys, which become plain', () => {
    const tool_calls = [{ id: 'c1', name: 'x', args: { a: 1 } }]
    const { state } = translateEvents([
      values({
        draft: new AIMessage({ id: 'd', content: [{ type: 'text', text: 'Hi' }], tool_calls }),
        notes: [new HumanMessage('Hey'), new ToolMessage({ content: 'r', tool_call_id: 'c1' })],
      }),
    ])
    expect(state).toEqual({
      draft: {
        id: 'd',
        role: 'assistant',
        content: 'Hi',
        toolCalls: [{ id: 'c1', type: 'function', function: { name: 'x', arguments: '{"a":1}' } }],
      },
      notes: [
        { role: 'user', content: 'Hey' },
        { role: 'tool', content: 'r', toolCallId: 'c1' },
      ],
    })
  })
})

const made = (id?: string, text = 'By hand') =>
  new AIMessage({ content: text, ...(id === undefined ? {} : { id }) })

describe('a message that no model was heard to say', () => {
  test('is told when it is in the state, once, and what the graph began with is not', () => {
    const old = made('old', 'Old')
    const { messages } = translateEvents([
      values({ messages: [new HumanMessage('q'), old] }),
      values({ messages: [old, made('new')] }),
      values({ messages: [old, made('new'), new HumanMessage({ id: 'h', content: 'made up' })] }),
    ])
    expect(messages).toEqual([{ id: 'new', role: 'assistant', content: 'By hand' }])
  })

  test('is told when its node ends, if it has an id and it is known what is old', () => {
    const { batches } = translateEvents([
      values({ messages: [] }),
      nodeStart('n'),
      nodeEnd('n', { messages: [made('a1')] }),
      values({ messages: [made('a1')] }),
    ])
    expect(batches[2]?.map(brief)).toEqual([
      'TEXT_MESSAGE_START a1',
      'TEXT_MESSAGE_CONTENT a1 "By hand"',
      'TEXT_MESSAGE_END a1',
      'STEP_FINISHED n',
    ])
    expect(batches[3]).toEqual([])
  })

  test('of a node that ends before the first state waits for it', () => {
    const { messages } = translateEvents([
      nodeStart('n'),
      nodeEnd('n', { messages: [made('old'), made('new')] }),
      values({ messages: [made('old')] }),
    ])
    expect(messages.map(({ id }) => id)).toEqual(['new'])
  })

  test('is told before the tool it calls runs, when the graph has given it an id', () => {
    const message = new AIMessage({ content: 'Look', tool_calls: [{ id: 'c1', name: 'search', args: {} }] })
    const output: GraphEvent = nodeEnd('n', { messages: [message] })
    const events = [values({ messages: [] }), nodeStart('n'), output]
    const give: GraphEvent = {
      type: 'custom',
      name: 'now',
      runId: undefined,
      get value() {
        message.id = 'given'
        return 1
      },
    }
    const { messages } = translateEvents([...events, give, toolStart('t', { toolCallId: 'c1' })])
    expect(messages).toMatchObject([{ id: 'given', content: 'Look', toolCalls: [{ id: 'c1' }] }])
  })

  test('is not one that the thread has, or that was streamed', () => {
    const { messages } = translateEvents(
      [values({ messages: [] }), ...answer(['Hi']), values({ messages: [made('t1'), made('run-m', 'Hi')] })],
      { messages: [{ id: 't1', role: 'assistant', content: 'Thread' }] },
    )
    expect(messages.map(({ content }) => content)).toEqual(['Thread', 'Hi'])
  })

  test('may be that of a hidden model, when the graph keeps it', () => {
    const message = made('run-m', 'Quiet')
    const { messages } = translateEvents([
      values({ messages: [] }),
      modelStart('m', { isHidden: true }),
      { type: 'model-end', runId: 'm', message },
      values({ messages: [message] }),
    ])
    expect(messages).toMatchObject([{ id: 'run-m', content: 'Quiet' }])
  })
})

describe("events of the graph's own", () => {
  test('are CUSTOM events with values that are JSON', () => {
    const { loose, problems } = translateEvents([
      custom('chart', { bars: [1], draw: () => 1 }),
      custom('PredictState', [{ state_key: 'doc', tool: 'write' }]),
      custom('empty', undefined),
    ])
    expect(loose).toEqual([
      { type: 'CUSTOM', name: 'chart', value: { bars: [1] } },
      { type: 'CUSTOM', name: 'PredictState', value: [{ state_key: 'doc', tool: 'write' }] },
      { type: 'CUSTOM', name: 'empty', value: null },
    ])
    expect(problems).toHaveLength(1)
  })

  test('may say something, call something or show state', () => {
    const { messages, state, loose } = translateEvents([
      custom('manually_emit_message', { message_id: 'm1', message: 'Hi', role: 'assistant' }),
      custom('manually_emit_message', { message: 'Ho' }),
      custom('manually_emit_tool_call', { id: 'c1', name: 'show', args: { a: 1 } }),
      custom('manually_emit_tool_call', { id: 'c2', name: 'show', args: '{"a":2}' }),
      custom('manually_emit_state', { n: 1, messages: ['x'] }),
      values({ messages: [] }),
      values({ messages: [made('m1')] }),
    ])
    expect(messages).toMatchObject([
      { id: 'm1', content: 'Hi' },
      { id: 'message-1', content: 'Ho' },
      { toolCalls: [{ id: 'c1', function: { arguments: '{"a":1}' } }] },
      { toolCalls: [{ id: 'c2', function: { arguments: '{"a":2}' } }] },
    ])
    expect(loose).toContainEqual({ type: 'STATE_SNAPSHOT', snapshot: { n: 1 } })
    expect(state).toEqual({})
  })

  test('that lack what they need are left out, and reported', () => {
    const { loose, problems } = translateEvents([
      custom('manually_emit_message', 'Hi'),
      custom('manually_emit_tool_call', { id: 'c' }),
      custom('manually_emit_state', [1]),
    ])
    expect(loose).toEqual([])
    expect(problems).toHaveLength(3)
  })

  test('may ask to exit', () => {
    const { translator, loose } = translateEvents([custom('exit', true)])
    expect(translator.hasExited).toBe(true)
    expect(loose).toEqual([{ type: 'CUSTOM', name: 'exit', value: true }])
    expect(translateEvents([]).translator.hasExited).toBe(false)
  })
})

test('what is not known is counted, and reported once', () => {
  const unknown = (name: string): GraphEvent => ({ type: 'unknown', name })
  const { loose, problems } = translateEvents([unknown('a'), unknown('b'), unknown('a')])
  expect(loose).toEqual([])
  expect(problems).toEqual([
    "LangGraph sent 'a' 2 times, which has no meaning here; it was left out",
    "LangGraph sent 'b' 1 times, which has no meaning here; it was left out",
  ])
})
