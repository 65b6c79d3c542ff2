import { describe, expect, it } from 'vitest'
import { defineAgent, defineTool, type Agent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { AgentEvent, AgUiEvent } from '../../src/protocol/index.js'
import type { Hooks } from '../../src/server/index.js'
import { ofType } from '../support/run-agent.js'
import { clientVersions, serveAgents } from '../support/serve-agents.js'

const when = new Date(0)

/** Values that are not JSON, and what clients get of them. */
const odd = {
  map: new Map<string, unknown>([['a', new Set([1, 2])]]),
  ...{ set: new Set(['x']), when, big: 5n, part: NaN, bytes: new Uint8Array([1, 2]) },
}
const plain = {
  map: { a: [1, 2] },
  set: ['x'],
  when: when.toISOString(),
  big: '5',
  part: null,
  bytes: [1, 2],
}

/** Reads the state with a tool, after it has emitted an event. `seen` has what it read. */
function reader(seen: unknown[] = []): Agent {
  const read = defineTool({
    name: 'read',
    description: 'Reads the state.',
    async execute(_, ctx) {
      ctx.emit({ type: 'CUSTOM', name: 'step', value: 1 })
      await Promise.resolve()
      seen.push(ctx.state)
      return 'read'
    },
  })
  const call = { toolCall: { name: 'read' } }
  const model = scriptedModel([[call], [call], 'Done.', 'Done again.'])
  return defineAgent({ name: 'reader', model, tools: [read] })
}

const isStep = ({ type }: { readonly type: string }): boolean => type === 'CUSTOM'

async function runWith(hooks: Hooks, Client = clientVersions[0]?.Client) {
  const seen: unknown[] = []
  const served = await serveAgents({ agents: [reader(seen)], hooks })
  const talk = served.talk({ ...(Client && { Client }) })
  const events = await talk.say('Read.')
  return { served, talk, events, seen }
}

describe.each(clientVersions)('what hooks return becomes JSON, with the client $version', ({ Client }) => {
  it('in events that outputChange returns, or changes in place, now or later', async () => {
    const changes: ((event: AgUiEvent) => AgUiEvent | Promise<AgUiEvent>)[] = [
      (event) => (isStep(event) ? ({ ...event, value: odd } as AgUiEvent) : event),
      (event) => Promise.resolve(isStep(event) ? ({ ...event, value: odd } as AgUiEvent) : event),
      (event) => (isStep(event) ? Object.assign(event, { value: odd }) : event),
    ]
    for (const outputChange of changes) {
      const { events } = await runWith({ outputChange }, Client)
      expect(ofType(events, 'CUSTOM').map(({ value }): unknown => value)).toEqual([plain, plain])
      expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    }
  })

  it('in the snapshot at the end, which the client does not write back', async () => {
    const outputChange = (event: AgUiEvent): AgUiEvent =>
      event.type === 'STATE_SNAPSHOT' ? { ...event, snapshot: odd } : event
    const { served, talk } = await runWith({ outputChange }, Client)
    expect(talk.client.state).toEqual(plain)
    expect((await talk.say('Again.')).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect((await served.ask('GET /state_snapshot/thread-1')).body).toMatchObject({ snapshot: {} })
  })

  it('in events of `event`, `translate` and `runtimeEvent`, for the client and for the agent', async () => {
    const change = (event: AgentEvent): AgentEvent =>
      isStep(event) ? { type: 'STATE_SNAPSHOT', snapshot: odd } : event
    const all: Hooks[] = [
      { event: change },
      { translate: (event) => [change(event as AgentEvent)] },
      { runtimeEvent: (event) => change(event as AgentEvent) },
    ]
    for (const hooks of all) {
      const { talk, seen } = await runWith(hooks, Client)
      expect(talk.client.state).toEqual(plain)
      expect(seen.at(-1)).toEqual(plain)
    }
  })

  it('in the state of inputChange and of initialState', async () => {
    for (const hooks of [
      { inputChange: (input) => ({ ...input, state: odd }) },
      { initialState: () => odd },
    ] satisfies Hooks[]) {
      const { served, talk, seen } = await runWith(hooks, Client)
      expect(seen).toEqual([plain, plain])
      expect(talk.client.state).toEqual(plain)
      expect((await served.ask('GET /state_snapshot/thread-1')).body).toMatchObject({ snapshot: plain })
    }
  })
})

it('an event of outputChange that JSON would lose fails the run, and names where it stands', async () => {
  const hooks: Hooks = {
    outputChange: (event) =>
      isStep(event) ? ({ ...event, value: { later: Promise.resolve(1) } } as AgUiEvent) : event,
  }
  const { events } = await runWith(hooks)
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'ENCODING_ERROR' })
  expect(ofType(events, 'CUSTOM').map(({ value }): unknown => value)).toEqual([1])
})
