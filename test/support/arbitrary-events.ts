import fc from 'fast-check'
import type { AgentEvent, AgUiEvent } from '../../src/protocol/index.js'

const messageId = fc.constantFrom('m1', 'm2', 'm3')
const toolCallId = fc.constantFrom('c1', 'c2', 'c3')
const delta = fc.constantFrom('a', 'bc', '{"x":1}', 'é\n')
const subagentRunId = fc.constantFrom('s1', 's2', 's3')
const stepName = fc.constantFrom('plan', 'act', 'plan#2')
const metadata = fc.constantFrom({ a: 1 }, { b: null, c: { x: [1] } }, {})
const pointer = fc.constantFrom('', '/a', '/a/b', '/list/0', '/list/-', '/x~1y', '/a/__proto__', '/no/such')
const json = fc.constantFrom<unknown>(
  1,
  'text',
  null,
  [],
  [1, 2],
  {},
  { b: 2 },
  { a: { b: 1 }, list: [1, 2] },
)

// No patches, but the clients' library takes them: it then holds no state, or a circle.
const isApplicable = ({ op, from, path }: { op: string; from: string; path: string }) =>
  path !== '' && !(op === 'move' && path.startsWith(`${from}/`))

const operation = fc.oneof(
  fc.record({
    op: fc.constantFrom('add' as const, 'replace' as const, 'test' as const),
    path: pointer,
    value: json,
  }),
  fc.record({ op: fc.constant('remove' as const), path: pointer }),
  fc
    .record({ op: fc.constantFrom('move' as const, 'copy' as const), from: pointer, path: pointer })
    .filter(isApplicable),
)
const patch = fc.array(operation, { maxLength: 3 })

const message = fc.oneof(
  fc.record({ id: messageId, role: fc.constant('user' as const), content: delta }),
  fc.record({ id: messageId, role: fc.constant('reasoning' as const), content: delta }),
  fc.record({
    id: messageId,
    role: fc.constant('activity' as const),
    activityType: delta,
    content: fc.constant({}),
  }),
  fc.record({
    id: fc.constantFrom('t1', 't2'),
    role: fc.constant('tool' as const),
    toolCallId,
    content: delta,
  }),
  fc.record(
    {
      id: messageId,
      role: fc.constant('assistant' as const),
      content: delta,
      toolCalls: fc.uniqueArray(
        fc.record({
          id: toolCallId,
          type: fc.constant('function' as const),
          function: fc.record({ name: fc.constantFrom('f', 'g'), arguments: fc.constant('{}') }),
        }),
        { selector: ({ id }) => id, maxLength: 2 },
      ),
      subagentRunId,
    },
    { requiredKeys: ['id', 'role'] },
  ),
)

/** A history without an id used twice. */
export const history = fc
  .array(message, { maxLength: 4 })
  .map((messages) => [...new Map(messages.map((one) => [one.id, one])).values()])

const type = <T extends string>(name: T) => fc.constant(name)

/** Fields that may or may not be there. `tag` adds attribution, `extra` what any event may carry. */
function event<T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }, optional: (keyof T)[] = []) {
  const extras = { subagentRunId, metadata, timestamp: fc.constantFrom(1, 1700000000000) }
  return fc
    .tuple(
      fc.record(model, {
        requiredKeys: (Object.keys(model) as (keyof T)[]).filter((key) => !optional.includes(key)),
      }),
      fc.record(extras, { requiredKeys: [] }),
      fc.nat(9),
    )
    .map(([own, more, dice]) => ({
      ...own,
      ...(dice < 4 && more.subagentRunId ? { subagentRunId: more.subagentRunId } : {}),
      ...(dice === 9 ? { metadata: more.metadata ?? {}, timestamp: more.timestamp ?? 2 } : {}),
    }))
}

const untagged = <T extends object>(arbitrary: fc.Arbitrary<T>) =>
  arbitrary.map((one) => {
    const { subagentRunId: _tag, ...rest } = one as T & { subagentRunId?: string }
    return rest
  })

/** Every event type an agent may write, with few ids, so that they meet. Each is valid in itself. */
export const agentEvent: fc.Arbitrary<AgentEvent> = fc.oneof(
  event({ type: type('TEXT_MESSAGE_START'), messageId, role: fc.constantFrom('assistant', 'user') }, [
    'role',
  ]),
  event({ type: type('TEXT_MESSAGE_CONTENT'), messageId, delta }),
  event({ type: type('TEXT_MESSAGE_END'), messageId }),
  event({ type: type('TEXT_MESSAGE_CHUNK'), messageId, delta, name: fc.constant('n') }, [
    'messageId',
    'delta',
    'name',
  ]),
  event(
    {
      type: type('TOOL_CALL_START'),
      toolCallId,
      toolCallName: fc.constantFrom('f', 'g'),
      parentMessageId: messageId,
    },
    ['parentMessageId'],
  ),
  event({ type: type('TOOL_CALL_ARGS'), toolCallId, delta }),
  event({ type: type('TOOL_CALL_END'), toolCallId }),
  event({ type: type('TOOL_CALL_CHUNK'), toolCallId, toolCallName: fc.constant('f'), delta }, [
    'toolCallId',
    'toolCallName',
    'delta',
  ]),
  event({
    type: type('TOOL_CALL_RESULT'),
    messageId: fc.constantFrom('t1', 't2', 'm1'),
    toolCallId,
    content: delta,
  }),
  event({ type: type('REASONING_START'), messageId }),
  event({ type: type('REASONING_END'), messageId }),
  event({ type: type('REASONING_MESSAGE_START'), messageId, role: type('reasoning') }),
  event({ type: type('REASONING_MESSAGE_CONTENT'), messageId, delta }),
  event({ type: type('REASONING_MESSAGE_END'), messageId }),
  event({ type: type('REASONING_MESSAGE_CHUNK'), messageId, delta }, ['messageId', 'delta']),
  event({
    type: type('REASONING_ENCRYPTED_VALUE'),
    subtype: fc.constantFrom('message', 'tool-call'),
    entityId: fc.oneof(messageId, toolCallId),
    encryptedValue: delta,
  }),
  event({ type: type('STATE_SNAPSHOT'), snapshot: json }),
  event({ type: type('STATE_DELTA'), delta: patch }),
  untagged(event({ type: type('MESSAGES_SNAPSHOT'), messages: history })),
  event(
    {
      type: type('ACTIVITY_SNAPSHOT'),
      messageId,
      activityType: delta,
      content: fc.constantFrom({}, { a: { b: 1 } }),
      replace: fc.boolean(),
    },
    ['replace'],
  ),
  event({ type: type('ACTIVITY_DELTA'), messageId, activityType: delta, patch }),
  event({ type: type('STEP_STARTED'), stepName }),
  event({ type: type('STEP_FINISHED'), stepName }),
  event({ type: type('CUSTOM'), name: fc.constant('x'), value: json }),
  event({ type: type('RAW'), event: json }),
  fc.record(
    {
      type: type('SUBAGENT_STARTED'),
      subagentRunId,
      name: fc.constant('helper'),
      parentSubagentRunId: subagentRunId,
    },
    { requiredKeys: ['type', 'subagentRunId', 'name'] },
  ),
  fc.record(
    {
      type: type('SUBAGENT_FINISHED'),
      subagentRunId,
      outcome: fc.constantFrom({ type: 'success' as const }, { type: 'suspended' as const }),
    },
    { requiredKeys: ['type', 'subagentRunId'] },
  ),
  fc.record({ type: type('SUBAGENT_ERROR'), subagentRunId, message: fc.constant('broke') }),
)

/** Two runs of arbitrary events: not yet a valid stream. Every result has an id of its own. */
export const anyStream: fc.Arbitrary<AgUiEvent[]> = fc
  .tuple(history, fc.array(agentEvent, { maxLength: 25 }), fc.array(agentEvent, { maxLength: 10 }))
  .map(([messages, first, second]): AgUiEvent[] => [
    {
      type: 'RUN_STARTED',
      threadId: 't',
      runId: 'r1',
      input: { threadId: 't', runId: 'r1', messages, tools: [], context: [] },
    },
    ...first,
    { type: 'RUN_ERROR', message: 'stopped' },
    { type: 'RUN_STARTED', threadId: 't', runId: 'r2' },
    ...second,
    { type: 'RUN_ERROR', message: 'stopped again' },
  ])
  .map((events) =>
    events.map((event, index) =>
      event.type === 'TOOL_CALL_RESULT' ? { ...event, messageId: `result ${index}` } : event,
    ),
  )
