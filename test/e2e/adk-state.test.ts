import { FunctionTool, InMemorySessionService, LlmAgent, type LlmAgentConfig } from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk, type AdkOptions } from '../../src/adk/index.js'
import { serveAdk, stateOf, textIn, type ServeAdkOptions } from '../support/adk/serve-adk.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import { ofType } from '../support/run-agent.js'
import { clientVersions } from '../support/serve-agents.js'

const seen: Record<string, unknown>[] = []

/** Writes what it is given into the state, and notes what it finds there. */
const change = new FunctionTool({
  name: 'change',
  description: 'Changes the state.',
  parameters: z.object({ set: z.record(z.string(), z.unknown()) }),
  execute: ({ set }, context) => {
    seen.push({ ...context?.state.toRecord() })
    for (const [key, value] of Object.entries(set)) context?.state.set(key, value)
    return { changed: Object.keys(set) }
  },
})

const sets = (set: Record<string, unknown>) => callsTool({ name: 'change', args: { set } })

async function serveState(
  steps: readonly LlmStep[],
  {
    config = {},
    options = {},
    ...rest
  }: Partial<ServeAdkOptions> & { config?: Partial<LlmAgentConfig>; options?: AdkOptions } = {},
) {
  seen.length = 0
  const llm = new ScriptedLlm(steps)
  const service = new InMemorySessionService()
  const make = () =>
    fromAdk(new LlmAgent({ name: 'helper', model: llm, tools: [change], ...config }), {
      sessionService: service,
      ...options,
    })
  const served = await serveAdk({ make, ...rest })
  const session = () => service.getSession({ appName: 'helper', userId: 'local', sessionId: 'thread-1' })
  return { llm, served, service, session }
}

const systemOf = (llm: ScriptedLlm, index: number): string =>
  JSON.stringify(llm.requests[index]?.config?.systemInstruction ?? '')

describe.each(clientVersions)('with the client $version', ({ Client }) => {
  it('#2356: the state goes both ways, keys with a slash or a tilde too', async () => {
    const { llm, served, session } = await serveState(
      [sets({ 'a/b': 1, 'c~d': 2 }), says('ok'), says('ok')],
      {
        config: { instruction: 'The theme is {theme}.' },
      },
    )
    const talk = served.talk({ Client })
    talk.client.setState({ theme: 'dark' })
    const events = await talk.say('Go')
    expect(systemOf(llm, 0)).toContain('The theme is dark.')
    expect(seen[0]).toMatchObject({ theme: 'dark' })
    const deltas = ofType(events, 'STATE_DELTA').flatMap(({ delta }) => delta)
    expect(deltas.map(({ path }) => path).toSorted()).toEqual(['/a~1b', '/c~0d'])
    expect(talk.client.state).toEqual({ theme: 'dark', 'a/b': 1, 'c~d': 2 })
    expect(await stateOf(served)).toEqual({ theme: 'dark', 'a/b': 1, 'c~d': 2 })
    expect((await session())?.state).toMatchObject({ theme: 'dark', 'a/b': 1, 'c~d': 2 })
  })

  it('keys of an app, of a user and of a run are nobody’s business but the server’s', async () => {
    const { served, service, session } = await serveState([
      sets({ 'app:plan': 'gold-plan', 'user:tier': 'gold-tier', 'temp:token': 'gold-token', open: 1 }),
      says('ok'),
    ])
    const talk = served.talk({ Client })
    talk.client.setState({ 'app:plan': 'stolen', 'user:tier': 'stolen', 'temp:token': 'stolen', mine: 1 })
    await talk.say('Go')
    expect(JSON.stringify(seen)).not.toContain('stolen')
    expect(seen[0]).toMatchObject({ mine: 1 })
    const sent = JSON.stringify(
      talk.streams.map(({ events }) => events.filter(({ type }) => type.startsWith('STATE'))),
    )
    expect(sent).not.toMatch(/gold-(plan|tier|token)/)
    expect(sent).not.toMatch(/(app|user|temp):/)
    expect(await stateOf(served)).toEqual({ mine: 1, open: 1 })
    const stored = await session()
    expect(stored?.state).toMatchObject({ 'app:plan': 'gold-plan', 'user:tier': 'gold-tier' })
    expect(JSON.stringify(stored)).not.toContain('stolen')
    expect(stored?.state).not.toHaveProperty('temp:token')
    expect(await service.listSessions({ appName: 'helper', userId: 'local' })).toMatchObject({
      sessions: [{ id: 'thread-1' }],
    })
  })
})

it('keys that a tool or the client removes are gone on both sides', async () => {
  const { served, session } = await serveState([sets({ a: null }), says('ok'), sets({}), says('ok')])
  const talk = served.talk()
  talk.client.setState({ a: 1, b: 2, c: 3 })
  const events = await talk.say('Go')
  expect(ofType(events, 'STATE_DELTA').flatMap(({ delta }) => delta)).toMatchObject([
    { op: 'remove', path: '/a' },
  ])
  expect(talk.client.state).toEqual({ b: 2, c: 3 })
  talk.client.setState({ c: 3 })
  await talk.say('Again')
  expect(await stateOf(served)).toEqual({ c: 3 })
  expect(Object.entries((await session())?.state ?? {}).filter(([, value]) => value !== null)).toEqual([
    ['c', 3],
  ])
  const left = Object.entries(seen[1] ?? {}).filter(
    ([key, value]) => !key.startsWith('temp:') && value !== null,
  )
  expect(left).toEqual([['c', 3]])
})

it('a patch of the state reaches the session service, and the next run', async () => {
  const { llm, served, session } = await serveState([says('ok'), says('ok')], {
    config: { instruction: 'The theme is {theme}.' },
  })
  const talk = served.talk()
  talk.client.setState({ theme: 'dark' })
  await talk.say('Go')
  const patch = [
    { op: 'replace', path: '/theme', value: 'light' },
    { op: 'add', path: '/more', value: [1] },
  ]
  expect((await served.ask('PATCH /state/thread-1', { body: patch })).status).toBe(200)
  expect((await session())?.state).toMatchObject({ theme: 'light', more: [1] })
  await talk.say('Again')
  expect(systemOf(llm, 1)).toContain('The theme is light.')
  expect(talk.client.state).toEqual({ theme: 'light', more: [1] })
  // It is no message: the model does not see it as one.
  expect(llm.calls[1]).toHaveLength(3)
  const refused = await served.ask('PATCH /state/thread-1', {
    body: [{ op: 'add', path: '/app:plan', value: 'stolen' }],
  })
  expect(refused.status).toBeGreaterThanOrEqual(400)
  expect((await session())?.state).not.toHaveProperty('app:plan')
})

it('#1571/#2206: values of a run are seen by tools and instructions, and stored nowhere', async () => {
  const { llm, served, session } = await serveState([sets({ open: 1 }), says('ok')], {
    config: { instruction: 'Speak to {temp:person}.' },
    options: {
      tempState: async ({ user, threadId }) =>
        Promise.resolve({ person: `${user} in ${threadId}`, token: 'hush-token' }),
    },
    store: 'sqlite',
  })
  const talk = served.talk()
  await talk.say('Go')
  expect(systemOf(llm, 0)).toContain('Speak to local in thread-1.')
  expect(seen[0]).toMatchObject({ 'temp:token': 'hush-token' })
  const kept = JSON.stringify([
    talk.streams.map(({ events }) => events),
    await session(),
    await stateOf(served),
  ])
  expect(kept).not.toContain('hush-token')
})

it('context and messages of the system are instructions, in every run anew', async () => {
  const { llm, served } = await serveState([sets({}), says('ok'), says('ok')], {
    config: { instruction: 'Be kind.' },
  })
  const talk = served.talk()
  talk.client.addMessage({ id: 's1', role: 'system', content: 'Answer in verse.' })
  await talk.say('Go', { context: [{ description: 'The page', value: 'checkout' }] })
  for (const index of [0, 1]) {
    const system = systemOf(llm, index)
    expect(system).toContain('Be kind.')
    expect(system).toContain('Answer in verse.')
    expect(system).toContain('The page: checkout')
  }
  expect(JSON.stringify(llm.calls)).not.toContain('verse')
  // Tools have it too.
  expect(seen[0]?.['temp:ag_ui_context']).toEqual([{ description: 'The page', value: 'checkout' }])
  const next = await talk.say('Again', { context: [{ description: 'The page', value: 'home' }] })
  expect(textIn(next)).toBe('ok')
  expect(systemOf(llm, 2)).toContain('The page: home')
  expect(systemOf(llm, 2)).not.toContain('checkout')
})

it('a state that the client sends without a message is stored, and nothing is run', async () => {
  const { llm, served, session } = await serveState([says('ok'), says('ok')])
  const talk = served.talk()
  await talk.say('Go')
  talk.client.setState({ theme: 'dark' })
  const events = await talk.send()
  expect(events.at(-1)?.type).toBe('RUN_FINISHED')
  expect(llm.calls).toHaveLength(1)
  await talk.say('Again')
  expect((await session())?.state).toMatchObject({ theme: 'dark' })
})
