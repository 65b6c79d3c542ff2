import { describe, expect, test } from 'vitest'
import { deadAddress } from './loopback.js'
import { call, command, failureOf, listed, startHttp, toolsOf } from './support-mcp-servers.js'

describe('a server that cannot be used', () => {
  test('a command that does not exist', async () => {
    const source = toolsOf({ name: 'files', command: 'no-such-command-here', args: ['--token', 'hush-hush'] })
    expect(await failureOf(listed(source))).toMatchObject({
      code: 'TOOL_ERROR',
      message:
        "MCP server 'files' (command 'no-such-command-here') cannot be started: spawn no-such-command-here ENOENT",
    })
  })

  test('a process that ends at once is quoted, without its secrets', async () => {
    const told: string[] = []
    const server = {
      ...command('broken', { API_KEY: 'hush-hush' }),
      onStderr: (text: string) => told.push(text),
    }
    const failure = await failureOf(listed(toolsOf(server)))
    expect(failure).toMatchObject({
      code: 'TOOL_ERROR',
      message: `MCP server (command '${process.execPath}') cannot be started: Connection closed: the key *** is not valid`,
    })
    expect(failure).not.toHaveProperty('cause')
    expect(told.join('')).toBe('the key hush-hush is not valid\n')
  })

  test('a process that never answers', async () => {
    const source = toolsOf(command('silent'), { connectTimeoutMs: 200 })
    expect(await failureOf(listed(source))).toMatchObject({
      message: expect.stringMatching(/cannot be started: Request timed out$/) as string,
    })
  })

  test('an address where nothing listens', async () => {
    const url = await deadAddress()
    expect(await failureOf(listed(toolsOf({ name: 'search', url: `${url}?key=hush-hush` })))).toMatchObject({
      code: 'TOOL_ERROR',
      message: expect.stringMatching(
        new RegExp(`^MCP server 'search' \\(${url}\\) cannot be reached: fetch failed: connect ECONNREFUSED`),
      ) as string,
    })
  })

  test('a server that refuses us, even if it repeats our secrets', async () => {
    const { url } = await startHttp({ MCP_TEST_TOKEN: 'right-token' })
    const wrong = toolsOf({ url, headers: { authorization: 'Bearer wrong-token' } })
    const failure = await failureOf(listed(wrong))
    expect(failure).toMatchObject({
      message: `MCP server (${url}) cannot be reached: HTTP 401: Error POSTing to endpoint: refused: ***`,
    })
    const right = toolsOf({ url, headers: { authorization: 'Bearer right-token' } })
    expect(await call(right, 'echo', { text: 'let in' })).toBe('let in')
  })

  test('a header that is none, which the runtime would quote', async () => {
    const source = toolsOf({ url: await deadAddress(), headers: { authorization: 'Bearer hush\nhush' } })
    const failure = await failureOf(listed(source))
    expect(failure).toMatchObject({ code: 'TOOL_ERROR' })
    expect(String(failure)).not.toContain('hush')
  })

  test('is tried again at the next use', async () => {
    const { url, port, kill } = await startHttp()
    await kill()
    const source = toolsOf({ url })
    expect(await failureOf(listed(source))).toMatchObject({ code: 'TOOL_ERROR' })
    await startHttp({}, port)
    expect(await call(source, 'echo', { text: 'at last' })).toBe('at last')
  })
})
