import { describe, expect, it, onTestFinished } from 'vitest'
import { manualClock } from '../core/clock.js'
import {
  scriptedFetch,
  threadAtRest,
  type Reply,
  type SentRequest,
} from '../../test/support/scripted-fetch.js'
import { createClient, type ClientOptions } from './index.js'

const refusal = (status: number, code: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  json: { error: { code, message: 'No.' } },
})

function setUp(answer: (request: SentRequest, index: number) => Reply, options: Partial<ClientOptions> = {}) {
  const clock = manualClock()
  const server = scriptedFetch(answer)
  const client = createClient({
    url: 'http://localhost/',
    fetch: server.fetch,
    clock,
    random: () => 0,
    ...options,
  })
  const thread = client.thread('agent', 't')
  onTestFinished(() => thread.close())
  return { clock, server, client, thread, follow: () => thread.subscribe(() => undefined) }
}

const routesOf = (routes: readonly string[]) => routes.map((route) => route.slice(route.lastIndexOf('/') + 1))

describe('a client that is refused', () => {
  it('asks for a token once more after 401, and gives up after a second', async () => {
    const asked: boolean[] = []
    const headers = ({ isRefused }: { isRefused: boolean }) => {
      asked.push(isRefused)
      return { authorization: isRefused ? 'fresh' : 'stale' }
    }
    const { server, thread, clock, follow } = setUp(
      ({ headers: sent }) =>
        sent.get('authorization') === 'fresh' ? 'stream' : refusal(401, 'UNAUTHENTICATED'),
      { headers },
    )
    follow()
    await clock.advance(0)
    expect(asked).toEqual([false, true])
    expect(server.streams).toHaveLength(1)
    expect(thread.getSnapshot().connection).toBe('open')

    const other = setUp(() => refusal(401, 'UNAUTHENTICATED'), { headers })
    other.follow()
    await other.clock.advance(60_000)
    expect(other.server.requests).toHaveLength(2)
    expect(other.thread.getSnapshot()).toMatchObject({
      connection: 'closed',
      error: { code: 'UNAUTHENTICATED' },
    })
  })

  it.each([
    [400, 'INVALID_INPUT'],
    [413, 'PAYLOAD_TOO_LARGE'],
    [404, 'AGENT_NOT_FOUND'],
  ])('does not send a message again after %i, and takes it back', async (status, code) => {
    const { server, thread, clock } = setUp(() => refusal(status, code))
    const result = thread.send('Hello')
    await clock.advance(60_000)
    expect(await result).toMatchObject({ status: 'failed', error: { code } })
    expect(server.requests).toHaveLength(1)
    expect(thread.getSnapshot()).toMatchObject({ messages: [], error: { code } })
  })

  it.each([
    [429, 'TOO_MANY_RUNS'],
    [503, 'SERVER_CLOSING'],
  ])('waits as long as the server asks for after %i', async (status, code) => {
    const { server, thread, clock } = setUp((_, index) =>
      index === 0 ? refusal(status, code, { 'retry-after': '7' }) : 'stream',
    )
    void thread.send('Hello')
    await clock.advance(6_999)
    expect(server.requests).toHaveLength(1)
    expect(thread.getSnapshot()).toMatchObject({ connection: 'retrying', messages: [{ content: 'Hello' }] })
    await clock.advance(1)
    expect(routesOf(server.routes())).toEqual(['run', 'run'])
    expect(server.requests[1]?.body.runId).toBe(server.requests[0]?.body.runId)
  })

  it('follows the run that holds the thread after 409, and sends when it is over', async () => {
    const { server, thread, clock } = setUp((_, index) =>
      index === 0 ? refusal(409, 'THREAD_IS_LOCKED') : 'stream',
    )
    void thread.send('Hello')
    await clock.advance(0)
    expect(routesOf(server.routes())).toEqual(['run', 'follow'])
    server.streams[0]?.write(...threadAtRest(4, ['Other']))
    await clock.advance(0)
    expect(routesOf(server.routes())).toEqual(['run', 'follow', 'run'])
    expect(server.requests[2]?.headers.get('millrace-version')).toBe('4')
  })
})

describe('a client whose connection breaks', () => {
  it('waits longer each time, up to a limit', async () => {
    const { server, clock, follow } = setUp(() => 'down', { retry: { firstMs: 100, maxMs: 400 } })
    follow()
    const counts: number[] = []
    for (const ms of [0, 50, 100, 200, 200, 200]) {
      await clock.advance(ms)
      counts.push(server.requests.length)
    }
    expect(counts).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('looks whether a message has arrived before it sends it again', async () => {
    const { server, thread, clock } = setUp((_, index) => (index === 0 ? 'down' : 'stream'))
    const result = thread.send('Hello')
    await clock.advance(1_000)
    expect(routesOf(server.routes())).toEqual(['run', 'follow'])
    const [run] = server.requests
    const [message] = run?.body.messages as [{ id: string }]
    const [started, custom, , ...rest] = threadAtRest(1)
    server.streams[0]?.write(...([started, custom] as never[]))
    server.streams[0]?.write({ type: 'MESSAGES_SNAPSHOT', messages: [message as never] }, ...rest)
    await clock.advance(0)
    expect(await result).toMatchObject({ status: 'completed' })
    expect(server.requests).toHaveLength(2)
    expect(thread.getSnapshot().messages).toEqual([message])
  })

  it('comes back with the last event that it has, and takes no event twice', async () => {
    const { server, thread, clock, follow } = setUp(() => 'stream')
    follow()
    await clock.advance(0)
    const text = (delta: string, id: string) =>
      ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta, id }) as const
    server.streams[0]?.write(...threadAtRest(1))
    server.streams[0]?.write(
      { type: 'RUN_STARTED', threadId: 't', runId: 'r', id: 'r:0' },
      { type: 'TEXT_MESSAGE_START', messageId: 'a', role: 'assistant', id: 'r:1' },
      text('Good ', 'r:2'),
    )
    await clock.advance(0)
    // In the middle of an event.
    server.streams[0]?.writeText('id: r:3\ndata: {"type":"TEXT_MESS')
    server.streams[0]?.fail()
    await clock.advance(1_000)
    expect(server.requests[1]?.headers.get('last-event-id')).toBe('r:2')
    expect(server.requests[1]?.body.version).toBe(1)
    server.streams[1]?.write(text('Good ', 'r:2'), text('morning', 'r:3'))
    await clock.advance(0)
    expect(thread.getSnapshot().messages).toMatchObject([{ content: 'Good morning' }])
  })

  it('gives up on a frame that is too large to be read', async () => {
    const { server, thread, clock, follow } = setUp(() => 'stream')
    follow()
    await clock.advance(0)
    server.streams[0]?.writeText(`data: ${'x'.repeat(10 * 1024 * 1024)}`)
    server.streams[0]?.writeText('x')
    await clock.advance(60_000)
    expect(server.requests).toHaveLength(1)
    expect(thread.getSnapshot()).toMatchObject({ connection: 'closed', error: { code: 'INVALID_EVENT' } })
  })

  it('connects again when nothing was heard for too long, not even a heartbeat', async () => {
    const { server, thread, clock, follow } = setUp(() => 'stream', { timeoutMs: 1_000 })
    follow()
    await clock.advance(900)
    server.streams[0]?.writeText(': keep-alive\n\n')
    await clock.advance(900)
    expect(server.requests).toHaveLength(1)
    await clock.advance(101)
    expect(thread.getSnapshot().connection).toBe('retrying')
    await clock.advance(1_000)
    expect(server.requests).toHaveLength(2)
  })

  it('asks at once when the browser is online again', async () => {
    const listeners = new Set<() => void>()
    const page = globalThis as { addEventListener?: unknown; removeEventListener?: unknown }
    const before = { addEventListener: page.addEventListener, removeEventListener: page.removeEventListener }
    onTestFinished(() => {
      Object.assign(page, before)
    })
    page.addEventListener = (_: string, listener: () => void) => listeners.add(listener)
    page.removeEventListener = (_: string, listener: () => void) => listeners.delete(listener)
    const { server, clock, follow } = setUp((_, index) => (index < 5 ? 'down' : 'stream'))
    follow()
    for (let turn = 0; turn < 5; turn++) {
      await clock.advance(0)
      for (const listener of [...listeners]) listener()
    }
    await clock.advance(0)
    expect(server.streams).toHaveLength(1)
    expect(listeners.size).toBe(0)
  })

  it('does not send a patch twice that may have arrived', async () => {
    const { server, thread, clock } = setUp(({ route }) => (route.startsWith('PATCH') ? 'down' : 'stream'))
    const result = thread.patchState([{ op: 'add', path: '/list/-', value: 1 }])
    await clock.advance(60_000)
    expect(await result).toMatchObject({ status: 'failed', error: { code: 'NETWORK_ERROR' } })
    expect(server.requests.filter(({ route }) => route.startsWith('PATCH'))).toHaveLength(1)
  })
})

describe('a client that gets many events', () => {
  it('tells its listeners once a tick, and changes only the message that grows', async () => {
    const { server, thread, clock } = setUp(() => 'stream')
    let notified = 0
    thread.subscribe(() => {
      notified++
    })
    await clock.advance(0)
    const texts = Array.from({ length: 500 }, (_, index) => `message ${index}`)
    server.streams[0]?.write(...threadAtRest(1, texts))
    server.streams[0]?.write(
      { type: 'RUN_STARTED', threadId: 't', runId: 'r', id: 'r:0' },
      { type: 'TEXT_MESSAGE_START', messageId: 'a', role: 'assistant', id: 'r:1' },
    )
    await clock.advance(0)
    const before = thread.getSnapshot().messages
    notified = 0
    const [chunks, eventsPerChunk] = [50, 1_000]
    for (let chunk = 0; chunk < chunks; chunk++) {
      let frames = ''
      for (let n = 0; n < eventsPerChunk; n++)
        frames += `id: r:${2 + chunk * eventsPerChunk + n}\ndata: {"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"x"}\n\n`
      server.streams[0]?.writeText(frames)
      await clock.advance(0)
    }
    const { messages } = thread.getSnapshot()
    expect(messages.at(-1)?.content).toHaveLength(chunks * eventsPerChunk)
    expect(notified).toBeLessThanOrEqual(2 * chunks)
    expect(messages.slice(0, 500).every((message, index) => message === before[index])).toBe(true)
    expect(before.at(-1)).toMatchObject({ content: '' })
  })
})
