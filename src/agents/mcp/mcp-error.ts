import { MillraceError } from '../../core/errors.js'
import { describeServer, redactSecrets, type McpServer } from './mcp-server.js'

const maxReasonLength = 500

/** A TOOL_ERROR about a server. It has no `cause`, which could contain secrets. */
export function serverError(server: McpServer, problem: string, ...reasons: unknown[]): MillraceError {
  const reason = reasons.map(toErrorText).filter(Boolean).join(': ').replaceAll(/\s+/g, ' ')
  const what = `${describeServer(server)} ${problem}`
  const quoted = redactSecrets(reason, server).slice(0, maxReasonLength)
  return new MillraceError('TOOL_ERROR', `${what}: ${quoted}`, { logMessage: `${what}.` })
}

/** The error of a failed call, in words that a model can act on. */
export function callError(server: McpServer, toolName: string, error: unknown): MillraceError {
  if (MillraceError.isInstance(error)) return error
  if (errorCode(error) === invalidParams)
    return new MillraceError('INVALID_TOOL_ARGUMENTS', redactSecrets(toErrorText(error), server), {
      logMessage: `${describeServer(server)} refused the arguments of '${toolName}'.`,
    })
  const problem = isConnectionLoss(error)
    ? `was lost during the call of '${toolName}', which may or may not have been carried out`
    : `failed to run '${toolName}'`
  return serverError(server, problem, error)
}

/**
 * Whether the server refused a request because it does not know the session, for example after a restart. The protocol
 * says 404; servers modelled on the examples of the SDK say 400.
 */
export function isSessionLost(error: unknown): boolean {
  const code = errorCode(error)
  return code === 404 || code === 400
}

/** Whether the error is about one HTTP request: a status, or a failure of the network. */
export function isRequestFailure(error: unknown): boolean {
  return error instanceof TypeError || errorCode(error) !== undefined
}

/** Whether the server responded, if only with an error, or is just slow. */
export function isServerResponse(error: unknown): boolean {
  const code = errorCode(error)
  return code !== undefined && code < 0
}

// Codes of JSON-RPC and MCP are negative; HTTP statuses come in the same field.
const connectionClosed = -32000
const invalidParams = -32602

function errorCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'number' ? error.code : undefined
}

/** Whether a response can no longer come. `fetch` throws a TypeError for any failure of the network. */
function isConnectionLoss(error: unknown): boolean {
  if (error instanceof TypeError) return true
  // The SDK's own message: servers use the same code for errors of all kinds.
  return (
    error instanceof Error &&
    errorCode(error) === connectionClosed &&
    error.message.endsWith('Connection closed')
  )
}

function toErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const status = errorCode(error) ?? 0
  // Some errors of Node have a code but no message.
  const message = error.message || ('code' in error ? String(error.code) : error.name)
  const parts = [
    status > 0 ? `HTTP ${status}` : '',
    message.replace(/^(MCP error -?\d+|Streamable HTTP error): /, ''),
    // `fetch failed` alone says nothing.
    error.cause === undefined ? '' : toErrorText(error.cause),
  ]
  return parts.filter(Boolean).join(': ')
}
