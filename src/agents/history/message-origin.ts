import type { Message, Metadata } from '@ag-ui/core'
import { stableHash } from '../../core/ids.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { RunServices } from '../contract.js'
import { toWireError } from '../../core/errors.js'
import { nameAt, pathFrom, rootOf } from '../run/address.js'
import { HiddenSpans } from './hidden-messages.js'

/** The run that wrote a message, and the address of the agent. */
export interface Origin {
  readonly runId: string
  readonly address: string
}

// A key of its own: clients join metadata key by key, so no other mark replaces this one.
export const originKey = 'millrace.at'

/** The origin as it stands in a message's metadata. */
export function originMark({ runId, address }: Origin): string {
  return originPrefix(runId) + address
}

/** What the origin marks of one run begin with. */
export function originPrefix(runId: string): string {
  return `${stableHash(runId)}:`
}

/** The address in an origin mark. */
export function addressIn(mark: string): string {
  return mark.slice(mark.indexOf(':') + 1)
}

/** The origin mark of a message. Undefined for messages of the client and of the run's root. */
export function originMarkOf(message: Message): string | undefined {
  const own = markIn(message.metadata)
  if (own !== undefined || message.role !== 'assistant') return own
  // A message that holds only calls has no event of its own: the mark is on its calls.
  for (const { metadata } of message.toolCalls ?? []) {
    const mark = markIn(metadata)
    if (mark !== undefined) return mark
  }
  return undefined
}

/** Whether a message was written at an address or below it, in a run or in one that it resumes. By its mark. */
export function isWrittenAt(message: Message, { runId, address }: Origin): boolean {
  const mark = originMarkOf(message)
  return mark?.startsWith(originPrefix(runId)) === true && pathFrom(address, addressIn(mark)) !== undefined
}

/** The message without its origin mark, if an agent of this run's tree has it: other servers need not know the tree. */
export function withoutOrigin(message: Message, address: string): Message {
  const mark = originMarkOf(message)
  if (mark === undefined || rootOf(addressIn(mark)) !== rootOf(address)) return message
  const bare = withoutKey(message)
  if (bare.role !== 'assistant' || !bare.toolCalls) return bare
  return { ...bare, toolCalls: bare.toolCalls.map(withoutKey) }
}

function withoutKey<M extends { readonly metadata?: Metadata }>(marked: M): M {
  if (markIn(marked.metadata) === undefined) return marked
  const { metadata: { [originKey]: _mark, ...others } = {}, ...rest } = marked
  return (Object.keys(others).length === 0 ? rest : { ...rest, metadata: others }) as M
}

/** A message with the name of the agent that wrote it, if its mark tells the name. */
export function withAuthor(message: Message): Message {
  if (message.role !== 'assistant' || message.name !== undefined) return message
  const mark = originMarkOf(message)
  return mark === undefined ? message : { ...message, name: nameAt(addressIn(mark)) }
}

/**
 * Adds an origin mark to the first event of every message. So the author of each message follows from the stored
 * conversation alone, when the run is resumed and in later runs.
 */
export function addOrigin(origin: Origin): (event: AgentEvent) => AgentEvent {
  const mark = originMark(origin)
  const hidden = new HiddenSpans()
  let lastChunk: string | undefined
  return (event) => {
    switch (event.type) {
      case 'SUBAGENT_STARTED':
        hidden.add(event)
        return event
      case 'TEXT_MESSAGE_CHUNK':
      case 'REASONING_MESSAGE_CHUNK':
      case 'TOOL_CALL_CHUNK': {
        const id = event.type === 'TOOL_CALL_CHUNK' ? event.toolCallId : event.messageId
        if (id === lastChunk) return event
        lastChunk = id
        return hidden.has(event.subagentRunId) ? event : withMark(event, mark)
      }
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START':
      case 'TOOL_CALL_START':
      case 'TOOL_CALL_RESULT':
        return hidden.has(event.subagentRunId) ? event : withMark(event, mark)
      default:
        return event
    }
  }
}

/** A message for the models that continue after an agent has failed. Clients see it too, so its words are neutral. */
export function failureNote(
  error: unknown,
  origin: Origin,
  { newId }: Pick<RunServices, 'newId'>,
): AgentEvent[] {
  const messageId = newId('message')
  const metadata = { [originKey]: originMark(origin) }
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role: 'developer', metadata },
    { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: `failed. ${toWireError(error).message}` },
    { type: 'TEXT_MESSAGE_END', messageId },
  ]
}

function withMark<E extends AgentEvent & { metadata?: Metadata }>(event: E, mark: string): E {
  if (markIn(event.metadata) !== undefined) return event
  return { ...event, metadata: { ...event.metadata, [originKey]: mark } }
}

function markIn(metadata: Metadata | undefined): string | undefined {
  const mark: unknown = metadata?.[originKey]
  return typeof mark === 'string' ? mark : undefined
}
