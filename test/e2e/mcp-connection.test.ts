import { describe, expect, test, vi } from 'vitest'
import { runToEnd, toolContext } from '../support/tool-context.js'
import { deadAddress } from './loopback.js'
import {
  bounded,
  call,
  command,
  failureOf,
  listed,
  notebook,
  startHttp,
  toolsOf,
} from './support-mcp-servers.js'

describe('the connection', () => {
  test('is opened once, however many come at the same time', async () => {
    const { env, lines } = notebook()
    const source = toolsOf(command('stdio', env))
    const pids = await Promise.all([1, 2, 3].map(() => call(source, 'pid')))
    expect(new Set(pids).size).toBe(1)
    expect(lines()).toEqual([`start ${String(pids[0])}`])
  })

  test('is opened again after the process was killed', async () => {
    const source = toolsOf(command('stdio'))
    const pid = (await listed(source)).get('pid')
    const first = Number((await runToEnd(pid?.call({}, toolContext()))).result)
    process.kill(first, 'SIGKILL')
    await vi.waitFor(async () => {
      const { result } = await runToEnd(pid?.call({}, toolContext()))
      expect(Number(result)).not.toBe(first)
    }, bounded)
  })

  test('is opened again after the server was restarted, without a failed call', async () => {
    const first = await startHttp()
    const source = toolsOf({ url: first.url })
    const pid = (await listed(source)).get('pid')
    const before = (await runToEnd(pid?.call({}, toolContext()))).result
    await first.kill()
    await startHttp({}, first.port)
    const after = (await runToEnd(pid?.call({}, toolContext()))).result
    expect(after).not.toBe(before)
  })

  test.each(['stdio', 'HTTP'])(
    'lost during a call over %s fails the call and does not repeat it',
    async (way) => {
      const { env, lines } = notebook()
      const http = way === 'HTTP' ? await startHttp(env) : undefined
      const source = toolsOf(http ? { url: http.url } : command('stdio', env))
      expect(await failureOf(call(source, 'die'))).toMatchObject({
        code: 'TOOL_ERROR',
        message: expect.stringMatching(
          / was lost during the call of 'die', which may or may not have been carried out: /,
        ) as string,
      })
      if (http) await startHttp(env, http.port)
      expect(await call(source, 'echo', { text: 'back' })).toBe('back')
      expect(lines().filter((line) => line === 'die')).toHaveLength(1)
    },
  )

  test('cut in the middle of an answer fails the call', async () => {
    const { env, lines } = notebook()
    const http = await startHttp(env)
    const outcome = failureOf(call(toolsOf({ url: http.url }), 'hang'))
    await vi.waitFor(() => expect(lines()).toContain('hang'), bounded)
    await http.kill()
    expect(await outcome).toMatchObject({
      code: 'TOOL_ERROR',
      message: expect.stringContaining(" was lost during the call of 'hang', ") as string,
    })
  })

  test('is left in the manner of the protocol', async () => {
    const { env, lines } = notebook()
    const { url } = await startHttp(env)
    const source = toolsOf({ url })
    await listed(source)
    await source.close()
    expect(lines()).toContain('session ended')
  })

  test('ends the process when it is closed', async () => {
    const source = toolsOf(command('stdio'))
    const pid = Number(await call(source, 'pid'))
    await source.close()
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  test('closed while it is being opened leaves no process behind', async () => {
    const { env, lines } = notebook()
    const source = toolsOf(command('stdio', env))
    const outcome = failureOf(call(source, 'echo', { text: 'a' }))
    await source.close()
    expect(await outcome).toMatchObject({ code: 'TOOL_ERROR' })
    const [start, ...others] = lines()
    expect(others).toEqual([])
    expect(() => process.kill(Number(start?.split(' ')[1]), 0)).toThrow('ESRCH')
  })

  test('a run that is cancelled does not wait for it, others do', async () => {
    const source = toolsOf(command('stdio'))
    const run = new AbortController()
    const cancelled = failureOf(source.tools({ signal: run.signal }))
    const other = listed(source)
    const reason = new Error('the user left')
    run.abort(reason)
    expect(await cancelled).toBe(reason)
    expect((await other).has('echo')).toBe(true)
  })
})

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
