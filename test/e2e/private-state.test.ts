import {
  Annotation,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import {
  agentTool,
  defineAgent,
  parallel,
  sequential,
  team,
  transferAfter,
  withHistory,
  withRetry,
  type Agent,
} from '../../src/index.js'
import { supervisor } from '../../src/agents/prebuilt/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { fromAgUi } from '../../src/remote/index.js'
import { deferred } from '../support/run-agent.js'
import { serveAgents, type ServedAgents } from '../support/serve-agents.js'
import { ScriptedAgUi, whole } from './support-remote.js'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  role: Annotation<string>,
  trail: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  theme: Annotation<string>,
})

interface Vault {
  readonly agent: Agent
  /** The state that each run of the graph began with, without its messages. */
  readonly seen: Record<string, unknown>[]
}

interface VaultOptions {
  /** Default: in memory. */
  readonly checkpointer?: BaseCheckpointSaver | false
  readonly gate?: Promise<void>
}

const names = { name: 'vault', description: 'Opens the vault.' }
const privateKeys = ['role', 'trail']

/** A graph with private keys: it reads the role, and leaves a trail. All private values contain `secret`. */
function vault({ checkpointer = new MemorySaver(), gate }: VaultOptions = {}): Vault {
  const { graph, seen } = compiledVault(checkpointer, gate)
  return { agent: fromLangGraph(graph, { ...names, privateKeys }), seen }
}

function compiledVault(checkpointer: BaseCheckpointSaver | false, gate?: Promise<void>) {
  const seen: Vault['seen'] = []
  const graph = new StateGraph(State)
    .addNode('open', async ({ messages: _, ...state }) => {
      seen.push(structuredClone(state))
      await gate
      return {
        messages: [{ role: 'assistant', content: 'Opened.' }],
        ...{ trail: [`secret step ${state.trail.length}`], theme: `${state.theme || 'no'}!` },
      }
    })
    .addEdge(START, 'open')
    .compile(checkpointer === false ? {} : { checkpointer })
  return { graph, seen }
}

const thread = { user: 'local', thread: 'thread-1' }

/** All that a client can get of the thread, as text. */
async function shownText(served: ServedAgents, talk: ReturnType<ServedAgents['talk']>): Promise<string> {
  const connected = await served.stream('/connect', { body: { threadId: 'thread-1' } })
  const { text } = await served.ask('GET /state_snapshot/thread-1')
  return JSON.stringify([talk.streams.map(({ events }) => events), talk.client.state, connected.events, text])
}

const hooks = { initialState: () => ({ role: 'secret guest', theme: 'dark' }) }

/** Transfers to the vault at once. */
const router: Agent = {
  name: 'router',
  description: 'Routes.',
  // eslint-disable-next-line @typescript-eslint/require-await, require-yield -- it only hands over
  async *run() {
    return { type: 'transfer', to: 'vault' }
  },
}

const toVault = () => ({ toolCall: { name: 'vault', args: { request: 'Open.' } } })
const alternating = (_: unknown, index: number) => (index % 2 === 0 ? [toVault()] : 'It is open.')

const arrangements: readonly [string, (graph: Agent) => Agent][] = [
  ['by itself', (graph) => graph],
  ['with retries', (graph) => withRetry(graph, { maxRetries: 1 })],
  [
    'with a history of its own',
    (graph) => withHistory(graph, (entries) => entries.map((one) => one.message)),
  ],
  ['with a transfer after it', (graph) => transferAfter(graph, () => undefined)],
  ['in a workflow', (graph) => sequential({ name: 'flow', agents: [graph] })],
  ['in a lane', (graph) => parallel({ name: 'lanes', agents: [graph] })],
  ['as the member of a team', (graph) => team({ lead: router, members: [graph] })],
  ['below a supervisor', (graph) => supervisor({ lead: handOverOnce(), workers: [graph] })],
  [
    'as a tool',
    (graph) => defineAgent({ name: 'lead', model: scriptedModel(alternating), tools: [agentTool(graph)] }),
  ],
  ['named by an agent written by hand', (graph) => ({ ...byHand(graph), privateKeys })],
]

/** A lead that hands over in every other turn, and is done in the others. */
function handOverOnce(): Agent {
  let turns = 0
  return {
    ...router,
    // eslint-disable-next-line @typescript-eslint/require-await, require-yield -- it only hands over
    async *run() {
      return turns++ % 2 === 0 ? { type: 'transfer', to: 'vault' } : { type: 'done' }
    },
  }
}

/** The server cannot know which agents this one runs. */
function byHand(graph: Agent): Agent {
  return {
    name: 'hand',
    description: 'Delegates.',
    async *run(ctx) {
      return yield* ctx.delegate(graph, { segment: '1' })
    },
  }
}

describe.each(arrangements)('the private keys of a graph %s', (_, arrange) => {
  it('are the server’s: clients neither see nor change them, and what the server writes arrives', async () => {
    const { agent, seen } = vault()
    const served = await serveAgents({ agents: [arrange(agent)], hooks })
    const talk = served.talk()
    talk.client.setState({ role: 'forged', size: 1 })
    await talk.say('Open.')
    expect(seen).toEqual([{ role: 'secret guest', trail: [], theme: 'dark' }])
    expect(talk.client.state).toEqual({ theme: 'dark!', size: 1 })
    await served.state.update(thread, (state) => ({ ...(state as object), role: 'secret admin' }))
    talk.client.setState({ ...(talk.client.state as object), role: 'forged', trail: [] })
    await talk.say('Again.')
    // A call of a tool starts the graph afresh, with the shared state.
    expect(seen[1]).toEqual({ role: 'secret admin', trail: ['secret step 0'], theme: 'dark!' })
    const trail = ['secret step 0', 'secret step 1']
    expect(await served.state.read(thread)).toEqual({ role: 'secret admin', trail, theme: 'dark!!', size: 1 })
    expect(await shownText(served, talk)).not.toContain('secret')
  })

  it('are refused in a patch', async () => {
    const { agent, seen } = vault()
    const served = await serveAgents({ agents: [arrange(agent)], hooks })
    const talk = served.talk()
    await talk.say('Open.')
    for (const operation of [
      { op: 'add', path: '/role', value: 'forged' },
      { op: 'test', path: '/role', value: 'secret guest' },
      { op: 'copy', from: '/trail', path: '/mine' },
      { op: 'replace', path: '', value: { role: 'forged' } },
    ]) {
      const { status, body } = await served.ask('PATCH /state/thread-1', { body: [operation] })
      expect({ status, body }).toMatchObject({ status: 422, body: { error: { code: 'INVALID_PATCH' } } })
    }
    await talk.say('Again.')
    expect(seen[1]).toMatchObject({ role: 'secret guest' })
  })
})

describe('the private keys of a graph', () => {
  it('are remembered by the thread when the graph has no checkpointer, also after a restart', async () => {
    const { agent, seen } = vault({ checkpointer: false })
    const served = await serveAgents({ agents: [agent], hooks, store: 'sqlite' })
    await served.talk().say('Open.')
    const again = await served.restart()
    const talk = again.talk()
    await talk.say('Again.')
    expect(seen[1]).toEqual({ role: 'secret guest', trail: ['secret step 0'], theme: 'dark!' })
    expect(await shownText(again, talk)).not.toContain('secret')
  })

  it('are not in what a client gets in the middle of a run, nor when it comes late', async () => {
    const gate = deferred()
    const { agent } = vault({ gate: gate.promise })
    const served = await serveAgents({ agents: [agent], hooks })
    const talk = served.talk()
    const running = talk.say('Open.')
    await expect
      .poll(() => served.ask('GET /state_snapshot/thread-1'))
      .toMatchObject({
        body: { snapshot: { theme: 'dark' } },
      })
    const { text } = await served.ask('GET /state_snapshot/thread-1')
    const following = served.stream('/connect', { body: { threadId: 'thread-1' } })
    gate.resolve()
    await running
    // A fresh client gets the state as an opening snapshot.
    const late = served.talk()
    await late.say('Again.')
    const shown = JSON.stringify([(await following).events, text, late.streams[0]?.events])
    expect(shown).toContain('STATE_SNAPSHOT')
    expect(shown).not.toContain('secret')
  })

  it('are not shown of a thread that another program made, and still reach the graph', async () => {
    const checkpointer = new MemorySaver()
    const { graph, seen } = compiledVault(checkpointer)
    const config = { configurable: { thread_id: 'thread-1' } }
    await graph.invoke({ messages: [{ role: 'user', content: 'Hi.' }], role: 'secret guest' }, config)
    const agent = fromLangGraph(graph, { ...names, privateKeys, threadId: ({ threadId }) => threadId })
    const served = await serveAgents({ agents: [agent] })
    const talk = served.talk()
    expect(await shownText(served, talk)).not.toContain('secret')
    const body = [{ op: 'add', path: '/role', value: 'forged' }]
    expect((await served.ask('PATCH /state/thread-1', { body })).status).toBe(422)
    await talk.say('Open.')
    expect(seen.at(-1)).toMatchObject({ role: 'secret guest', trail: ['secret step 0'] })
    expect(await shownText(served, talk)).not.toContain('secret')
    expect(await served.state.read(thread)).toMatchObject({ role: 'secret guest' })
  })

  it('stay in the graph below an agent that does not name them: nobody writes or sees them', async () => {
    const { agent, seen } = vault()
    const served = await serveAgents({ agents: [byHand(agent)] })
    const talk = served.talk()
    talk.client.setState({ role: 'forged', theme: 'dark' })
    await talk.say('Open.')
    await talk.say('Again.')
    expect(seen).toEqual([
      { trail: [], theme: 'dark' },
      { trail: ['secret step 0'], theme: 'dark!' },
    ])
    expect(await shownText(served, talk)).not.toContain('secret')
  })

  it('hold for the threads of their agent alone', async () => {
    const { agent } = vault()
    const other = defineAgent({ name: 'other', model: scriptedModel(() => 'Fine.') })
    const own = { ...other, name: 'own', privateKeys: ['score'] }
    const served = await serveAgents({ agents: [agent, other, own] })
    const state = { role: 'mine', score: 5 }
    const shown: Record<string, unknown> = {}
    for (const { name } of [other, own]) {
      const body = {
        threadId: 'thread-1',
        runId: 'r1',
        protocolVersion: '1.0',
        tools: [],
        context: [],
        state,
      }
      const messages = [{ id: 'u1', role: 'user', content: 'Hi.' }]
      await served.stream(`/agents/${name}/run`, { body: { ...body, messages } })
      const snapshot = await served.ask(`GET /agents/${name}/state_snapshot/thread-1`)
      shown[name] = (snapshot.body as { snapshot: unknown }).snapshot
    }
    expect(shown).toEqual({ other: state, own: { role: 'mine' } })
  })
})

it('private keys do not leave for a remote agent, which cannot change them either', async () => {
  const { agent } = vault()
  const far = new ScriptedAgUi(
    whole({ type: 'STATE_SNAPSHOT', snapshot: { role: 'forged', 'app:key': 'forged', theme: 'far' } }),
  )
  const remote = fromAgUi(far, { name: 'far', description: 'Far away.' })
  const served = await serveAgents({
    agents: [sequential({ name: 'flow', agents: [agent, remote] })],
    hooks: { initialState: () => ({ role: 'secret guest', 'app:key': 'secret', score: 'secret', size: 1 }) },
    state: { private: ['score'] },
  })
  await served.talk().say('Open.')
  expect(far.inputs.map(({ state }): unknown => state)).toEqual([{ theme: 'no!', size: 1 }])
  const own = { role: 'secret guest', 'app:key': 'secret', score: 'secret', trail: ['secret step 0'] }
  expect(await served.state.read(thread)).toEqual({ ...own, theme: 'far' })
})
