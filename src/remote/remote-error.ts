import type { ErrorCode } from '../core/error-codes.js'
import { MillraceError, toCodeWord } from '../core/errors.js'
import { isRecord } from '../core/json.js'
import type { EventOf } from '../protocol/index.js'
import type { Transport } from './watch-fetch.js'

const maxQuoted = 500

/** The error of a run whose stream failed. Its message says where to look. */
export function remoteError(name: string, error: unknown, transport: Transport): MillraceError {
  if (transport.broken !== undefined) return brokenOff(name, transport.broken)
  if (MillraceError.isInstance(error)) return error
  const { status, payload } = membersOf(error)
  if (typeof status === 'number') {
    const answer = quoted(typeof payload === 'string' ? payload : JSON.stringify(payload ?? ''))
    const what = `Agent '${name}' refused the run with HTTP ${status}`
    return new MillraceError('AGENT_ERROR', `${what}: ${answer}`, {
      details: { status, answer },
      logMessage: `${what}.`,
      cause: error,
    })
  }
  if (isUnreadable(error)) {
    const what = `Agent '${name}' sent what is not an AG-UI event`
    return quotingError('INVALID_EVENT', what, error)
  }
  const words = transport.isAnswered ? 'failed' : 'could not be reached'
  return quotingError('AGENT_ERROR', `Agent '${name}' ${words}`, error)
}

function brokenOff(name: string, error: unknown): MillraceError {
  const what = `The connection to agent '${name}' broke off before its run was over`
  return quotingError('AGENT_ERROR', what, error)
}

function quotingError(code: ErrorCode, what: string, cause: unknown): MillraceError {
  return new MillraceError(code, `${what}: ${errorText(cause)}`, { logMessage: `${what}.`, cause })
}

/** The error of a stream that ended before its run. */
export function endedEarly(name: string, { broken, contentType }: Transport): MillraceError {
  if (broken !== undefined) return brokenOff(name, broken)
  const isStream = contentType === undefined || /event-stream|event\+proto/.test(contentType)
  const message = isStream
    ? `Agent '${name}' ended its stream without RUN_FINISHED or RUN_ERROR: what it said may be cut off.`
    : `Agent '${name}' answered with '${contentType}', not with a stream of events. Is its address right?`
  return new MillraceError('AGENT_ERROR', message)
}

/** The error of a run that ended with RUN_ERROR. The agent's message is for nobody but this process: it may hold secrets. */
export function failedRun(name: string, { message, code }: EventOf<'RUN_ERROR'>): MillraceError {
  return new MillraceError('AGENT_ERROR', `Agent '${name}' failed: ${quoted(message)}`, {
    details: { remoteMessage: message, ...(code === undefined ? {} : { remoteCode: code }) },
    logMessage: `Agent '${name}' failed with the code '${toCodeWord(code) ?? 'none'}'.`,
  })
}

/** Whether the client could not read an event: not JSON, no object, or without a type. Both generations are known. */
function isUnreadable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    error instanceof SyntaxError || error.name === 'ZodError' || error.message.startsWith('Invalid event')
  )
}

/** With the message of its cause, where `fetch` keeps the reason. */
function errorText(error: unknown): string {
  if (!(error instanceof Error)) return quoted(String(error))
  const below = error.cause instanceof Error ? error.cause : undefined
  const { code } = membersOf(below)
  const reason = below && (below.message || (typeof code === 'string' ? code : below.name))
  return quoted(reason === undefined ? error.message : `${error.message} (${reason})`)
}

function membersOf(value: unknown): Partial<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}

function quoted(text: string): string {
  return text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text
}
