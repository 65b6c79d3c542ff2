import type { ActivityMessage, AssistantMessage, Message, ReasoningMessage, ToolMessage } from '@ag-ui/core'
import { spanTag } from '../bridge/spans.js'
import { isEqual, isRecord, parseJson } from '../core/json.js'
import { rewriteMessages, toolErrorMark, type AgentEvent, type AgUiEvent } from '../protocol/index.js'
import { toMessage, type RawEvent } from './check-event.js'

/**
 * The events for those messages of a snapshot that the agent did not stream, or not like this. The rest is ignored: it is
 * the agent's view of a conversation that others take part in. Only messages after the last one it got belong to this
 * run. Throws INVALID_EVENT if one of these messages is malformed.
 */
export function eventsMissingFrom(run: RunMessages, snapshot: RawEvent, name: string): AgentEvent[] {
  const all: readonly unknown[] = Array.isArray(snapshot.messages) ? snapshot.messages : []
  const own = all.slice(startOfRun(all, run)).flatMap((value) => toMessage(value, name) ?? [])
  const rewritten = own.filter((message) => run.isRewritten(message))
  const missing = own.flatMap((message) => missingEvents(message, run))
  return rewritten.length === 0 ? missing : [...missing, rewriteMessages(rewritten)]
}

/** The messages of a run: those it was started with, and those that its events have made. */
export class RunMessages {
  readonly #sent: ReadonlySet<string>
  readonly #sentCalls = new Set<string>()
  /** Arguments by tool-call id. */
  readonly #calls = new Map<string, string>()
  readonly #results = new Set<string>()
  /** Text by message id. */
  readonly #texts = new Map<string, string>()
  /** Ids of messages without text. */
  readonly #others = new Set<string>()
  #latestId = ''

  constructor(sent: readonly Message[]) {
    this.#sent = new Set(sent.map(({ id }) => id))
    for (const message of sent) {
      if (message.role === 'tool') this.#results.add(message.toolCallId)
      if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) this.#sentCalls.add(id)
    }
  }

  add(event: AgUiEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START':
        return this.#addText(event.messageId, '')
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
      case 'TEXT_MESSAGE_CHUNK':
      case 'REASONING_MESSAGE_CHUNK':
        return this.#addText(event.messageId, event.delta ?? '')
      case 'TOOL_CALL_START':
      case 'TOOL_CALL_CHUNK':
        if (event.toolCallId === undefined) return
        this.#addArguments(event.toolCallId, 'delta' in event ? event.delta : undefined)
        this.#others.add(event.parentMessageId ?? event.toolCallId)
        return
      case 'TOOL_CALL_ARGS':
        return this.#addArguments(event.toolCallId, event.delta)
      case 'TOOL_CALL_RESULT':
        this.#results.add(event.toolCallId)
        this.#others.add(event.messageId)
        return
      case 'ACTIVITY_SNAPSHOT':
        this.#others.add(event.messageId)
        return
      default:
        return
    }
  }

  /** Whether the run was started with the message. */
  wasSent(messageId: string): boolean {
    return this.#sent.has(messageId)
  }

  has(messageId: string): boolean {
    return this.#texts.has(messageId) || this.#others.has(messageId) || this.#sent.has(messageId)
  }

  /** The id of the streamed message with exactly this text. */
  idOfText(text: string): string | undefined {
    for (const [id, streamed] of this.#texts) if (streamed === text) return id
    return undefined
  }

  hasCall(toolCallId: string): boolean {
    return this.#calls.has(toolCallId) || this.#sentCalls.has(toolCallId)
  }

  hasResult(toolCallId: string): boolean {
    return this.#results.has(toolCallId)
  }

  /** The calls of this run without a result, in order. */
  openCalls(): string[] {
    return [...this.#calls.keys()].filter((id) => !this.#results.has(id))
  }

  /** Whether this version of a message has another text, or other arguments, than the run has streamed. */
  isRewritten(message: Message): boolean {
    const { id, role, content } = message
    if (role !== 'assistant' && role !== 'reasoning') return false
    const streamed = this.#texts.get(id)
    // Some servers leave the text of a message with calls out.
    if (content && streamed !== undefined && streamed !== content) return true
    const calls = role === 'assistant' ? (message.toolCalls ?? []) : []
    return calls.some((call) => {
      const args = this.#calls.get(call.id)
      return args !== undefined && !isSameJson(args, call.function.arguments)
    })
  }

  #addArguments(toolCallId: string, delta = ''): void {
    this.#calls.set(toolCallId, (this.#calls.get(toolCallId) ?? '') + delta)
  }

  /** A chunk without an id continues the latest message. */
  #addText(messageId: string | undefined, delta: string): void {
    const id = messageId ?? this.#latestId
    this.#latestId = id
    this.#texts.set(id, (this.#texts.get(id) ?? '') + delta)
  }
}

/** No arguments are an empty object. */
function isSameJson(one: string, other: string): boolean {
  return one === other || isEqual(parseJson(one || '{}'), parseJson(other || '{}'))
}

/** If all messages have new ids, this run starts after the last user message. */
function startOfRun(all: readonly unknown[], run: RunMessages): number {
  const lastSent = all.findLastIndex((one) => isRecord(one) && run.wasSent(String(one.id)))
  if (lastSent >= 0) return lastSent + 1
  return all.findLastIndex((one) => isRecord(one) && one.role === 'user') + 1
}

function missingEvents(message: Message, run: RunMessages): AgentEvent[] {
  const events = untaggedEvents(message, run)
  const { subagentRunId } = message
  return subagentRunId === undefined
    ? events
    : events.map((event) => ({ ...event, ...spanTag(subagentRunId) }))
}

function untaggedEvents(message: Message, run: RunMessages): AgentEvent[] {
  switch (message.role) {
    case 'assistant':
      return [...textEvents(message, run), ...callEvents(message, run)]
    case 'reasoning':
      return reasoningEvents(message, run)
    case 'tool':
      return resultEvents(message, run)
    case 'activity':
      return activityEvents(message, run)
    case 'user':
    case 'system':
    case 'developer':
      return []
  }
}

/** Some servers stream and store a message under different ids: so the text counts too. */
function wasStreamed({ id, content }: AssistantMessage | ReasoningMessage, run: RunMessages): boolean {
  return !content || run.has(id) || run.idOfText(content) !== undefined
}

function textEvents(message: AssistantMessage, run: RunMessages): AgentEvent[] {
  const { id: messageId, content: delta = '', name } = message
  if (wasStreamed(message, run)) return []
  return [
    {
      type: 'TEXT_MESSAGE_START',
      messageId,
      role: 'assistant',
      ...(name === undefined ? {} : { name }),
      ...metadataOf(message),
    },
    { type: 'TEXT_MESSAGE_CONTENT', messageId, delta },
    { type: 'TEXT_MESSAGE_END', messageId },
    ...encryptedEvents(message),
  ]
}

function callEvents({ id, content, toolCalls = [] }: AssistantMessage, run: RunMessages): AgentEvent[] {
  const streamedAs = content && !run.has(id) ? run.idOfText(content) : undefined
  const parentMessageId = streamedAs ?? id
  return toolCalls
    .filter((call) => !run.hasCall(call.id))
    .flatMap(({ id: toolCallId, function: called, encryptedValue }): AgentEvent[] => [
      { type: 'TOOL_CALL_START', toolCallId, toolCallName: called.name, parentMessageId },
      { type: 'TOOL_CALL_ARGS', toolCallId, delta: called.arguments },
      { type: 'TOOL_CALL_END', toolCallId },
      ...encryptedEvents({ id: toolCallId, encryptedValue }, 'tool-call'),
    ])
}

function reasoningEvents(message: ReasoningMessage, run: RunMessages): AgentEvent[] {
  const { id: messageId, content: delta } = message
  if (wasStreamed(message, run)) return []
  return [
    { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...metadataOf(message) },
    { type: 'REASONING_MESSAGE_CONTENT', messageId, delta },
    { type: 'REASONING_MESSAGE_END', messageId },
    ...encryptedEvents(message),
  ]
}

function resultEvents(message: ToolMessage, run: RunMessages): AgentEvent[] {
  const { id: messageId, toolCallId, content, error } = message
  if (run.has(messageId) || run.hasResult(toolCallId)) return []
  const result = { messageId, toolCallId, content: content || (error ?? ''), role: 'tool' as const }
  const metadata = error === undefined ? message.metadata : { ...message.metadata, ...toolErrorMark }
  return [{ type: 'TOOL_CALL_RESULT', ...result, ...(metadata ? { metadata } : {}) }]
}

function activityEvents(
  { id: messageId, activityType, content }: ActivityMessage,
  run: RunMessages,
): AgentEvent[] {
  if (run.has(messageId)) return []
  return [{ type: 'ACTIVITY_SNAPSHOT', messageId, activityType, content }]
}

function encryptedEvents(
  { id: entityId, encryptedValue }: { readonly id: string; readonly encryptedValue?: string | undefined },
  subtype: 'message' | 'tool-call' = 'message',
): AgentEvent[] {
  if (encryptedValue === undefined) return []
  return [{ type: 'REASONING_ENCRYPTED_VALUE', subtype, entityId, encryptedValue }]
}

function metadataOf({ metadata }: Message): Pick<Message, 'metadata'> {
  return metadata === undefined ? {} : { metadata }
}
