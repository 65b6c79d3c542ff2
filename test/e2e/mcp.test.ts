import { describe, expect, test, vi } from 'vitest'
import { toResultContent } from '../../src/agents/tools/tool-result.js'
import { runToEnd, toolContext } from '../support/tool-context.js'
import {
  bounded,
  call,
  command,
  failureOf,
  listed,
  sharedHttp,
  spyingFetch,
  toolsOf,
} from './support-mcp-servers.js'

const httpUrl = sharedHttp()

describe.each([
  ['stdio', () => Promise.resolve(command('stdio'))],
  ['HTTP', async () => ({ url: await httpUrl() })],
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

  test('a call that gets no answer in time fails and is cancelled', async () => {
    const source = toolsOf(await serve(), { timeoutMs: 1000 })
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

describe('what is offered', () => {
  test('all pages of the list, without tools that only run as tasks', async () => {
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

describe('a fetch of our own', () => {
  async function spied() {
    const { fetch, requests } = spyingFetch()
    return { source: toolsOf({ url: await httpUrl(), fetch }), requests }
  }

  test('is used for all requests', async () => {
    const { source, requests } = await spied()
    await call(source, 'echo', { text: 'hello' })
    await source.close()
    expect(new Set(requests.map((request) => request.split(' ')[0]))).toEqual(
      new Set(['POST', 'GET', 'DELETE']),
    )
  })

  test('sees that an abort after the end of a call cancels nothing', async () => {
    const { source, requests } = await spied()
    const echo = (await listed(source)).get('echo')
    const run = new AbortController()
    await runToEnd(echo?.call({ text: 'a' }, toolContext({ signal: run.signal })))
    run.abort()
    await call(source, 'echo', { text: 'b' })
    expect(requests.filter((request) => request.includes('tools/call'))).toHaveLength(2)
    expect(requests.filter((request) => request.includes('notifications/cancelled'))).toEqual([])
  })

  test('sees that a reader who leaves cancels the call', async () => {
    const { source, requests } = await spied()
    const count = (await listed(source)).get('count')
    const stream = count?.call({ to: 1000 }, toolContext()) as AsyncGenerator
    expect(await stream.next()).toMatchObject({ value: { progress: 1 } })
    await stream.return(undefined)
    const cancelled = () => requests.filter((request) => request.includes('notifications/cancelled'))
    await vi.waitFor(() => expect(cancelled()).toHaveLength(1), bounded)
  })
})

test('a time without end is a long time', async () => {
  const source = toolsOf({ url: await httpUrl() }, { timeoutMs: Infinity, connectTimeoutMs: Infinity })
  expect(await call(source, 'echo', { text: 'hello' })).toBe('hello')
})
