import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { Command } from '@langchain/langgraph'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { brief } from '../../../test/support/brief.js'
import {
  modelRun,
  interrupted,
  callChunk,
  failed,
  graphStart,
  modelEnd,
  modelStart,
  nodeEnd,
  nodeStart,
  modelChunk,
  toolStart,
  translateEvents,
} from '../../../test/support/langgraph/translate-events.js'
import type { GraphEvent } from '../contract.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

describe('nodes', () => {
  test('are steps', () => {
    const { loose } = translateEvents([
      nodeStart('1', 'plan'),
      nodeEnd('1'),
      nodeStart('2', 'plan'),
      nodeEnd('2'),
    ])
    expect(loose.map(brief)).toEqual([
      'STEP_STARTED plan',
      'STEP_FINISHED plan',
      'STEP_STARTED plan',
      'STEP_FINISHED plan',
    ])
  })

  test('of one name that run at the same time get numbers, and each ends its own step', () => {
    const { loose, problems } = translateEvents([
      nodeStart('1', 'w'),
      nodeStart('2', 'w'),
      nodeStart('3', 'w'),
      nodeEnd('2'),
      nodeStart('4', 'w'),
      nodeEnd('1'),
      nodeEnd('3'),
      nodeEnd('4'),
    ])
    expect(loose.map(brief)).toEqual([
      'STEP_STARTED w',
      'STEP_STARTED w#2',
      'STEP_STARTED w#3',
      'STEP_FINISHED w#2',
      'STEP_STARTED w#2',
      'STEP_FINISHED w',
      'STEP_FINISHED w#3',
      'STEP_FINISHED w#2',
    ])
    expect(problems).toEqual([])
  })

  test('that fail, are interrupted or never end are closed', () => {
    const { stream, problems } = translateEvents([
      nodeStart('1', 'a'),
      failed('node', '1'),
      nodeStart('2', 'a'),
      interrupted('node', '2'),
      nodeStart('3', 'a'),
    ])
    expect(stream.map(brief).filter((line) => line === 'STEP_FINISHED a')).toHaveLength(3)
    expect(problems).toEqual([])
  })
})

const nested = [
  ...modelRun([callChunk({ id: 'c1', name: 'ask', args: '{}', index: 0 })]),
  nodeStart('tools'),
  toolStart('t', { toolCallId: 'c1', name: 'ask', parentRunId: 'tools' }),
  graphStart('g', 't', 'Researcher'),
  nodeStart('inner', 'inner', 'g'),
  modelStart('m2', { parentRunId: 'inner' }),
  modelChunk('Found', 'm2'),
]

describe('nested graphs', () => {
  test('are subagents of the call they work for, and all their events are tagged', () => {
    const { loose, stream } = translateEvents([
      ...nested,
      toolStart('t2', { parentRunId: 'inner', toolCallId: 'c2' }),
      { type: 'custom', name: 'note', value: 1, runId: 'inner' },
      nodeEnd('inner'),
      { type: 'graph-end', runId: 'g' },
      { type: 'tool-end', runId: 't', output: 'ok' },
    ])
    const inside = loose.slice(loose.findIndex(({ type }) => type === 'SUBAGENT_STARTED'))
    expect(inside[0]).toEqual({
      type: 'SUBAGENT_STARTED',
      subagentRunId: 'g',
      name: 'Researcher',
      parentToolCallId: 'c1',
    })
    expect(inside.map(brief)).toEqual([
      'SUBAGENT_STARTED @g',
      'STEP_STARTED inner @g',
      'TEXT_MESSAGE_START run-m2 @g',
      'TEXT_MESSAGE_CHUNK run-m2 "Found" @g',
      'TOOL_CALL_START c2 @g',
      'TOOL_CALL_ARGS c2 "{}" @g',
      'TOOL_CALL_END c2 @g',
      'CUSTOM @g',
      'STEP_FINISHED inner @g',
      'SUBAGENT_FINISHED @g',
      'TOOL_CALL_RESULT c1:result',
    ])
    expect(stream.map(brief)).toEqual(
      expect.arrayContaining(['TEXT_MESSAGE_END run-m2 @g', 'STEP_FINISHED tools']),
    )
  })

  test('stand in each other, the outermost in the span of the run', () => {
    const { loose } = translateEvents(
      [graphStart('a', undefined), nodeStart('n', 'n', 'a'), graphStart('b', 'n')],
      { parentSubagentRunId: 'top' },
    )
    expect(loose.filter(({ type }) => type === 'SUBAGENT_STARTED')).toMatchObject([
      { subagentRunId: 'a', parentSubagentRunId: 'top' },
      { subagentRunId: 'b', parentSubagentRunId: 'a' },
    ])
  })

  test('that fail do so in neutral words', () => {
    const { loose } = translateEvents([graphStart('g'), failed('graph', 'g', new Error('password: hunter2'))])
    expect(loose[1]).toMatchObject({ type: 'SUBAGENT_ERROR', subagentRunId: 'g', code: 'AGENT_ERROR' })
    expect(JSON.stringify(loose)).not.toContain('hunter2')
  })

  test('with an interrupt are suspended, and its origin is known', () => {
    const { stream, translator } = translateEvents(
      [
        ...nested,
        toolStart('t2', { parentRunId: 'inner', toolCallId: 'c2' }),
        interrupted('tool', 't2', 'q1'),
        interrupted('node', 'inner', 'q1'),
        interrupted('graph', 'g', 'q1'),
        interrupted('tool', 't', 'q1'),
        interrupted('node', 'tools', 'q1'),
        { type: 'interrupts', interrupts: [{ id: 'q1', value: '?', ns: [] }] },
      ],
      { end: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'r', subagentRunId: 'g' }] } },
    )
    expect(translator.interruptOrigin('q1')).toEqual({ subagentRunId: 'g', toolCallId: 'c2' })
    expect(translator.interruptOrigin('other')).toBeUndefined()
    expect(stream.find(({ type }) => type === 'SUBAGENT_FINISHED')).toMatchObject({
      outcome: { type: 'suspended', interruptIds: ['i'] },
    })
  })

  test('may give a Command to the graph around, whose messages are shown', () => {
    const message = new AIMessage({ id: 'a1', content: 'Over to you' })
    const command = new Command({ graph: Command.PARENT, goto: 'z', update: { messages: [message] } })
    const { loose, messages } = translateEvents([
      { type: 'values', values: { messages: [] } },
      graphStart('g'),
      nodeStart('i', 'i', 'g'),
      nodeEnd('i', command),
      { type: 'graph-end', runId: 'g' },
    ])
    expect(loose.map(({ type }) => type)).not.toContain('SUBAGENT_ERROR')
    expect(messages).toMatchObject([{ id: 'a1', content: 'Over to you', subagentRunId: 'g' }])
  })

  test('may be shown as steps of the run', () => {
    const { loose, messages } = translateEvents([...nested, nodeStart('x', 'inner', 'g')], {
      subgraphs: 'steps',
    })
    expect(loose.filter(({ type }) => type === 'STEP_STARTED').map(brief)).toEqual([
      'STEP_STARTED tools',
      'STEP_STARTED Researcher/inner',
      'STEP_STARTED Researcher/inner#2',
    ])
    expect(messages.at(-1)).toMatchObject({ content: 'Found' })
    expect(JSON.stringify(loose)).not.toContain('subagentRunId')
  })

  test('that never end are closed with the run', () => {
    const { stream, problems } = translateEvents(nested)
    expect(stream.map(({ type }) => type)).toContain('SUBAGENT_FINISHED')
    expect(problems).toEqual([])
  })
})

describe('tools', () => {
  const called = modelRun([callChunk({ id: 'c1', name: 'search', args: '{"q":1}', index: 0 })])
  const start = toolStart('t', { toolCallId: 'c1' })
  const result = (content: ToolMessage['content'], id = 'c1') =>
    new ToolMessage({ content, tool_call_id: id })
  const end = (output: unknown, runId = 't'): GraphEvent => ({ type: 'tool-end', runId, output })

  /** The results that a client holds. */
  function resultsOf(events: readonly GraphEvent[], options = {}) {
    const { messages, problems } = translateEvents(events, options)
    expect(problems).toEqual([])
    return messages.flatMap(({ role, id, toolCallId, content }) =>
      role === 'tool' ? [[id, toolCallId, content]] : [],
    )
  }

  describe('the result of a tool', () => {
    test.each<[string, unknown]>([
      ['a message', result('sunny')],
      ['a Command with one', new Command({ update: { messages: [result('sunny')] } })],
      ['a list of these', [new Command({ update: { x: 1 } }), result('sunny')]],
      ['a text', 'sunny'],
      [
        'blocks of text',
        [
          { type: 'text', text: 'sun' },
          { type: 'text', text: 'ny' },
        ],
      ],
    ])('is told when it gives %s', (_kind, output) => {
      expect(resultsOf([...called, start, end(output)])).toEqual([['c1:result', 'c1', 'sunny']])
    })

    test('that is any other value is JSON', () => {
      expect(resultsOf([...called, start, end({ deg: 20, big: 10n })])).toEqual([
        ['c1:result', 'c1', '{"deg":20,"big":"10"}'],
      ])
      expect(resultsOf([...called, start, end(undefined)])).toEqual([['c1:result', 'c1', '']])
    })

    test('with more than text has parts', () => {
      const content = [
        { type: 'text', text: 'A map' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'image', url: 'https://example.com/a.png' },
        { type: 'odd', x: 1 },
      ]
      expect(resultsOf([...called, start, end(result(content as never))])[0]?.[2]).toEqual([
        { type: 'text', text: 'A map' },
        { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } },
        { type: 'image', source: { type: 'url', value: 'https://example.com/a.png' } },
        { type: 'text', text: '{"type":"odd","x":1}' },
      ])
    })

    test('is written once, whoever reports it', () => {
      const message = result('sunny')
      const values: GraphEvent = { type: 'values', values: { messages: [message] } }
      const events = [...called, start, end(message), nodeEnd('n', { messages: [message] }), values, values]
      expect(resultsOf([nodeStart('n'), ...events])).toEqual([['c1:result', 'c1', 'sunny']])
    })

    test('that only the node gives is written: an unknown tool, wrong arguments, messages made by hand', () => {
      const message = new ToolMessage({ content: 'Error: no such tool', tool_call_id: 'c1', status: 'error' })
      for (const output of [
        { messages: [message] },
        new Command({ update: { messages: [message] } }),
        { output: [new Command({ update: { messages: [message] } })] },
        [{ messages: [message] }],
        { scratchpad: [message] },
      ]) {
        const { messages } = translateEvents([...called, nodeStart('n'), nodeEnd('n', output)])
        expect(messages[1]).toMatchObject({
          toolCallId: 'c1',
          content: 'Error: no such tool',
          metadata: { millrace: { isError: true } },
        })
      }
    })

    test('of a call that nobody knows is kept until the call shows up', () => {
      const ai = new AIMessage({ id: 'a1', content: '', tool_calls: [{ id: 'c9', name: 'x', args: {} }] })
      const { messages } = translateEvents([
        { type: 'values', values: { messages: [] } },
        nodeStart('n'),
        nodeEnd('n', { scratch: [result('done', 'c9')] }),
        { type: 'values', values: { messages: [ai, result('done', 'c9')] } },
      ])
      expect(messages).toMatchObject([{ id: 'a1', toolCalls: [{ id: 'c9' }] }, { id: 'c9:result' }])
    })

    test('is not there for a Command without one, an error or an interrupt', () => {
      const noAnswer = [end(new Command({ goto: 'x' })), failed('tool', 't'), interrupted('tool', 't')]
      for (const event of noAnswer) expect(resultsOf([...called, start, event])).toEqual([])
    })

    test('of a call in an earlier run is written, and one that the thread has is not', () => {
      const toolCalls = ['c1', 'c2'].map((id) => ({
        id,
        type: 'function' as const,
        function: { name: 'search', arguments: '{}' },
      }))
      const messages = [
        { id: 'a', role: 'assistant' as const, toolCalls },
        { id: 'r', role: 'tool' as const, toolCallId: 'c2', content: 'old' },
      ]
      const more = [toolStart('t2', { toolCallId: 'c2' }), end(result('new', 'c2'), 't2')]
      expect(resultsOf([start, end(result('new')), ...more], { messages })).toEqual([
        ['r', 'c2', 'old'],
        ['c1:result', 'c1', 'new'],
      ])
    })
  })

  describe('a tool that runs', () => {
    test('for an unknown call writes the call first', () => {
      const { messages } = translateEvents([
        toolStart('t', { toolCallId: 'c7', input: '{"q":2}' }),
        end('ok'),
        toolStart('t2', { toolCallId: 'c8', input: 'plain words' }),
        end('ok', 't2'),
      ])
      expect(messages).toMatchObject([
        { toolCalls: [{ id: 'c7', function: { name: 'search', arguments: '{"q":2}' } }] },
        { toolCallId: 'c7' },
        { toolCalls: [{ id: 'c8', function: { arguments: '{"input":"plain words"}' } }] },
        { toolCallId: 'c8' },
      ])
    })

    test('because code calls it is a call too, which fails without the error', () => {
      const { loose, messages } = translateEvents([
        toolStart('t', { input: '{"q":2}' }),
        end({ found: [1] }),
        toolStart('t2', { ns: 'node:2' }),
        failed('tool', 't2', new Error('secret')),
      ])
      expect(loose.map(({ type }) => type.replace('TOOL_CALL_', '')).join()).toBe(
        'START,ARGS,END,RESULT,START,ARGS,END,RESULT',
      )
      expect(messages).toMatchObject([
        { toolCalls: [{ function: { name: 'search', arguments: '{"q":2}' } }] },
        { role: 'tool', content: '{"found":[1]}' },
        { toolCalls: [{ function: { name: 'search', arguments: '{}' } }] },
        { role: 'tool', content: 'The tool has failed.' },
      ])
    })

    test('may tell what it has so far', () => {
      const output = (chunk: unknown): GraphEvent => ({ type: 'tool-output', runId: 't', chunk })
      const { batches } = translateEvents([start, output({ done: 1, skip: undefined }), output(undefined)])
      expect(batches[1]).toEqual([
        {
          type: 'CUSTOM',
          name: 'langgraph.tool_output',
          value: { toolCallId: 'c1', name: 'search', chunk: { done: 1 } },
        },
      ])
      expect(batches[2]).toMatchObject([{ value: { chunk: null } }])
    })
  })

  describe('a call of a client tool', () => {
    const options = { isClientTool: (name: string) => name === 'search' }

    test('is pending until it has a result', () => {
      expect(translateEvents(called, options).translator.pendingCallIds).toEqual(['c1'])
      expect(translateEvents([...called, start, end('x')], options).translator.pendingCallIds).toEqual([])
      expect(translateEvents(called).translator.pendingCallIds).toEqual([])
    })
  })
})

describe('state and messages', () => {
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

    test('is not the interrupts that come in its place', () => {
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
        map: new Map([['a', new Set([1])]]),
        when: new Date(0),
        no: undefined,
      }
      const { state: shown, problems } = translateEvents([values(state), values({ ...state, n: 1 })])
      expect(shown).toEqual({
        circle: { deep: { list: [1, '2', null, null] } },
        map: { a: [1] },
        when: '1970-01-01T00:00:00.000Z',
        n: 1,
      })
      expect(problems).toEqual([
        'state.circle.self is a circle, not JSON; it was left out',
        'state.fn is a value of type function, not JSON; it was left out',
        'state.account is a Account, not JSON; it was left out',
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

  describe('a message that no model streamed', () => {
    test('is written when it is in the state, once, and what the graph began with is not', () => {
      const old = made('old', 'Old')
      const { messages } = translateEvents([
        values({ messages: [new HumanMessage('q'), old] }),
        values({ messages: [old, made('new')] }),
        values({ messages: [old, made('new'), new HumanMessage({ id: 'h', content: 'made up' })] }),
      ])
      expect(messages).toEqual([{ id: 'new', role: 'assistant', content: 'By hand' }])
    })

    test('is written when its node ends, if it has an id and the history is known', () => {
      const { batches } = translateEvents([
        values({ messages: [] }),
        nodeStart('n'),
        nodeEnd('n', { messages: [made('a1')] }),
        values({ messages: [made('a1')] }),
      ])
      expect(batches[2]?.map(brief)).toEqual([
        'TEXT_MESSAGE_START a1',
        'TEXT_MESSAGE_CHUNK a1 "By hand"',
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

    test('is written before the tool it calls runs, if it has an id', () => {
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
        [
          values({ messages: [] }),
          ...modelRun(['Hi']),
          values({ messages: [made('t1'), made('run-m', 'Hi')] }),
        ],
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
        custom('chart', { bars: [1], draw: undefined }),
        custom('PredictState', [{ state_key: 'doc', tool: 'write' }]),
        custom('empty', undefined),
        custom('lost', () => 1),
        custom('manually_emit_tool_call', { id: 'c1', name: 'show', args: { run: undefined } }),
        custom('manually_emit_tool_call', { id: 'c2', name: 'show', args: { later: Promise.resolve() } }),
        custom('manually_emit_tool_call', { id: 'c3', name: 'hide', args: {}, result: () => 1 }),
      ])
      expect(loose).toEqual([
        { type: 'CUSTOM', name: 'chart', value: { bars: [1] } },
        { type: 'CUSTOM', name: 'PredictState', value: [{ state_key: 'doc', tool: 'write' }] },
        { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'show', parentMessageId: 'shown-c1' },
        { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{}' },
        { type: 'TOOL_CALL_END', toolCallId: 'c1' },
      ])
      expect(problems).toEqual([
        "The value of 'empty' is not JSON: it is undefined. It was not sent.",
        "The value of 'lost' is not JSON: it is a function. It was not sent.",
        "The arguments of 'show' is not JSON: later is a Promise. It was not sent.",
        "The result of 'hide' is not JSON: it is a function. It was not sent.",
      ])
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
        { id: 'shown-message-1', content: 'Ho' },
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

    test('named exit are no exception', () => {
      const { loose } = translateEvents([custom('exit', true)])
      expect(loose).toEqual([{ type: 'CUSTOM', name: 'exit', value: true }])
    })
  })

  test('what is not known is counted, and reported once', () => {
    const unknown = (name: string): GraphEvent => ({ type: 'unknown', name })
    const { loose, problems } = translateEvents([unknown('a'), unknown('b'), unknown('a')])
    expect(loose).toEqual([])
    expect(problems).toEqual([
      "LangGraph sent 'a' 2 times, which is not known; it was left out",
      "LangGraph sent 'b' 1 times, which is not known; it was left out",
    ])
  })
})

describe('parallel runs', () => {
  interface Part {
    readonly kind: 'text' | 'reasoning' | 'call'
    readonly pieces: readonly string[]
  }

  const part: fc.Arbitrary<Part> = fc.record({
    kind: fc.constantFrom('text', 'text', 'reasoning', 'call'),
    pieces: fc.array(fc.string({ maxLength: 3 }), { minLength: 1, maxLength: 4 }),
  })

  /** One model and the tools it calls. */
  interface Work {
    readonly parts: readonly Part[]
    readonly isNested: boolean
    readonly isStreamed: boolean
  }

  const work: fc.Arbitrary<Work> = fc.record({
    parts: fc.array(part, { maxLength: 5 }),
    isNested: fc.boolean(),
    isStreamed: fc.boolean(),
  })

  const callId = (name: string, index: number) => `${name}-c${index}`

  function chunksOf(name: string, { parts }: Work): GraphEvent[] {
    return parts.flatMap(({ kind, pieces }, index) => {
      if (kind === 'text') return pieces.map((text) => modelChunk(text, name))
      if (kind === 'reasoning')
        return pieces.map((text) =>
          modelChunk({ content: '', additional_kwargs: { reasoning_content: text } }, name),
        )
      const args = JSON.stringify({ q: pieces.join('') })
      return [
        modelChunk(callChunk({ id: callId(name, index), name: 'search', args: '', index }), name),
        ...Array.from(args, (char) => modelChunk(callChunk({ args: char, index }), name)),
      ]
    })
  }

  function eventsOf(name: string, work: Work): GraphEvent[] {
    const graph = `${name}-graph`
    const parentRunId = work.isNested ? graph : undefined
    const chunks = chunksOf(name, work)
    const tools = work.parts.flatMap(({ kind, pieces }, index): GraphEvent[] => {
      if (kind !== 'call') return []
      const toolCallId = callId(name, index)
      const output = new ToolMessage({ content: pieces.join(''), tool_call_id: toolCallId })
      return [
        toolStart(`${toolCallId}-run`, { toolCallId, parentRunId }),
        { type: 'tool-end', runId: `${toolCallId}-run`, output },
      ]
    })
    return [
      ...(work.isNested ? [graphStart(graph)] : []),
      modelStart(name, { parentRunId }),
      ...(work.isStreamed ? chunks : []),
      modelEnd(chunks, name),
      ...tools,
      ...(work.isNested ? [{ type: 'graph-end' as const, runId: graph }] : []),
    ]
  }

  /** Interleaves the events of several works in the order given. */
  function interleave(lines: readonly (readonly GraphEvent[])[], order: readonly number[]): GraphEvent[] {
    const rest = lines.map((line) => [...line])
    const mixed: GraphEvent[] = []
    for (const turn of order) {
      const event = rest[turn % rest.length]?.shift()
      if (event) mixed.push(event)
    }
    return [...mixed, ...rest.flat()]
  }

  const joined = ({ parts }: Work, wanted: Part['kind']) =>
    parts.flatMap(({ kind, pieces }) => (kind === wanted ? pieces : [])).join('')

  test('whatever runs at the same time, every message, reasoning, call and result stays whole', () => {
    fc.assert(
      fc.property(
        fc.array(work, { minLength: 2, maxLength: 3 }),
        fc.array(fc.nat(5), { maxLength: 150 }),
        (works, order) => {
          const names = works.map((_, index) => `m${index}`)
          const lines = works.map((work, index) => eventsOf(names[index] ?? '', work))
          const { messages, problems } = translateEvents(interleave(lines, order))
          expect(problems).toEqual([])
          for (const [index, work] of works.entries()) {
            const name = names[index] ?? ''
            const own = messages.find(({ id }) => id === `run-${name}`)
            expect(own?.content ?? '').toBe(joined(work, 'text'))
            const thoughts = messages.filter(({ id }) => String(id).startsWith(`run-${name}:reasoning`))
            expect(thoughts.map(({ content }) => content).join('')).toBe(joined(work, 'reasoning'))
            expectCalls(messages, name, work)
          }
        },
      ),
      { numRuns: propertyRuns(60) },
    )
  })

  function expectCalls(messages: readonly Record<string, unknown>[], name: string, { parts }: Work): void {
    const own = messages.find(({ id }) => id === `run-${name}`)
    const calls = (own?.toolCalls ?? []) as { id: string; function: { arguments: string } }[]
    for (const [index, { kind, pieces }] of parts.entries()) {
      if (kind !== 'call') continue
      const id = callId(name, index)
      const args = calls.find((call) => call.id === id)?.function.arguments ?? ''
      expect(JSON.parse(args)).toEqual({ q: pieces.join('') })
      expect(messages.filter(({ toolCallId }) => toolCallId === id)).toMatchObject([
        { content: pieces.join('') },
      ])
    }
  }
})
