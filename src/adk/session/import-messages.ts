import type {
  AssistantMessage,
  ContentPart,
  Message,
  ReasoningMessage,
  ToolCall,
  ToolMessage,
  UserMessage,
} from '@ag-ui/core'
import type { Event } from '@google/adk'
import type { IdSource } from '../../core/ids.js'
import { isRecord, parseJson } from '../../core/json.js'
import { describeContent, isToolError } from '../../protocol/index.js'
import type { Content, Part } from '../adk-types.js'
import { withEventMark, type EventMark } from './marks.js'

/** A message, or a part of one, to bring into a session. */
export type Import =
  | { readonly role: 'user'; readonly message: UserMessage }
  | {
      readonly role: 'assistant'
      readonly message: AssistantMessage
      /** The reasoning before it, if the provider wants it back. */
      readonly reasoning: ReasoningMessage | undefined
      /** False: the session has the text. */
      readonly hasText: boolean
      readonly calls: readonly ToolCall[]
    }
  | { readonly role: 'results'; readonly author: string; readonly results: readonly NamedResult[] }

/** The result of a tool, with the name that models call the tool by. */
export interface NamedResult {
  readonly name: string
  readonly message: ToolMessage
}

export interface ImportOptions {
  /** The author of messages without a name. */
  readonly rootAuthor: string
  readonly toModelName: (wireToolName: string) => string
  readonly newId: IdSource
}

/** Events for a session, and problems with the messages. The events get their times when they are stored. */
interface Imported {
  readonly events: readonly Event[]
  readonly problems: readonly string[]
}

/** Makes events of messages that a session lacks. Every user message begins an invocation. */
export function importMessages(imports: readonly Import[], options: ImportOptions): Imported {
  const problems: string[] = []
  let invocationId = options.newId('import')
  const events = imports.map((item) => {
    if (item.role === 'user') {
      invocationId = options.newId('import')
      const user = toUserParts(item.message)
      problems.push(...user.problems)
      const mark = { imported: true, messageIds: [item.message.id], partCounts: [user.parts.length] }
      return newEvent(options, { invocationId, author: 'user', content: asUserContent(user.parts), mark })
    }
    if (item.role === 'results') {
      const parts = item.results.map(toResultPart)
      const mark = { imported: true, resultIds: resultMessageIds(item.results) }
      return newEvent(options, { invocationId, author: item.author, content: asUserContent(parts), mark })
    }
    return modelEvent(item, invocationId, options)
  })
  return { events, problems }
}

function modelEvent(
  item: Import & { role: 'assistant' },
  invocationId: string,
  options: ImportOptions,
): Event {
  const { message, reasoning, hasText, calls } = item
  const thought = reasoning && signature(reasoning)
  const parts: Part[] = [
    ...(thought ? [{ text: reasoning.content, thought: true, ...thought }] : []),
    ...(hasText ? [{ text: message.content ?? '', ...signature(message) }] : []),
    ...calls.map((call) => toCallPart(call, options)),
  ]
  const mark = {
    imported: true,
    messageIds: [message.id],
    ...(thought ? { reasoningIds: [reasoning.id] } : {}),
  }
  const author = messageAuthor(message, options)
  return newEvent(options, { invocationId, author, content: { role: 'model', parts }, mark })
}

/** The agent that wrote a message. The name 'user' never means an agent. */
export function messageAuthor(
  { name }: AssistantMessage,
  { rootAuthor }: Pick<ImportOptions, 'rootAuthor'>,
): string {
  return name === undefined || name === '' || name === 'user' ? rootAuthor : name
}

/** The reasoning right before a message. */
export function reasoningBefore(
  messages: readonly Message[],
  position: number,
): ReasoningMessage | undefined {
  const before = messages[position - 1]
  return before?.role === 'reasoning' ? before : undefined
}

function toCallPart(call: ToolCall, { toModelName }: ImportOptions): Part {
  const { id, function: called } = call
  const args = parseObject(called.arguments) ?? {}
  return { functionCall: { id, name: toModelName(called.name), args }, ...signature(call) }
}

// Gemini refuses the signatures of other providers, which are no base64.
function signature({
  encryptedValue,
}: {
  readonly encryptedValue?: string
}): { thoughtSignature: string } | undefined {
  if (encryptedValue === undefined || !isBase64(encryptedValue)) return undefined
  return { thoughtSignature: encryptedValue }
}

/** The ids of tool messages by call. */
export function resultMessageIds(results: readonly NamedResult[]): Record<string, string> {
  return Object.fromEntries(results.map(({ message }) => [message.toolCallId, message.id]))
}

/** A result as models get it: as an object. */
export function toResultPart({ name, message }: NamedResult): Part {
  return { functionResponse: { id: message.toolCallId, name, response: toResponse(message) } }
}

function toResponse(message: ToolMessage): Record<string, unknown> {
  const text = toolMessageText(message)
  const value = parseObject(text)
  if (!isToolError(message)) return value ?? { result: text }
  const { error = text } = message
  if (value?.error === error) return value
  return { error, ...(text === '' || text === error ? {} : { result: text }) }
}

/** A result as text, with a placeholder for media. */
export function toolMessageText({ content }: ToolMessage): string {
  return describeContent(content, '\n')
}

function parseObject(text: string): Record<string, unknown> | undefined {
  const value = text.trimStart().startsWith('{') ? parseJson(text) : undefined
  return isRecord(value) ? value : undefined
}

export function asUserContent(parts: readonly Part[]): Content {
  return { role: 'user', parts: [...parts] }
}

interface EventFields {
  readonly invocationId: string
  readonly author: string
  readonly content?: Content
  readonly mark: EventMark
}

/** An event as ADK makes them, without a time. */
export function newEvent({ newId }: { readonly newId: IdSource }, fields: EventFields): Event {
  const { invocationId, author, content, mark } = fields
  return {
    id: newId('event'),
    invocationId,
    author,
    timestamp: 0,
    actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
    longRunningToolIds: [],
    ...(content ? { content } : {}),
    customMetadata: withEventMark(mark),
  }
}

/**
 * The parts of a user message for the model, and problems with them. A sentence replaces an attachment that the model
 * cannot take: a message with content always has parts.
 */
export function toUserParts({ id, content }: UserMessage): {
  readonly parts: readonly Part[]
  readonly problems: readonly string[]
} {
  const problems: string[] = []
  if (typeof content === 'string') return { parts: content === '' ? [] : [{ text: content }], problems }
  const parts = content.flatMap((part): Part[] => {
    if (part.type === 'text') return part.text === '' ? [] : [{ text: part.text }]
    const media = toBlobPart(part)
    if (media) return [media]
    problems.push(`message '${id}': the ${part.type} cannot be given to the model`)
    return [{ text: `[An attachment of type ${part.type} could not be read.]` }]
  })
  return { parts, problems }
}

/** Whether a user message has content for a model. */
export function hasUserContent({ content }: UserMessage): boolean {
  if (typeof content === 'string') return content !== ''
  return content.some((part) => part.type !== 'text' || part.text !== '')
}

function toBlobPart({ source, metadata }: Exclude<ContentPart, { type: 'text' }>): Part | undefined {
  const name: unknown = isRecord(metadata) ? metadata.filename : undefined
  const displayName = typeof name === 'string' ? { displayName: name } : {}
  const { value } = source
  const mimeType = source.mimeType === undefined ? {} : { mimeType: source.mimeType }
  if (source.type === 'data') {
    return isBase64(value) ? { inlineData: { data: value, ...mimeType, ...displayName } } : undefined
  }
  // Only the provider that issued a file handle understands it.
  if (source.type === 'file' && source.provider !== undefined && source.provider !== 'google')
    return undefined
  return value === '' ? undefined : { fileData: { fileUri: value, ...mimeType, ...displayName } }
}

/** Models refuse a whole request with bytes that are not base64. */
function isBase64(text: string): boolean {
  return text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/_-]*={0,2}$/.test(text)
}
