import { MillraceError } from '../../core/errors.js'
import { describeServer, hideSecrets, type McpServer } from './mcp-server.js'

const longestReason = 500

/** A TOOL_ERROR about a server. Without `cause`, which could hold what must not be shown. */
export function serverError(server: McpServer, problem: string, error: unknown): MillraceError {
  const message = `${describeServer(server)} ${problem}: ${reasonOf(error, server)}`
  return new MillraceError('TOOL_ERROR', message)
}

/** What went wrong in a tool call, in words a model can act on. */
export function callError(server: McpServer, toolName: string, error: unknown): MillraceError {
  if (MillraceError.isInstance(error)) return error
  const code = codeOf(error)
  if (code === invalidParams) return new MillraceError('INVALID_TOOL_ARGUMENTS', reasonOf(error, server))
  if (code === connectionClosed && isSaid(error, 'Connection closed'))
    return new MillraceError(
      'TOOL_ERROR',
      `The connection to ${describeServer(server)} was lost during the call of '${toolName}'. The call may have been carried out or not.`,
    )
  return serverError(server, `failed to run '${toolName}'`, error)
}

/**
 * Whether the server refused to handle a request because it does not know the session, for example after a restart.
 * The protocol says 404; servers built after the examples of the SDK say 400.
 */
export function isSessionLost(error: unknown): boolean {
  const code = codeOf(error)
  return code === 404 || code === 400
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

function isSaid(error: unknown, text: string): boolean {
  return error instanceof Error && error.message.endsWith(text)
}

function reasonOf(error: unknown, server: McpServer): string {
  if (!(error instanceof Error)) return hideSecrets(String(error), server)
  const status = codeOf(error)
  const words = [
    status !== undefined && status > 0 ? `HTTP ${status}` : '',
    error.message.replace(/^(MCP error -?\d+|Streamable HTTP error): /, ''),
    // `fetch failed` alone says nothing.
    error.cause instanceof Error ? error.cause.message || String(codeName(error.cause)) : '',
  ]
  const text = words.filter((word) => word !== '').join(': ')
  return hideSecrets(text.replaceAll(/\s+/g, ' '), server).slice(0, longestReason)
}

function codeName(error: Error): unknown {
  return 'code' in error ? error.code : error.name
}
