import { describe, expect, test } from 'vitest'
import { checkServer, describeServer, redactSecrets, type McpServer } from './mcp-server.js'
import { mcpTools } from './mcp-tools.js'

test.each([
  [{}, 'An MCP server needs either a `command` or a `url`.'],
  [{ command: 'a', url: 'http://a' }, 'An MCP server needs either a `command` or a `url`.'],
  [{ command: '' }, 'The `command` of an MCP server is empty.'],
  [{ url: 'hush-hush' }, 'The `url` of an MCP server is not a URL.'],
  [{ url: 'file:///etc' }, 'The `url` of an MCP server must be of http or https, not of file:'],
])('%j is refused', (server, message) => {
  const refusal = expect.objectContaining({ code: 'INVALID_AGENT', message }) as Error
  expect(() => mcpTools(server as McpServer)).toThrow(refusal)
})

test.each<[McpServer]>([
  [{ command: 'npx' }],
  [{ url: 'http://localhost:1/mcp' }],
  [{ url: new URL('https://example.com/mcp') }],
])('%j is accepted', (server) => {
  expect(() => checkServer(server)).not.toThrow()
})

test.each([
  [{ timeoutMs: 0 }, '`timeoutMs` of an MCP server must be more than 0.'],
  [{ connectTimeoutMs: NaN }, '`connectTimeoutMs` of an MCP server must be more than 0.'],
])('%j is no time', (options, message) => {
  const refusal = expect.objectContaining({ code: 'INVALID_AGENT', message }) as Error
  expect(() => mcpTools({ command: 'npx' }, options)).toThrow(refusal)
})

describe('messages', () => {
  test.each<[McpServer, string]>([
    [{ command: 'npx', args: ['--key', 'hush'] }, "MCP server (command 'npx')"],
    [{ name: 'files', command: 'npx' }, "MCP server 'files' (command 'npx')"],
    [{ url: 'https://me:hush@example.com:1/mcp?key=hush#hush' }, 'MCP server (https://example.com:1/mcp)'],
    [{ name: 'search', url: new URL('http://a/') }, "MCP server 'search' (http://a/)"],
  ])('name a server without what may be secret', (server, name) => {
    expect(describeServer(server)).toBe(name)
  })

  test('do not repeat secrets', () => {
    const command = { command: 'a', env: { KEY: 'hush', LANG: 'en' } }
    expect(redactSecrets('bad key hush, hushhush, when', command)).toBe('bad key ***, ******, when')
    const headers = { authorization: 'Bearer silent-night' }
    expect(redactSecrets('Bearer silent-night is not silent-night', { url: 'http://a', headers })).toBe(
      '*** is not ***',
    )
    const url = 'http://me:p%zzw@a?key=quiet&token=q%2Bqq'
    expect(redactSecrets('p%zzw, quiet, q+qq, q%2Bqq, token', { url })).toBe('***, ***, ***, ***, token')
  })
})
