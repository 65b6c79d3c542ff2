import type { EventSink } from '../../bridge/event-sink.js'
import { spanTag } from '../../bridge/spans.js'
import { isRecord } from '../../core/json.js'
import { shownOnlyId } from '../messages/shown-only.js'
import type { EmittedMessages } from './emitted-messages.js'
import type { GraphTranslatorOptions } from './graph-translator.js'
import type { StateMessages } from './state-messages.js'
import type { GraphToolCalls } from './tool-calls.js'
import { toSafeText, type VisibleState } from './visible-state.js'

export interface CustomEventsOptions extends Pick<GraphTranslatorOptions, 'newId' | 'report'> {
  readonly sink: EventSink
  readonly calls: GraphToolCalls
  readonly messages: StateMessages
  readonly emitted: EmittedMessages
  readonly visible: VisibleState
  /** Shows clients a change of the state: the keys of `patch` replace those they have. */
  readonly patchState: (patch: Readonly<Record<string, unknown>>) => void
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Translates the application's own events. Reserved names write a message, a tool call or state, as in other AG-UI
 * adapters for LangGraph; all others become CUSTOM events.
 */
export class CustomEvents {
  readonly #options: CustomEventsOptions

  constructor(options: CustomEventsOptions) {
    this.#options = options
  }

  write(name: string, value: unknown, subagentRunId: string | undefined): void {
    const { sink, visible, report } = this.#options
    if (reservedNames.has(name)) {
      const isWritten = isRecord(value) && this.#writeReserved(name, value, subagentRunId)
      if (!isWritten) report(`'${name}' was emitted without a required field; it was left out`)
      return
    }
    const sent = visible.toSent(value, `The value of '${name}'`)
    if (sent !== undefined) sink.add({ type: 'CUSTOM', name, value: sent, ...spanTag(subagentRunId) })
  }

  /** Returns false if a required field is missing. */
  #writeReserved(name: string, fields: Fields, subagentRunId: string | undefined): boolean {
    switch (name) {
      case 'manually_emit_message':
        return this.#writeMessage(fields, subagentRunId)
      case 'manually_emit_tool_call':
        return this.#writeToolCall(fields, subagentRunId)
      default:
        this.#options.patchState(fields)
        return true
    }
  }

  #writeMessage(fields: Fields, subagentRunId: string | undefined): boolean {
    const { message: text } = fields
    if (typeof text !== 'string') return false
    const { messages, emitted } = this.#options
    const role = roles.find((known) => known === fields.role) ?? 'assistant'
    messages.addShown(emitted.write({ id: readId(fields.message_id), role, content: text, subagentRunId }))
    return true
  }

  #writeToolCall(fields: Fields, subagentRunId: string | undefined): boolean {
    const { name, args = {}, result } = fields
    if (typeof name !== 'string') return false
    const { calls, newId, visible } = this.#options
    const given = readId(fields.id)
    const id = given !== undefined && calls.isFree(given) ? given : shownOnlyId(newId('call'))
    const sentArgs = visible.toSent(args, `The arguments of '${name}'`)
    const sentResult = visible.toSent(result ?? null, `The result of '${name}'`)
    if (sentArgs === undefined || sentResult === undefined) return true
    const parentMessageId = given === id ? shownOnlyId(id) : undefined
    calls.write({ id, name, parentMessageId, subagentRunId }, toSafeText(sentArgs))
    if (result !== undefined) calls.result({ toolCallId: id, content: toSafeText(sentResult), subagentRunId })
    return true
  }
}

const reservedNames = new Set(['manually_emit_message', 'manually_emit_tool_call', 'manually_emit_state'])

const roles = ['assistant', 'developer', 'system', 'user'] as const

function readId(id: unknown): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined
}
