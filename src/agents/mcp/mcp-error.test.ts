import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import { MillraceError } from '../../core/errors.js'
import { callError, isRequestFailure, isSessionLost, isServerResponse, serverError } from './mcp-error.js'

const server = { name: 'x', url: 'http://a/mcp', headers: { authorization: 'Bearer hush-hush' } }

test.each<[string, unknown, string, string]>([
  ['wrong arguments', new McpError(ErrorCode.InvalidParams, 'no city'), 'INVALID_TOOL_ARGUMENTS', 'no city'],
  [
    'an error of the server',
    new McpError(ErrorCode.InternalError, 'out of hush-hush'),
    'TOOL_ERROR',
    "MCP server 'x' (http://a/mcp) failed to run 'book': out of ***",
  ],
  [
    'an error of the server with the code of a lost connection',
    new McpError(ErrorCode.ConnectionClosed, 'the database is down'),
    'TOOL_ERROR',
    "MCP server 'x' (http://a/mcp) failed to run 'book': the database is down",
  ],
  [
    'a lost connection',
    McpError.fromError(ErrorCode.ConnectionClosed, 'Connection closed'),
    'TOOL_ERROR',
    "MCP server 'x' (http://a/mcp) was lost during the call of 'book', which may or may not have been carried out: Connection closed",
  ],
  [
    'a failing network',
    new TypeError('fetch failed', { cause: Object.assign(new AggregateError([]), { code: 'ECONNRESET' }) }),
    'TOOL_ERROR',
    "MCP server 'x' (http://a/mcp) was lost during the call of 'book', which may or may not have been carried out: fetch failed: ECONNRESET",
  ],
  [
    'a status of HTTP',
    new StreamableHTTPError(502, 'Error POSTing to endpoint: <html>\n  bad'),
    'TOOL_ERROR',
    "MCP server 'x' (http://a/mcp) failed to run 'book': HTTP 502: Error POSTing to endpoint: <html> bad",
  ],
])('%s is told', (_, error, code, message) => {
  expect(callError(server, 'book', error)).toMatchObject({ code, message })
})

test('our own errors pass as they are', () => {
  const error = new MillraceError('TOOL_ERROR', 'no such city')
  expect(callError(server, 'book', error)).toBe(error)
})

test('a long reason is cut', () => {
  expect(serverError(server, 'failed', 'x'.repeat(9999)).message.length).toBeLessThan(600)
})

test.each([
  [new StreamableHTTPError(404, ''), true],
  [new StreamableHTTPError(400, ''), true],
  [new StreamableHTTPError(500, ''), false],
  [new McpError(ErrorCode.InvalidParams, ''), false],
  [new TypeError('fetch failed'), false],
])('%s says whether the session is lost', (error, isLost) => {
  expect(isSessionLost(error)).toBe(isLost)
})

test.each([
  [new McpError(ErrorCode.MethodNotFound, 'ping'), true],
  [new McpError(ErrorCode.RequestTimeout, ''), true],
  [new StreamableHTTPError(404, ''), false],
  [new TypeError('fetch failed'), false],
])('%s says whether the server lives', (error, lives) => {
  expect(isServerResponse(error)).toBe(lives)
})

test.each([
  [new StreamableHTTPError(500, ''), true],
  [new TypeError('fetch failed'), true],
  [new Error('SSE stream disconnected: TypeError: terminated'), false],
])('%s says whether one request failed', (error, isOne) => {
  expect(isRequestFailure(error)).toBe(isOne)
})
