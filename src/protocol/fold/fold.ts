import type { Message } from '@ag-ui/core'
import type { AgUiEvent, EventOf } from '../events.js'
import { foldActivityDelta, foldActivitySnapshot } from './fold-activity.js'
import { foldContinuation, foldStart } from './fold-text.js'
import { foldCallContinuation, foldCallStart, foldResult } from './fold-tools.js'
import { mergeSnapshot } from './merge-snapshot.js'
import { createMessageList, type MessageList } from './message-list.js'
import { applyPatch } from './patch.js'

/**
 * What an AG-UI client holds after the events applied so far: the same messages and the same state as the reducer of
 * `@ag-ui/client`, at a constant cost per event.
 */
export interface Fold {
  readonly messages: readonly Message[]
  readonly state: unknown
  /** Looks up a message by id, and whether a tool call is known and answered. */
  readonly list: Pick<MessageList, 'get' | 'hasCall' | 'hasResult'>
  /**
   * Takes one strict event (no chunks). Returns a sentence when a client would ignore the event, warn about it, or
   * be left with a broken history.
   */
  apply(event: AgUiEvent): string | undefined
}

export interface FoldOptions {
  /** The history the client starts with. Never changed. */
  readonly messages?: readonly Message[]
  /** The state the client starts with. Never changed. */
  readonly state?: unknown
}

export function createFold(options: FoldOptions = {}): Fold {
  return new FoldedEvents(options)
}

// A class for the same reason as the list of messages.
class FoldedEvents implements Fold {
  readonly list: MessageList
  state: unknown

  constructor({ messages = [], state = {} }: FoldOptions) {
    this.list = createMessageList(messages)
    this.state = state
  }

  get messages(): readonly Message[] {
    return this.list.all
  }

  apply(event: AgUiEvent): string | undefined {
    if (event.type === 'STATE_SNAPSHOT') {
      this.state = event.snapshot
      return undefined
    }
    return event.type === 'STATE_DELTA' ? this.#patch(event) : foldMessages(this.list, event)
  }

  #patch(event: EventOf<'STATE_DELTA'>): string | undefined {
    const patched = applyPatch(this.state, event.delta)
    if (!patched.ok) return `STATE_DELTA: the patch does not apply: ${patched.reason}`
    this.state = patched.document
    return undefined
  }
}

function foldMessages(messages: MessageList, event: AgUiEvent): string | undefined {
  switch (event.type) {
    case 'TEXT_MESSAGE_CONTENT':
    case 'TEXT_MESSAGE_END':
    case 'REASONING_MESSAGE_CONTENT':
    case 'REASONING_MESSAGE_END':
      return foldContinuation(messages, event)
    case 'TOOL_CALL_ARGS':
    case 'TOOL_CALL_END':
      return foldCallContinuation(messages, event)
    case 'TEXT_MESSAGE_START':
    case 'REASONING_MESSAGE_START':
      return foldStart(messages, event)
    case 'TOOL_CALL_START':
      return foldCallStart(messages, event)
    case 'TOOL_CALL_RESULT':
      return foldResult(messages, event)
    case 'ACTIVITY_SNAPSHOT':
      return foldActivitySnapshot(messages, event)
    case 'ACTIVITY_DELTA':
      return foldActivityDelta(messages, event)
    case 'REASONING_ENCRYPTED_VALUE':
      return foldEncrypted(messages, event)
    case 'MESSAGES_SNAPSHOT':
      messages.reset(mergeSnapshot(messages.all, event))
      return undefined
    case 'RUN_STARTED':
      addMissing(messages, event.input?.messages ?? [])
      return undefined
    default:
      return undefined
  }
}

function addMissing(messages: MessageList, echoed: readonly Message[]): void {
  const missing = echoed.filter(({ id }) => !messages.get(id))
  if (missing.length > 0) messages.reset([...messages.all, ...missing])
}

function foldEncrypted(
  messages: MessageList,
  event: EventOf<'REASONING_ENCRYPTED_VALUE'>,
): string | undefined {
  const target =
    event.subtype === 'tool-call' ? messages.ownCall(event.entityId)?.call : messages.own(event.entityId)
  if (!target || ('role' in target && target.role === 'activity')) {
    return `REASONING_ENCRYPTED_VALUE: there is no ${event.subtype} '${event.entityId}' to attach it to`
  }
  target.encryptedValue = event.encryptedValue
  return undefined
}
