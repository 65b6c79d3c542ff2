import { EventType, omitOptionalNulls, type Message } from '@ag-ui/core'
import { EventSchema, MessageSchema } from '@ag-ui/core/schemas'
import type { z } from 'zod'
import { MillraceError } from '../core/errors.js'
import { isRecord } from '../core/json.js'
import type { AgUiEvent } from '../protocol/index.js'

const types = new Set<unknown>(Object.values(EventType))
const roles = new Set<unknown>(MessageSchema.options.map(({ shape }) => shape.role.value))
const outcomes = new Set<unknown>(['success', 'interrupt', 'cancelled'])

/** An event with a type. */
export type RawEvent = Readonly<Record<string, unknown>> & { readonly type: string }

/** Throws INVALID_EVENT for a value without a type. */
export function toRawEvent(value: unknown, name: string): RawEvent {
  if (isRecord(value) && typeof value.type === 'string') return value as RawEvent
  throw invalidEvent(name, 'an event is an object with a type')
}

/**
 * Checks an event against AG-UI 1.0. Tolerates newer and older servers: returns undefined for an unknown type, and
 * leaves out nulls in optional members. Throws INVALID_EVENT, naming the field, for a malformed event. RUN_STARTED and
 * MESSAGES_SNAPSHOT pass unchecked: they may repeat a whole history, and little of it matters.
 */
export function toAgUiEvent(event: RawEvent, name: string): AgUiEvent | undefined {
  if (isPlainDelta(event)) return event
  if (!types.has(event.type)) return undefined
  if (event.type === 'RUN_STARTED' || event.type === 'MESSAGES_SNAPSHOT') return event as unknown as AgUiEvent
  const parsed = EventSchema.safeParse(withKnownOutcome(withWholeTime(omitOptionalNulls(event, 'Event'))))
  // The type is generated from the schema.
  if (parsed.success) return parsed.data as AgUiEvent
  throw invalidEvent(name, firstProblem(event.type, parsed.error))
}

/** Nearly every event is a plain delta of a text or of arguments. */
function isPlainDelta(event: RawEvent): event is RawEvent & AgUiEvent {
  const { type, delta } = event
  if (typeof delta !== 'string') return false
  if (type === 'TEXT_MESSAGE_CONTENT') return hasOnly(event, 'messageId')
  return type === 'TOOL_CALL_ARGS' && hasOnly(event, 'toolCallId')
}

function hasOnly(event: RawEvent, id: string): boolean {
  return typeof event[id] === 'string' && Object.keys(event).length === 3
}

/** Servers in other languages send fractions of milliseconds, which the protocol does not allow. */
function withWholeTime(event: RawEvent): RawEvent {
  const { timestamp } = event
  return typeof timestamp === 'number' ? { ...event, timestamp: Math.round(timestamp) } : event
}

/** A run with an unknown outcome has still ended. */
function withKnownOutcome(event: RawEvent): RawEvent {
  const { outcome, ...rest } = event
  const isUnknown = event.type === 'RUN_FINISHED' && isRecord(outcome) && !outcomes.has(outcome.type)
  return isUnknown ? rest : event
}

/** Checks a message of a snapshot. Undefined for an unknown role. Throws INVALID_EVENT for a malformed one. */
export function toMessage(value: unknown, name: string): Message | undefined {
  if (!isRecord(value) || !roles.has(value.role)) return undefined
  const parsed = MessageSchema.safeParse(value)
  if (parsed.success) return parsed.data as Message
  throw invalidEvent(name, firstProblem('MESSAGES_SNAPSHOT.messages', parsed.error))
}

function firstProblem(what: string, { issues }: z.core.$ZodError): string {
  const [issue] = issues
  const path = issue?.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('')
  return `${what}${path ?? ''}: ${issue?.message ?? 'malformed'}`
}

function invalidEvent(name: string, problem: string): MillraceError {
  const what = `Agent '${name}' sent an invalid event`
  return new MillraceError('INVALID_EVENT', `${what}: ${problem}`, { logMessage: `${what}.` })
}
