import type { AgUiEvent } from '../../src/protocol/index.js'
import { checkRunFile, type RunFile } from '../src/inspector/model/run-file.js'

const epoch = Date.UTC(2026, 0, 1)

/** Two subagents at once, a tool, a step, state, a silence of two seconds, and the tokens of two models. */
export function teamRun(): RunFile {
  const ids = { threadId: 't-1', runId: 'r-1' }
  const scout = { subagentRunId: 's-1' }
  const writer = { subagentRunId: 's-2' }
  const events: AgUiEvent[] = [
    { type: 'RUN_STARTED', ...ids, protocolVersion: '1.0' },
    { type: 'STATE_SNAPSHOT', snapshot: { plan: { done: 0 }, notes: [] } },
    { type: 'STEP_STARTED', stepName: 'research' },
    { type: 'TEXT_MESSAGE_START', messageId: 'm-1', role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm-1', delta: 'I ask ' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm-1', delta: 'the team.' },
    { type: 'TEXT_MESSAGE_END', messageId: 'm-1' },
    { type: 'TOOL_CALL_START', toolCallId: 'c-1', toolCallName: 'weather', parentMessageId: 'm-1' },
    { type: 'TOOL_CALL_ARGS', toolCallId: 'c-1', delta: '{"city":"Rome"}' },
    { type: 'TOOL_CALL_END', toolCallId: 'c-1' },
    { type: 'TOOL_CALL_RESULT', messageId: 'm-2', toolCallId: 'c-1', content: 'sun' },
    { type: 'SUBAGENT_STARTED', ...scout, name: 'scout' },
    { type: 'SUBAGENT_STARTED', ...writer, name: 'writer' },
    { type: 'REASONING_START', messageId: 'm-3', ...scout },
    { type: 'REASONING_MESSAGE_START', messageId: 'm-3', role: 'reasoning', ...scout },
    { type: 'REASONING_MESSAGE_CONTENT', messageId: 'm-3', delta: 'Where to look?', ...scout },
    { type: 'REASONING_MESSAGE_END', messageId: 'm-3', ...scout },
    { type: 'REASONING_END', messageId: 'm-3', ...scout },
    { type: 'TEXT_MESSAGE_START', messageId: 'm-4', role: 'assistant', ...scout },
    { type: 'TEXT_MESSAGE_START', messageId: 'm-5', role: 'assistant', ...writer },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm-4', delta: 'Found it.', ...scout },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm-5', delta: 'Written.', ...writer },
    { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/plan/done', value: 1 }] },
    { type: 'TEXT_MESSAGE_END', messageId: 'm-4', ...scout },
    { type: 'SUBAGENT_FINISHED', ...scout },
    { type: 'TEXT_MESSAGE_END', messageId: 'm-5', ...writer },
    { type: 'SUBAGENT_FINISHED', ...writer },
    { type: 'STEP_FINISHED', stepName: 'research' },
    { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/notes/-', value: 'sunny' }] },
    {
      ...{ type: 'RUN_FINISHED', ...ids, outcome: { type: 'success' } },
      usage: [
        { model: 'scripted', inputTokens: 1200, outputTokens: 340, cachedInputTokens: 200 },
        { provider: 'acme', model: 'large', inputTokens: 10, outputTokens: 5 },
      ],
    },
  ]
  const gapAt = 10
  return checkRunFile({
    ...{ agent: 'team', ...ids, status: 'completed', startedAt: epoch, endedAt: epoch + 5_000 },
    input: {
      ...ids,
      protocolVersion: '1.0',
      messages: [{ id: 'u-1', role: 'user', content: 'Plan a trip to Rome' }],
      ...{ tools: [], context: [], state: {} },
    },
    start: { messages: [], state: {} },
    events: events.map((event, seq) => ({ seq, at: epoch + seq * 10 + (seq >= gapAt ? 1_990 : 0), event })),
    requests: [
      {
        ...{ at: epoch + 20, endedAt: epoch + 60, agent: 'team', model: 'scripted' },
        messages: [{ role: 'user', content: 'Plan a trip to Rome' }],
        tools: [{ name: 'weather', description: 'The weather in a city', parameters: { type: 'object' } }],
      },
    ],
    changes: [{ at: epoch + 30, hook: 'output', seq: 4, before: 'I ask my', after: 'I ask ' }],
  })
}

/** A run of about so many events, almost all of them deltas of its messages. */
export function longRun(size: number): RunFile {
  const ids = { threadId: 't-long', runId: `r-long-${size}` }
  const events: AgUiEvent[] = [{ type: 'RUN_STARTED', ...ids }]
  for (let message = 0; events.length < size - 1; message++) {
    const messageId = `m-${message}`
    events.push({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' })
    for (let word = 0; word < 98 && events.length < size - 2; word++)
      events.push({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta: `word ${message}.${word} ` })
    events.push({ type: 'TEXT_MESSAGE_END', messageId })
  }
  events.push({ type: 'RUN_FINISHED', ...ids })
  return checkRunFile({
    ...{ agent: 'long', ...ids, status: 'completed' },
    start: { messages: [], state: {} },
    events: events.map((event, seq) => ({ seq, at: epoch + seq * 2, event })),
  })
}
