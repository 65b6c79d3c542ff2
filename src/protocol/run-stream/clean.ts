import { MillraceError } from '../../core/errors.js'
import type { AgentEvent } from '../events.js'
import { checkValue } from '../check/check-value.js'
import { eventShapes } from '../check/event-problem.js'
import type { Run } from './run.js'

const boundaries = new Set(['RUN_STARTED', 'RUN_FINISHED', 'RUN_ERROR'])

/**
 * The event as the wire will carry it: a copy of its own, JSON throughout, without nulls, unknown members or broken
 * timestamps. Undefined when the type is not known (told, and left out); throws INVALID_EVENT for a malformed field
 * and ENCODING_ERROR for a value that is not JSON.
 */
export function cleanEvent(run: Run, event: AgentEvent): AgentEvent | undefined {
  const type: string = event.type
  if (boundaries.has(type)) {
    throw new MillraceError('INVALID_EVENT', `${type} is written by the owner of a run, not by an agent.`)
  }
  const shape = eventShapes.get(type)
  if (!shape) {
    run.report(`'${type}' is not an AG-UI 1.0 event; it was left out`)
    return undefined
  }
  const { value, warnings, issues } = checkValue(withoutBrokenTime(toJson(event, event.type)), shape)
  const [issue] = issues
  if (issue) {
    throw new MillraceError('INVALID_EVENT', `${event.type}.${issue.field}: ${issue.message}`, {
      details: { issues },
    })
  }
  for (const { field, message } of warnings) run.report(`${event.type}.${field}: ${message}`)
  // The walk has just compared every member with the schema this type is generated from.
  return value as AgentEvent
}

/** A copy as JSON would carry it. Throws ENCODING_ERROR when that is not possible. */
export function toJson(value: unknown, what: string): unknown {
  try {
    const text = JSON.stringify(value) as string | undefined
    if (text !== undefined) return JSON.parse(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new MillraceError('ENCODING_ERROR', `${what} is not JSON: ${reason}`, { cause })
  }
  throw new MillraceError('ENCODING_ERROR', `${what} is not JSON: it is ${typeof value}`)
}

/** Clients take whole milliseconds only, and end the run over anything else. */
function withoutBrokenTime(event: unknown): unknown {
  if (typeof event !== 'object' || event === null || !('timestamp' in event)) return event
  const { timestamp, ...rest } = event
  const rounded = typeof timestamp === 'number' ? Math.round(timestamp) : undefined
  return Number.isSafeInteger(rounded) ? { ...rest, timestamp: rounded } : rest
}
