import type { Message } from '@ag-ui/core'
import { isEqual } from '../../core/json.js'
import { countingMessages, isRejected } from '../../protocol/index.js'
import { defineRule, quoteNames } from './rule.js'

/** A message has the same id and role in the stream, in snapshots and across runs. */
export const messageRules = [
  defineRule('snapshot-ids', ['MESSAGES_SNAPSHOT'], function* ({ messages }, { run, messages: before }) {
    const counting = new Set(countingMessages(before))
    const rejected = before.filter((message) => !counting.has(message)).map(({ id }) => id)
    const ids = new Set([...messages.map(({ id }) => id), ...rejected, ...run.retracted])
    // Clients keep their reasoning messages unless the snapshot brings reasoning of its own.
    const hasReasoning = messages.some(({ role }) => role === 'reasoning')
    const expected = [...run.streamed].filter(([, kind]) => hasReasoning || kind !== 'reasoning')
    const lost = expected.map(([id]) => id).filter((id) => !ids.has(id))
    if (lost.length > 0) yield `the snapshot lacks ${quoteNames(lost)}, streamed in this run`
  }),
  defineRule('history-restated', ['RUN_FINISHED', 'RUN_ERROR'], function* (_event, { run, messages }) {
    for (const message of messages) {
      const isRetracted = run.retracted.has(message.id) || isRejected(message)
      // Clients keep the last reasoning there is: it can only be emptied.
      if (run.streamed.has(message.id) && isRetracted && message.content !== '')
        yield `message '${message.id}' was rejected, and no snapshot has taken it back`
      const rewritten = run.rewritten.get(message.id)
      if (rewritten && !isSameText(message, rewritten))
        yield `message '${message.id}' was rewritten, and no snapshot has brought the new version`
    }
  }),
  defineRule('message-id-reuse', ['MESSAGES_SNAPSHOT'], function* (event, { messages }) {
    const roles = new Map(messages.map(({ id, role }) => [id, role]))
    const ids = new Set<string>()
    for (const { id, role } of event.messages) {
      if (ids.has(id)) yield `the snapshot has several messages '${id}'`
      ids.add(id)
      const before = roles.get(id)
      if (before !== undefined && before !== role) {
        yield `message '${id}' has role ${before} so far and role ${role} in the snapshot`
      }
    }
  }),
  defineRule('message-id-reuse', ['TOOL_CALL_RESULT'], function* ({ messageId, toolCallId }, { messages }) {
    const known = messages.find(({ id }) => id === messageId)
    // `duplicate-result` reports the same result once more.
    if (!known || (known.role === 'tool' && known.toolCallId === toolCallId)) return
    yield `message id '${messageId}' already names a message with role ${known.role}`
  }),
  defineRule(
    'replayed-item',
    ['TEXT_MESSAGE_START', 'REASONING_MESSAGE_START'],
    function* ({ messageId }, { run }) {
      if (run.known.messages.has(messageId)) {
        yield `the client already has message '${messageId}' and would append to it`
      }
    },
  ),
  defineRule('replayed-item', ['TOOL_CALL_START'], function* ({ toolCallId }, { run }) {
    if (run.known.calls.has(toolCallId)) {
      yield `the client already has call '${toolCallId}' and would append to its arguments`
    }
  }),
]

/** Compares texts and calls. Clients before 1.0 get the text of a result in place of its parts. */
function isSameText(message: Message, rewritten: Readonly<Record<string, unknown>>): boolean {
  const calls = message.role === 'assistant' ? message.toolCalls : undefined
  const isText = typeof message.content === 'string' && typeof rewritten.content === 'string'
  return (!isText || message.content === rewritten.content) && isEqual(calls, rewritten.toolCalls)
}
