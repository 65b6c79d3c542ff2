import { describe, expect, test, vi } from 'vitest'
import { runToEnd, toolContext } from '../support/tool-context.js'
import {
  bounded,
  call,
  command,
  failureOf,
  listed,
  notebook,
  spyingFetch,
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

  test('is opened again when the server has forgotten the session, without a failed call', async () => {
    const { env, lines } = notebook()
    const { url } = await startHttp(env)
    const source = toolsOf({ url })
    const tools = await listed(source)
    await runToEnd(tools.get('forget')?.call({}, toolContext()))
    const echo = tools.get('echo')
    const both = ['a', 'b'].map((text) => runToEnd(echo?.call({ text }, toolContext())))
    expect(await Promise.all(both)).toMatchObject([{ result: 'a' }, { result: 'b' }])
    expect(
      lines()
        .filter((line) => line.startsWith('echo'))
        .sort(),
    ).toEqual(['echo a', 'echo b'])
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

  test('without a stream for notifications is replaced by one that has it', async () => {
    const { url } = await startHttp()
    const spy = spyingFetch()
    let streams = 0
    const source = toolsOf({
      url,
      fetch: (input, init) => {
        if (init?.method !== 'GET') return spy.fetch(input, init)
        streams += 1
        // The first ends at once and asks to be opened again without delay, which then fails.
        const headers = { 'content-type': 'text/event-stream' }
        return Promise.resolve(new Response('retry: 1\n\n', { headers, status: streams === 1 ? 200 : 502 }))
      },
    })
    const opened = () => spy.requests.filter((request) => request.includes('"initialize"')).length
    await vi.waitFor(async () => {
      await call(source, 'echo', { text: 'hello' })
      expect(opened()).toBe(2)
    }, bounded)
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
