import { EventSchema } from '@ag-ui/core/schemas'
import { MillraceError } from '../../core/errors.js'
import type { AgentEvent, AgUiEvent } from '../contract.js'
import { checkValue } from './check-value.js'
import { toShape, type Shape } from './schema-shape.js'

/** The shape of each event type. */
const eventShapes: ReadonlyMap<unknown, Shape> = (() => {
  const events = toShape(EventSchema)
  if (events.kind !== 'tagged') throw new TypeError('the event schema is not a union by type')
  return events.arms
})()

const ownerEvents = new Set(['RUN_STARTED', 'RUN_FINISHED', 'RUN_ERROR'])

/**
 * Checks an event of an agent. Returns a copy as the wire will carry it: JSON throughout, without nulls, unknown members
 * or broken timestamps. Returns undefined when the type is not known. Throws INVALID_EVENT for a malformed field and
 * ENCODING_ERROR for a value that is not JSON.
 */
export function checkAgentEvent(
  event: AgentEvent,
  problems: { report(problem: string): void },
): AgentEvent | undefined {
  const type: string = event.type
  if (ownerEvents.has(type)) {
    throw new MillraceError('INVALID_EVENT', `${type} is written by the owner of a run, not by an agent.`)
  }
  const shape = eventShapes.get(type)
  if (!shape) {
    problems.report(`'${type}' is not an AG-UI 1.0 event; it was left out`)
    return undefined
  }
  const { value, warnings, issues } = checkValue(withoutBrokenTime(jsonCopy(event, type)), shape)
  const [issue] = issues
  if (issue) {
    const message = `${type}.${issue.field}: ${issue.message}`
    throw new MillraceError('INVALID_EVENT', message, { details: { issues } })
  }
  for (const { field, message } of warnings) problems.report(`${type}.${field}: ${message}`)
  // checkValue has just compared every member with the schema this type is generated from.
  return value as AgentEvent
}

/** Clients accept whole milliseconds only, and end the run over anything else. */
function withoutBrokenTime(event: unknown): unknown {
  if (typeof event !== 'object' || event === null || !('timestamp' in event)) return event
  const { timestamp, ...rest } = event
  const rounded = typeof timestamp === 'number' ? Math.round(timestamp) : undefined
  return Number.isSafeInteger(rounded) ? { ...rest, timestamp: rounded } : rest
}

/** A copy as JSON would carry it. Throws ENCODING_ERROR when that is not possible. */
export function jsonCopy(value: unknown, what: string): unknown {
  try {
    const text = JSON.stringify(value) as string | undefined
    if (text !== undefined) return JSON.parse(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new MillraceError('ENCODING_ERROR', `${what} is not JSON: ${reason}`, { cause })
  }
  throw new MillraceError('ENCODING_ERROR', `${what} is not JSON: it is ${typeof value}`)
}

/** Says what is malformed about a strict event, if anything: clients would break off over it. */
export function eventProblem(event: AgUiEvent): string | undefined {
  const shape = eventShapes.get(event.type)
  if (!shape) return `'${event.type}' is not an AG-UI 1.0 event`
  const [issue] = checkValue(event, shape).issues
  return issue && `${event.type}.${issue.field}: ${issue.message}`
}
