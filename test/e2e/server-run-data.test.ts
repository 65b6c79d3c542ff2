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
