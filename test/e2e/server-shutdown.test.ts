import { createServer as createHttpServer } from 'node:http'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createServer } from '../../src/server/index.js'
import { serve } from '../../src/server/node.js'
import { assertValidStream } from '../../src/testing/index.js'
import { deferred } from '../support/run-agent.js'
import { servingChildren } from './support-child.js'
import { newClient, oldClient, eventsTo } from './support-clients.js'
import { gatedAgent } from './support-gated.js'
import { ask, historyOf, inputOf, listed, serving, stores, temporaryFolder, user } from './support-server.js'
import { openStream, says, textIn } from './support-stream.js'

const start = servingChildren()
const gated = inputOf({ messages: [user('u1', 'gate')] })
const hanging = inputOf({ messages: [user('u1', 'hang')] })
const closing = { type: 'RUN_ERROR', code: 'SERVER_CLOSING' }

/** Resolves when the server says that it takes no more. */
async function isClosing(url: string): Promise<void> {
  await expect.poll(async () => (await ask(`${url}/readyz`)).status).toBe(503)
}

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
    const body = inputOf({ messages: [user('u1', 'Speak.')] })
    const answer = ask(`${made.url}/run`, { body })
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
  const body = inputOf({ messages: [user('u1', 'Speak.')] })
  const stream = await openStream(`${made.url}/run`, { body })
  await stream.until(({ type }) => type === 'RUN_STARTED')
  const patient = made.close({ graceMs: 600_000 })
  await Promise.all([patient, made.close({ graceMs: 0 })])
  await stream.whole()
  assertValidStream(stream.events, { input: body })
  expect(stream.events.at(-1)).toMatchObject(closing)
})

it('serves other machines only when it can tell its users apart', async () => {
  const { agent } = gatedAgent([])
  const options = { host: '0.0.0.0', port: 0, signals: false }
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  await expect(serve(createServer({ agents: [agent], log }), options)).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
    message: expect.stringContaining('identify') as unknown,
  })
  const identify = () => ({ user: 'ann' })
  const open = await serve(createServer({ agents: [agent], log, identify }), options)
  expect(await ask(`http://127.0.0.1:${new URL(open.url).port}/readyz`)).toMatchObject({ status: 200 })
  await open.close()
})

it('says what to do when its port is in use', async () => {
  const other = createHttpServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const { agent } = gatedAgent([])
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  await expect(serve(createServer({ agents: [agent], log }), { port, signals: false })).rejects.toThrow(
    `Port ${port} of 127.0.0.1 is in use. Choose another, or 0 for any that is free.`,
  )
  other.close()
})

function ignore(): void {
  // Nothing is logged in these tests.
}
