import { describe, expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { deferred } from '../support/run-agent.js'
import { ask, inputOf, serving, stores, user } from './support-server.js'
import { openStream } from './support-stream.js'

interface Listed {
  readonly threadId: string
  readonly title: string
  readonly archived?: boolean
}

/** A server whose runs on `Wait.` last until they are let go. */
async function serveWith(open: (typeof stores)[number][1]) {
  const letGo = deferred()
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.content === 'Wait.' ? ['One', { wait: () => letGo.promise }] : 'Done.',
  )
  const { url } = await serving({
    agents: [defineAgent({ name: 'talker', model })],
    store: await open(),
    identify: (request) => ({ user: request.headers.get('x-user') ?? 'ana' }),
  })
  const start = (threadId: string, content: string) =>
    openStream(`${url}/run`, { body: inputOf({ threadId, messages: [user('u1', content)] }) })
  const label = (threadId: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(`${url}/thread/${threadId}`, { method: 'PATCH', body, headers })
  const list = async (query = '') => {
    const { body } = await ask(`${url}/thread/list${query}`)
    return (body as { readonly threads: readonly Listed[] }).threads
  }
  return { url, start, label, list, letGo }
}

describe.each(stores)('a thread that its user labels, stored in %s', (_name, open) => {
  it('keeps its title through later runs, and its place in the list', async () => {
    const { start, label, list } = await serveWith(open)
    for (const thread of ['a', 'b']) await (await start(thread, 'Hello.')).whole()
    const before = (await list()).map(({ threadId }) => threadId)
    expect(await label('a', { title: '  Oslo in May ' })).toEqual({
      status: 200,
      body: { status: 'updated' },
    })
    expect((await list()).map(({ threadId }) => threadId)).toEqual(before)
    await (await start('a', 'Again.')).whole()
    expect((await list()).map(({ threadId, title }) => [threadId, title])).toContainEqual([
      'a',
      'Oslo in May',
    ])
  })

  it('can be labelled in its first run, shows it at once, and keeps it', async () => {
    const { start, label, list, letGo } = await serveWith(open)
    const stream = await start('a', 'Wait.')
    await stream.until(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
    expect((await list())[0]).toMatchObject({ threadId: 'a', title: 'Wait.' })
    expect((await label('a', { title: 'Oslo' })).status).toBe(200)
    expect((await list())[0]).toMatchObject({ threadId: 'a', title: 'Oslo', status: 'running' })
    letGo.resolve()
    await stream.whole()
    expect((await list())[0]).toMatchObject({ threadId: 'a', title: 'Oslo', status: 'idle' })
  })

  it('is out of the list while it is archived, and still there', async () => {
    const { url, start, label, list } = await serveWith(open)
    for (const thread of ['a', 'b']) await (await start(thread, 'Hello.')).whole()
    await label('a', { archived: true })
    expect((await list()).map(({ threadId }) => threadId)).toEqual(['b'])
    const all = await list('?archived=true')
    expect(all.find(({ threadId }) => threadId === 'a')).toMatchObject({ archived: true, title: 'Hello.' })
    expect((await ask(`${url}/message_snapshot/a`)).status).toBe(200)
    await label('a', { archived: false })
    expect(await list()).toHaveLength(2)
  })

  it('is found by its own user only', async () => {
    const { start, label, list } = await serveWith(open)
    await (await start('a', 'Hello.')).whole()
    const answer = await label('a', { title: 'Mine now' }, { 'x-user': 'bo' })
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'THREAD_NOT_FOUND' } } })
    expect((await label('never', { title: 'Who?' })).status).toBe(404)
    expect((await list())[0]).toMatchObject({ title: 'Hello.' })
  })
})

const memory = stores.slice(0, 1)

describe.each(memory)('labels that cannot be meant', (_name, open) => {
  it.each([
    [{}],
    [[]],
    ['x'],
    [{ title: '' }],
    [{ title: '  ' }],
    [{ title: 3 }],
    [{ title: 'x'.repeat(257) }],
    [{ title: 'Os\u0000lo' }],
    [{ title: 'Os\nlo' }],
    [{ title: 'Os\uD800lo' }],
    [{ archived: 1 }],
  ])('are refused: %j', async (body) => {
    const { start, label, list } = await serveWith(open)
    await (await start('a', 'Hello.')).whole()
    const answer = await label('a', body)
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'INVALID_INPUT' } } })
    expect((await list())[0]).toMatchObject({ title: 'Hello.' })
  })

  it('are refused in the query of a list', async () => {
    const { url } = await serveWith(open)
    expect((await ask(`${url}/thread/list?archived=1`)).status).toBe(400)
  })
})

describe('a thread that only the runtime of its agent knows', () => {
  it('is stored when its user labels it, and nothing else is', async () => {
    const messages = [user('u1', 'Made elsewhere.')]
    const agent = {
      ...defineAgent({ name: 'talker', model: scriptedModel(() => 'Done.') }),
      memory: {
        read: ({ threadId }: { readonly threadId: string }) =>
          Promise.resolve(threadId === 'known' ? { messages, state: {} } : undefined),
        list: () => Promise.resolve([{ threadId: 'known', updatedAt: 1 }]),
        forget: () => Promise.resolve(),
        writeState: () => Promise.resolve(),
      },
    }
    const { url } = await serving({ agents: [agent] })
    const label = (thread: string) =>
      ask(`${url}/thread/${thread}`, { method: 'PATCH', body: { title: 'Oslo' } })
    expect((await label('unknown')).status).toBe(404)
    expect((await label('known')).status).toBe(200)
    const { body } = await ask(`${url}/thread/list`)
    expect(body).toMatchObject({ threads: [{ threadId: 'known', title: 'Oslo', messageCount: 1 }] })
  })
})
