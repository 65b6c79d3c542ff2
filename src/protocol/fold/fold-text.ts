import type { Message } from '@ag-ui/core'
import type { EventOf } from '../events.js'
import type { MessageList } from './message-list.js'
import { addMetadata } from './metadata.js'

type StartEvent = EventOf<'TEXT_MESSAGE_START' | 'REASONING_MESSAGE_START'>
type ContinuationEvent = EventOf<
  'TEXT_MESSAGE_CONTENT' | 'TEXT_MESSAGE_END' | 'REASONING_MESSAGE_CONTENT' | 'REASONING_MESSAGE_END'
>

/** Opens a text or reasoning message, or takes up the one that already has the id. */
export function foldStart(messages: MessageList, event: StartEvent): string | undefined {
  const known = messages.own(event.messageId)
  if (known?.role === 'activity') return isActivity(event)
  if (known) {
    addMetadata(known, event)
    return roleClash(known, event)
  }
  const created = newMessage(event)
  addMetadata(created, event)
  messages.push(created)
  return undefined
}

/** Appends a delta, or closes the message. */
export function foldContinuation(messages: MessageList, event: ContinuationEvent): string | undefined {
  const message = messages.own(event.messageId)
  if (!message) return `${event.type}: there is no message '${event.messageId}'`
  if (message.role === 'activity') return isActivity(event)
  if ('delta' in event) {
    message.content = typeof message.content === 'string' ? message.content + event.delta : event.delta
  }
  if (event.metadata !== undefined) addMetadata(message, event)
  return undefined
}

function newMessage(event: StartEvent): Message {
  const owner = event.subagentRunId === undefined ? {} : { subagentRunId: event.subagentRunId }
  if (event.type === 'REASONING_MESSAGE_START') {
    return { id: event.messageId, role: 'reasoning', content: '', ...owner }
  }
  const name = event.name === undefined ? {} : { name: event.name }
  return { id: event.messageId, role: event.role ?? 'assistant', content: '', ...name, ...owner }
}

function roleClash(known: Message, event: StartEvent): string | undefined {
  const role = event.type === 'REASONING_MESSAGE_START' ? 'reasoning' : (event.role ?? 'assistant')
  if (known.role === role) return undefined
  return `${event.type}: message '${event.messageId}' has the role ${known.role}, not ${role}`
}

function isActivity(event: { type: string; messageId: string }): string {
  return `${event.type}: message '${event.messageId}' is an activity message`
}
