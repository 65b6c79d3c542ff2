import { expect, it } from 'vitest'
import { goldenStreams } from '../../../test/fixtures/golden-streams.js'
import { MillraceError } from '../../core/errors.js'
import { assertValidStream } from '../../testing/index.js'
import type { AgentEvent, AgUiEvent, RunEnd } from '../contract.js'
import { createRunStream } from './run-stream.js'

const approval = {
  type: 'object',
  properties: { approved: { type: 'boolean' } },
  required: ['approved'],
}

/** The loose events of a careless agent for each golden stream, and its end. */
const loosely: { events: AgentEvent[]; end: RunEnd | Error }[] = [
  {
    events: [
      { type: 'REASONING_START', messageId: 'sp1' },
      { type: 'REASONING_MESSAGE_CHUNK', messageId: 'rs1', delta: 'think' },
      { type: 'REASONING_MESSAGE_END', messageId: 'rs1' },
      { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'rs1', encryptedValue: 'opaque' },
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', delta: 'Hello' },
    ],
    end: {
      type: 'success',
      usage: [
        {
          provider: 'openai',
          model: 'x',
          inputTokens: 10,
          outputTokens: 5,
          totalTokens: 15,
          reasoningTokens: 3,
        },
      ],
    },
  },
  {
    events: [
      { type: 'TOOL_CALL_CHUNK', toolCallId: 'c1', toolCallName: 'get_weather', parentMessageId: 'm2' },
      { type: 'TOOL_CALL_CHUNK', delta: '{"city":"Rome"}' },
      { type: 'TOOL_CALL_RESULT', messageId: 'm3', toolCallId: 'c1', content: '{"temp":20}' },
      { type: 'STATE_SNAPSHOT', snapshot: { items: [] } },
      { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/items/-', value: { city: 'Rome' } }] },
      {
        type: 'TOOL_CALL_CHUNK',
        toolCallId: 'c2',
        toolCallName: 'change_background',
        parentMessageId: 'm4',
        delta: '{}',
      },
    ],
    end: { type: 'success' },
  },
  {
    events: [
      { type: 'SUBAGENT_STARTED', subagentRunId: 'sa1', name: 'mailer' },
      {
        type: 'TOOL_CALL_START',
        toolCallId: 'c3',
        toolCallName: 'send_email',
        parentMessageId: 'm5',
        subagentRunId: 'sa1',
      },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c3', delta: '{}' },
    ],
    end: {
      type: 'interrupt',
      interrupts: [
        {
          id: 'i1',
          reason: 'tool_call',
          toolCallId: 'c3',
          message: 'Send?',
          subagentRunId: 'sa1',
          responseSchema: approval,
        },
      ],
    },
  },
  {
    events: [
      { type: 'SUBAGENT_STARTED', subagentRunId: 'sa1', name: 'mailer' },
      // The resumed agent goes through the call again before it has the result.
      { type: 'TOOL_CALL_START', toolCallId: 'c3', toolCallName: 'send_email', subagentRunId: 'sa1' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c3', delta: '{}' },
      { type: 'TOOL_CALL_RESULT', messageId: 'm6', toolCallId: 'c3', content: 'sent', subagentRunId: 'sa1' },
    ],
    end: { type: 'success' },
  },
  { events: [{ type: 'TEXT_MESSAGE_CHUNK', messageId: 'm7', delta: 'par' }], end: { type: 'cancelled' } },
  {
    events: [
      {
        type: 'MESSAGES_SNAPSHOT',
        messages: [
          { id: 'u1', role: 'user', content: 'mail bob' },
          {
            id: 'm5',
            role: 'assistant',
            toolCalls: [{ id: 'c3', type: 'function', function: { name: 'send_email', arguments: '{}' } }],
          },
        ],
      },
      { type: 'STATE_SNAPSHOT', snapshot: { items: [] } },
      { type: 'ACTIVITY_SNAPSHOT', messageId: 'a1', activityType: 'job', content: { done: 1 } },
    ],
    end: { type: 'interrupt', interrupts: [{ id: 'i1', reason: 'tool_call', toolCallId: 'c3' }] },
  },
  {
    events: [{ type: 'TEXT_MESSAGE_START', messageId: 'm8' }],
    end: new MillraceError('AGENT_ERROR', 'model overloaded', { expose: true, wireCode: 'UPSTREAM_503' }),
  },
]

/** The run stream writes out what a golden stream leaves to the protocol's defaults. */
function withDefaults(event: AgUiEvent): AgUiEvent {
  if (event.type === 'TEXT_MESSAGE_START') return { role: 'assistant', ...event }
  if (event.type === 'TOOL_CALL_RESULT') return { role: 'tool', ...event }
  if (event.type === 'RUN_FINISHED') return { outcome: { type: 'success' }, ...event }
  return event
}

it('has a loose counterpart for every golden stream', () => {
  expect(loosely).toHaveLength(goldenStreams.length)
})

it.each(goldenStreams.map((golden, index) => [golden.name, golden, loosely[index]] as const))(
  'produces the golden stream "%s" from loose events',
  (_name, { events, input }, loose) => {
    const out: AgUiEvent[] = []
    const stream = createRunStream({ ...input, emit: (event) => out.push(event) })
    for (const event of loose?.events ?? []) stream.write(event)
    if (loose?.end instanceof Error) stream.fail(loose.end)
    else stream.finish(loose?.end ?? { type: 'success' })
    expect(out).toEqual(events.map(withDefaults))
    assertValidStream(out, { input })
  },
)
