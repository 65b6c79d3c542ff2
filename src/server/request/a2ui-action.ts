import type { AssistantMessage, Message, ToolMessage } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'
import { jsonSize } from '../../core/json-size.js'
import type { RunInput } from '../../protocol/index.js'
import type { Limits } from '../contract.js'
import { checkReadable } from './check-input.js'
import { invalidField } from './errors.js'

/** The tool that AG-UI's middleware reports clicks with. Nobody has it: it exists in histories alone. */
const toolName = 'log_a2ui_event'

const field = 'forwardedProps.a2uiAction.userAction'

/** A form with long texts fits in; a data model does not. */
const maxBytes = 64 * 1024

/**
 * Adds what a person did on a surface, which pages send in `forwardedProps.a2uiAction`, as a report at the end of the messages:
 * a call with its result. A request with such a report, of AG-UI's middleware, stays as it is. Throws INVALID_INPUT.
 */
export function withActionReport(input: RunInput, limits: Limits): RunInput {
  const { messages, runId } = input
  const forwardedProps: unknown = input.forwardedProps
  const sent = isRecord(forwardedProps) ? forwardedProps.a2uiAction : undefined
  if (!isRecord(sent) || sent.userAction === undefined || endsWithReport(messages)) return input
  const action = readAction(sent.userAction, limits)
  // The same for a request that is sent again.
  const id = `${reportPrefix}${runId}`
  const call: AssistantMessage = {
    id,
    role: 'assistant',
    toolCalls: [{ id, type: 'function', function: { name: toolName, arguments: JSON.stringify(action) } }],
  }
  const result: ToolMessage = { id: `${id}:result`, role: 'tool', toolCallId: id, content: describe(action) }
  return { ...input, messages: [...messages, call, result] }
}

const reportPrefix = 'a2ui-action-'

/** Whether a message reports what a person did on a surface. */
export function isActionReport({ id }: Message): boolean {
  return id.startsWith(reportPrefix)
}

function endsWithReport(messages: readonly Message[]): boolean {
  const last = messages.at(-1)
  const call = messages.at(-2)
  return (
    last?.role === 'tool' &&
    call?.role === 'assistant' &&
    call.toolCalls?.some(({ id, function: called }) => id === last.toolCallId && called.name === toolName) ===
      true
  )
}

interface UserAction {
  readonly name: string
  readonly surfaceId: string
  readonly sourceComponentId?: string
  readonly context?: Record<string, unknown>
  readonly timestamp?: string
}

function readAction(value: unknown, limits: Limits): UserAction {
  if (!isRecord(value)) throw invalidField(field, 'expected an object with `name` and `surfaceId`')
  if (jsonSize(value, maxBytes) > maxBytes) throw invalidField(field, `more than ${maxBytes} bytes`)
  const text = (key: string): string => {
    const member = value[key]
    if (typeof member !== 'string' || member === '') throw invalidField(`${field}.${key}`, 'expected a text')
    if (member.length > limits.idLength)
      throw invalidField(`${field}.${key}`, `longer than ${limits.idLength} characters`)
    checkReadable(member, () => `${field}.${key}`)
    return member
  }
  const { sourceComponentId, context, timestamp } = value
  if (isGiven(context) && !isRecord(context)) throw invalidField(`${field}.context`, 'expected an object')
  return {
    name: text('name'),
    surfaceId: text('surfaceId'),
    ...(isGiven(sourceComponentId) ? { sourceComponentId: text('sourceComponentId') } : {}),
    ...(isRecord(context) ? { context } : {}),
    ...(isGiven(timestamp) ? { timestamp: text('timestamp') } : {}),
  }
}

/** In the words of AG-UI's middleware: agents that were written for it read them. */
function describe({ name, surfaceId, sourceComponentId, context = {} }: UserAction): string {
  const component = sourceComponentId === undefined ? '' : ` (component: ${sourceComponentId})`
  return `User performed action "${name}" on surface "${surfaceId}"${component}. Context: ${JSON.stringify(context)}`
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}
