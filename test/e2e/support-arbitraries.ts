import { EventType, type RunAgentInput } from '@ag-ui/core'
import fc from 'fast-check'

import type { AgUiEvent } from '../../src/protocol/contract.js'

type Fields = Record<string, fc.Arbitrary<unknown>>

/** Any text that can be encoded: every code point except halves of surrogate pairs. */
export const text = fc.string({ unit: 'binary', maxLength: 12 })

// A trip through JSON makes -0 into 0, as any peer would.
export const json = fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value)))
const present = json.filter((value) => value !== null)
const openRecord = fc.dictionary(text, json, { maxKeys: 3 })
const counter = fc.nat()

const model = (required: Fields, optional: Fields = {}) =>
  fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) })
const list = (item: fc.Arbitrary<unknown>) => fc.array(item, { maxLength: 3 })

const source = fc.oneof(
  model({ type: fc.constant('data'), value: text, mimeType: text }),
  model({ type: fc.constant('url'), value: text }, { mimeType: text }),
  model({ type: fc.constant('file'), value: text }, { provider: text, mimeType: text }),
)
const part = fc.oneof(
  model({ type: fc.constant('text'), text }, { id: text, metadata: present }),
  model(
    { type: fc.constantFrom('image', 'audio', 'video', 'document'), source },
    { id: text, metadata: present },
  ),
)
const content = fc.oneof(text, list(part))

const toolCall = model(
  { id: text, type: fc.constant('function'), function: model({ name: text, arguments: text }) },
  { encryptedValue: text, metadata: openRecord },
)
const tagged = { subagentRunId: text, metadata: openRecord }
const named = { ...tagged, name: text, encryptedValue: text }
const inputMessage = fc.oneof(
  model({ id: text, role: fc.constantFrom('developer', 'system'), content: text }, named),
  model({ id: text, role: fc.constant('assistant') }, { ...named, content: text, toolCalls: list(toolCall) }),
  model({ id: text, role: fc.constant('user'), content }, named),
  model(
    { id: text, role: fc.constant('tool'), toolCallId: text, content },
    { ...tagged, error: text, encryptedValue: text },
  ),
  model({ id: text, role: fc.constant('reasoning'), content: text }, { ...tagged, encryptedValue: text }),
)
const message = fc.oneof(
  inputMessage,
  model({ id: text, role: fc.constant('activity'), activityType: text, content: openRecord }, tagged),
)

const tool = model({ name: text, description: text }, { parameters: present, metadata: openRecord })
const resumeEntry = model(
  { interruptId: text, status: fc.constantFrom('resolved', 'cancelled') },
  { payload: present, metadata: openRecord },
)

/** Any run input that a 1.x client may send. `test/e2e` and the tests of the protocol share it. */
export const runInput = model(
  { threadId: text, runId: text, messages: list(inputMessage) },
  {
    protocolVersion: fc.nat({ max: 20 }).map((minor) => `1.${minor}`),
    parentRunId: text,
    state: present,
    tools: list(tool),
    context: list(model({ description: text, value: text })),
    forwardedProps: present,
    resume: list(resumeEntry),
  },
  // The models above are the schema; a test parses what they make with it.
) as fc.Arbitrary<Pick<RunAgentInput, 'threadId' | 'runId' | 'messages'> & Partial<RunAgentInput>>

const pointer = fc
  .array(fc.stringMatching(/^([a-z]|~0|~1){0,4}$/), { maxLength: 3 })
  .map((tokens) => tokens.map((token) => `/${token}`).join(''))
const patch = list(
  fc.oneof(
    model({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value: json }),
    model({ op: fc.constant('remove'), path: pointer }),
    model({ op: fc.constantFrom('move', 'copy'), path: pointer, from: pointer }),
  ),
)
const usage = list(
  model(
    {},
    {
      provider: text,
      model: text,
      inputTokens: counter,
      outputTokens: counter,
      totalTokens: counter,
      reasoningTokens: counter,
      cachedInputTokens: counter,
      cacheWriteInputTokens: counter,
    },
  ),
)
const interrupt = model(
  { id: text, reason: text },
  { ...tagged, message: text, toolCallId: text, responseSchema: openRecord, expiresAt: text },
)
const outcome = fc.oneof(
  model({ type: fc.constant('success') }, { pendingToolCallIds: list(text) }),
  model({
    type: fc.constant('interrupt'),
    interrupts: fc.array(interrupt, { minLength: 1, maxLength: 2 }),
  }),
  model({ type: fc.constant('cancelled') }),
)
const subagentOutcome = fc.oneof(
  model({ type: fc.constant('success') }),
  model({ type: fc.constant('suspended') }, { interruptIds: list(text) }),
)
const role = fc.constantFrom('developer', 'system', 'assistant', 'user')

const untaggedEvents: Record<string, readonly [Fields, Fields?]> = {
  RUN_STARTED: [
    { threadId: text, runId: text },
    { protocolVersion: text, parentRunId: text, input: runInput },
  ],
  RUN_FINISHED: [
    { threadId: text, runId: text },
    { result: present, outcome, usage },
  ],
  RUN_ERROR: [{ message: text }, { code: text, usage }],
  MESSAGES_SNAPSHOT: [{ messages: list(message) }],
  SUBAGENT_STARTED: [
    { subagentRunId: text, name: text },
    { description: text, parentSubagentRunId: text, parentToolCallId: text, parentMessageId: text },
  ],
  SUBAGENT_FINISHED: [{ subagentRunId: text }, { result: present, outcome: subagentOutcome }],
  SUBAGENT_ERROR: [{ subagentRunId: text, message: text }, { code: text }],
}
const taggedEvents: Record<string, readonly [Fields, Fields?]> = {
  STEP_STARTED: [{ stepName: text }],
  STEP_FINISHED: [{ stepName: text }],
  TEXT_MESSAGE_START: [{ messageId: text }, { role, name: text }],
  TEXT_MESSAGE_CONTENT: [{ messageId: text, delta: text }],
  TEXT_MESSAGE_END: [{ messageId: text }],
  TEXT_MESSAGE_CHUNK: [{}, { messageId: text, role, delta: text, name: text }],
  TOOL_CALL_START: [{ toolCallId: text, toolCallName: text }, { parentMessageId: text }],
  TOOL_CALL_ARGS: [{ toolCallId: text, delta: text }],
  TOOL_CALL_END: [{ toolCallId: text }],
  TOOL_CALL_CHUNK: [{}, { toolCallId: text, toolCallName: text, parentMessageId: text, delta: text }],
  TOOL_CALL_RESULT: [{ messageId: text, toolCallId: text, content }, { role: fc.constant('tool') }],
  STATE_SNAPSHOT: [{ snapshot: json }],
  STATE_DELTA: [{ delta: patch }],
  ACTIVITY_SNAPSHOT: [
    { messageId: text, activityType: text, content: openRecord },
    { replace: fc.boolean() },
  ],
  ACTIVITY_DELTA: [{ messageId: text, activityType: text, patch }],
  REASONING_START: [{ messageId: text }],
  REASONING_END: [{ messageId: text }],
  REASONING_MESSAGE_START: [{ messageId: text, role: fc.constant('reasoning') }],
  REASONING_MESSAGE_CONTENT: [{ messageId: text, delta: text }],
  REASONING_MESSAGE_END: [{ messageId: text }],
  REASONING_MESSAGE_CHUNK: [{}, { messageId: text, delta: text }],
  REASONING_ENCRYPTED_VALUE: [
    { subtype: fc.constantFrom('tool-call', 'message'), entityId: text, encryptedValue: text },
  ],
  RAW: [{ event: json }, { source: text }],
  CUSTOM: [{ name: text, value: json }],
}

const base: Fields = { timestamp: fc.maxSafeInteger(), rawEvent: present, metadata: openRecord }

function eventOf(type: string): fc.Arbitrary<AgUiEvent> {
  const tag = type in taggedEvents ? { subagentRunId: text } : {}
  const [required, optional] = taggedEvents[type] ?? untaggedEvents[type] ?? [{}]
  const arbitrary = model({ type: fc.constant(type), ...required }, { ...base, ...tag, ...optional })
  // The models above are the schema; a test parses what they make with it.
  return arbitrary as fc.Arbitrary<unknown> as fc.Arbitrary<AgUiEvent>
}

/** One generator for each of the event types of AG-UI 1.0. */
export const eventsByType: ReadonlyMap<string, fc.Arbitrary<AgUiEvent>> = new Map(
  Object.values(EventType).map((type) => [type, eventOf(type)]),
)

/** Any event of any type. */
export const anyEvent = fc.oneof(...eventsByType.values())

/** Cuts bytes into chunks at any places. The cuts are taken modulo the length, so every list of numbers will do. */
export function split(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b)
  return [...places, bytes.length].map((end, index) => bytes.slice(index === 0 ? 0 : places[index - 1], end))
}

/** Places to cut at, for `split`. */
export const cuts = fc.array(fc.nat(), { maxLength: 20 })
