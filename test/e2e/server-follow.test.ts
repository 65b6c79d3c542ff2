import { describe, expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { ask, historyOf, inputOf, serving, stores, user } from './support-server.js'
import { openStream, runWhole } from './support-stream.js'

const answering = () =>
  defineAgent({
    name: 'talker',
    model: scriptedModel(
      ({ messages }) => `Answer ${messages.filter(({ role }) => role === 'user').length}.`,
    ),
  })

const identify = (request: Request) => ({ user: request.headers.get('x-user') ?? 'ada' })

describe.each(stores)('a stream that follows a thread, with the store %s', (_, makeStore) => {
  const serve = async (limits = {}) =>
    serving({ agents: [answering()], store: await makeStore(), identify, limits })

  const follow = (url: string, body: object = {}, headers: Record<string, string> = {}) =>
    openStream(`${url}/follow`, { body: { threadId: 'thread-1', protocolVersion: '1.0', ...body }, headers })

  it('shows a thread that is not there as empty, and then its runs as they come', async () => {
    const { url } = await serve()
    const stream = await follow(url)
    await stream.until(({ type }) => type === 'RUN_FINISHED')
    expect(stream.events[1]).toMatchObject({
      name: 'millrace.thread',
      value: { version: 0, pendingToolCalls: [] },
    })
    expect(stream.events[2]).toMatchObject({ messages: [] })
    await runWhole(url, inputOf({ messages: [user('u1', 'One?')] }))
    await runWhole(url, inputOf({ messages: [user('u2', 'Two?')], runId: 'run-2' }))
    await stream.until((event) => event.type === 'TEXT_MESSAGE_CONTENT' && event.delta === 'Answer 2.')
    await stream.until((event) => event.type === 'RUN_FINISHED' && event.runId === 'run-2')
    assertValidStream(stream.events, { complete: false })
    stream.drop()
  })

  it('sends nothing to a client that has the version, and the whole thread to one that has another', async () => {
    const { url } = await serve()
    await runWhole(url, inputOf({ messages: [user('u1', 'One?')] }))
    const upToDate = await follow(url, { version: 1 })
    const behind = await follow(url, { version: 7 })
    await behind.until(({ type }) => type === 'RUN_FINISHED')
    expect(behind.events[2]).toMatchObject({ messages: [{ id: 'u1' }, { role: 'assistant' }] })
    const patched = { method: 'PATCH', body: [{ op: 'add', path: '/colour', value: 'red' }] }
    await ask(`${url}/state/thread-1`, patched)
    await upToDate.until((event) => event.type === 'STATE_SNAPSHOT')
    // The first that it has got at all.
    expect(upToDate.events[1]).toMatchObject({ value: { version: 2 } })
    for (const stream of [upToDate, behind]) assertValidStream(stream.events, { complete: false })
    for (const stream of [upToDate, behind]) stream.drop()
  })

  it('does not take a new thread for the one with the same id that was deleted', async () => {
    const { url } = await serve()
    await runWhole(url, inputOf({ messages: [user('u1', 'One?')] }))
    const old = await follow(url)
    await old.until(({ type }) => type === 'RUN_FINISHED')
    expect(old.events[1]).toMatchObject({ value: { version: 1 } })
    old.drop()
    expect((await ask(`${url}/thread/thread-1`, { method: 'DELETE' })).status).toBe(200)
    await runWhole(url, inputOf({ messages: [user('u9', 'Nine?')], runId: 'run-9' }))
    const stream = await follow(url, { version: 1 })
    await stream.until(({ type }) => type === 'RUN_FINISHED')
    expect(stream.events[2]).toMatchObject({ messages: [{ id: 'u9' }, { role: 'assistant' }] })
    const { state: _state, ...input } = inputOf({ messages: [user('u10', 'Ten?')], runId: 'run-10' })
    const sent = await openStream(`${url}/run`, { body: input, headers: { 'millrace-version': '1' } })
    await sent.whole()
    const snapshot = sent.events.find((event) => event.type === 'MESSAGES_SNAPSHOT')
    expect(snapshot?.messages[0]).toMatchObject({ id: 'u9' })
    assertValidStream(sent.events, { input })
    assertValidStream(stream.events, { complete: false })
    stream.drop()
  })

  it('ends when the server closes, and does not keep it open', async () => {
    const server = await serve()
    const stream = await follow(server.url)
    await stream.until(({ type }) => type === 'RUN_FINISHED')
    // Far longer than a test may take.
    await server.close({ graceMs: 600_000 })
    await stream.whole()
    assertValidStream(stream.events, { complete: true })
  })

  it('shows nothing of the threads of others', async () => {
    const { url } = await serve()
    await runWhole(url, inputOf({ messages: [user('u1', 'One?')] }))
    const stream = await follow(url, {}, { 'x-user': 'bob' })
    await stream.until(({ type }) => type === 'RUN_FINISHED')
    expect(stream.events[2]).toMatchObject({ messages: [] })
    assertValidStream(stream.events, { complete: false })
    stream.drop()
  })

  it('refuses more streams than a user may have, and takes them again when others end', async () => {
    const { url } = await serve({ streamsPerUser: 1 })
    const first = await follow(url)
    const body = { threadId: 'other', protocolVersion: '1.0' }
    expect(await ask(`${url}/follow`, { body })).toMatchObject({
      status: 429,
      body: { error: { code: 'TOO_MANY_STREAMS' } },
    })
    const bob = await follow(url, {}, { 'x-user': 'bob' })
    expect(bob.status).toBe(200)
    first.drop()
    let status = 429
    for (let turn = 0; turn < 500 && status === 429; turn++) {
      const again = await openStream(`${url}/follow`, { body })
      status = again.status
      again.drop()
    }
    expect(status).toBe(200)
    bob.drop()
  })

  it.each([-1, 1.5, '1', null])('refuses the version %j', async (version) => {
    const { url } = await serve()
    const body = { threadId: 't', protocolVersion: '1.0', version }
    expect(await ask(`${url}/follow`, { body })).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_INPUT' } },
    })
  })

  it('takes only what is new from a client that names its version, and sends only what is new', async () => {
    const { url } = await serve()
    await runWhole(url, inputOf({ messages: [user('u1', 'One?')] }))
    const send = async (version: string, body: Record<string, unknown>) => {
      const { state: _state, ...input } = inputOf(body)
      const stream = await openStream(`${url}/run`, { body: input, headers: { 'millrace-version': version } })
      await stream.whole()
      assertValidStream(stream.events, { input })
      return stream.events.map(({ type }) => type)
    }
    const inStep = await send('1', { messages: [user('u2', 'Two?')], runId: 'run-2' })
    expect(inStep.slice(0, 2)).toEqual(['RUN_STARTED', 'TEXT_MESSAGE_START'])
    const behind = await send('1', { messages: [user('u3', 'Three?')], runId: 'run-3' })
    expect(behind.slice(0, 4)).toEqual(['RUN_STARTED', 'CUSTOM', 'MESSAGES_SNAPSHOT', 'STATE_SNAPSHOT'])
    const stored = await historyOf(url)
    expect(stored.filter(({ role }) => role === 'user').map(({ id }) => id)).toEqual(['u1', 'u2', 'u3'])
    const headers = { 'millrace-version': 'x' }
    const refused = await ask(`${url}/run`, { body: inputOf({ messages: [] }), headers })
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'INVALID_INPUT' } } })
  })

  it('keeps the thread when a client that is behind sends only what is new, though clients have the history', async () => {
    const { url } = await serving({ agents: [answering()], store: await makeStore(), history: 'client' })
    const send = async (id: string, version: string) => {
      const body = inputOf({ messages: [user(id, `${id}?`)], runId: `run-${id}` })
      const stream = await openStream(`${url}/run`, { body, headers: { 'Millrace-Version': version } })
      await stream.whole()
      assertValidStream(stream.events)
      return stream.events
    }
    await send('u1', '0')
    await send('u2', '1')
    // Another tab has said u2: this one has not seen it.
    expect((await send('u3', '1'))[1]).toMatchObject({ name: 'millrace.thread', value: { version: 2 } })
    const said = (await historyOf(url)).filter(({ role }) => role === 'user').map(({ id }) => id)
    expect(said).toEqual(['u1', 'u2', 'u3'])
  })
})
