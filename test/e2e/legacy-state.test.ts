import { HttpAgent } from '@ag-ui/client'
import { compactEvents as oldCompactEvents, HttpAgent as OldHttpAgent } from 'ag-ui-client-0.0.59'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel, type Script } from '../../src/models/index.js'
import { decodeSse, isForDisplay, type AgUiEvent } from '../../src/protocol/index.js'
import { toAgUi, type ToAgUiOptions } from '../../src/remote/index.js'
import type { ServerOptions } from '../../src/server/index.js'
import { deferred, ofType } from '../support/run-agent.js'
import { clientVersions, serveAgents, type ClientClass } from '../support/serve-agents.js'

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

const set = (values: State) => ({ toolCall: { name: 'change', args: { set: values } } })
const keeper = (script: Script) =>
  defineAgent({ name: 'keeper', model: scriptedModel(script), tools: [change] })

/** The recipe of the first turn is changed in the second. */
const cooking: Script = [
  [set({ recipe: { title: 'Soup', steps: [] } })],
  'Soup it is.',
  [set({ recipe: { title: 'Soup', steps: ['Cut.'] } })],
  [set({ recipe: { title: 'Hot soup', steps: ['Cut.'] } })],
  'Done.',
]
const soup = { recipe: { title: 'Soup', steps: [] } }
const hotSoup = { recipe: { title: 'Hot soup', steps: ['Cut.'] } }

const OldClient = OldHttpAgent as unknown as ClientClass

/** The state that is left of one run in a runtime that keeps compact runs, as CopilotKit's does. */
function compactState(events: readonly AgUiEvent[]): unknown[] {
  const compact = oldCompactEvents(events as unknown as Parameters<typeof oldCompactEvents>[0])
  return ofType(compact as unknown as AgUiEvent[], 'STATE_SNAPSHOT').map((event): unknown => event.snapshot)
}

/** The state events in short: the snapshots, and `delta` for each delta. */
function statesIn(events: readonly AgUiEvent[]): unknown[] {
  return events
    .filter(({ type }) => type.startsWith('STATE_'))
    .map((event): unknown => (event.type === 'STATE_SNAPSHOT' ? event.snapshot : 'delta'))
}

const serveKeeper = (script: Script, options: Pick<ServerOptions, 'hooks' | 'state'> = {}) =>
  serveAgents({ ...options, agents: [keeper(script)] })

describe('a client before 1.0', () => {
  it('has a snapshot in each run before the first delta, so that the run can be compacted', async () => {
    const served = await serveKeeper(cooking)
    const talk = served.talk({ Client: OldClient })
    const first = await talk.say('Soup.')
    expect(statesIn(first)).toEqual([{}, 'delta', soup])
    expect(compactState(first)).toEqual([soup])
    const second = await talk.say('Hot.')
    expect(statesIn(second)).toEqual([soup, 'delta', 'delta', hotSoup])
    expect(compactState(second)).toEqual([hotSoup])
    expect(talk.client.state).toEqual(hotSoup)
  })

  it('has one snapshot when it is brought up to date anyway', async () => {
    const served = await serveKeeper(cooking)
    await served.talk({ Client: OldClient }).say('Soup.')
    const fresh = await served.talk({ Client: OldClient }).say('Hot.')
    expect(statesIn(fresh)).toEqual([soup, 'delta', 'delta', hotSoup])
  })

  it('has only the last snapshot of a run that does not change the state', async () => {
    const served = await serveKeeper([...(cooking as unknown[]).slice(0, 2), 'Hi.'] as Script)
    const talk = served.talk({ Client: OldClient })
    await talk.say('Soup.')
    expect(statesIn(await talk.say('Hello.'))).toEqual([soup])
  })

  it('does not see the private part of the state', async () => {
    const served = await serveKeeper(
      [
        [set({ a: 1, score: 's-1', 'app:key': 's-2' })],
        'Set.',
        [set({ score: 's-3' })],
        [set({ a: 2 })],
        'Set.',
      ],
      { state: { private: ['score'] } },
    )
    const talk = served.talk({ Client: OldClient })
    await talk.say('One.')
    const second = await talk.say('Two.')
    expect(statesIn(second)).toEqual([{ a: 1 }, 'delta', { a: 2 }])
    expect(compactState(second)).toEqual([{ a: 2 }])
  })

  it.each(clientVersions)(
    'has a snapshot in a run that it follows, started by a client of $version',
    async ({ Client }) => {
      const [changed, goOn] = [deferred(), deferred()]
      const wait = async () => {
        changed.resolve()
        await goOn.promise
      }
      const script: Script = [
        ...[[set({ a: { b: 1 } })], 'Set.'],
        ...[[set({ a: { b: 2 } })], [{ wait }, set({ a: { b: 3 } })], 'Set.'],
      ]
      const served = await serveKeeper(script)
      const talk = served.talk({ Client })
      await talk.say('One.')
      const running = talk.say('Two.')
      await changed.promise
      const following = served.stream('/connect', { body: { threadId: 'thread-1' } })
      goOn.resolve()
      const [own, { events }] = await Promise.all([running, following])
      expect(compactState(events)).toEqual([{ a: { b: 3 } }])
      // What follows an event that it has seen: the snapshot came before.
      const at = own.findIndex(({ type }) => type === 'STATE_DELTA')
      const lastEventId = `${String(talk.streams.at(-1)?.input.runId)}:${at}`
      expect([...own.slice(0, at + 1), ...(await eventsAfter(served.url, lastEventId))]).toEqual(own)
    },
  )
})

/** The events that a client gets which has come back. They are no whole stream. */
async function eventsAfter(url: string, lastEventId: string): Promise<unknown[]> {
  const headers = { 'content-type': 'application/json', 'last-event-id': lastEventId }
  const body = JSON.stringify({ threadId: 'thread-1' })
  const response = await fetch(`${url}/connect`, { method: 'POST', headers, body })
  const events: unknown[] = []
  if (response.body)
    for await (const frame of decodeSse(response.body)) if (frame.kind === 'event') events.push(frame.event)
  return events
}

describe('a client of 1.0', () => {
  it('that has sent its state has a snapshot too: a runtime that keeps runs may stand behind it', async () => {
    const served = await serveKeeper(cooking)
    const talk = served.talk({ Client: HttpAgent })
    await talk.say('Soup.')
    expect(statesIn(await talk.say('Hot.'))).toEqual([soup, 'delta', 'delta', hotSoup])
  })

  it('that has sent none has a snapshot before the first delta', async () => {
    const served = await serveKeeper(cooking)
    const body = (runId: string, messages: unknown) => ({
      ...{ protocolVersion: '1.0', threadId: 'thread-1', runId, messages },
    })
    const first = await served.stream('/run', {
      body: body('r1', [{ id: 'u1', role: 'user', content: 'Soup.' }]),
    })
    expect(statesIn(first.events)).toEqual([{}, 'delta', soup])
  })
})

describe('the hook stateSnapshot', () => {
  it('is asked for the snapshot before the first delta', async () => {
    const shown: unknown[] = []
    const served = await serveKeeper(cooking, {
      hooks: {
        stateSnapshot(state) {
          shown.push(state)
          return { ...(state as object), by: 'hook' }
        },
      },
    })
    const talk = served.talk({ Client: OldClient })
    await talk.say('Soup.')
    // As if the client had not kept what the hook has added.
    talk.client.setState(soup)
    const second = await talk.say('Hot.')
    expect(statesIn(second)).toEqual([{ ...soup, by: 'hook' }, 'delta', 'delta', { ...hotSoup, by: 'hook' }])
    expect(shown.slice(-2)).toEqual([soup, hotSoup])
    // Recovery does not take it for the state of the thread.
    expect(ofType(second, 'STATE_SNAPSHOT').map(isForDisplay)).toEqual([true, true])
  })

  it('that leaves a key out gets no delta below it to a client before 1.0', async () => {
    const served = await serveKeeper(
      [[set({ a: 1, b: { c: 1 } })], 'Set.', [set({ b: { c: 2 } })], [set({ a: 2 })], 'Set.'],
      { hooks: { stateSnapshot: (state) => ({ ...(state as object), b: undefined }) } },
    )
    const talk = served.talk({ Client: OldClient })
    await talk.say('One.')
    const second = await talk.say('Two.')
    expect(statesIn(second)).toEqual([{ a: 1 }, 'delta', { a: 2 }])
    expect(compactState(second)).toEqual([{ a: 2 }])
    expect(served.logged).toContain('warn a client before 1.0 does not get all of a run')
  })

  it('that wants no snapshots keeps deltas from a client before 1.0 too', async () => {
    const served = await serveKeeper(cooking, { hooks: { stateSnapshot: () => undefined } })
    const talk = served.talk({ Client: OldClient })
    await talk.say('Soup.')
    expect(statesIn(await talk.say('Hot.'))).toEqual([])
  })

  it('fails the run before the delta when it fails', async () => {
    let isBroken = false
    const served = await serveKeeper(cooking, {
      hooks: {
        stateSnapshot(state) {
          if (isBroken) throw new Error('broken')
          return state
        },
      },
    })
    const talk = served.talk({ Client: OldClient })
    await talk.say('Soup.')
    isBroken = true
    const second = await talk.say('Hot.')
    expect(statesIn(second)).toEqual([])
    expect(second.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'HOOK_ERROR' })
  })
})

describe.each([{ clients: '0.0.59' }, {}] as ToAgUiOptions[])('an agent of toAgUi with %j', (options) => {
  it('has a snapshot before the first delta and one at the end, clone by clone', async () => {
    const registered = toAgUi(keeper(cooking), options)
    const runs: AgUiEvent[][] = []
    let held: Pick<HttpAgent, 'messages' | 'state'> = { messages: [], state: {} }
    for (const content of ['Soup.', 'Hot.']) {
      // As a runtime does for each request, with what the browser sends.
      const clone = registered.clone() as typeof registered
      clone.threadId = 'thread-1'
      clone.setState(held.state)
      clone.setMessages([...held.messages, { id: content, role: 'user', content }])
      const events: AgUiEvent[] = []
      await clone.runAgent({}, { onEvent: ({ event }) => void events.push(event as unknown as AgUiEvent) })
      runs.push(events)
      held = clone
    }
    expect(runs.map(statesIn)).toEqual([
      [{}, 'delta', soup],
      [soup, 'delta', 'delta', hotSoup],
    ])
    expect(runs.map(compactState)).toEqual([[soup], [hotSoup]])
  })

  it('has only the last snapshot of a run that does not change the state', async () => {
    const client = toAgUi(keeper(['Hi.']), { ...options, initialState: soup })
    const events: AgUiEvent[] = []
    client.addMessage({ id: 'u1', role: 'user', content: 'Hello.' })
    await client.runAgent({}, { onEvent: ({ event }) => void events.push(event as unknown as AgUiEvent) })
    expect(statesIn(events)).toEqual([soup])
  })
})
