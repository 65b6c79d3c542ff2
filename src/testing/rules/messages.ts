import { defineRule, quote } from './rule.js'

/** A message has the same id and role in the stream, in snapshots and across runs. */
export const messageRules = [
  defineRule('snapshot-ids', ['MESSAGES_SNAPSHOT'], function* ({ messages }, { run }) {
    const ids = new Set(messages.map(({ id }) => id))
    // Clients keep their reasoning messages unless the snapshot brings reasoning of its own.
    const hasReasoning = messages.some(({ role }) => role === 'reasoning')
    const expected = [...run.streamed].filter(([, kind]) => hasReasoning || kind !== 'reasoning')
    const lost = expected.map(([id]) => id).filter((id) => !ids.has(id))
    if (lost.length > 0) yield `the snapshot lacks ${quote(lost)}, streamed in this run`
  }),
  defineRule('message-id-reuse', ['MESSAGES_SNAPSHOT'], function* (event, { messages }) {
    const roles = new Map(messages.map(({ id, role }) => [id, role]))
    const seen = new Set<string>()
    for (const { id, role } of event.messages) {
      if (seen.has(id)) yield `the snapshot has several messages '${id}'`
      seen.add(id)
      const held = roles.get(id)
      if (held !== undefined && held !== role) {
        yield `message '${id}' has role ${held} so far and role ${role} in the snapshot`
      }
    }
  }),
  defineRule('message-id-reuse', ['TOOL_CALL_RESULT'], function* ({ messageId, toolCallId }, { messages }) {
    const held = messages.find(({ id }) => id === messageId)
    // The same result once more is a matter of `duplicate-result`.
    if (!held || (held.role === 'tool' && held.toolCallId === toolCallId)) return
    yield `message id '${messageId}' already names a message with role ${held.role}`
  }),
  defineRule(
    'replayed-item',
    ['TEXT_MESSAGE_START', 'REASONING_MESSAGE_START'],
    function* ({ messageId }, { run }) {
      if (run.held.messages.has(messageId)) {
        yield `the client already has message '${messageId}' and would append to it`
      }
    },
  ),
  defineRule('replayed-item', ['TOOL_CALL_START'], function* ({ toolCallId }, { run }) {
    if (run.held.calls.has(toolCallId)) {
      yield `the client already has call '${toolCallId}' and would append to its arguments`
    }
  }),
]
