import type { AssistantMessage, Message, ToolCall, ToolMessage } from '@ag-ui/core'
import type {
  AgUiEvent,
  EncryptedValueType,
  EventOf,
  Fold,
  FoldOptions,
  SettledMessages,
} from '../contract.js'
import { isToolError, toToolError } from '../messages.js'
import { MessageList, addMetadata } from './message-list.js'
import { applyPatch } from './patch.js'
import { foldActivityDelta, foldActivitySnapshot, mergeSnapshot } from './snapshots.js'

export function createFold(options: FoldOptions = {}): Fold {
  return new ClientFold(options)
}

/** Messages and state as an AG-UI client holds them. */
export class ClientFold implements Fold {
  readonly list: MessageList
  state: unknown

  constructor({ messages = [], state = {} }: FoldOptions) {
    this.list = new MessageList(messages)
    this.state = state
  }

  get messages(): readonly Message[] {
    return this.list.all
  }

  settle(): SettledMessages {
    return this.list.settle()
  }

  // The first cases are the path of every token.
  apply(event: AgUiEvent): string | undefined {
    switch (event.type) {
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
      case 'TEXT_MESSAGE_END':
      case 'REASONING_MESSAGE_END':
        return foldContinuation(this.list, event)
      case 'TOOL_CALL_ARGS':
      case 'TOOL_CALL_END':
        return foldCallContinuation(this.list, event)
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START':
        return foldStart(this.list, event)
      case 'TOOL_CALL_START':
        return foldCallStart(this.list, event)
      case 'TOOL_CALL_RESULT':
        return foldResult(this.list, event)
      case 'STATE_SNAPSHOT':
        this.state = event.snapshot
        return undefined
      case 'STATE_DELTA':
        return this.#patch(event)
      case 'MESSAGES_SNAPSHOT':
        this.list.reset(mergeSnapshot(this.list.all, event))
        return undefined
      case 'ACTIVITY_SNAPSHOT':
        return foldActivitySnapshot(this.list, event)
      case 'ACTIVITY_DELTA':
        return foldActivityDelta(this.list, event)
      case 'REASONING_ENCRYPTED_VALUE':
        return foldEncryptedValue(this.list, event)
      case 'RUN_STARTED':
        addMissing(this.list, event.input?.messages ?? [])
        return undefined
      default:
        return undefined
    }
  }

  #patch(event: EventOf<'STATE_DELTA'>): string | undefined {
    const patched = applyPatch(this.state, event.delta)
    if (!patched.ok) return `STATE_DELTA: the patch does not apply: ${patched.reason}`
    this.state = patched.document
    return undefined
  }
}

type StartEvent = EventOf<'TEXT_MESSAGE_START' | 'REASONING_MESSAGE_START'>
type ContinuationEvent = EventOf<`${'TEXT' | 'REASONING'}_MESSAGE_${'CONTENT' | 'END'}`>

/** Appends a delta, or ends the message. */
function foldContinuation(messages: MessageList, event: ContinuationEvent): string | undefined {
  const message = messages.own(event.messageId)
  if (!message) return `${event.type}: there is no message '${event.messageId}'`
  if (message.role === 'activity') return activityProblem(event)
  if ('delta' in event) {
    message.content = typeof message.content === 'string' ? message.content + event.delta : event.delta
  }
  if (event.metadata !== undefined) addMetadata(message, event)
  return undefined
}

/** Starts a text or reasoning message, or continues the one that already has the id. */
function foldStart(messages: MessageList, event: StartEvent): string | undefined {
  const known = messages.own(event.messageId)
  if (known?.role === 'activity') return activityProblem(event)
  if (!known) {
    const created = newMessage(event)
    addMetadata(created, event)
    messages.push(created)
    return undefined
  }
  addMetadata(known, event)
  const role = event.type === 'REASONING_MESSAGE_START' ? 'reasoning' : (event.role ?? 'assistant')
  if (known.role === role) return undefined
  return `${event.type}: message '${event.messageId}' has the role ${known.role}, not ${role}`
}

function newMessage(event: StartEvent): Message {
  const owner = event.subagentRunId === undefined ? {} : { subagentRunId: event.subagentRunId }
  if (event.type === 'REASONING_MESSAGE_START') {
    return { id: event.messageId, role: 'reasoning', content: '', ...owner }
  }
  const name = event.name === undefined ? {} : { name: event.name }
  return { id: event.messageId, role: event.role ?? 'assistant', content: '', ...name, ...owner }
}

function activityProblem(event: StartEvent | ContinuationEvent): string {
  return `${event.type}: message '${event.messageId}' is an activity message`
}

function foldEncryptedValue(
  messages: MessageList,
  event: EventOf<'REASONING_ENCRYPTED_VALUE'>,
): string | undefined {
  const target =
    event.subtype === 'tool-call' ? messages.ownCall(event.entityId)?.call : messages.own(event.entityId)
  if (!target || ('role' in target && target.role === 'activity')) {
    return `REASONING_ENCRYPTED_VALUE: there is no ${event.subtype} '${event.entityId}' to attach it to`
  }
  target.encryptedValue = event.encryptedValue
  // The old type would mislabel the new value.
  const typed = target as typeof target & EncryptedValueType
  delete typed.encryptedValueType
  if (event.encryptedValueType !== undefined) typed.encryptedValueType = event.encryptedValueType
  return undefined
}

function addMissing(messages: MessageList, echoed: readonly Message[]): void {
  const missing = echoed.filter(({ id }) => !messages.get(id))
  if (missing.length > 0) messages.reset([...messages.all, ...missing])
}

/** Adds a call to its assistant message. A second start of a call changes its name at most. */
function foldCallStart(messages: MessageList, event: EventOf<'TOOL_CALL_START'>): string | undefined {
  const known = messages.ownCall(event.toolCallId)?.call
  if (known) {
    addMetadata(known, event)
    if (known.function.name === event.toolCallName) return undefined
    const old = known.function.name
    known.function.name = event.toolCallName
    return `TOOL_CALL_START: call '${event.toolCallId}' was named '${old}' and is now '${event.toolCallName}'`
  }
  const { message, problem } = holderFor(messages, event)
  const call: ToolCall = {
    id: event.toolCallId,
    type: 'function',
    function: { name: event.toolCallName, arguments: '' },
  }
  addMetadata(call, event)
  messages.addCall(message, call)
  return problem
}

function foldCallContinuation(
  messages: MessageList,
  event: EventOf<'TOOL_CALL_ARGS' | 'TOOL_CALL_END'>,
): string | undefined {
  const call = messages.ownCall(event.toolCallId)?.call
  if (!call) return `${event.type}: there is no tool call '${event.toolCallId}'`
  if ('delta' in event) call.function.arguments += event.delta
  if (event.metadata !== undefined) addMetadata(call, event)
  return undefined
}

function foldResult(messages: MessageList, event: EventOf<'TOOL_CALL_RESULT'>): string | undefined {
  const message: ToolMessage = {
    id: event.messageId,
    role: 'tool',
    toolCallId: event.toolCallId,
    content: event.content,
    ...(isToolError(event) ? { error: toToolError(event.content) } : {}),
    ...(event.subagentRunId === undefined ? {} : { subagentRunId: event.subagentRunId }),
  }
  addMetadata(message, event)
  const problem = resultProblem(messages, event)
  messages.insertResult(message, event.toolCallId)
  return problem
}

/** Clients take such a result silently, but it leaves a history no model provider accepts. */
function resultProblem(messages: MessageList, event: EventOf<'TOOL_CALL_RESULT'>): string | undefined {
  if (messages.get(event.messageId)) {
    return `TOOL_CALL_RESULT: message id '${event.messageId}' is already in use`
  }
  if (!messages.hasCall(event.toolCallId)) {
    return `TOOL_CALL_RESULT: there is no tool call '${event.toolCallId}'`
  }
  return undefined
}

/** The assistant message a new call belongs to; makes it if it is missing. */
function holderFor(
  messages: MessageList,
  event: EventOf<'TOOL_CALL_START'>,
): { message: AssistantMessage; problem?: string } {
  const { parentMessageId, toolCallId } = event
  // An empty parent id reads as none, as it does for clients.
  const parent = parentMessageId ? messages.own(parentMessageId) : undefined
  if (parent?.role === 'assistant') return { message: parent }
  const created: AssistantMessage = {
    id: parentMessageId && !parent ? parentMessageId : toolCallId,
    role: 'assistant',
    toolCalls: [],
    ...(event.subagentRunId === undefined ? {} : { subagentRunId: event.subagentRunId }),
  }
  messages.push(created)
  if (!parent) return { message: created }
  const problem = `TOOL_CALL_START: parentMessageId '${parent.id}' has the role ${parent.role}, not assistant`
  return { message: created, problem }
}
