import {
  App,
  BasePlugin,
  FunctionNode,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  Runner,
  SequentialAgent,
  START,
  Workflow,
  type BaseAgent,
  type LlmAgentConfig,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk, type AdkOptions } from '../../src/adk/index.js'
import { MillraceError } from '../../src/core/errors.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import {
  requestLines,
  callId,
  callsIn,
  clientTool,
  historyOf,
  serveAdk,
  stateOf,
  textIn,
} from '../support/adk/serve-adk.js'
import { ofType } from '../support/run-agent.js'
import { linesOf, serveAgents, type ServedAgents } from '../support/serve-agents.js'

/* eslint-disable @typescript-eslint/no-deprecated -- composites are on their way out, and in use */

const tools = [clientTool('pick'), clientTool('draw')]

function agentOf(name: string, steps: readonly LlmStep[], config: Partial<LlmAgentConfig> = {}) {
  const llm = new ScriptedLlm(steps)
  return { llm, make: () => new LlmAgent({ name, model: llm, ...config }) }
}

type Scripted = ReturnType<typeof agentOf>

const askedOften = (...agents: readonly Scripted[]): number[] => agents.map(({ llm }) => llm.calls.length)

/** Serves a tree, and answers calls, with a restart in between where it is said. */
async function serveTree(root: () => BaseAgent | Workflow, restarts: boolean) {
  let served: ServedAgents = await serveAdk({ make: () => fromAdk(root()), store: 'sqlite' })
  let talk = served.talk()
  return {
    say: (text: string): Promise<readonly AgUiEvent[]> => talk.say(text, { tools }),
    async answer(results: Readonly<Record<string, string>>): Promise<readonly AgUiEvent[]> {
      if (restarts) {
        const { messages } = talk.client
        served = await served.restart()
        talk = served.talk()
        talk.client.setMessages(messages)
      }
      return talk.answer(results, { tools })
    },
  }
}

const speakersIn = (events: readonly AgUiEvent[]): string[] =>
  ofType(events, 'SUBAGENT_STARTED').map(({ name }) => name)

describe.each([
  ['in one process', false],
  ['over a restart', true],
])('a call of a client tool, %s', (_, restarts) => {
  it('#1080/#1444: in a sequence: the sequence goes on there', async () => {
    const a = agentOf('a', [says('A.')])
    const b = agentOf('b', [callsTool({ name: 'pick' }), callsTool({ name: 'draw' }), says('B.')])
    const c = agentOf('c', [says('C.')])
    const root = () => new SequentialAgent({ name: 'line', subAgents: [a.make(), b.make(), c.make()] })
    const tree = await serveTree(root, restarts)
    const first = await tree.say('Go')
    expect([speakersIn(first), askedOften(a, b, c)]).toEqual([
      ['a', 'b'],
      [1, 1, 0],
    ])
    const second = await tree.answer({ [callId(first, 'pick')]: 'red' })
    expect([speakersIn(second), askedOften(a, b, c)]).toEqual([['b'], [1, 2, 0]])
    const third = await tree.answer({ [callId(second, 'draw')]: 'done' })
    expect([textIn(third), askedOften(a, b, c)]).toEqual(['B.C.', [1, 3, 1]])
  })

  it('in a loop: the round goes on', async () => {
    const a = agentOf('a', [says('A1.'), says('A2.')])
    const b = agentOf('b', [says('B1.'), callsTool({ name: 'pick' }), says('B2.')])
    const root = () => new LoopAgent({ name: 'rounds', maxIterations: 2, subAgents: [a.make(), b.make()] })
    const tree = await serveTree(root, restarts)
    const first = await tree.say('Go')
    expect([textIn(first), askedOften(a, b)]).toEqual(['A1.B1.A2.', [2, 2]])
    const second = await tree.answer({ [callId(first, 'pick')]: 'red' })
    expect([textIn(second), askedOften(a, b)]).toEqual(['B2.', [2, 3]])
  })

  it('in lanes side by side: each gets its own answer, and what comes after waits for all', async () => {
    const a = agentOf('a', [callsTool({ name: 'pick' }), says('A.')])
    const b = agentOf('b', [says('B.')])
    const c = agentOf('c', [callsTool({ name: 'draw' }), says('C.')])
    const last = agentOf('last', [says('Last.')])
    const root = () =>
      new SequentialAgent({
        name: 'all',
        subAgents: [
          new ParallelAgent({ name: 'lanes', subAgents: [a.make(), b.make(), c.make()] }),
          last.make(),
        ],
      })
    const tree = await serveTree(root, restarts)
    const first = await tree.say('Go')
    expect(
      callsIn(first)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['draw', 'pick'])
    expect(askedOften(a, b, c, last)).toEqual([1, 1, 1, 0])
    const held = await tree.answer({ [callId(first, 'draw')]: 'done' })
    expect([textIn(held), askedOften(a, b, c, last)]).toEqual(['', [1, 1, 1, 0]])
    const second = await tree.answer({ [callId(first, 'pick')]: 'red' })
    expect(askedOften(a, b, c, last)).toEqual([2, 1, 2, 1])
    expect(textIn(second)).toMatch(/^(A\.C\.|C\.A\.)Last\.$/)
    expect(JSON.stringify(a.llm.calls[1])).toContain('red')
    expect(JSON.stringify(a.llm.calls[1])).not.toContain('done')
    expect(JSON.stringify(c.llm.calls[1])).toContain('done')
    expect(JSON.stringify(c.llm.calls[1])).not.toContain('red')
  })

  it('in a workflow: it goes on with the next node', async () => {
    const a = agentOf('a', [says('A.')])
    const b = agentOf('b', [callsTool({ name: 'pick' }), callsTool({ name: 'draw' }), says('B.')])
    const c = agentOf('c', [says('C.')])
    const root = () => new Workflow({ name: 'flow', edges: [[START, a.make(), b.make(), c.make()]] })
    const tree = await serveTree(root, restarts)
    const first = await tree.say('Go')
    expect([textIn(first), askedOften(a, b, c)]).toEqual(['A.', [1, 1, 0]])
    const second = await tree.answer({ [callId(first, 'pick')]: 'red' })
    expect(requestLines(b.llm.calls[1])).toEqual([
      'user: A.',
      'model: pick({})',
      'user: pick -> {"result":"red"}',
    ])
    const third = await tree.answer({ [callId(second, 'draw')]: 'done' })
    expect([textIn(third), askedOften(a, b, c)]).toEqual(['B.C.', [1, 3, 1]])
    expect(requestLines(b.llm.calls[2])).toEqual([
      'user: A.',
      'model: pick({})',
      'user: pick -> {"result":"red"}',
      'model: draw({})',
      'user: draw -> {"result":"done"}',
    ])
    expect(requestLines(c.llm.calls[0])).toEqual(['user: B.'])
  })

  it('#1719: after a transfer: the sub-agent goes on, and keeps the conversation', async () => {
    const child = agentOf('child', [callsTool({ name: 'pick' }), says('Child.'), says('Still child.')])
    const boss = agentOf('boss', [callsTool({ name: 'transfer_to_agent', args: { agentName: 'child' } })])
    const root = () => new LlmAgent({ name: 'boss', model: boss.llm, subAgents: [child.make()] })
    const tree = await serveTree(root, restarts)
    const first = await tree.say('Go')
    expect(askedOften(boss, child)).toEqual([1, 1])
    const second = await tree.answer({ [callId(first, 'pick')]: 'red' })
    expect([textIn(second), askedOften(boss, child)]).toEqual(['Child.', [1, 2]])
    expect(requestLines(child.llm.calls[1]).at(-1)).toBe('user: pick -> {"result":"red"}')
    const third = await tree.say('More')
    expect([textIn(third), askedOften(boss, child)]).toEqual(['Still child.', [1, 3]])
  })
})

it('a workflow with a function and a tool in its graph tells of steps, and gives its output as text', async () => {
  const a = agentOf('a', [says('draft')])
  const root = () =>
    new Workflow({
      name: 'flow',
      edges: [[START, a.make(), new FunctionNode('up', (_, input) => `UP ${String(input)}`)]],
    })
  const tree = await serveTree(root, false)
  const events = await tree.say('Go')
  expect(textIn(events)).toContain('draft')
  expect(events.at(-1)?.type).toBe('RUN_FINISHED')
})

it('an agent of the tree has its own tools beside those of the client, also after a transfer', async () => {
  const done: string[] = []
  const work = new FunctionTool({
    name: 'work',
    description: 'Works.',
    parameters: z.object({}),
    execute: () => {
      done.push('work')
      return { ok: true }
    },
  })
  const child = agentOf('child', [callsTool({ name: 'work' }, { name: 'pick' }), says('Child.')], {
    tools: [work],
  })
  const boss = new ScriptedLlm([callsTool({ name: 'transfer_to_agent', args: { agentName: 'child' } })])
  const tree = await serveTree(
    () => new LlmAgent({ name: 'boss', model: boss, subAgents: [child.make()] }),
    true,
  )
  const first = await tree.say('Go')
  expect(done).toEqual(['work'])
  expect(textIn(await tree.answer({ [callId(first, 'pick')]: 'red' }))).toBe('Child.')
  expect(requestLines(child.llm.calls[1]).at(-1)).toBe('user: work -> {"ok":true} | pick -> {"result":"red"}')
  expect([done, boss.calls.length]).toEqual([['work'], 1])
})

describe('what can be served', () => {
  function helper(steps: readonly LlmStep[], name = 'helper') {
    const llm = new ScriptedLlm(steps)
    return { llm, root: new LlmAgent({ name, description: `Is ${name}.`, model: llm }) }
  }

  class Noting extends BasePlugin {
    readonly notes: string[] = []

    override beforeRunCallback(): Promise<undefined> {
      this.notes.push('run')
      return Promise.resolve(undefined)
    }

    override beforeModelCallback(): Promise<undefined> {
      this.notes.push('model')
      return Promise.resolve(undefined)
    }
  }

  const identify = (request: Request) => ({ user: request.headers.get('x-user') ?? 'nobody', app: 'shop' })
  const ann = { 'x-user': 'ann' }
  const bob = { 'x-user': 'bob' }

  describe('what can be served', () => {
    it('an app, with its plugins and those of the options', async () => {
      const [first, second] = [new Noting('first'), new Noting('second')]
      const { root } = helper([says('One.'), says('Two.')])
      const app = new App({ name: 'desk', rootAgent: root, plugins: [first] })
      const sessionService = new InMemorySessionService()
      const agent = fromAdk(app, { plugins: [second], sessionService })
      expect([agent.name, agent.description]).toEqual(['desk', 'Is helper.'])
      const served = await serveAdk({ make: () => agent })
      const talk = served.talk()
      await talk.say('Go')
      await talk.say('Again')
      for (const { notes } of [first, second]) expect(notes).toEqual(['run', 'model', 'run', 'model'])
      const key = { appName: 'desk', userId: 'local', sessionId: 'thread-1' }
      expect(await sessionService.getSession(key)).toBeDefined()
    })

    it('a workflow, which answers with its output', async () => {
      const up = new FunctionNode('up', (_, input) => `UP: ${JSON.stringify(input)}`)
      const root = new Workflow({ name: 'flow', edges: [[START, up]] })
      const served = await serveAdk({ make: () => fromAdk(root) })
      const talk = served.talk()
      expect(textIn(await talk.say('Go'))).toContain('Go')
      expect(await historyOf(served)).toEqual(talk.client.messages)
      expect(textIn(await talk.say('More'))).toContain('More')
    })

    it('a node', async () => {
      const agent = fromAdk(new FunctionNode('node', (_, input) => `heard ${String(input)}`))
      expect(agent.name).toBe('node')
      const served = await serveAgents({ agents: [agent] })
      expect(textIn(await served.talk().say('Go'))).toBe('heard Go')
    })

    it('a tool, which fails at words as it does for ADK', async () => {
      const tool = new FunctionTool({
        name: 'echo',
        description: 'Echoes.',
        parameters: z.object({}),
        execute: () => ({ heard: true }),
      })
      const served = await serveAgents({ agents: [fromAdk(tool)] })
      const talk = served.talk()
      await talk.say('Go').catch(() => undefined)
      expect(talk.streams[0]?.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'AGENT_ERROR' })
    })

    it('what makes a Runner for each run', async () => {
      const sessionService = new InMemorySessionService()
      const { llm } = helper([says('One.'), says('Two.')])
      const made: string[] = []
      const agent = fromAdk(
        async ({ user }, ctx) => {
          if (ctx) made.push(`${user} ${ctx.runId}`)
          const root = new LlmAgent({ name: `for_${user}`, model: llm, instruction: `You serve ${user}.` })
          return Promise.resolve(new Runner({ appName: 'made', agent: root, sessionService }))
        },
        { name: 'maker', description: 'Makes.' },
      )
      const served = await serveAgents({ agents: [agent], identify })
      const talk = served.talk({ headers: ann })
      await talk.say('Go')
      await talk.say('Again')
      expect(made).toHaveLength(2)
      expect(requestLines(llm.calls[1])).toEqual(['user: Go', 'model: One.', 'user: Again'])
      expect(JSON.stringify(llm.requests[0]?.config)).toContain('You serve ann.')
      const key = { appName: 'made', userId: 'ann', sessionId: 'thread-1' }
      expect(await sessionService.getSession(key)).toBeDefined()
      expect(linesOf(await historyOf(served, 'thread-1', ann))).toHaveLength(4)
    })

    it.each([
      ['a Runner factory without a name', () => fromAdk(() => Promise.reject(new Error('never')))],
      ['nothing of the kind', () => fromAdk({} as never)],
      ['null', () => fromAdk(null as never)],
    ])('not %s', (_, make) => {
      expect(make).toThrow(MillraceError)
      expect(make).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }) as Error)
    })
  })

  describe('which session', () => {
    it('#870: is one whose id the service made, found again after a restart', async () => {
      const sessionService = new InMemorySessionService()
      const { llm, root } = helper([says('One.'), says('Two.'), says('Three.')])
      const options: AdkOptions = { sessionService, sessionId: 'generated' }
      const served = await serveAdk({ make: () => fromAdk(root, options), store: 'sqlite' })
      const talk = served.talk()
      talk.client.setState({ theme: 'dark' })
      await talk.say('Go')
      const again = await served.restart()
      const next = again.talk()
      next.client.setMessages(talk.client.messages)
      next.client.setState(talk.client.state)
      await next.say('Again')
      expect(requestLines(llm.calls[1])).toEqual(['user: Go', 'model: One.', 'user: Again'])
      const { sessions } = await sessionService.listSessions({ appName: 'helper', userId: 'local' })
      expect(sessions).toHaveLength(1)
      expect(sessions[0]?.id).not.toBe('thread-1')
      // The id of the service is its own business, and what is noted in the session too.
      const sent = JSON.stringify([...talk.streams, ...next.streams].map(({ events }) => events))
      expect(sent).not.toContain(sessions[0]?.id ?? '')
      expect(await stateOf(again)).toEqual({ theme: 'dark' })
      await again.ask('DELETE /thread/thread-1')
      const left = await sessionService.listSessions({ appName: 'helper', userId: 'local' })
      expect(left.sessions).toEqual([])
      await again.talk().say('Anew')
      expect(requestLines(llm.calls[2])).toEqual(['user: Anew'])
    })

    it.each([
      ['at once', <T>(value: T) => value],
      ['later', <T>(value: T) => Promise.resolve(value)],
    ])('and app and user are told by functions, %s', async (_, given) => {
      const sessionService = new InMemorySessionService()
      const { root } = helper([says('One.')])
      const served = await serveAgents({
        agents: [
          fromAdk(root, {
            sessionService,
            appName: ({ app }) => given(`app of ${app}`),
            userId: ({ user }) => given(`user ${user}`),
            sessionId: ({ threadId, user }) => given(`${user}/${threadId}`),
          }),
        ],
        identify,
      })
      await served.talk({ headers: ann }).say('Go')
      const key = { appName: 'app of shop', userId: 'user ann', sessionId: 'ann/thread-1' }
      expect((await sessionService.getSession(key))?.events.length).toBeGreaterThan(0)
      expect((await served.ask('DELETE /thread/thread-1', { headers: ann })).status).toBe(200)
      expect(await sessionService.getSession(key)).toBeUndefined()
    })

    it('#1323: threads of the same id of two users are two', async () => {
      const sessionService = new InMemorySessionService()
      const { llm, root } = helper([says('To Ann.'), says('To Bob.'), says('To Ann again.')])
      const served = await serveAgents({ agents: [fromAdk(root, { sessionService })], identify })
      const [anns, bobs] = [served.talk({ headers: ann }), served.talk({ headers: bob })]
      await anns.say('I am Ann')
      await bobs.say('I am Bob')
      await anns.say('Who am I?')
      expect(requestLines(llm.calls[1])).toEqual(['user: I am Bob'])
      expect(requestLines(llm.calls[2])).toEqual(['user: I am Ann', 'model: To Ann.', 'user: Who am I?'])
      expect(linesOf(await historyOf(served, 'thread-1', bob))).toEqual([
        'user: I am Bob',
        'assistant: To Bob.',
      ])
    })

    it('#1601: two agents with a session service each stay apart, and so do two with the same name for ADK', async () => {
      const services = [new InMemorySessionService(), new InMemorySessionService()] as const
      const [one, two] = [helper([says('One.')], 'same'), helper([says('Two.')], 'same')]
      const served = await serveAgents({
        agents: [
          fromAdk(one.root, { name: 'one', sessionService: services[0] }),
          fromAdk(two.root, { name: 'two', sessionService: services[1] }),
        ],
      })
      const body = (text: string) => ({
        ...{ threadId: 'thread-1', runId: `run-${text}`, protocolVersion: '1.0', tools: [], context: [] },
        ...{ state: {}, messages: [{ id: `u-${text}`, role: 'user', content: text }] },
      })
      await served.stream('/agents/one/run', { body: body('first') })
      await served.stream('/agents/two/run', { body: body('second') })
      const key = { appName: 'same', userId: 'local', sessionId: 'thread-1' }
      const texts = await Promise.all(
        services.map(async (service) => JSON.stringify((await service.getSession(key))?.events)),
      )
      expect(texts[0]).toContain('first')
      expect(texts[0]).not.toContain('second')
      expect(texts[1]).toContain('second')
      expect(texts[1]).not.toContain('first')
      expect(requestLines(two.llm.calls[0])).toEqual(['user: second'])
    })
  })
})
