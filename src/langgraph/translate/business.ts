import { isRecord } from '../../core/is-record.js'
import type { IdSource } from '../../core/ids.js'
import { toText } from './json-safe.js'
import type { EventSink } from '../../agents/index.js'
import { tagged } from './tagged.js'
import type { StateMessages } from './state-messages.js'
import type { ToolCalls } from './tool-calls.js'

export interface BusinessOptions {
  readonly sink: EventSink
  readonly calls: ToolCalls
  readonly messages: StateMessages
  readonly newId: IdSource
  readonly safe: (value: unknown, what: string) => unknown
  readonly showState: (state: Readonly<Record<string, unknown>>) => void
  readonly report: (problem: string) => void
}

/** The events of a graph's own. Some names are orders, as graphs written for other AG-UI adapters know them. */
export interface Business {
  take(name: string, value: unknown, span: string | undefined): void
  /** Whether the graph has asked that whoever is around it ends too. */
  readonly hasExited: boolean
}

export function createBusiness(options: BusinessOptions): Business {
  const { sink, safe, report } = options
  let hasExited = false

  return {
    get hasExited() {
      return hasExited
    },
    take(name, value, span) {
      const order = orders.get(name)
      if (order) {
        if (!order(options, value, span))
          report(`'${name}' was emitted without what it needs; it was left out`)
        return
      }
      if (name === 'exit') hasExited = true
      const given = safe(value, `the value of '${name}'`) ?? null
      sink.add({ type: 'CUSTOM', name, value: given, ...tagged(span) })
    },
  }
}

/** Does what an event says. False when the event has not what it takes. */
type Order = (options: BusinessOptions, value: unknown, span: string | undefined) => boolean

const orders: ReadonlyMap<string, Order> = new Map<string, Order>([
  ['manually_emit_message', emitMessage],
  ['manually_emit_tool_call', emitCall],
  ['manually_emit_state', emitState],
])

function emitMessage(
  { sink, messages, newId }: BusinessOptions,
  value: unknown,
  span: string | undefined,
): boolean {
  if (!isRecord(value) || typeof value.message !== 'string') return false
  const messageId = idIn(value, 'message_id') ?? newId('message')
  messages.note(messageId)
  const tag = tagged(span)
  sink.add({ type: 'TEXT_MESSAGE_START', messageId, role: roleIn(value), ...tag })
  if (value.message !== '')
    sink.add({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta: value.message, ...tag })
  sink.add({ type: 'TEXT_MESSAGE_END', messageId, ...tag })
  return true
}

function emitState({ showState }: BusinessOptions, value: unknown): boolean {
  if (!isRecord(value)) return false
  showState(value)
  return true
}

function emitCall({ calls, newId }: BusinessOptions, value: unknown, span: string | undefined): boolean {
  if (!isRecord(value) || typeof value.name !== 'string') return false
  const { name, args = {} } = value
  const id = idIn(value, 'id') ?? newId('call')
  calls.whole({ id, name, parentMessageId: undefined, span }, toText(args))
  const { result } = value
  if (result !== undefined)
    calls.result({ toolCallId: id, content: typeof result === 'string' ? result : toText(result), span })
  return true
}

const roles = ['assistant', 'developer', 'system', 'user'] as const

function roleIn({ role }: Readonly<Record<string, unknown>>): (typeof roles)[number] {
  return roles.find((known) => known === role) ?? 'assistant'
}

function idIn(value: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const id = value[key]
  return typeof id === 'string' && id !== '' ? id : undefined
}
