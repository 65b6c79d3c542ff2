import { describe, expect, it } from 'vitest'
import { defineAgent, defineTool, type Agent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { Hooks, RunInfo } from '../../src/server/index.js'
import { clientVersions, serveAgents, type ServeAgentsOptions } from '../support/serve-agents.js'

/** Counts in the shared state, once per run. */
function counter(): Agent {
  const count = defineTool({
    name: 'count',
    description: 'Counts.',
    execute(_, ctx) {
      ctx.setState((state: { readonly count?: number }) => ({ ...state, count: (state.count ?? 0) + 1 }))
      return 'counted'
    },
  })
  const script = (_: unknown, index: number) =>
    index % 2 === 0 ? [{ toolCall: { name: 'count', args: {} } }] : 'Counted.'
  return defineAgent({ name: 'counter', model: scriptedModel(script), tools: [count] })
}

const identify: ServeAgentsOptions['identify'] = (request) => ({
  user: request.headers.get('x-user') ?? 'nobody',
  claims: { roles: ['admin'], locale: request.headers.get('accept-language') },
})

const tenantOf = ({ input }: RunInfo): string => (input.forwardedProps as { tenant: string }).tenant

const headers = { 'x-user': 'ann', 'accept-language': 'nb' }

describe('the hooks of a run', () => {
  it('share one object with the request, the claims and values of their own', async () => {
    const seen = new Set<RunInfo>()
    const note = (info: RunInfo, name: string): void => {
      seen.add(info)
      info.data.set('calls', [...((info.data.get('calls') as string[] | undefined) ?? []), name])
    }
    const hooks: Hooks = {
      inputRecord: (_, info) => note(info, 'inputRecord'),
      lock(info) {
        note(info, 'lock')
        return () => note(info, 'unlock')
      },
      inputChange(input, info) {
        note(info, 'inputChange')
        return { ...input, forwardedProps: { tenant: 'north' } }
      },
      initialState(_, info) {
        note(info, 'initialState')
        return { count: 0 }
      },
      event(event, info) {
        if (event.type === 'TEXT_MESSAGE_CHUNK') note(info, `event for ${tenantOf(info)}`)
        return event
      },
      outputRecord(event, info) {
        if (event.type === 'RUN_FINISHED') note(info, `outputRecord in ${String(info.claims.locale)}`)
      },
    }
    const served = await serveAgents({ agents: [counter()], identify, hooks })
    await served.talk({ headers }).say('Count.')
    expect(seen.size).toBe(1)
    const [info] = seen
    expect(info?.data.get('calls')).toEqual([
      ...['inputRecord', 'lock', 'inputChange', 'initialState'],
      ...['event for north', 'outputRecord in nb', 'unlock'],
    ])
    expect(info?.thread).toEqual({ isNew: true, interrupts: [], pendingToolCalls: [] })
    expect(info?.input).not.toHaveProperty('messages')
  })

  it('of different runs do not share anything', async () => {
    const sizes: number[] = []
    const hooks: Hooks = {
      inputRecord(_, { data }) {
        sizes.push(data.size)
        data.set('secret', 1)
      },
    }
    const served = await serveAgents({ agents: [counter()], identify, hooks })
    const talk = served.talk({ headers })
    await talk.say('Count.')
    await talk.say('Count.')
    expect(sizes).toEqual([0, 0])
  })
})

describe('claims of identify', () => {
  it('reach the agent, and neither the client nor the store', async () => {
    const seen: unknown[] = []
    const agent = defineAgent({
      name: 'helper',
      model: scriptedModel(['Hei.']),
      instructions({ claims, user }) {
        seen.push({ user, ...claims })
        return 'Help.'
      },
    })
    const served = await serveAgents({ agents: [agent], identify, store: 'sqlite' })
    const events = await served.talk({ headers }).say('Hi.')
    expect(seen).toEqual([{ user: 'ann', roles: ['admin'], locale: 'nb' }])
    const history = await served.ask('GET /message_snapshot/thread-1', { headers })
    expect(JSON.stringify([events, history])).not.toContain('admin')
  })

  it.each([
    { user: 'ann', claims: 5 },
    { user: 'ann', claims: ['admin'] },
  ])('that are no object are a fault of the server: %j', async (identity) => {
    const served = await serveAgents({ agents: [counter()], identify: () => identity as never })
    expect(await served.ask('GET /agents')).toMatchObject({
      status: 500,
      body: { error: { code: 'INTERNAL_ERROR' } },
    })
  })
})

describe.each(clientVersions)('initialState with the client $version', ({ Client }) => {
  const hooks: Hooks = {
    initialState: ({ context }, { key }) => ({
      count: 5,
      owner: key.user,
      from: context[0]?.value ?? 'web',
      budget: 9,
    }),
  }
  const state = { private: ['budget'] }

  it('starts a new thread, and does not take back what the agent does later, also after a restart', async () => {
    const first = await serveAgents({ agents: [counter()], identify, hooks, state, store: 'sqlite' })
    const talk = first.talk({ Client, headers })
    await talk.say('Count.')
    expect(talk.client.state).toEqual({ count: 6, owner: 'ann', from: 'web' })
    await talk.say('Count.')
    expect(talk.client.state).toMatchObject({ count: 7 })
    const second = await first.restart()
    await second.talk({ Client, headers }).say('Count.')
    const { body } = await second.ask('GET /state_snapshot/thread-1', { headers })
    expect(body).toMatchObject({ snapshot: { count: 8, owner: 'ann', from: 'web' } })
  })

  it('takes what the client sends with its first request, but not for keys of the server', async () => {
    const served = await serveAgents({ agents: [counter()], identify, hooks, state })
    const talk = served.talk({ Client, headers })
    talk.client.state = { count: 1, theme: 'dark', budget: 1000 }
    await talk.say('Count.')
    expect(talk.client.state).toEqual({ count: 2, theme: 'dark', owner: 'ann', from: 'web' })
  })
})

it.each([5, undefined, [1], { later: Promise.resolve(1) }])(
  'an initialState that returns %s refuses the run, and the thread stays new',
  async (value) => {
    let isBroken = true
    const hooks: Hooks = { initialState: () => (isBroken ? value : { count: 1 }) }
    const served = await serveAgents({ agents: [counter()], hooks })
    const body = {
      threadId: 'thread-1',
      runId: 'r1',
      protocolVersion: '1.0',
      messages: [],
      tools: [],
      context: [],
      state: {},
    }
    const messages = [{ id: 'u1', role: 'user', content: 'Count.' }]
    const refused = await served.ask('POST /run', { body: { ...body, messages } })
    expect(refused).toMatchObject({ status: 500 })
    isBroken = false
    const talk = served.talk()
    await talk.say('Count.')
    expect(talk.client.state).toEqual({ count: 2 })
  },
)

describe.each(['server', 'client'] as const)('with the history of the %s, a first request', (history) => {
  /** Counts how often `initialState` is asked. */
  async function serveAsked(store: 'memory' | 'sqlite' = 'memory') {
    const asked: string[] = []
    const hooks: Hooks = {
      initialState(_, { runId }) {
        asked.push(runId)
        return { count: 5, budget: 9 }
      },
    }
    const served = await serveAgents({
      agents: [counter()],
      ...{ hooks, history, store, state: { private: ['budget'] } },
    })
    const stored = async (from = served) =>
      ((await from.ask('GET /state_snapshot/thread-1')).body as { snapshot?: unknown }).snapshot
    return { served, stored, asked }
  }

  it('with a state alone counts: it is stored, and initialState is asked once', async () => {
    const { served, stored, asked } = await serveAsked('sqlite')
    const talk = served.talk()
    talk.client.setState({ theme: 'dark', budget: 1000 })
    await talk.send()
    expect(talk.client.state).toEqual({ count: 5, theme: 'dark' })
    expect(await stored()).toEqual({ count: 5, theme: 'dark' })
    talk.client.setState({ ...(talk.client.state as object), theme: 'light' })
    await talk.send()
    expect(await stored()).toEqual({ count: 5, theme: 'light' })
    const again = await served.restart()
    // A fresh client, which has seen nothing of it.
    const fresh = again.talk()
    fresh.client.setState({ size: 2 })
    await fresh.say('Count.')
    const counted = history === 'server' ? { count: 6, theme: 'light', size: 2 } : { count: 1, size: 2 }
    expect(fresh.client.state).toEqual(counted)
    expect(await stored(again)).toEqual(counted)
    expect(asked).toHaveLength(1)
  })

  it('with nothing in it, or one that is refused, makes no thread and does not ask', async () => {
    const { served, stored, asked } = await serveAsked()
    const talk = served.talk()
    await talk.send()
    const resume = [{ interruptId: 'none', status: 'resolved' as const, payload: {} }]
    const body = { runId: 'r0', protocolVersion: '1.0', tools: [], context: [], messages: [] }
    const { events } = await served.stream('/run', {
      body: { ...body, threadId: 'thread-1', resume, state: { theme: 'dark' } },
    })
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'INVALID_RESUME' })
    expect((await served.ask('GET /state_snapshot/thread-1')).status).toBe(404)
    expect(asked).toEqual([])
    await talk.say('Count.')
    await talk.say('Count.')
    expect(await stored()).toEqual({ count: 7 })
    expect(asked).toHaveLength(1)
  })
})

it('a thread that began with a state alone takes the history of its client', async () => {
  const served = await serveAgents({ agents: [counter()] })
  const talk = served.talk()
  talk.client.setState({ theme: 'dark' })
  await talk.send()
  talk.client.addMessage({ id: 'a0', role: 'assistant', content: 'Hello! Shall I count?' })
  await talk.say('Yes.')
  const { body } = await served.ask('GET /message_snapshot/thread-1')
  const { messages } = body as { messages: { content?: string; metadata?: unknown }[] }
  expect(messages[0]).toMatchObject({ content: 'Hello! Shall I count?' })
  expect(JSON.stringify(messages[0]?.metadata)).toContain('imported')
  expect(messages[1]).toMatchObject({ content: 'Yes.' })
})

it('a state alone is stored also for a thread whose history is the client’s', async () => {
  const served = await serveAgents({ agents: [counter()], history: 'client' })
  const talk = served.talk()
  await talk.say('Count.')
  talk.client.setState({ ...(talk.client.state as object), theme: 'dark' })
  await talk.send()
  const { body } = await served.ask('GET /state_snapshot/thread-1')
  expect(body).toMatchObject({ snapshot: { count: 1, theme: 'dark' } })
  const { body: history } = await served.ask('GET /message_snapshot/thread-1')
  expect((history as { messages: unknown[] }).messages).toHaveLength(talk.client.messages.length)
})

it('a new thread makes room also when its first request has a state alone', async () => {
  const served = await serveAgents({ agents: [counter()], threads: { maxPerUser: 1 } })
  await served.talk({ threadId: 'old' }).say('Count.')
  const talk = served.talk({ threadId: 'new' })
  talk.client.setState({ theme: 'dark' })
  await talk.send()
  const { body } = await served.ask('GET /thread/list')
  expect(body).toMatchObject({ threads: [{ threadId: 'new', messageCount: 0 }] })
})
