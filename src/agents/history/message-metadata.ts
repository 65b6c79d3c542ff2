import type { Message, Metadata } from '@ag-ui/core'
import { stableHash } from '../../core/hash.js'
import type { AgentEvent } from '../../protocol/index.js'
import { createVoices } from './hidden-spans.js'
import type { RunServices } from '../contract.js'
import { errorContent } from '../tools/tool-result.js'

/** Where something was said: the run, and the address of the agent. */
export interface Origin {
  readonly runId: string
  readonly address: string
}

/**
 * Says on a message where the agent stood that wrote it. So who said what can be told from the stored conversation alone,
 * in a run that goes on from a pause and in later ones.
 */
export function markEvents(origin: Origin): (event: AgentEvent) => AgentEvent {
  const mark = toMark(origin)
  const voices = createVoices()
  let lastChunk: string | undefined
  return (event) => {
    switch (event.type) {
      case 'SUBAGENT_STARTED':
        voices.see(event)
        return event
      case 'TEXT_MESSAGE_CHUNK':
      case 'TOOL_CALL_CHUNK': {
        const id = event.type === 'TEXT_MESSAGE_CHUNK' ? event.messageId : event.toolCallId
        if (id === lastChunk) return event
        lastChunk = id
        return voices.isHeard(event.subagentRunId) ? marked(event, mark) : event
      }
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START':
      case 'TOOL_CALL_START':
      case 'TOOL_CALL_RESULT':
        return voices.isHeard(event.subagentRunId) ? marked(event, mark) : event
      default:
        return event
    }
  }
}

/** Where an agent wrote it. Undefined for what the root of the run or the client wrote. */
export function markIn(message: Message): string | undefined {
  const own = markOf(message.metadata)
  if (own !== undefined || message.role !== 'assistant') return own
  // A message that holds nothing but calls has no event of its own: the mark is on its calls.
  for (const { metadata } of message.toolCalls ?? []) {
    const mark = markOf(metadata)
    if (mark !== undefined) return mark
  }
  return undefined
}

/** The address of a mark. */
export function addressOf(mark: string): string {
  return mark.slice(mark.indexOf(':') + 1)
}

/** What the marks of a run begin with. */
export function markOfRun(runId: string): string {
  return `${stableHash(runId)}:`
}

/** The mark of what is said there. */
export function toMark({ runId, address }: Origin): string {
  return markOfRun(runId) + address
}

function marked<E extends AgentEvent & { metadata?: Metadata }>(event: E, mark: string): E {
  if (markOf(event.metadata) !== undefined) return event
  return { ...event, metadata: { ...event.metadata, [markKey]: mark } }
}

/** A key of its own: clients join metadata key by key, so that another mark would take the place of this one. */
export const markKey = 'millrace.at'

function markOf(metadata: Metadata | undefined): string | undefined {
  const mark: unknown = metadata?.[markKey]
  return typeof mark === 'string' ? mark : undefined
}

/** Tells the agents that come after one that has failed. A message to models, not to people. */
export function failureNote(
  error: unknown,
  origin: Origin,
  { newId }: Pick<RunServices, 'newId'>,
): AgentEvent[] {
  const messageId = newId('message')
  const metadata = { [markKey]: toMark(origin) }
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role: 'developer', metadata },
    { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: `failed. ${errorContent(error)}` },
    { type: 'TEXT_MESSAGE_END', messageId },
  ]
}
