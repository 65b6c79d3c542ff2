import type { Event } from '@google/adk'
import type { FunctionCall, FunctionResponse, Part } from '../adk-types.js'
import { markOf } from '../mark.js'

/** What an event of a session stands for in the conversation. Calls and results are known by the ids of the calls. */
export interface EventFacts {
  /** Whether the event was written by a run of ours. */
  readonly isMarked: boolean
  readonly userIds: readonly string[]
  readonly textIds: readonly string[]
  readonly calls: readonly FunctionCall[]
  readonly responses: readonly FunctionResponse[]
}

// Calls by which ADK asks people, or moves between agents. Clients may or may not be shown the latter.
const asking = 'adk_request_'
const moving = new Set(['transfer_to_agent', 'exit_loop', 'finish_task', 'set_model_response'])

/** Whether a call is a question of ADK to a person. No such call or answer is part of the conversation. */
export function isQuestion({ name }: { readonly name?: string | undefined }): boolean {
  return name?.startsWith(asking) === true
}

/** Whether clients are sure to know of a call. */
export function isCertainlyShown({ name }: FunctionCall): boolean {
  return name !== undefined && !moving.has(name)
}

/** Whether an event was written by a run of ours. */
export function isMarked(event: Event): boolean {
  const mark = markOf(event)
  for (const _ in mark) return true
  return false
}

export function partsOf({ content }: Event): readonly Part[] {
  return content?.parts ?? []
}

/** Whether a part is said: text that is no thought. */
export function isSaid(part: Part): part is Part & { text: string } {
  return typeof part.text === 'string' && part.text !== '' && part.thought !== true
}

/** Whether a part is something that a user sends: words, or an attachment. */
export function isSent(part: Part): boolean {
  return isSaid(part) || part.inlineData !== undefined || part.fileData !== undefined
}

/** Whether an event is a summary of earlier ones, made by ADK to shorten requests. */
export function isSummary(event: Event): boolean {
  return 'isCompacted' in event && event.isCompacted === true
}

/** What an event brings. The ids of what nobody marked are made of the id of the event. */
export function factsOf(event: Event): EventFacts {
  if (event.partial === true || isSummary(event)) return nothing
  const isUser = event.author === 'user'
  const calls: FunctionCall[] = []
  const responses: FunctionResponse[] = []
  let hasWords = false
  for (const part of partsOf(event)) {
    const { functionCall, functionResponse } = part
    if (functionCall && !isQuestion(functionCall)) calls.push(functionCall)
    if (functionResponse && !isQuestion(functionResponse)) responses.push(functionResponse)
    hasWords ||= isUser ? isSent(part) : isSaid(part)
  }
  const isOurs = isMarked(event)
  const ids = isOurs ? (markOf(event).messageIds ?? none) : hasWords ? [event.id] : none
  return { isMarked: isOurs, userIds: isUser ? ids : none, textIds: isUser ? none : ids, calls, responses }
}

const none: readonly string[] = []
const nothing: EventFacts = { isMarked: true, userIds: none, textIds: none, calls: [], responses: [] }
