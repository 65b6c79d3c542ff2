import { AIMessage } from '@langchain/core/messages'
import { Command, ParentCommand } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { brief } from '../../../test/support/brief.js'
import {
  answer,
  asking,
  callPiece,
  failed,
  graphStart,
  modelStart,
  nodeEnd,
  nodeStart,
  piece,
  toolStart,
  translateEvents,
} from '../../../test/support/langgraph/translate-events.js'

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

  test('of one name that run at the same time are told apart, and each ends its own step', () => {
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

  test('that fail, ask or never end are closed', () => {
    const { loose } = translateEvents([
      nodeStart('1', 'a'),
      failed('node', '1'),
      nodeStart('2', 'a'),
      asking('node', '2'),
      nodeStart('3', 'a'),
    ])
    expect(loose.map(brief).filter((line) => line === 'STEP_FINISHED a')).toHaveLength(3)
  })
})

const nested = [
  ...answer([callPiece({ id: 'c1', name: 'ask', args: '{}', index: 0 })]),
  nodeStart('tools'),
  toolStart('t', { toolCallId: 'c1', name: 'ask', parentRunId: 'tools' }),
  graphStart('g', 't', 'Researcher'),
  nodeStart('inner', 'inner', 'g'),
  modelStart('m2', { parentRunId: 'inner' }),
  piece('Found', 'm2'),
]

describe('graphs inside the graph', () => {
  test('are subagents of the call they work for, and all inside them says so', () => {
    const { loose } = translateEvents([
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
      'TEXT_MESSAGE_CONTENT run-m2 "Found" @g',
      'TOOL_CALL_START c2 @g',
      'TOOL_CALL_ARGS c2 "{}" @g',
      'TOOL_CALL_END c2 @g',
      'CUSTOM @g',
      'STEP_FINISHED inner @g',
      'SUBAGENT_FINISHED @g',
      'TOOL_CALL_RESULT c1:result',
      'TEXT_MESSAGE_END run-m2 @g',
      'STEP_FINISHED tools',
    ])
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

  test('that ask are suspended, and it is known where the question came from', () => {
    const { stream, translator } = translateEvents(
      [
        ...nested,
        toolStart('t2', { parentRunId: 'inner', toolCallId: 'c2' }),
        asking('tool', 't2', 'q1'),
        asking('node', 'inner', 'q1'),
        asking('graph', 'g', 'q1'),
        asking('tool', 't', 'q1'),
        asking('node', 'tools', 'q1'),
        { type: 'interrupts', interrupts: [{ id: 'q1', value: '?', ns: [] }] },
      ],
      { end: { type: 'interrupt', interrupts: [{ id: 'i', reason: 'r', subagentRunId: 'g' }] } },
    )
    expect(translator.askedIn('q1')).toEqual({ subagentRunId: 'g', toolCallId: 'c2' })
    expect(translator.askedIn('other')).toBeUndefined()
    expect(translator.spanOf('inner')).toBe('g')
    expect(translator.spanOf('tools')).toBeUndefined()
    expect(stream.find(({ type }) => type === 'SUBAGENT_FINISHED')).toMatchObject({
      outcome: { type: 'suspended', interruptIds: ['i'] },
    })
  })

  test('that hand over to the graph around have not failed, and what they hand over is told', () => {
    const message = new AIMessage({ id: 'a1', content: 'Over to you' })
    const command = new Command({ graph: Command.PARENT, goto: 'z', update: { messages: [message] } })
    const error = new ParentCommand(command)
    const { loose, messages } = translateEvents([
      { type: 'values', values: { messages: [] } },
      graphStart('g'),
      nodeStart('i', 'i', 'g'),
      failed('node', 'i', error),
      failed('graph', 'g', error),
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
