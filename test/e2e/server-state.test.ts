import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel, type Script } from '../../src/models/index.js'
import { ofType } from '../support/run-agent.js'
import { clientVersions, serveAgents } from '../support/serve-agents.js'

type State = Readonly<Record<string, unknown>>

/** Changes the state as its arguments say. */
const change = defineTool({
  name: 'change',
  description: 'Changes the state.',
  input: z.object({ set: z.record(z.string(), z.unknown()) }),
  execute({ set }, ctx) {
    ctx.setState((state: State) => ({ ...state, ...set }))
    return 'changed'
  },
})

const ask = defineTool({
  name: 'ask',
  description: 'Asks a person.',
  async execute(_, ctx) {
    const answer = await ctx.interrupt({ message: 'Sure?' })
    return answer.status
  },
})

const set = (values: State) => ({ toolCall: { name: 'change', args: { set: values } } })

/** Rules, and an agent that notes the state it sees at every model call. */
async function serveState(script: Script) {
  const seen: unknown[] = []
  const agent = defineAgent({
    name: 'keeper',
    model: scriptedModel(script),
    tools: [change, ask],
    instructions(ctx) {
      seen.push(ctx.state)
      return 'Keep the state.'
    },
  })
  const served = await serveAgents({
    agents: [agent],
    state: { readOnly: ['plan'], private: ['score'] },
  })
  const stored = async () => {
    const { body } = await served.ask('GET /state_snapshot/thread-1')
    return (body as { snapshot: unknown }).snapshot
  }
  return { seen, served, stored }
}

describe.each(clientVersions)('the state shared with the client $version', ({ Client }) => {
  it('is changed by the agent, by deltas', async () => {
    const { served, stored } = await serveState([
      [set({ list: ['milk'], 'a/b~c': 1 })],
      'Noted.',
      [set({ list: ['milk', 'eggs'] })],
      'Noted.',
    ])
    const talk = served.talk({ Client })
    await talk.say('Milk.')
    const events = await talk.say('Eggs.')
    expect(ofType(events, 'STATE_DELTA').map(({ delta }) => delta)).toEqual([
      [{ op: 'add', path: '/list/1', value: 'eggs' }],
    ])
    const state = { list: ['milk', 'eggs'], 'a/b~c': 1 }
    expect(ofType(events, 'STATE_SNAPSHOT').at(-1)?.snapshot).toEqual(state)
    expect(talk.client.state).toEqual(state)
    expect(await stored()).toEqual(state)
  })

  it('is the same by deltas alone as by the snapshot at the end', async () => {
    const { served } = await serveState([
      [set({ a: { b: [1, 2, 3] } })],
      [set({ a: { b: [3] }, c: null })],
      'Done.',
    ])
    const talk = served.talk({ Client })
    const states: unknown[] = []
    talk.client.subscribe({ onStateChanged: ({ state }) => void states.push(structuredClone(state)) })
    const events = await talk.say('Go.')
    expect(ofType(events, 'STATE_DELTA')).toHaveLength(2)
    // After two deltas, and after the snapshot.
    expect(states.at(-1)).toEqual({ a: { b: [3] }, c: null })
    expect(states.at(-2)).toEqual(states.at(-1))
  })

  it('is changed by the client, and the agent sees it', async () => {
    const { seen, served, stored } = await serveState(['One.', [set({ c: 3 })], 'Two.'])
    const talk = served.talk({ Client })
    talk.client.setState({ a: 1, b: { c: 1, d: 1 } })
    await talk.say('One.')
    talk.client.setState({ b: { d: 2 } })
    await talk.say('Two.')
    expect(seen).toEqual([{ a: 1, b: { c: 1, d: 1 } }, { b: { d: 2 } }])
    expect(await stored()).toEqual({ b: { d: 2 }, c: 3 })
    expect(talk.client.state).toEqual({ b: { d: 2 }, c: 3 })
  })

  it('is not lost to a fresh client', async () => {
    const { seen, served, stored } = await serveState([[set({ list: ['milk'] })], 'Noted.', 'Hi.', 'Hi.'])
    await served.talk({ Client }).say('Milk.')
    const fresh = served.talk({ Client })
    const events = await fresh.say('Hello.')
    expect(seen.at(-1)).toEqual({ list: ['milk'] })
    expect(ofType(events, 'STATE_SNAPSHOT').map((event): unknown => event.snapshot)).toEqual([
      { list: ['milk'] },
      { list: ['milk'] },
    ])
    expect(fresh.client.state).toEqual({ list: ['milk'] })
    expect(await stored()).toEqual({ list: ['milk'] })
    const other = served.talk({ Client })
    other.client.setState({ theme: 'dark' })
    await other.say('Hello again.')
    expect(await stored()).toEqual({ list: ['milk'], theme: 'dark' })
  })

  it('has keys that are the server’s', async () => {
    const secret = { score: 's-one', 'app:key': 's-two', 'user:name': 's-three', 'temp:step': 's-four' }
    const { seen, served, stored } = await serveState([
      [set({ plan: 'gold', a: 1, ...secret })],
      [set({ score: 's-five', a: 2 })],
      'Set.',
      'Again.',
    ])
    const talk = served.talk({ Client })
    await talk.say('Set it up.')
    const forged = { score: 'f', 'app:key': 'f', 'user:name': 'f', 'temp:step': 'f', plan: 'free', a: 3 }
    talk.client.setState(forged)
    await talk.say('Now mine.')
    expect(seen.at(-1)).toEqual({ plan: 'gold', a: 3, ...secret, score: 's-five', 'temp:step': undefined })
    expect(talk.client.state).toEqual({ plan: 'gold', a: 3 })
    expect(await stored()).toEqual({ plan: 'gold', a: 3 })
    const { events } = await served.stream('/connect', { body: { threadId: 'thread-1' } })
    const { text } = await served.ask('GET /state_snapshot/thread-1')
    const { text: list } = await served.ask('GET /thread/list')
    // The arguments of the calls are shown: they are the model's. What the state made of them is not.
    const states = talk.streams.flatMap((stream) =>
      stream.events.filter(({ type }) => type.startsWith('STATE_')),
    )
    expect(states.length).toBeGreaterThan(4)
    const shown = JSON.stringify([states, ofType(events, 'STATE_SNAPSHOT'), text, list])
    expect(shown).not.toMatch(/s-one|s-two|s-three|s-four|s-five|score|app:|user:|temp:/u)
  })
})

it('the state is shown at the end and at every pause', async () => {
  const { served } = await serveState([[set({ a: 1 }), { toolCall: { name: 'ask' } }], 'Done.'])
  const talk = served.talk()
  const events = await talk.say('Go.')
  const last = events.slice(-2)
  expect(last).toMatchObject([
    { type: 'STATE_SNAPSHOT', snapshot: { a: 1 } },
    { type: 'RUN_FINISHED', outcome: { type: 'interrupt' } },
  ])
  const [interrupt] = talk.client.pendingInterrupts
  const resume = [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: {} }]
  const done = await talk.send({ resume })
  expect(done.slice(-2)).toMatchObject([
    { type: 'STATE_SNAPSHOT', snapshot: { a: 1 } },
    { type: 'RUN_FINISHED', outcome: { type: 'success' } },
  ])
})

describe('PATCH /state', () => {
  const begin = async () => {
    const state = { list: ['milk'], draft: { title: 'Food' }, plan: 'gold', score: 9 }
    const { served, stored, seen } = await serveState([[set(state)], 'Set.', 'Seen.'])
    const talk = served.talk()
    await talk.say('Set it up.')
    const patch = (body: unknown) => served.ask('PATCH /state/thread-1', { body })
    return { served, stored, seen, talk, patch }
  }

  it('takes all six operations, and the next run has what they made', async () => {
    const { stored, seen, talk, patch } = await begin()
    const { status, body } = await patch([
      { op: 'test', path: '/plan', value: 'gold' },
      { op: 'add', path: '/list/-', value: 'eggs' },
      { op: 'replace', path: '/draft/title', value: 'Shopping' },
      { op: 'copy', from: '/list', path: '/old' },
      { op: 'remove', path: '/list/0' },
      { op: 'move', from: '/draft/title', path: '/title' },
    ])
    expect({ status, body }).toEqual({ status: 200, body: { status: 'updated', version: 2 } })
    const visible = { list: ['eggs'], draft: {}, plan: 'gold', old: ['milk', 'eggs'], title: 'Shopping' }
    expect(await stored()).toEqual(visible)
    talk.client.setState(visible)
    await talk.say('What is there?')
    expect(seen.at(-1)).toEqual({ ...visible, score: 9 })
    expect(talk.client.state).toEqual(visible)
  })

  it('is not undone by a client that has not heard of it', async () => {
    const { stored, seen, talk, patch } = await begin()
    await patch([{ op: 'add', path: '/list/-', value: 'eggs' }])
    // It sends the state as the last run has left it.
    await talk.say('What is there?')
    expect(seen.at(-1)).toMatchObject({ list: ['milk', 'eggs'] })
    expect(await stored()).toMatchObject({ list: ['milk', 'eggs'] })
    expect(talk.client.state).toMatchObject({ list: ['milk', 'eggs'] })
  })

  it('changes nothing when an operation does not fit', async () => {
    const { stored, patch } = await begin()
    const before = await stored()
    const { status, body } = await patch([
      { op: 'add', path: '/list/-', value: 'eggs' },
      { op: 'test', path: '/plan', value: 'free' },
    ])
    expect(status).toBe(409)
    expect(body).toMatchObject({ error: { code: 'PATCH_CONFLICT' } })
    expect(await stored()).toEqual(before)
  })

  it('of the root drops the keys of the client alone, and the next run has what is left', async () => {
    const { stored, seen, talk, patch } = await begin()
    expect(await patch([{ op: 'replace', path: '', value: { title: 'Food' } }])).toMatchObject({
      status: 200,
    })
    const left = { plan: 'gold', title: 'Food' }
    expect(await stored()).toEqual(left)
    talk.client.setState(left)
    await talk.say('What is there?')
    expect(seen.at(-1)).toEqual({ ...left, score: 9 })
    // What the client has read, with a change.
    const read = { ...(talk.client.state as object), title: 'Shopping' }
    expect(await patch([{ op: 'replace', path: '', value: read }])).toMatchObject({ status: 200 })
    expect(await stored()).toEqual({ plan: 'gold', title: 'Shopping' })
    expect(await patch([{ op: 'remove', path: '' }])).toMatchObject({ status: 200 })
    expect(await stored()).toEqual({ plan: 'gold' })
  })

  it.each([
    [{ op: 'replace', path: '', value: { plan: 'free' } }],
    [{ op: 'replace', path: '', value: { plan: 'gold', score: 1 } }],
    [{ op: 'replace', path: '/plan', value: 'free' }],
    [{ op: 'replace', path: '/score', value: 1 }],
    [{ op: 'copy', from: '/score', path: '/mine' }],
    [{ op: 'add', path: '/app:key', value: 1 }],
    [{ op: 'add', path: '/temp:key', value: 1 }],
    [{ op: 'leap', path: '/list' }],
  ])('refuses %j', async (operation) => {
    const { stored, patch } = await begin()
    const before = await stored()
    const { status, body } = await patch([{ op: 'remove', path: '/draft' }, operation])
    expect(status).toBe(422)
    expect(body).toMatchObject({ error: { code: 'INVALID_PATCH' } })
    expect(await stored()).toEqual(before)
  })
})
