import type { Message } from '@ag-ui/core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { deferred, ofType, type Deferred } from '../support/run-agent.js'
import { clientVersions, linesOf, serveAgents, type ServeAgentsOptions } from '../support/serve-agents.js'

/** A model whose first answer begins, tells so, and ends when it is let go. All others come at once. */
function heldModel(begun: Deferred, letGo: Deferred) {
  const say = () => {
    begun.resolve()
    return letGo.promise
  }
  return scriptedModel((_, index) =>
    index === 0 ? ['One', { wait: say }, ' and done.'] : `Answer ${index + 1}.`,
  )
}

async function serveHeld(options: Partial<Omit<ServeAgentsOptions, 'agents'>> = {}) {
  const [begun, letGo] = [deferred(), deferred()]
  const model = heldModel(begun, letGo)
  const served = await serveAgents({ agents: [defineAgent({ name: 'talker', model })], ...options })
  return { model, served, begun, letGo }
}

const as = (user: string) => ({ headers: { 'x-user': user } })

afterEach(() => vi.restoreAllMocks())

describe('two users with the same thread id', () => {
  const identify = (request: Request) => {
    const user = request.headers.get('x-user')
    return user === null ? undefined : { user }
  }
  const routes = [
    ['POST /connect', { threadId: 'thread-1' }],
    ['POST /cancel', { threadId: 'thread-1' }],
    ['DELETE /thread/thread-1', undefined],
    ['GET /message_snapshot/thread-1', undefined],
    ['GET /state_snapshot/thread-1', undefined],
    ['PATCH /state/thread-1', [{ op: 'add', path: '/mine', value: true }]],
  ] as const

  it.each(clientVersions)('talk to the agent each for themselves: $version', async ({ Client }) => {
    const model = scriptedModel((_, index) => `Answer ${index + 1}.`)
    const served = await serveAgents({ agents: [defineAgent({ name: 'talker', model })], identify })
    const [ada, bob] = [served.talk({ Client, ...as('ada') }), served.talk({ Client, ...as('bob') })]
    ada.client.setState({ secret: 'of ada' })
    await ada.say('I am Ada.')
    const events = await bob.say('Who am I?')
    expect(linesOf(model.requests[1]?.messages ?? [])).toEqual(['user: Who am I?'])
    expect(JSON.stringify(events)).not.toMatch(/\bada\b/iu)
    expect(linesOf(bob.client.messages)).toEqual(['user: Who am I?', 'assistant: Answer 2.'])
    for (const user of ['ada', 'bob']) {
      const { body } = await served.ask('GET /thread/list', as(user))
      expect(body).toMatchObject({ threads: [{ threadId: 'thread-1', messageCount: 2 }] })
    }
    expect((await served.ask('GET /state_snapshot/thread-1', as('bob'))).body).toEqual({
      type: 'STATE_SNAPSHOT',
      snapshot: {},
    })
    await served.ask('DELETE /thread/thread-1', as('bob'))
    expect((await served.ask('GET /message_snapshot/thread-1', as('bob'))).status).toBe(404)
    expect((await served.ask('GET /message_snapshot/thread-1', as('ada'))).body).toMatchObject({
      messages: ada.client.messages,
    })
  })

  it.each(routes)('%s does not know the other’s thread', async (route, body) => {
    const model = scriptedModel(['Hello Ada.'])
    const served = await serveAgents({ agents: [defineAgent({ name: 'talker', model })], identify })
    const ada = served.talk(as('ada'))
    ada.client.setState({ list: ['milk'] })
    await ada.say('I am Ada.')
    const asked = body === undefined ? {} : { body }
    const others = await served.ask(route, { ...asked, ...as('bob') })
    const nobodys = await served.ask(route.replace('thread-1', 'thread-0'), {
      ...(body && 'threadId' in body ? { body: { threadId: 'thread-0' } } : asked),
      ...as('bob'),
    })
    expect(others.status).toBe(404)
    // Not even that it exists is told.
    expect(others.text).toBe(nobodys.text.replace('thread-0', 'thread-1'))
    expect((await served.ask('GET /thread/list', as('bob'))).body).toEqual({ threads: [] })
    expect((await served.ask('GET /message_snapshot/thread-1', as('ada'))).body).toMatchObject({
      messages: ada.client.messages,
    })
    expect((await served.ask('GET /state_snapshot/thread-1', as('ada'))).body).toMatchObject({
      snapshot: { list: ['milk'] },
    })
    expect((await served.ask(route, asked)).status).toBe(401)
  })

  it('do not stop, see or wait for each other’s runs', async () => {
    const { served, begun, letGo } = await serveHeld({ identify })
    const [ada, bob] = [served.talk(as('ada')), served.talk(as('bob'))]
    const running = ada.say('Go on.')
    await begun.promise
    const body = { threadId: 'thread-1' }
    for (const route of ['POST /cancel', 'POST /connect'])
      expect((await served.ask(route, { body, ...as('bob') })).status).toBe(404)
    await bob.say('And I?')
    expect(linesOf(bob.client.messages).at(-1)).toBe('assistant: Answer 2.')
    letGo.resolve()
    expect((await running).at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  })
})

describe.each(clientVersions)('two tabs on one thread, with the client $version', ({ version, Client }) => {
  it('the second is refused while the first is at work', async () => {
    const { served, begun, letGo } = await serveHeld()
    const [first, second] = [served.talk({ Client }), served.talk({ Client })]
    const running = first.say('One?')
    await begun.promise
    // The client says on the console that its run has failed.
    const told = vi.spyOn(console, 'error').mockReturnValue()
    await expect(second.say('Two?')).rejects.toMatchObject({
      status: 409,
      payload: { error: { code: 'THREAD_IS_LOCKED' } },
    })
    expect(told).toHaveBeenCalled()
    letGo.resolve()
    await running
    await second.send()
    const { body } = await served.ask('GET /message_snapshot/thread-1')
    expect(linesOf((body as { messages: Message[] }).messages)).toEqual([
      'user: One?',
      'assistant: One and done.',
      'user: Two?',
      'assistant: Answer 2.',
    ])
  })

  it('the second waits for its turn', async () => {
    const { model, served, begun, letGo } = await serveHeld({ whenBusy: 'wait' })
    const [first, second] = [served.talk({ Client }), served.talk({ Client })]
    const running = first.say('One?')
    await begun.promise
    const waiting = second.say('Two?')
    // The stream of the second is open before the first has ended.
    await vi.waitFor(() => expect(second.streams).toHaveLength(1))
    expect(second.streams[0]?.events).toEqual([])
    letGo.resolve()
    expect((await running).at(-1)?.type).toBe('RUN_FINISHED')
    expect((await waiting).at(-1)?.type).toBe('RUN_FINISHED')
    expect(linesOf(model.requests[1]?.messages ?? [])).toEqual([
      'user: One?',
      'assistant: One and done.',
      'user: Two?',
    ])
  })

  it('the second is told when it has waited for too long', async () => {
    const { model, served, begun, letGo } = await serveHeld({ whenBusy: 'wait', limits: { waitMs: 50 } })
    const [first, second] = [served.talk({ Client }), served.talk({ Client })]
    const running = first.say('One?')
    await begun.promise
    const events = await second.say('Two?')
    expect(events).toMatchObject([{ type: 'RUN_ERROR', code: 'THREAD_IS_LOCKED' }])
    letGo.resolve()
    expect((await running).at(-1)?.type).toBe('RUN_FINISHED')
    expect(model.requests).toHaveLength(1)
  })

  it('the second takes over', async () => {
    const { model, served, begun } = await serveHeld({ whenBusy: 'cancel-previous' })
    const [first, second] = [served.talk({ Client }), served.talk({ Client })]
    const running = first.say('One?')
    await begun.promise
    const events = await second.say('Two?')
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    expect(model.requests[0]?.signal.aborted).toBe(true)
    const end = (await running).at(-1)
    expect(end).toMatchObject(
      version === '1.0'
        ? { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } }
        : { type: 'RUN_ERROR', code: 'abort' },
    )
    // What the first user has seen stays.
    expect(linesOf(model.requests[1]?.messages ?? [])).toEqual(['user: One?', 'assistant: One', 'user: Two?'])
  })

  it('one after the other, both end up with the same history', async () => {
    const { served, history } = await serveTabs()
    const [first, second] = [served.talk({ Client }), served.talk({ Client })]
    const catchUp = async ({ client }: typeof first) => {
      const { events } = await served.stream('/connect', { body: { threadId: 'thread-1' } })
      client.setMessages(ofType(events, 'MESSAGES_SNAPSHOT')[0]?.messages ?? [])
    }
    await first.say('One?')
    // This tab was just opened and knows nothing of the thread.
    await second.say('Two?')
    await catchUp(first)
    await first.say('Three?')
    await catchUp(second)
    await second.say('Four?')
    await catchUp(first)
    const lines = await history()
    expect(lines).toEqual([
      'user: One?',
      'assistant: Answer 1.',
      'user: Two?',
      'assistant: Answer 2.',
      'user: Three?',
      'assistant: Answer 3.',
      'user: Four?',
      'assistant: Answer 4.',
    ])
    for (const { client, streams } of [first, second]) {
      expect(linesOf(client.messages)).toEqual(lines)
      // Who has caught up is not told again what was there.
      expect(ofType(streams.at(-1)?.events ?? [], 'MESSAGES_SNAPSHOT')).toEqual([])
    }
  })

  it('the one that has missed a turn goes on from its own, and the missed one is kept', async () => {
    const { served, history, threads } = await serveTabs()
    const [first, second] = [served.talk({ Client }), served.talk({ Client })]
    await first.say('One?')
    await second.say('Two?')
    await first.say('Three?')
    const lines = ['user: One?', 'assistant: Answer 1.']
    expect(await history()).toEqual([...lines, 'user: Three?', 'assistant: Answer 3.'])
    const kept = (await threads()).find(({ forkedFrom }) => forkedFrom === 'thread-1')
    expect(await history(kept?.threadId)).toEqual([...lines, 'user: Two?', 'assistant: Answer 2.'])
  })
})

async function serveTabs() {
  const model = scriptedModel((_, index) => `Answer ${index + 1}.`)
  const served = await serveAgents({ agents: [defineAgent({ name: 'talker', model })] })
  const threads = async () => {
    const { body } = await served.ask('GET /thread/list')
    return (body as { threads: { threadId: string; forkedFrom?: string }[] }).threads
  }
  const history = async (threadId = 'thread-1') => {
    const { body } = await served.ask(`GET /message_snapshot/${encodeURIComponent(threadId)}`)
    return linesOf((body as { messages: Message[] }).messages)
  }
  return { served, threads, history }
}
