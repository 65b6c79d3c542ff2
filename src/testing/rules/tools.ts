import { isRejected } from '../../protocol/index.js'
import { defineRule, isClientTool, quoteNames, serverToolHint, toolNameOf } from './rule.js'

/** Every call has one result, from the side whose tool it is, or is pending. */
export const toolRules = [
  defineRule('pending-tool-calls', ['RUN_FINISHED'], function* ({ outcome }, { run, input }) {
    if (outcome !== undefined && outcome.type !== 'success') return
    const pending = [...run.calls.keys()].filter((id) => !run.answered.has(id))
    const named = outcome?.pendingToolCallIds
    if (named === undefined) {
      const isOwed = pending.length > 0 && input?.protocolVersion !== undefined
      if (isOwed) yield `pendingToolCallIds is missing, pending are ${quoteNames(pending)}`
    } else if (named.join('\n') !== pending.join('\n')) {
      yield `pendingToolCallIds are [${quoteNames(named)}], pending are [${quoteNames(pending)}]`
    }
  }),
  defineRule('result-without-call', ['TOOL_CALL_RESULT'], function* ({ toolCallId }, context) {
    if (toolNameOf(toolCallId, context) === undefined) yield `there is no call '${toolCallId}' to answer`
  }),
  defineRule('duplicate-result', ['TOOL_CALL_RESULT'], function* ({ toolCallId }, { messages, input }) {
    // Some clients put the answer to an interrupt into the history as a result; the real one follows on resume.
    const answers = input?.resume?.length ? new Set(input.messages.map(({ id }) => id)) : new Set()
    const isHeld = messages.some(
      (message) => message.role === 'tool' && message.toolCallId === toolCallId && !answers.has(message.id),
    )
    if (isHeld) yield `the client already has a result of call '${toolCallId}'`
  }),
  defineRule('client-tool-result', ['TOOL_CALL_RESULT'], function* (event, context) {
    const { toolCallId } = event
    const tool = toolNameOf(toolCallId, context)
    // The call of a failed attempt has a result, so that no client executes it.
    if (isClientTool(tool, context) && !isRejected(event)) {
      yield `call '${toolCallId}' went to client tool '${String(tool)}': its result comes from the client${serverToolHint}`
    }
  }),
]
