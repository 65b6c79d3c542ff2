import type { Event } from '@google/adk'
import { isAbortError } from '../../core/abort.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/is-record.js'
import { isRetryableStatus } from '../../models/index.js'

/** How an attempt of a Runner failed. Most failures of models are events, some are thrown, those of workflows both. */
export interface AdkFailure {
  /** What was thrown; or what the last error event says, as an error. */
  readonly error: unknown
  readonly isThrown: boolean
  /** The error events the attempt ended with. */
  readonly events: readonly Event[]
}

/** Ends that a model gives as its answer. Asked again, it would say the same. */
const answers = new Set([
  ...['STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'LANGUAGE', 'OTHER', 'BLOCKLIST', 'PROHIBITED_CONTENT'],
  ...['SPII', 'IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION', 'IMAGE_OTHER', 'NO_IMAGE'],
  ...['TOO_MANY_TOOL_CALLS', 'BLOCKED_REASON_UNSPECIFIED', 'MODEL_ARMOR', 'JAILBREAK'],
])

/** Whether an event with an error code is an answer cut short or refused, and no failure. */
export function isAnswer({ errorCode }: Pick<Event, 'errorCode'>): boolean {
  return errorCode !== undefined && answers.has(errorCode)
}

/** Refusals by the names Google's services have for them. */
const refusals = new Set([
  ...['INVALID_ARGUMENT', 'UNAUTHENTICATED', 'PERMISSION_DENIED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['FAILED_PRECONDITION', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'CANCELLED'],
])

/** Errors of ADK about what it was asked or how it was set up. They have no code, only words. */
const lasting = new RegExp(
  [
    '^Session (not found|lookup failed)|^No parts in the newMessage|^A client message may not contain',
    '^No function call event found|^Last response event should only contain|^Duplicate tool name',
    '^Max number of llm calls limit|^CFC is not|^No model found|^Model .* not found|in the agent tree\\.$',
    'does not match any interrupt|has already been answered',
  ].join('|'),
)

const lastingNames = new Set([
  ...['InterruptSignal', 'InvocationAbortedError', 'IntentMismatchError', 'NodeInterruptedError'],
  'NodeSchemaValidationError',
])

/**
 * Whether the same may go well a little later. ADK tells little of what went wrong, so everything counts as passing
 * except what is known not to be: aborts, refusals (4xx), what ADK was asked wrongly, errors of ours.
 */
export function isPassing({ error, isThrown, events }: AdkFailure): boolean {
  return (!isThrown || isPassingError(error)) && events.every(isPassingEvent)
}

function isPassingEvent({ errorCode = '', errorMessage = '' }: Event): boolean {
  return isPassingCode(errorCode) && !lasting.test(errorMessage)
}

/** The same for the code of an error event alone: an HTTP status, or a word. */
export function isPassingCode(code: string): boolean {
  if (/^[1-5]\d\d$/.test(code)) return isPassingStatus(Number(code))
  return !refusals.has(code) && !answers.has(code)
}

function isPassingStatus(status: number): boolean {
  return status === 425 || isRetryableStatus(status)
}

function isPassingError(error: unknown): boolean {
  if (isAbortError(error)) return false
  if (!isRecord(error)) return true
  const { name, message, code } = error
  if (typeof name === 'string' && lastingNames.has(name)) return false
  if (typeof message === 'string' && lasting.test(message)) return false
  if (MillraceError.isInstance(error)) return isPassingOwn(error)
  const status = error.status ?? error.statusCode ?? (typeof code === 'number' ? code : undefined)
  if (typeof status === 'number') return isPassingStatus(status)
  return typeof code !== 'string' || isPassingCode(code)
}

function isPassingOwn({ code, details: { retryable, status } }: MillraceError): boolean {
  if (typeof retryable === 'boolean') return retryable
  if (typeof status === 'number') return isPassingStatus(status)
  return code === 'MODEL_ERROR' || code === 'AGENT_ERROR'
}
