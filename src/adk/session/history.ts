import type { AssistantMessage, ContentPart, Message, ToolCall, UserMessage } from '@ag-ui/core'
import type { Event, Session } from '@google/adk'
import type { FunctionCall, FunctionResponse, Part } from '../adk-types.js'
import { markOf } from '../mark.js'
import { factsOf, isMarked, isQuestion, isSaid, isSent, isSummary, partsOf } from './event-facts.js'
import { isShared } from './session-keys.js'
import { liveEvents, nodeInputs } from './turns.js'

interface HistoryOptions {
  /** The agent whose messages carry no name. */
  readonly rootAuthor?: string
  /** What clients call a tool. Default: the name that models use. */
  readonly toWireName?: (modelToolName: string) => string
}

/**
 * The conversation of a session. Ids are those that clients know from the stream, or made of the ids of events: the
 * same at every reading.
 */
export function messagesOf(events: readonly Event[], options: HistoryOptions = {}): Message[] {
  const live = liveEvents(events)
  const inputs = nodeInputs(live)
  const messages = live.flatMap((event): Message[] => {
    if (inputs.has(event) || isSummary(event)) return []
    const said = event.author === 'user' ? userMessages(event) : agentMessages(event, options)
    return [...said, ...resultMessages(event)]
  })
  return joined(messages)
}

/** A text and the calls behind it may come in events of their own and be one message. */
function joined(messages: readonly Message[]): Message[] {
  const all: Message[] = []
  for (const message of messages) {
    const last = all.at(-1)
    const isOne = last?.role === 'assistant' && message.role === 'assistant' && last.id === message.id
    if (!isOne) all.push(message)
    else last.toolCalls = [...(last.toolCalls ?? []), ...(message.toolCalls ?? [])]
  }
  return all
}

/** The state of a session as clients see it: what belongs to the conversation alone. */
export function stateOf({ state }: Pick<Session, 'state'>): Record<string, unknown> {
  const isSeen = ([key, value]: [string, unknown]): boolean =>
    isShared(key) && value !== undefined && value !== null
  return Object.fromEntries(Object.entries(state).filter(isSeen))
}

function userMessages(event: Event): UserMessage[] {
  const { userIds } = factsOf(event)
  const sent = partsOf(event).filter(isSent)
  const { partCounts = [] } = markOf(event)
  let at = 0
  return userIds.flatMap((id, index): UserMessage[] => {
    const isLast = index === userIds.length - 1
    const end = at + (partCounts[index] ?? (isLast ? sent.length : 1))
    const parts = sent.slice(at, end)
    at = end
    return parts.length === 0 ? [] : [{ id, role: 'user', content: contentOf(parts) }]
  })
}

function contentOf(parts: readonly Part[]): UserMessage['content'] {
  const [first] = parts
  return parts.length === 1 && first && isSaid(first) ? first.text : parts.map(contentPart)
}

function contentPart({ text = '', inlineData, fileData }: Part): ContentPart {
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
  return { type: kindOf(mimeType), source, ...metadata }
}

function kindOf(mimeType = ''): 'image' | 'audio' | 'video' | 'document' {
  const [family] = mimeType.toLowerCase().split('/')
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document'
}

/** The thoughts of an event, then what it says and the calls it makes, in order. */
function agentMessages(event: Event, options: HistoryOptions): Message[] {
  const { textIds } = factsOf(event)
  const holderId = textIds[0] ?? markOf(event).callsIn
  const { author } = event
  const name = author === undefined || author === '' || author === options.rootAuthor ? {} : { name: author }
  const spoken: AssistantMessage[] = []
  let segment = -1
  let isTextOpen = false
  for (const part of partsOf(event)) {
    if (part.functionCall && !isQuestion(part.functionCall)) {
      isTextOpen = false
      const call = toolCall(part.functionCall, part, options)
      const holder = spoken.at(-1)
      if (holder) holder.toolCalls = [...(holder.toolCalls ?? []), call]
      else spoken.push({ id: holderId ?? call.id, role: 'assistant', ...name, toolCalls: [call] })
    }
    if (!isSaid(part)) continue
    if (!isTextOpen) segment += 1
    isTextOpen = true
    // Text without an id was never shown.
    const id = textIds[Math.min(segment, textIds.length - 1)]
    const open = spoken.at(-1)
    if (open && open.id === id) open.content = (open.content ?? '') + part.text
    else if (id !== undefined) spoken.push({ id, role: 'assistant', ...name, content: part.text })
    const message = spoken.at(-1)
    if (message && part.thoughtSignature !== undefined) message.encryptedValue = part.thoughtSignature
  }
  return [...reasoningMessages(event), ...spoken]
}

function toolCall(
  { id = '', name = '', args = {} }: FunctionCall,
  { thoughtSignature }: Part,
  { toWireName = (same) => same }: HistoryOptions,
): ToolCall {
  const secret = thoughtSignature === undefined ? {} : { encryptedValue: thoughtSignature }
  return {
    id,
    type: 'function',
    function: { name: toWireName(name), arguments: JSON.stringify(args) },
    ...secret,
  }
}

function reasoningMessages(event: Event): Message[] {
  const thoughts = partsOf(event).filter(({ thought, text }) => thought === true && text !== undefined)
  const content = thoughts.map(({ text }) => text).join('')
  const { reasoningIds = [] } = markOf(event)
  const id = isMarked(event) ? reasoningIds[0] : `${event.id}-reasoning`
  if (content === '' || id === undefined) return []
  const encryptedValue = thoughts.find(({ thoughtSignature }) => thoughtSignature)?.thoughtSignature
  return [{ id, role: 'reasoning', content, ...(encryptedValue === undefined ? {} : { encryptedValue }) }]
}

function resultMessages(event: Event): Message[] {
  return factsOf(event).responses.flatMap(({ id: toolCallId, response = {} }): Message[] => {
    if (toolCallId === undefined) return []
    const id = markOf(event).resultIds?.[toolCallId] ?? resultId(event, toolCallId)
    return [{ id, role: 'tool', toolCallId, ...resultOf(response) }]
  })
}

function resultId(event: Event, toolCallId: string): string {
  return isMarked(event) && event.author !== 'user' ? `result-${toolCallId}` : `${event.id}-${toolCallId}`
}

function resultOf(response: NonNullable<FunctionResponse['response']>): { content: string; error?: string } {
  const [[key, value] = [], ...more] = Object.entries(response)
  if (more.length > 0 || typeof value !== 'string') return { content: JSON.stringify(response) }
  if (key === 'error') return { content: value, error: value }
  return { content: key === 'result' ? value : JSON.stringify(response) }
}
