import type {
  AssistantMessage,
  Message,
  ReasoningMessage,
  ToolCall,
  ToolMessage,
  UserMessage,
} from '@ag-ui/core'
import type { Event } from '@google/adk'
import type { IdSource } from '../../core/ids.js'
import type { Content, Part } from '../adk-types.js'
import { markedMetadata, type Mark } from '../mark.js'
import { isBase64, parsedObject, responseOf, userParts } from './message-parts.js'

/** What of a message is to be brought into a session. */
export type Import =
  | { readonly role: 'user'; readonly message: UserMessage }
  | {
      readonly role: 'assistant'
      readonly message: AssistantMessage
      /** What the agent thought before, if the provider wants it back. */
      readonly reasoning: ReasoningMessage | undefined
      /** False: the session has it. */
      readonly hasText: boolean
      readonly calls: readonly ToolCall[]
    }
  | { readonly role: 'results'; readonly author: string; readonly results: readonly NamedResult[] }

/** What a tool returned, with the name that models call it by. */
export interface NamedResult {
  readonly name: string
  readonly message: ToolMessage
}

export interface ImportOptions {
  /** Who said what carries no name. */
  readonly rootAuthor: string
  readonly toModelName: (wireToolName: string) => string
  readonly newId: IdSource
}

/** Events for a session, and what had to be left out. Their time is set when they are stored. */
interface Imported {
  readonly events: readonly Event[]
  readonly notes: readonly string[]
}

/** Makes events of messages that a session lacks. One invocation for each time a user speaks. */
export function importMessages(imports: readonly Import[], options: ImportOptions): Imported {
  const notes: string[] = []
  let invocationId = options.newId('import')
  const events = imports.map((item) => {
    if (item.role === 'user') {
      invocationId = options.newId('import')
      const read = userParts(item.message)
      notes.push(...read.notes)
      const mark = { imported: true, messageIds: [item.message.id], partCounts: [read.parts.length] }
      return newEvent(options, { invocationId, author: 'user', content: userContent(read.parts), mark })
    }
    if (item.role === 'results') {
      const parts = item.results.map(responsePart)
      const mark = { imported: true, resultIds: resultIds(item.results) }
      return newEvent(options, { invocationId, author: item.author, content: userContent(parts), mark })
    }
    return modelEvent(item, invocationId, options)
  })
  return { events, notes }
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
    ...calls.map((call) => callPart(call, options)),
  ]
  const mark = {
    imported: true,
    messageIds: [message.id],
    ...(thought ? { reasoningIds: [reasoning.id] } : {}),
  }
  const author = authorOf(message, options)
  return newEvent(options, { invocationId, author, content: { role: 'model', parts }, mark })
}

/** Which agent a message is from. A person's name is never taken for one. */
export function authorOf(
  { name }: AssistantMessage,
  { rootAuthor }: Pick<ImportOptions, 'rootAuthor'>,
): string {
  return name === undefined || name === '' || name === 'user' ? rootAuthor : name
}

function callPart(call: ToolCall, { toModelName }: ImportOptions): Part {
  const { id, function: fn } = call
  const args = parsedObject(fn.arguments) ?? {}
  return { functionCall: { id, name: toModelName(fn.name), args }, ...signature(call) }
}

// Values of other providers are texts of another kind, which Gemini refuses.
function signature({
  encryptedValue,
}: {
  readonly encryptedValue?: string
}): { thoughtSignature: string } | undefined {
  if (encryptedValue === undefined || !isBase64(encryptedValue)) return undefined
  return { thoughtSignature: encryptedValue }
}

/** Which messages results came with. */
export function resultIds(results: readonly NamedResult[]): Record<string, string> {
  return Object.fromEntries(results.map(({ message }) => [message.toolCallId, message.id]))
}

/** A result as models get it. */
export function responsePart({ name, message }: NamedResult): Part {
  return { functionResponse: { id: message.toolCallId, name, response: responseOf(message) } }
}

export function userContent(parts: readonly Part[]): Content {
  return { role: 'user', parts: [...parts] }
}

interface EventParts {
  readonly invocationId: string
  readonly author: string
  readonly content?: Content
  readonly mark: Mark
}

/** An event as ADK makes them, but for the time. */
export function newEvent({ newId }: { readonly newId: IdSource }, parts: EventParts): Event {
  const { invocationId, author, content, mark } = parts
  return {
    id: newId('event'),
    invocationId,
    author,
    timestamp: 0,
    actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
    longRunningToolIds: [],
    ...(content ? { content } : {}),
    customMetadata: markedMetadata(mark),
  }
}

/** The reasoning right before a message. */
export function reasoningBefore(
  messages: readonly Message[],
  position: number,
): ReasoningMessage | undefined {
  const before = messages[position - 1]
  return before?.role === 'reasoning' ? before : undefined
}
