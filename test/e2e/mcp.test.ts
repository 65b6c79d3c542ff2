import { describe, expect, test, vi } from 'vitest'
import { toResultContent } from '../../src/agents/tool-result.js'
import { runToEnd, toolContext } from '../support/tool-context.js'
import { deadAddress } from './loopback.js'
import { call, command, listed, notebook, startHttp, toolsOf } from './support-mcp-servers.js'

const bounded = { timeout: 10_000, interval: 20 }

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no failure',
    (error: unknown) => error,
  )
}

describe.each([
  ['stdio', () => Promise.resolve(command('stdio'))],
  ['HTTP', async () => ({ url: (await startHttp()).url })],
])('over %s', (_, serve) => {
  test('tools are listed with their schemas and called', async () => {
    const source = toolsOf(await serve())
    const echo = (await listed(source)).get('echo')
    expect(echo).toMatchObject({
      description: 'Says it again.',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    })
    expect(await call(source, 'echo', { text: 'hello' })).toBe('hello')
  })

  test('annotations are not told to anyone', async () => {
    const pid = (await listed(toolsOf(await serve()))).get('pid')
    expect(Object.keys(pid ?? {}).sort()).toEqual(['call', 'description', 'name', 'parameters'])
  })

  test('structured content comes as data, images come as parts', async () => {
    const source = toolsOf(await serve())
    expect(await call(source, 'add', { a: 1, b: 2 })).toEqual({ sum: 3 })
    expect(toResultContent(await call(source, 'picture'), 'picture')).toEqual([
      { type: 'text', text: 'A dot.' },
      { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } },
    ])
  })

  test('a failure comes in the words of the server', async () => {
    const source = toolsOf(await serve())
    expect(await failureOf(call(source, 'fail'))).toMatchObject({
      code: 'TOOL_ERROR',
      message: 'no such city',
    })
    expect(await failureOf(call(source, 'echo', { text: 1 }))).toMatchObject({
      message: expect.stringContaining('text') as string,
    })
    expect(await failureOf(call(source, 'echo', 'hello'))).toMatchObject({ code: 'INVALID_TOOL_ARGUMENTS' })
  })

  test('progress is yielded on the way', async () => {
    const count = (await listed(toolsOf(await serve()))).get('count')
    const { progress, result } = await runToEnd(count?.call({ to: 3 }, toolContext()))
    expect(result).toBe('counted')
    expect(progress).toEqual([
      { progress: 1, total: 3, message: 'step 1' },
      { progress: 2, total: 3, message: 'step 2' },
      { progress: 3, total: 3, message: 'step 3' },
    ])
  })

  test('tools that the server adds later are offered', async () => {
    const source = toolsOf(await serve())
    expect([...(await listed(source)).keys()]).not.toContain('grown_tool')
    await call(source, 'grow')
    await vi.waitFor(async () => expect(await call(source, 'grown_tool')).toBe('new'), bounded)
  })

  test('an abort reaches the server and ends the call with its reason', async () => {
    const source = toolsOf(await serve())
    const hang = (await listed(source)).get('hang')
    const run = new AbortController()
    const outcome = failureOf(runToEnd(hang?.call({}, toolContext({ signal: run.signal }))))
    // The answer to a later request says that the earlier one has arrived.
    expect(await call(source, 'cancelled')).toBe('0')
    const reason = new Error('the user left')
    run.abort(reason)
    expect(await outcome).toBe(reason)
    await vi.waitFor(async () => expect(await call(source, 'cancelled')).toBe('1'), bounded)
  })

  test('an abort after the end cancels nothing', async () => {
    const source = toolsOf(await serve())
    const run = new AbortController()
    const echo = (await listed(source)).get('echo')
    await runToEnd(echo?.call({ text: 'a' }, toolContext({ signal: run.signal })))
    run.abort()
    expect(await call(source, 'echo', { text: 'b' })).toBe('b')
  })

  test('a call that gets no answer in time fails and is cancelled', async () => {
    const source = toolsOf(await serve(), { timeoutMs: 300 })
    expect(await failureOf(call(source, 'hang'))).toMatchObject({
      code: 'TOOL_ERROR',
      message: expect.stringMatching(/^MCP server .* failed to run 'hang': Request timed out$/) as string,
    })
    await vi.waitFor(async () => expect(await call(source, 'cancelled')).toBe('1'), bounded)
  })

  test('whoever uses closed tools is told so', async () => {
    const source = toolsOf(await serve())
    const echo = (await listed(source)).get('echo')
    await source.close()
    await source.close()
    const closed = { code: 'TOOL_ERROR', message: expect.stringMatching(/ has been closed\.$/) as string }
    expect(await failureOf(runToEnd(echo?.call({ text: 'a' }, toolContext())))).toMatchObject(closed)
    expect(await failureOf(listed(source))).toMatchObject(closed)
  })
})

describe('the connection', () => {
  test('is opened once, however many come at the same time', async () => {
    const { env, lines } = notebook()
    const source = toolsOf(command('stdio', env))
    const pids = await Promise.all([1, 2, 3].map(() => call(source, 'pid')))
    expect(new Set(pids).size).toBe(1)
    expect(lines()).toEqual(['start stdio'])
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
    expect(lines()).toEqual(['start stdio'])
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

describe('what is offered', () => {
  test('all pages of the list', async () => {
    expect([...(await listed(toolsOf(command('paged')))).keys()]).toEqual(['one', 'two', 'three'])
  })

  test('a list that comes back to itself is refused', async () => {
    const source = toolsOf(command('paged', { MCP_TEST_FIRST_PAGE: 'loop' }))
    expect(await failureOf(listed(source))).toMatchObject({
      code: 'TOOL_ERROR',
      message: expect.stringContaining('does not list its tools: the list does not end') as string,
    })
  })

  test('nothing, when the server has no tools', async () => {
    expect((await listed(toolsOf(command('no-tools')))).size).toBe(0)
  })

  test('a choice of tools, under names of our own', async () => {
    const options = { prefix: 'test.', include: ['echo', 'pid', 'fail'], exclude: ['fail'] }
    const source = toolsOf(command('stdio'), options)
    expect([...(await listed(source)).keys()]).toEqual(['test_echo', 'test_pid'])
    expect(await call(source, 'test_echo', { text: 'hello' })).toBe('hello')
  })

  test('not two tools of one name', async () => {
    const source = toolsOf(command('stdio'), { prefix: 'x'.repeat(64) })
    expect(await failureOf(listed(source))).toMatchObject({
      code: 'INVALID_AGENT',
      message: expect.stringMatching(/two tools that would both be called 'x{64}'\. Leave one out/) as string,
    })
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

test('only the variables that were given reach the process', async () => {
  vi.stubEnv('MILLRACE_TEST_SECRET', 'ours')
  try {
    const source = toolsOf(command('stdio', { GIVEN: 'theirs' }))
    expect(await call(source, 'env', { name: 'MILLRACE_TEST_SECRET' })).toBe('')
    expect(await call(source, 'env', { name: 'GIVEN' })).toBe('theirs')
  } finally {
    vi.unstubAllEnvs()
  }
})

test('a fetch of our own is used for all requests', async () => {
  const { url } = await startHttp()
  const methods: unknown[] = []
  const source = toolsOf({
    url,
    fetch: (input, init) => {
      methods.push(init?.method)
      return fetch(input, init)
    },
  })
  await call(source, 'echo', { text: 'hello' })
  await source.close()
  expect(new Set(methods)).toEqual(new Set(['POST', 'GET', 'DELETE']))
})
