import type { Message, Metadata, ToolCall } from '@ag-ui/core'
import { isRecord } from '../core/json.js'
import type { AgentEvent } from '../protocol/index.js'

/** A tool argument that clients may show as state while the call is written. */
export interface PredictStateMapping {
  /** The member of the state that the call will change. */
  readonly stateKey: string
  /** The tool, by the name that clients know. */
  readonly tool: string
  /** The argument with the new value. Default: all arguments together. */
  readonly toolArgument?: string
  /** Whether the run ends with a call of `confirm_changes`, which asks the person to keep the change. Default true. */
  readonly confirm?: boolean
}

/**
 * The tool by which AG-UI clients ask a person to keep predicted state. The server makes its calls; models neither make
 * nor see them.
 */
export const confirmChangesTool = 'confirm_changes'

/** Tells clients which arguments to show. They keep the newest list only, so it has all tools. */
export function predictStateEvent(mappings: readonly PredictStateMapping[]): AgentEvent {
  const value = mappings.map(({ stateKey, tool, toolArgument }) => ({
    state_key: stateKey,
    tool,
    ...(toolArgument === undefined ? {} : { tool_argument: toolArgument }),
  }))
  return { type: 'CUSTOM', name: 'PredictState', value }
}

/** Reads mappings in the form that clients get. They have no confirmation: their author asks. */
export function readPredictState(value: unknown): readonly PredictStateMapping[] {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value]
  return entries.flatMap((entry) => {
    const { state_key: stateKey, tool, tool_argument: toolArgument } = isRecord(entry) ? entry : {}
    if (typeof stateKey !== 'string' || typeof tool !== 'string') return []
    return [{ stateKey, tool, ...(typeof toolArgument === 'string' ? { toolArgument } : {}) }]
  })
}

// Agents may have a tool of that name: the mark says which calls are the server's.
const confirmMark: Metadata = { millrace: { confirms: true } }

/** Asks the client to confirm predicted state. */
export function confirmChangesEvents(toolCallId: string): readonly AgentEvent[] {
  return [
    { type: 'TOOL_CALL_START', toolCallId, toolCallName: confirmChangesTool, metadata: confirmMark },
    { type: 'TOOL_CALL_ARGS', toolCallId, delta: '{}' },
    { type: 'TOOL_CALL_END', toolCallId },
  ]
}

/** The ids of the calls that asked to confirm predicted state. */
export function confirmCallIds(messages: readonly Message[]): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const message of messages) {
    if (message.role !== 'assistant' || message.toolCalls === undefined) continue
    for (const call of message.toolCalls) if (isConfirmCall(call)) ids.add(call.id)
  }
  return ids
}

function isConfirmCall({
  function: { name },
  metadata,
}: ToolCall & { readonly metadata?: unknown }): boolean {
  const mark = name === confirmChangesTool && isRecord(metadata) ? metadata.millrace : undefined
  return isRecord(mark) && mark.confirms === true
}

/** The messages without these calls, and without their results. */
export function withoutCalls(messages: readonly Message[], callIds: ReadonlySet<string>): readonly Message[] {
  if (callIds.size === 0) return messages
  return messages.flatMap((message): Message[] => {
    if (message.role === 'tool') return callIds.has(message.toolCallId) ? [] : [message]
    if (message.role !== 'assistant' || !message.toolCalls?.some(({ id }) => callIds.has(id)))
      return [message]
    const { toolCalls, ...rest } = message
    const kept = toolCalls.filter(({ id }) => !callIds.has(id))
    if (kept.length > 0) return [{ ...rest, toolCalls: kept }]
    return (message.content ?? '') === '' ? [] : [rest]
  })
}

/** Whether nothing but results of these calls is new at the end of a thread. */
export function endsWithResultsOf(messages: readonly Message[], callIds: ReadonlySet<string>): boolean {
  let hasAny = false
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message?.role !== 'tool') break
    if (!callIds.has(message.toolCallId)) return false
    hasAny = true
  }
  return hasAny
}
