import type { Event } from '@google/adk'
import { isAbortError } from '../../core/abort.js'
import { MillraceError, toCodeWord } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import { isRetryableStatus } from '../../models/index.js'
import { isCallbackError } from '../tree/llm-shell.js'

/** A failed attempt of a Runner. Most model failures are events, some are thrown; workflows do both. */
export interface AdkFailure {
  /** The thrown value, or the last error event as an error. */
  readonly error: unknown
  readonly isThrown: boolean
  /** The error events at the end of the attempt. */
  readonly events: readonly Event[]
}

export interface ReportedError {
  readonly code: string
  readonly message: string
  /** The error that ADK made the event of, if it is known. */
  readonly cause?: unknown
}

/** The error of a run whose last event is an ADK error event. */
export function adkError({ code, message, cause }: ReportedError): MillraceError {
  const logMessage = `ADK ended the run with the error '${toCodeWord(code) ?? 'unknown'}'.`
  if (code === 'MAX_RETRIES_EXCEEDED') return new MillraceError(code, message, { logMessage })
  // ADK takes all that is thrown around the model for an error of the model.
  if (message.startsWith('Max number of llm calls limit')) return new MillraceError('MAX_ITERATIONS', message)
  if (isCallbackError(cause)) return new MillraceError('AGENT_ERROR', message, { logMessage, cause })
  // Providers use their HTTP status as the code; finish reasons (SAFETY, for example) are words.
  const status = isHttpStatus(code) ? { status: Number(code) } : {}
  return new MillraceError('MODEL_ERROR', message === '' ? `The model stopped: ${code}.` : message, {
    details: { adkCode: code, retryable: isRetryableCode(code), ...status },
    logMessage,
    cause,
  })
}

/** Finish reasons: the model would end the same way again. */
const finishReasons = new Set([
  ...['STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'LANGUAGE', 'OTHER', 'BLOCKLIST', 'PROHIBITED_CONTENT'],
  ...['SPII', 'IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION', 'IMAGE_OTHER', 'NO_IMAGE'],
  ...['TOO_MANY_TOOL_CALLS', 'BLOCKED_REASON_UNSPECIFIED', 'MODEL_ARMOR', 'JAILBREAK'],
])

/** Whether an error code is a finish reason: the answer was cut short or refused, but nothing failed. */
export function isFinishReason(errorCode: string): boolean {
  return finishReasons.has(errorCode)
}

/** Refusals, as Google's services name them. */
const refusals = new Set([
  ...['INVALID_ARGUMENT', 'UNAUTHENTICATED', 'PERMISSION_DENIED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['FAILED_PRECONDITION', 'OUT_OF_RANGE', 'UNIMPLEMENTED', 'CANCELLED'],
])

/** ADK's errors about wrong requests and wrong set-ups. They carry no code, only a message. */
const permanentMessages = new RegExp(
  [
    '^Session (not found|lookup failed)|^No parts in the newMessage|^A client message may not contain',
    '^No function call event found|^Last response event should only contain|^Duplicate tool name',
    '^Max number of llm calls limit|^CFC is not|^No model found|^Model .* not found|in the agent tree\\.$',
    'does not match any interrupt|has already been answered',
  ].join('|'),
)

const permanentNames = new Set([
  ...['InterruptSignal', 'InvocationAbortedError', 'IntentMismatchError', 'NodeInterruptedError'],
  'NodeSchemaValidationError',
])

/**
 * Whether the same attempt may succeed later. ADK says little about failures, so all are retryable except those known
 * to be permanent: aborts, refusals (4xx), wrong requests to ADK, errors of ours.
 */
export function isRetryableFailure({ error, isThrown, events }: AdkFailure): boolean {
  return (!isThrown || isRetryableThrown(error)) && events.every(isRetryableEvent)
}

function isRetryableEvent({ errorCode = '', errorMessage = '' }: Event): boolean {
  return isRetryableCode(errorCode) && !permanentMessages.test(errorMessage)
}

/** Whether an error code, an HTTP status or a word, is retryable. */
export function isRetryableCode(code: string): boolean {
  if (isHttpStatus(code)) return isRetryableHttpStatus(Number(code))
  return !refusals.has(code) && !finishReasons.has(code)
}

function isHttpStatus(code: string): boolean {
  return /^[1-5]\d\d$/.test(code)
}

function isRetryableHttpStatus(status: number): boolean {
  return status === 425 || isRetryableStatus(status)
}

function isRetryableThrown(error: unknown): boolean {
  if (isAbortError(error)) return false
  if (!isRecord(error)) return true
  const { name, message, code } = error
  if (typeof name === 'string' && permanentNames.has(name)) return false
  if (typeof message === 'string' && permanentMessages.test(message)) return false
  if (MillraceError.isInstance(error)) return isRetryableOwn(error)
  const status = error.status ?? error.statusCode ?? (typeof code === 'number' ? code : undefined)
  if (typeof status === 'number') return isRetryableHttpStatus(status)
  return typeof code !== 'string' || isRetryableCode(code)
}

function isRetryableOwn({ code, details: { retryable, status } }: MillraceError): boolean {
  if (typeof retryable === 'boolean') return retryable
  if (typeof status === 'number') return isRetryableHttpStatus(status)
  return code === 'MODEL_ERROR' || code === 'AGENT_ERROR'
}
