import type { Interrupt } from '@ag-ui/core'
import type { EventOf } from '../../protocol/index.js'
import { defineRule, isClientTool, quoteNames, serverToolHint, toolNameOf } from './rule.js'

/** The interrupts of a run can be answered. */
export const interruptRules = [
  defineRule('interrupt-ids', ['RUN_FINISHED'], function* (event, { run }) {
    const ids = interruptsOf(event).map(({ id }) => id)
    const repeated = new Set(ids.filter((id, at) => ids.indexOf(id) !== at))
    if (repeated.size > 0) yield `several interrupts have the id ${quoteNames(repeated)}`
    if (event.outcome?.type !== 'interrupt') return
    for (const [subagentRunId, phase] of run.subagents) {
      if (phase.type !== 'suspended') continue
      const unknown = phase.interruptIds.filter((id) => !ids.includes(id))
      if (unknown.length > 0) {
        yield `subagent '${subagentRunId}' is suspended on ${quoteNames(unknown)}, which the run does not raise`
      }
    }
  }),
  defineRule('interrupt-call', ['RUN_FINISHED'], function* (event, context) {
    for (const { id, reason, toolCallId } of interruptsOf(event)) {
      if (toolCallId === undefined) continue
      // Other interrupts may be about the result: whether to use it, for example.
      const isApproval = reason === 'tool_call' || reason === 'confirmation'
      if (isApproval && context.run.answered.has(toolCallId)) {
        yield `interrupt '${id}' waits on call '${toolCallId}', which has a result in this run`
      } else if (toolNameOf(toolCallId, context) === undefined) {
        yield `interrupt '${id}' names call '${toolCallId}', which no client knows`
      }
    }
  }),
  defineRule('interrupt-on-client-tool', ['RUN_FINISHED'], function* (event, context) {
    for (const { id, toolCallId } of interruptsOf(event)) {
      const tool = toolCallId === undefined ? undefined : toolNameOf(toolCallId, context)
      if (isClientTool(tool, context)) {
        yield `interrupt '${id}' is for client tool '${String(tool)}': end in success and leave the call pending${serverToolHint}`
      }
    }
  }),
  defineRule('suspended-subagent', ['RUN_FINISHED'], function* (event, { run }) {
    for (const [id, phase] of run.subagents) {
      if (phase.type === 'suspended' && event.outcome?.type !== 'interrupt') {
        yield `subagent '${id}' is suspended, but the run does not end in an interrupt`
      }
    }
    for (const { id, subagentRunId } of interruptsOf(event)) {
      const phase = subagentRunId === undefined ? undefined : run.subagents.get(subagentRunId)
      if (phase?.type === 'success' || phase?.type === 'error') {
        yield `interrupt '${id}' is of subagent '${String(subagentRunId)}', which ended in ${phase.type}`
      }
    }
  }),
]

function interruptsOf({ outcome }: EventOf<'RUN_FINISHED'>): readonly Interrupt[] {
  return outcome?.type === 'interrupt' ? outcome.interrupts : []
}
