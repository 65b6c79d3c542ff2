import type { AssistantMessage, ContentPart, Message, ToolCall, UserMessage } from '@ag-ui/core'
import type { Event } from '@google/adk'
import type { FunctionCall, FunctionResponse, Part } from '../adk-types.js'
import { isRequestCall } from '../interrupts/request-calls.js'
import { eventMark } from './marks.js'
import {
  conversationEvents,
  eventFacts,
  eventParts,
  isCompaction,
  isMarked,
  isUserContent,
  isVisibleText,
  nodeInputs,
} from './session-events.js'

interface HistoryOptions {
  /** The agent whose messages carry no name. */
  readonly rootAuthor?: string
  /** The client's name of a tool. Default: the name that models use. */
  readonly toWireName?: (modelToolName: string) => string
}

/**
 * The messages of a session. Their ids are those that clients know from the stream, or made of event ids: the same at
 * every reading.
 */
export function sessionMessages(events: readonly Event[], options: HistoryOptions = {}): Message[] {
  const live = conversationEvents(events)
  const inputs = nodeInputs(live)
  const messages = live.flatMap((event): Message[] => {
    if (inputs.has(event) || isCompaction(event)) return []
    const own = event.author === 'user' ? userMessages(event) : agentMessages(event, options)
    return [...own, ...resultMessages(event)]
  })
  return withMergedCalls(messages)
}

/** A text and the calls after it may come in separate events and be one message. */
function withMergedCalls(messages: readonly Message[]): Message[] {
  const merged: Message[] = []
  for (const message of messages) {
    const last = merged.at(-1)
    const isSame = last?.role === 'assistant' && message.role === 'assistant' && last.id === message.id
    if (!isSame) merged.push(message)
    else last.toolCalls = [...(last.toolCalls ?? []), ...(message.toolCalls ?? [])]
  }
  return merged
}

function userMessages(event: Event): UserMessage[] {
  const { userIds } = eventFacts(event)
  const sent = eventParts(event).filter(isUserContent)
  const { partCounts = [] } = eventMark(event)
  let at = 0
  return userIds.flatMap((id, index): UserMessage[] => {
    const isLast = index === userIds.length - 1
    const end = at + (partCounts[index] ?? (isLast ? sent.length : 1))
    const parts = sent.slice(at, end)
    at = end
    return parts.length === 0 ? [] : [{ id, role: 'user', content: toUserContent(parts) }]
  })
}

function toUserContent(parts: readonly Part[]): UserMessage['content'] {
  const [first] = parts
  return parts.length === 1 && first && isVisibleText(first) ? first.text : parts.map(toUserContentPart)
}

function toUserContentPart({ text = '', inlineData, fileData }: Part): ContentPart {
  const blob = inlineData ?? fileData
  if (!blob) return { type: 'text', text }
  const { mimeType, displayName } = blob
  const metadata = displayName === undefined ? {} : { metadata: { filename: displayName } }
  const source = inlineData
    ? {
        type: 'data' as const,
        value: inlineData.data ?? '',
        mimeType: mimeType ?? 'application/octet-stream',
      }
    : {
        type: 'url' as const,
        value: fileData?.fileUri ?? '',
        ...(mimeType === undefined ? {} : { mimeType }),
      }
  return { type: mediaTypeOf(mimeType), source, ...metadata }
}

function mediaTypeOf(mimeType = ''): 'image' | 'audio' | 'video' | 'document' {
  const [family] = mimeType.toLowerCase().split('/')
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document'
}

/** The thoughts of an event, then its texts and calls in order. */
function agentMessages(event: Event, options: HistoryOptions): Message[] {
  const { textIds } = eventFacts(event)
  const callsIn = textIds[0] ?? eventMark(event).callsIn
  const { author } = event
  const name = author === undefined || author === '' || author === options.rootAuthor ? {} : { name: author }
  const messages: AssistantMessage[] = []
  let segment = -1
  let isAfterText = false
  for (const part of eventParts(event)) {
    if (part.functionCall && !isRequestCall(part.functionCall)) {
      isAfterText = false
      const call = toToolCall(part.functionCall, part, options)
      const last = messages.at(-1)
      if (last) last.toolCalls = [...(last.toolCalls ?? []), call]
      else messages.push({ id: callsIn ?? call.id, role: 'assistant', ...name, toolCalls: [call] })
    }
    if (!isVisibleText(part)) continue
    if (!isAfterText) segment += 1
    isAfterText = true
    // Text without an id was never shown.
    const id = textIds[Math.min(segment, textIds.length - 1)]
    const before = messages.at(-1)
    if (before && before.id === id) before.content = (before.content ?? '') + part.text
    else if (id !== undefined) messages.push({ id, role: 'assistant', ...name, content: part.text })
    const message = messages.at(-1)
    if (message && part.thoughtSignature !== undefined) message.encryptedValue = part.thoughtSignature
  }
  return [...reasoningMessages(event), ...messages]
}

function toToolCall(
  { id = '', name = '', args = {} }: FunctionCall,
  { thoughtSignature }: Part,
  { toWireName = (same) => same }: HistoryOptions,
): ToolCall {
  const signature = thoughtSignature === undefined ? {} : { encryptedValue: thoughtSignature }
  const called = { name: toWireName(name), arguments: JSON.stringify(args) }
  return { id, type: 'function', function: called, ...signature }
}

function reasoningMessages(event: Event): Message[] {
  const thoughts = eventParts(event).filter(({ thought, text }) => thought === true && text !== undefined)
  const content = thoughts.map(({ text }) => text).join('')
  const { reasoningIds = [] } = eventMark(event)
  const id = isMarked(event) ? reasoningIds[0] : `${event.id}-reasoning`
  if (content === '' || id === undefined) return []
  const encryptedValue = thoughts.find(({ thoughtSignature }) => thoughtSignature)?.thoughtSignature
  return [{ id, role: 'reasoning', content, ...(encryptedValue === undefined ? {} : { encryptedValue }) }]
}

function resultMessages(event: Event): Message[] {
  return eventFacts(event).responses.flatMap(({ id: toolCallId, response = {} }): Message[] => {
    if (toolCallId === undefined) return []
    const ownId = isMarked(event) ? `result-${toolCallId}` : `${event.id}-${toolCallId}`
    const id = eventMark(event).resultIds?.[toolCallId] ?? ownId
    return [{ id, role: 'tool', toolCallId, ...resultFields(response) }]
  })
}

function resultFields(response: NonNullable<FunctionResponse['response']>): {
  content: string
  error?: string
} {
  const [[key, value] = [], ...more] = Object.entries(response)
  if (more.length > 0 || typeof value !== 'string') return { content: JSON.stringify(response) }
  if (key === 'error') return { content: value, error: value }
  return { content: key === 'result' ? value : JSON.stringify(response) }
}
