import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { Command } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import type { GraphEvent } from '../graph-event.js'
import {
  answer,
  asking,
  callPiece,
  failed,
  nodeEnd,
  nodeStart,
  toolStart,
  translateEvents,
} from '../../../test/support/langgraph/translate-events.js'

const called = answer([callPiece({ id: 'c1', name: 'search', args: '{"q":1}', index: 0 })])
const start = toolStart('t', { toolCallId: 'c1' })
const result = (content: ToolMessage['content'], id = 'c1') => new ToolMessage({ content, tool_call_id: id })
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
      ['c1:result', 'c1', '{"deg":20}'],
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

  test('is told once, whoever tells of it', () => {
    const message = result('sunny')
    const values: GraphEvent = { type: 'values', values: { messages: [message] } }
    const events = [...called, start, end(message), nodeEnd('n', { messages: [message] }), values, values]
    expect(resultsOf([nodeStart('n'), ...events])).toEqual([['c1:result', 'c1', 'sunny']])
  })

  test('that only the node gives is told: a tool that is not there, wrong arguments, messages made by hand', () => {
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

  test('is not there for a Command without one, an error or a question', () => {
    const noAnswer = [end(new Command({ goto: 'x' })), failed('tool', 't'), asking('tool', 't')]
    for (const event of noAnswer) expect(resultsOf([...called, start, event])).toEqual([])
  })

  test('of a call in an earlier run is told, and one that the thread has is not', () => {
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
  test('for a call that nobody has heard of tells of the call', () => {
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

  test('because code calls it is a CUSTOM event, and no call', () => {
    const { loose } = translateEvents([
      toolStart('t', { input: '{"q":2}' }),
      end({ found: [1] }),
      toolStart('t2'),
      failed('tool', 't2'),
    ])
    expect(loose).toEqual(
      [
        { name: 'search', runId: 't', status: 'started', input: { q: 2 } },
        { name: 'search', runId: 't', status: 'finished', output: { found: [1] } },
        { name: 'search', runId: 't2', status: 'started', input: {} },
        { name: 'search', runId: 't2', status: 'failed' },
      ].map((value) => ({ type: 'CUSTOM', name: 'langgraph.tool', value })),
    )
  })

  test('may tell what it has so far', () => {
    const output = (chunk: unknown): GraphEvent => ({ type: 'tool-output', runId: 't', chunk })
    const { batches } = translateEvents([start, output({ done: 1, skip: () => 1 }), output(undefined)])
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
    expect(translateEvents(called, options).translator.pendingCalls).toEqual([{ id: 'c1', name: 'search' }])
    expect(translateEvents([...called, start, end('x')], options).translator.pendingCalls).toEqual([])
    expect(translateEvents(called).translator.pendingCalls).toEqual([])
  })
})
