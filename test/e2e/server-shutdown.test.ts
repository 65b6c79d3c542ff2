import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createServer, type Logger } from '../../src/server/index.js'
import { serve } from '../../src/server/node.js'
import { assertValidStream } from '../../src/testing/index.js'
import { createMemoryStore } from '../../src/threads/memory/store.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import type { Store } from '../../src/threads/contract.js'
import { deferred } from '../support/run-agent.js'
import { servingChildren } from './support-child.js'
import { newClient, oldClient, eventsTo } from './support-clients.js'
import { gatedAgent } from './support-gated.js'
import { ask, historyOf, inputOf, listed, serving, stores, temporaryFolder, user } from './support-server.js'
import { openStream, says, textIn } from './support-stream.js'

const start = servingChildren()
const gated = inputOf({ messages: [user('u1', 'gate')] })
const hanging = inputOf({ messages: [user('u1', 'hang')] })
const speaking = inputOf({ messages: [user('u1', 'Speak.')] })
const closing = { type: 'RUN_ERROR', code: 'SERVER_CLOSING' }
const post = 'POST /run HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'

const ignore = () => undefined
const silentLog: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** Resolves when the server says that it takes no more. */
async function isClosing(url: string): Promise<void> {
  await expect.poll(async () => (await ask(`${url}/readyz`)).status).toBe(503)
}

describe('a process that gets a signal', () => {
  it('lets a run finish that does so in time, and ends well', async () => {
    const child = await start(join(temporaryFolder(), 'threads.db'))
    const stream = await openStream(`${child.url}/run`, { body: gated })
    await stream.until(says('First.'))
    child.signal('SIGTERM')
    await isClosing(child.url)
    child.goOn()
    await stream.whole()
    assertValidStream(stream.events, { input: gated })
    expect(textIn(stream.events)).toBe('First. Last.')
    expect(stream.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    expect(await child.ended).toEqual({ code: 0, signal: null })
  })

  it('takes nothing new while it shuts down, and says so', async () => {
    const child = await start(join(temporaryFolder(), 'threads.db'))
    const stream = await openStream(`${child.url}/run`, { body: gated })
    await stream.until(says('First.'))
    child.signal('SIGTERM')
    await isClosing(child.url)
    expect(await ask(`${child.url}/readyz`)).toMatchObject({ status: 503, body: { status: 'closing' } })
    const other = inputOf({ threadId: 'thread-2', messages: [user('u1', 'hello')] })
    expect(await ask(`${child.url}/run`, { body: other })).toMatchObject({
      status: 503,
      body: { error: { code: 'SERVER_CLOSING' } },
    })
    // Who has lost the connection can still come back for the rest.
    const second = await openStream(`${child.url}/connect`, {
      body: { threadId: 'thread-1', protocolVersion: '1.0' },
      headers: { 'last-event-id': stream.lastId ?? '' },
    })
    child.goOn()
    await Promise.all([stream.whole(), second.whole()])
    const seen = stream.events.length - second.events.length
    assertValidStream([...stream.events.slice(0, seen), ...second.events], { input: gated })
    expect(textIn(second.events)).toBe('Last.')
    expect(await child.ended).toEqual({ code: 0, signal: null })
  })

  it('ends a run that takes too long as a stream ends, and its thread goes on in the next process', async () => {
    const path = join(temporaryFolder(), 'threads.db')
    const first = await start(path, 100)
    const stream = await openStream(`${first.url}/run`, { body: hanging })
    await stream.until(says('words'))
    const clients = [newClient, oldClient].map((makeClient, n) => {
      const client = makeClient({ url: first.url, threadId: `client-${n}` })
      client.addMessage(user('u1', 'hang'))
      const events = eventsTo(client)
      return { events, done: client.runAgent() }
    })
    await expect.poll(() => clients.every(({ events }) => events.some(says('words')))).toBe(true)
    first.signal('SIGTERM')
    await stream.whole()
    assertValidStream(stream.events, { input: hanging })
    expect(stream.events.at(-1)).toMatchObject(closing)
    for (const { events, done } of clients) {
      await done
      expect(events.at(-1)).toMatchObject(closing)
    }
    expect(await first.ended).toEqual({ code: 0, signal: null })

    const second = await start(path)
    expect(await listed(second.url)).toMatchObject({ status: 'idle', lastRun: { status: 'failed' } })
    const stored = await historyOf(second.url)
    expect(stored).toMatchObject([{ id: 'u1' }, { role: 'assistant', content: 'Some words ' }])
    const next = inputOf({ runId: 'run-2', messages: [...stored, user('u2', 'hello')] })
    const again = await openStream(`${second.url}/run`, { body: next })
    await again.whole()
    assertValidStream(again.events, { input: next })
    expect(textIn(again.events)).toBe('You said: hello')
  })

  it('does not wait for a connection that asks for nothing', async () => {
    const child = await start(join(temporaryFolder(), 'threads.db'))
    const silent = connect(Number(new URL(child.url).port), '127.0.0.1')
    silent.on('error', () => undefined)
    await once(silent, 'connect')
    await ask(`${child.url}/healthz`)
    child.signal('SIGTERM')
    expect(await child.ended).toEqual({ code: 0, signal: null })
  })

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('a second %s ends it at once', async (name, code) => {
    const child = await start(join(temporaryFolder(), 'threads.db'))
    const stream = await openStream(`${child.url}/run`, { body: hanging })
    await stream.until(says('words'))
    child.signal(name)
    await isClosing(child.url)
    child.signal(name)
    expect(await child.ended).toEqual({ code, signal: null })
    await stream.over()
  })
})

const sharedStores: readonly (readonly [name: string, make: () => Promise<readonly [Store, Store]>])[] = [
  [
    'SQLite',
    async () => {
      const path = join(temporaryFolder(), 'threads.db')
      return [await createSqliteStore({ path }), await createSqliteStore({ path })]
    },
  ],
  [
    'memory',
    () => {
      const store = createMemoryStore()
      return Promise.resolve([store, store])
    },
  ],
]

describe('a server that is closed', () => {
  it.each(stores)(
    'a request that is on its way in when the server closes is refused (%s)',
    async (_name, makeStore) => {
      const onItsWay = deferred()
      const mayGoOn = deferred()
      const inputRecord = async () => {
        onItsWay.resolve()
        await mayGoOn.promise
      }
      // It would never end by itself.
      const { agent } = gatedAgent(['one'])
      const made = await serving({ agents: [agent], hooks: { inputRecord }, store: await makeStore() })
      const answer = ask(`${made.url}/run`, { body: speaking })
      await onItsWay.promise
      const closed = made.close({ graceMs: 0 })
      mayGoOn.resolve()
      expect(await answer).toMatchObject({ status: 503, body: { error: { code: 'SERVER_CLOSING' } } })
      await closed
    },
  )

  it('closing twice is closing once, and the shorter time counts', async () => {
    const speaker = gatedAgent(['one'])
    const made = await serving({ agents: [speaker.agent] })
    const stream = await openStream(`${made.url}/run`, { body: speaking })
    await stream.until(({ type }) => type === 'RUN_STARTED')
    const patient = made.close({ graceMs: 600_000 })
    await Promise.all([patient, made.close({ graceMs: 0 })])
    await stream.whole()
    assertValidStream(stream.events, { input: speaking })
    expect(stream.events.at(-1)).toMatchObject(closing)
  })

  it.each(sharedStores)(
    'ends the stream of a run in another process with SERVER_CLOSING (%s)',
    async (_name, make) => {
      const [mine, theirs] = await make()
      const speaker = gatedAgent(['one ', 'two ', 'three'])
      const other = await serving({ agents: [speaker.agent], store: theirs })
      const errors: unknown[] = []
      const log = { ...silentLog, error: (facts: object) => errors.push(facts) }
      const made = await serving({ agents: [speaker.agent], store: mine, log })
      const run = await openStream(`${other.url}/run`, { body: speaking })
      speaker.say(0)
      await run.until(says('one'))
      const body = { threadId: 'thread-1', protocolVersion: '1.0' }
      const subscriber = await openStream(`${made.url}/connect`, { body })
      await subscriber.until(says('one'))

      await made.close({ graceMs: 0 })
      await subscriber.whole()
      assertValidStream(subscriber.events, { input: speaking })
      expect(subscriber.events.at(-1)).toMatchObject(closing)
      expect(errors).toEqual([])

      // It goes on where the run is, after the last it has seen.
      const headers = { 'last-event-id': subscriber.lastId ?? '' }
      const again = await openStream(`${other.url}/connect`, { body, headers })
      speaker.sayAll()
      await Promise.all([run.whole(), again.whole()])
      expect(textIn(again.events)).toBe('two three')
      expect(again.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    },
  )
})

interface RawSocket {
  /** Resolves with all that has come when the connection is closed. */
  readonly closed: Promise<string>
  /** What has come so far. */
  text(): string
}

/** A connection that has sent this much. */
async function connected(url: string, sent = ''): Promise<RawSocket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (data: Buffer) => (text += data.toString()))
  socket.on('error', () => undefined)
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(text)))
  await once(socket, 'connect')
  if (sent !== '') socket.write(sent)
  return { closed, text: () => text }
}

/** Longer than a test may take: what is waited for that long fails it. */
const patient = { graceMs: 600_000 }

describe('the connections of a server that is closed', () => {
  it.each([
    // As fetch does, which opens another ahead when one is aborted.
    ['nothing', ''],
    ['half a line', 'POST /ru'],
    ['half a header', post],
  ])('does not wait for a connection that has sent %s', async (_name, sent) => {
    const made = await serving({ agents: [gatedAgent([]).agent] })
    const { closed } = await connected(made.url, sent)
    // What was sent is there.
    await ask(`${made.url}/healthz`)
    await made.close(patient)
    expect(await closed).toBe('')
  })

  it('waits no longer than its time for a request whose body does not come', async () => {
    const made = await serving({ agents: [gatedAgent([]).agent] })
    const { closed } = await connected(made.url, `${post}content-length: 500\r\n\r\n{`)
    await ask(`${made.url}/healthz`)
    await made.close({ graceMs: 0 })
    expect(await closed).not.toContain('200 OK')
  })

  it('a shorter time counts for requests as well', async () => {
    const made = await serving({ agents: [gatedAgent([]).agent] })
    const { closed } = await connected(made.url, `${post}content-length: 500\r\n\r\n{`)
    await ask(`${made.url}/healthz`)
    await Promise.all([made.close(patient), made.close({ graceMs: 0 })])
    await closed
  })

  it('waits no longer than its time for a request that is never answered', async () => {
    const asked = deferred()
    const identify = () => {
      asked.resolve()
      return new Promise<never>(() => undefined)
    }
    const made = await serving({ agents: [gatedAgent([]).agent], identify })
    const answer = ask(`${made.url}/agents`)
    const refused = expect(answer).rejects.toThrow()
    await asked.promise
    await made.close({ graceMs: 0 })
    await refused
  })

  it('answers a request that is answered in time', async () => {
    const [asked, known] = [deferred(), deferred()]
    const identify = async () => {
      asked.resolve()
      await known.promise
      return { user: 'ann' }
    }
    const made = await serving({ agents: [gatedAgent([]).agent], identify })
    const answer = ask(`${made.url}/agents`)
    await asked.promise
    const closed = made.close(patient)
    // Longer than it takes to notice that it is closing.
    await new Promise((resolve) => setTimeout(resolve, 300))
    known.resolve()
    expect(await answer).toMatchObject({ status: 200 })
    await closed
  })

  it('answers all requests of a connection that has a stream open', async () => {
    const speaker = gatedAgent(['one', 'two'])
    const made = await serving({ agents: [speaker.agent] })
    const body = JSON.stringify(speaking)
    const next = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'
    const both = `${post}content-length: ${body.length}\r\n\r\n${body}${next}`
    const raw = await connected(made.url, both)
    speaker.say(0)
    await expect.poll(() => raw.text()).toContain('"delta":"one"')
    const ended = made.close()
    await new Promise((resolve) => setTimeout(resolve, 150))
    speaker.say(1)
    await ended
    expect(await raw.closed).toMatch(/"delta":"two".*RUN_FINISHED.*200 OK.*"status":"ok"/su)
  })

  it.each([1000, 100_000, 1_000_000])(
    'a slow reader gets a stream of 8 × %i bytes to its end',
    async (size) => {
      const words = Array.from({ length: 8 }, (_, n) => String(n).repeat(size))
      const speaker = gatedAgent(words)
      const made = await serving({ agents: [speaker.agent] })
      const stream = await openStream(`${made.url}/run`, { body: speaking, isPaused: true })
      speaker.sayAll()
      const ended = made.close()
      await new Promise((resolve) => setTimeout(resolve, 300))
      stream.resume()
      await stream.whole()
      assertValidStream(stream.events, { input: speaking })
      expect(textIn(stream.events)).toBe(words.join(''))
      await ended
    },
  )
})

describe('serve', () => {
  it('serves other machines only when it can tell its users apart', async () => {
    const { agent } = gatedAgent([])
    const options = { host: '0.0.0.0', port: 0, signals: false }
    await expect(serve(createServer({ agents: [agent], log: silentLog }), options)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      message: expect.stringContaining('identify') as unknown,
    })
    const identify = () => ({ user: 'ann' })
    const open = await serve(createServer({ agents: [agent], log: silentLog, identify }), options)
    expect(await ask(`http://127.0.0.1:${new URL(open.url).port}/readyz`)).toMatchObject({ status: 200 })
    await open.close()
  })

  it('says what to do when its port is in use', async () => {
    const other = createHttpServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { agent } = gatedAgent([])
    await expect(
      serve(createServer({ agents: [agent], log: silentLog }), { port, signals: false }),
    ).rejects.toThrow(`Port ${port} of 127.0.0.1 is in use. Choose another, or 0 for any that is free.`)
    other.close()
  })
})
