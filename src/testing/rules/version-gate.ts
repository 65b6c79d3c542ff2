import type { Message } from '@ag-ui/core'
import type { AgUiEvent } from '../../protocol/index.js'
import { isRecord } from '../../core/json.js'
import type { RuleContext, Rule } from './rule.js'

/** Clients before 1.0 get only shapes they can read. */
export const versionGateRules: readonly Rule[] = [
  {
    name: 'version-gate',
    *check(context) {
      if (context.input === undefined || context.input.protocolVersion !== undefined) return
      for (const shape of newShapes(context.event, context.sent)) {
        yield `${shape} breaks clients before 1.0, and this client named no version`
      }
    },
  },
]

/** Shapes that a client of 0.0.59 fails on. */
function* newShapes(event: AgUiEvent, sent: RuleContext['sent']): Iterable<string> {
  switch (event.type) {
    case 'RUN_STARTED':
      // The schema fills these in, so look at the event as it was sent.
      if (isRecord(sent.input) && !('tools' in sent.input && 'context' in sent.input)) {
        yield 'an input without tools or context'
      }
      yield* newMessageShapes(event.input?.messages ?? [])
      return
    case 'RUN_FINISHED':
      if (event.outcome?.type === 'cancelled') yield 'the cancelled outcome'
      if (event.outcome?.type === 'success' && event.outcome.pendingToolCallIds) yield 'pendingToolCallIds'
      return
    case 'TOOL_CALL_RESULT':
      if (typeof event.content !== 'string') yield 'a tool result made of parts'
      return
    case 'MESSAGES_SNAPSHOT':
      yield* newMessageShapes(event.messages)
      return
    default:
  }
}

function* newMessageShapes(messages: readonly Message[]): Iterable<string> {
  for (const message of messages) {
    if (message.role !== 'tool' && message.role !== 'user') continue
    if (typeof message.content === 'string') continue
    if (message.role === 'tool') yield `tool message '${message.id}' made of parts`
    const hasFile = message.content.some((part) => 'source' in part && part.source.type === 'file')
    if (hasFile) yield `a file source in message '${message.id}'`
  }
}
