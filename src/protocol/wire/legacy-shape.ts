import {
  contentHasMedia,
  contentToText,
  type ContentPart,
  type Message,
  type RunAgentInput,
} from '@ag-ui/core'

import { errorCodes } from '../../core/error-codes.js'
import type { AgUiEvent, EventOf } from '../events.js'
import { formatPath, type FieldNote, type FieldPath } from '../check/field-note.js'

type Warn = (note: FieldNote) => void

/** Rewrites the shapes of AG-UI 1.0 that the strict schemas of 0.0.59 refuse. All others pass as they are. */
export function toLegacyShape(event: AgUiEvent, warn: Warn): AgUiEvent {
  switch (event.type) {
    case 'RUN_STARTED':
      return event.input ? { ...event, input: legacyInput(event.input, warn) } : event
    case 'RUN_FINISHED':
      return legacyEnd(event)
    case 'MESSAGES_SNAPSHOT':
      return { ...event, messages: legacyMessages(event.messages, [event.type], warn) }
    case 'TOOL_CALL_RESULT':
      if (typeof event.content === 'string') return event
      return { ...event, content: textOf(event.content, [event.type, 'content'], warn) }
    default:
      return event
  }
}

/** The type of the echo demands both lists, the protocol does not; before 1.0 both had to be there. */
type EchoedInput = Omit<RunAgentInput, 'tools' | 'context'> & Partial<RunAgentInput>

function legacyInput(input: EchoedInput, warn: Warn): RunAgentInput {
  const { tools = [], context = [] } = input
  return {
    ...input,
    tools,
    context,
    messages: legacyMessages(input.messages, ['RUN_STARTED', 'input'], warn),
  }
}

function legacyEnd(event: EventOf<'RUN_FINISHED'>): AgUiEvent {
  switch (event.outcome?.type) {
    case undefined:
      return event
    case 'success':
      return { ...event, outcome: { type: 'success' } }
    case 'interrupt': {
      // A client that finds an interrupt expired refuses even to cancel it, and cannot go on with the thread.
      const interrupts = event.outcome.interrupts.map(({ expiresAt: _, ...interrupt }) => interrupt)
      return { ...event, outcome: { type: 'interrupt', interrupts } }
    }
    case 'cancelled': {
      const { threadId: _threadId, runId: _runId, outcome: _outcome, ...rest } = event
      // The code that clients use for a run they aborted themselves, and hide from the user.
      return { ...rest, type: 'RUN_ERROR', message: errorCodes.RUN_CANCELLED.text, code: 'abort' }
    }
  }
}

function legacyMessages(messages: readonly Message[], path: FieldPath, warn: Warn): Message[] {
  return messages.map((message, index) => {
    if (!Array.isArray(message.content)) return message
    const field = [...path, 'messages', index, 'content']
    if (message.role === 'tool') return { ...message, content: textOf(message.content, field, warn) }
    if (message.role === 'user') return { ...message, content: withoutFiles(message.content, field, warn) }
    return message
  })
}

/** Tool results were strings only. */
function textOf(content: ContentPart[], field: FieldPath, warn: Warn): string {
  if (contentHasMedia(content)) {
    warn({ field: formatPath(field), message: 'media dropped for a client before 1.0' })
  }
  return contentToText(content)
}

/** Handles of files at a provider are new in 1.0. */
function withoutFiles(content: ContentPart[], field: FieldPath, warn: Warn): ContentPart[] {
  return content.filter((part, index) => {
    const keep = part.type === 'text' || part.source.type !== 'file'
    if (!keep) warn({ field: formatPath([...field, index]), message: 'file dropped for a client before 1.0' })
    return keep
  })
}
