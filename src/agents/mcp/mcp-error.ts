import { MillraceError } from '../../core/errors.js'
import { describeServer, hideSecrets, type McpServer } from './mcp-server.js'

const longestReason = 500

/** A TOOL_ERROR about a server. Without `cause`, which could hold what must not be shown. */
export function serverError(server: McpServer, problem: string, ...reasons: unknown[]): MillraceError {
  const reason = reasons.map(toWords).filter(Boolean).join(': ').replaceAll(/\s+/g, ' ')
  const message = `${describeServer(server)} ${problem}: ${hideSecrets(reason, server).slice(0, longestReason)}`
  return new MillraceError('TOOL_ERROR', message)
}

/** What went wrong in a tool call, in words a model can act on. */
export function callError(server: McpServer, toolName: string, error: unknown): MillraceError {
  if (MillraceError.isInstance(error)) return error
  if (codeOf(error) === invalidParams)
    return new MillraceError('INVALID_TOOL_ARGUMENTS', hideSecrets(toWords(error), server))
  const problem = isLoss(error)
    ? `was lost during the call of '${toolName}', which may or may not have been carried out`
    : `failed to run '${toolName}'`
  return serverError(server, problem, error)
}

/**
 * Whether the server refused to handle a request because it does not know the session, for example after a restart.
 * The protocol says 404; servers built after the examples of the SDK say 400.
 */
export function isSessionLost(error: unknown): boolean {
  const code = codeOf(error)
  return code === 404 || code === 400
}

/** Whether it is about one HTTP request: a status, or a network that does not carry it. */
export function isRequestFailure(error: unknown): boolean {
  return error instanceof TypeError || codeOf(error) !== undefined
}

/** Whether the server answered, though with an error, or is only slow. */
export function isSignOfLife(error: unknown): boolean {
  const code = codeOf(error)
  return code !== undefined && code < 0
}

// Of JSON-RPC and MCP. HTTP statuses come in the same field, but positive.
const connectionClosed = -32000
const invalidParams = -32602

function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'number' ? error.code : undefined
}

/** Whether an answer can no longer come. `fetch` throws a TypeError for whatever happens on the network. */
function isLoss(error: unknown): boolean {
  if (error instanceof TypeError) return true
  // The SDK's own words: servers use the same code for errors of all kinds.
  return (
    error instanceof Error &&
    codeOf(error) === connectionClosed &&
    error.message.endsWith('Connection closed')
  )
}

function toWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const status = codeOf(error) ?? 0
  // Node has errors with a code and no message.
  const message = error.message || ('code' in error ? String(error.code) : error.name)
  const words = [
    status > 0 ? `HTTP ${status}` : '',
    message.replace(/^(MCP error -?\d+|Streamable HTTP error): /, ''),
    // `fetch failed` alone says nothing.
    error.cause === undefined ? '' : toWords(error.cause),
  ]
  return words.filter(Boolean).join(': ')
}
