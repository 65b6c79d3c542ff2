/* eslint-disable @typescript-eslint/no-deprecated -- composites are on their way out, and in use */
import {
  AgentTool,
  BaseAgent,
  BaseToolset,
  FunctionTool,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  requestInputTool,
  RoutedAgent,
  SequentialAgent,
  type BaseTool,
  type Event,
  type InvocationContext,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import {
  ClientTool,
  converse,
  gate,
  resultOf,
  resultsIn,
  textLines,
  scripted,
} from '../../../test/support/adk/converse.js'
import { callsTool, says, ScriptedLlm, whole } from '../../../test/support/adk/scripted-llm.js'
import { createRunTree } from './run-tree.js'

const pick = new ClientTool('pick')
const look = new FunctionTool({ name: 'look', description: 'looks', execute: () => 'seen' })
const asks = callsTool({ name: 'pick', id: 'c1' })
const red = [resultOf('c1', 'pick', { color: 'red' })]
const transfer = (agentName: string) => callsTool({ name: 'transfer_to_agent', args: { agentName } })

describe('a transfer', () => {
  it('leads to an agent that pauses and goes on by itself', async () => {
    const child = scripted('child', [asks, says('child done')], { tools: [pick] })
    const root = scripted('root', [transfer('child')], { subAgents: [child.agent] })
    const talk = converse(root.agent)
    await talk.turn('go')
    expect(textLines(await talk.turn(red, { resumeAt: ['child'] }))).toEqual(['child: child done'])
    expect([root.llm.calls.length, resultsIn(child.llm.calls[1])]).toEqual([1, ['{"color":"red"}']])
  })

  it('goes on in an agent the Runner would not have begun with', async () => {
    const child = scripted('child', [asks, says('child done')], {
      tools: [pick],
      disallowTransferToParent: true,
    })
    const root = scripted('root', [transfer('child')], { subAgents: [child.agent] })
    const talk = converse(root.agent)
    await talk.turn('go')
    expect(textLines(await talk.turn(red, { resumeAt: ['child'] }))).toEqual(['child: child done'])
  })

  it('does not come back to an agent whose sub-agent has paused beside a tool that ran', async () => {
    const child = scripted(
      'child',
      [callsTool({ name: 'pick', id: 'c1' }, { name: 'look' }), says('child done')],
      {
        tools: [pick, look],
      },
    )
    const root = scripted('root', [transfer('child')], { subAgents: [child.agent] })
    const talk = converse(root.agent)
    await talk.turn('go')
    expect(root.llm.calls.length).toBe(1)
    expect(textLines(await talk.turn(red, { resumeAt: ['child'] }))).toEqual(['child: child done'])
    expect(resultsIn(child.llm.calls[1])).toEqual(['{"color":"red"}', '{"result":"seen"}'])
  })

  it('inside a sequence goes on with the agent it led to, then with the next', async () => {
    const child = scripted('child', [asks, says('child done')], { tools: [pick] })
    const a = scripted('a', [transfer('child')], { subAgents: [child.agent] })
    const b = scripted('b', [says('b done')])
    const talk = converse(new SequentialAgent({ name: 'seq', subAgents: [a.agent, b.agent] }))
    await talk.turn('go')
    expect(textLines(await talk.turn(red, { resumeAt: ['child'] }))).toEqual([
      'child: child done',
      'b: b done',
    ])
    expect(a.llm.calls.length).toBe(1)
  })

  it('to a sequence goes on in the middle of it', async () => {
    const a = scripted('a', [says('a done')])
    const b = scripted('b', [asks, says('b done')], { tools: [pick] })
    const c = scripted('c', [says('c done')])
    const seq = new SequentialAgent({ name: 'seq', subAgents: [a.agent, b.agent, c.agent] })
    const root = scripted('root', [transfer('seq')], { subAgents: [seq] })
    const talk = converse(root.agent)
    expect(textLines(await talk.turn('go'))).toEqual(['a: a done'])
    expect(textLines(await talk.turn(red, { resumeAt: ['b'] }))).toEqual(['b: b done', 'c: c done'])
    expect(root.llm.calls.length).toBe(1)
  })

  it('back to the parent after the pause asks the parent, not the agent that had paused', async () => {
    const child = scripted('child', [asks, transfer('root')], { tools: [pick] })
    const root = scripted('root', [transfer('child'), says('root done')], { subAgents: [child.agent] })
    const talk = converse(root.agent)
    await talk.turn('go')
    expect(textLines(await talk.turn(red, { resumeAt: ['child'] }))).toEqual(['root: root done'])
  })

  it('stays among the shells of its run', async () => {
    const agents: unknown[] = []
    const note = {
      beforeAgentCallback: (context: { invocationContext: InvocationContext }) =>
        void agents.push(context.invocationContext.agent),
    }
    const child = scripted('child', [transfer('root')], note)
    const root = scripted('root', [transfer('child'), says('done')], { subAgents: [child.agent], ...note })
    const { tree } = await converse(root.agent).turn('go')
    const [first, second, third] = agents
    expect([first, second, third]).toEqual([tree.root, (tree.root as LlmAgent).subAgents[0], tree.root])
    expect(first === tree.root && third === tree.root && first !== root.agent).toBe(true)
  })
})

describe('a long-running call', () => {
  it('pauses also when the model counts its tokens after it', async () => {
    const usage = { usageMetadata: { totalTokenCount: 3 } }
    const ask = callsTool({ name: requestInputTool.name, id: 'q1', args: { message: 'Who?' } })
    const a = scripted('a', [[...ask, usage], says('never')], { tools: [requestInputTool] })
    await converse(a.agent).turn('go')
    expect(a.llm.calls.length).toBe(1)
  })
})

describe('the agents of the user', () => {
  function zoo() {
    const llm = new ScriptedLlm([says('x')])
    const leaf = (name: string) => new LlmAgent({ name, model: llm, tools: [look] })
    const loop = new LoopAgent({ name: 'loop', subAgents: [leaf('l')], maxIterations: 1 })
    const par = new ParallelAgent({ name: 'par', subAgents: [leaf('p'), leaf('q')] })
    return new SequentialAgent({ name: 'zoo', subAgents: [leaf('a'), loop, par] })
  }

  it('are the same before and after', () => {
    const root = zoo()
    const before = described(root)
    const tree = createRunTree(root, { resumeAt: ['p'], iterations: { loop: 1 } })
    const shell = tree.root.findAgent('q') as LlmAgent
    shell.includeContents = 'none'
    shell.tools.push(pick)
    expect(described(root)).toEqual(before)
    expect(shell.rootAgent).toBe(tree.root)
    expect(root.findAgent('q')?.rootAgent).toBe(root)
  })

  it('may be frozen', async () => {
    const { agent, llm } = scripted('a', [asks, says('a done')], { tools: [pick] })
    const root = new SequentialAgent({ name: 'seq', subAgents: [agent] })
    for (const value of [root, root.subAgents, agent, agent.tools]) Object.freeze(value)
    const talk = converse(root)
    await talk.turn('go')
    expect(textLines(await talk.turn(red, { resumeAt: ['a'] }))).toEqual(['a: a done'])
    expect(llm.calls.length).toBe(2)
  })

  it('serve several runs that know nothing of each other', async () => {
    const gates = [gate(), gate()]
    let asked = 0
    const step = async function* () {
      const turn = asked++
      gates[turn]?.open()
      // Each goes on only when the other is in the middle of its run too.
      await gates[1 - turn]?.opened
      yield whole([{ functionCall: { name: 'pick', id: 'c1', args: {} } }])
    }
    const a = scripted('a', [step, step, says('one'), says('two')], { tools: [pick] })
    const b = scripted('b', [says('b1'), says('b2')])
    const root = new SequentialAgent({ name: 'seq', subAgents: [a.agent, b.agent] })
    const talks = [converse(root), converse(root)]
    const turns = await Promise.all(talks.map((talk) => talk.turn('go')))
    expect(turns.flatMap(textLines)).toEqual([])
    const resumed = await Promise.all(talks.map((talk) => talk.turn(red, { resumeAt: ['a'] })))
    expect(resumed.map((turn) => textLines(turn).length)).toEqual([2, 2])
  })
})

function described(agent: BaseAgent): unknown {
  const { subAgents, parentAgent, ...rest } = Object.fromEntries(
    Object.entries(agent),
  ) as unknown as BaseAgent
  return { rest, parent: parentAgent?.name, below: subAgents.map(described) }
}

class Kit extends BaseToolset {
  readonly #tools: BaseTool[] = [look]
  closed = 0

  constructor() {
    super([])
  }

  override getTools(): Promise<BaseTool[]> {
    return Promise.resolve(this.#tools)
  }

  override close(): Promise<void> {
    this.closed++
    return Promise.reject(new Error('Nobody hears this.'))
  }
}

describe('a toolset', () => {
  it('is closed once, by the last run that uses it', async () => {
    const kit = new Kit()
    const { agent } = scripted('a', [callsTool({ name: 'look' }), says('done')], { tools: [kit] })
    const other = createRunTree(new LlmAgent({ name: 'other', tools: [kit] }), { resumeAt: [] })
    const turn = await converse(agent).turn('go')
    expect([textLines(turn), kit.closed]).toEqual([['a: done'], 0])
    await other.close()
    await other.close()
    expect(kit.closed).toBe(1)
  })

  it('stays open under other runs also behind an agent that is a tool', async () => {
    const kit = new Kit()
    const inner = scripted('inner', [callsTool({ name: 'look' }), says('inner done')], { tools: [kit] })
    const outer = scripted('outer', [callsTool({ name: 'inner', args: { request: 'go' } }), says('done')], {
      tools: [new AgentTool({ agent: inner.agent })],
    })
    const other = createRunTree(inner.agent, { resumeAt: [] })
    expect(textLines(await converse(outer.agent).turn('go'))).toEqual(['outer: done'])
    expect([resultsIn(outer.llm.calls[1]), kit.closed]).toEqual([['{"result":"inner done"}'], 0])
    await other.close()
    expect(kit.closed).toBe(1)
  })
})

/** Runs its agents as it likes, and keeps a secret. */
class Picky extends BaseAgent {
  readonly #suffix = '!'
  readonly favourite: BaseAgent | undefined

  constructor(subAgents: BaseAgent[]) {
    super({ name: 'picky', subAgents })
    this.favourite = subAgents[0]
  }

  protected override async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
    for await (const event of this.favourite?.runAsync(context) ?? []) {
      yield { ...event, customMetadata: { note: this.#suffix } }
    }
  }

  protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {
    // Not live.
  }
}

class Plain extends BaseAgent {
  readonly favourite: BaseAgent | undefined

  constructor(subAgents: BaseAgent[]) {
    super({ name: 'plain', subAgents })
    this.favourite = subAgents[0]
  }

  protected override runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void, void> {
    if (!this.favourite) throw new Error('Nobody is there.')
    return this.favourite.runAsync(context)
  }

  protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {
    // Not live.
  }
}

describe('an agent of the user’s own kind', () => {
  it('may have private fields', async () => {
    const a = scripted('a', [says('a done')])
    const { events, tree } = await converse(new Picky([a.agent])).turn('go')
    expect(events.at(-1)?.customMetadata).toEqual({ note: '!' })
    expect(tree.stopsItself('a')).toBe(false)
  })

  it('leads to shells by its own fields', async () => {
    const a = scripted('a', [says('a done')])
    const b = scripted('b', [asks, says('b done')], { tools: [pick] })
    const talk = converse(new Plain([new SequentialAgent({ name: 'seq', subAgents: [a.agent, b.agent] })]))
    await talk.turn('go')
    expect(textLines(await talk.turn(red, { resumeAt: ['b'] }))).toEqual(['b: b done'])
  })
})

describe('a router', () => {
  it('is not asked again when the agent it chose goes on', async () => {
    const keys = ['a', 'b']
    const a = scripted('a', [asks, says('a done')], { tools: [pick] })
    const b = scripted('b', [says('b done')])
    const root = new RoutedAgent({ name: 'router', agents: [a.agent, b.agent], router: () => keys.shift() })
    const talk = converse(root)
    const { tree } = await talk.turn('go')
    expect(textLines(await talk.turn(red, { resumeAt: ['a'] }))).toEqual(['a: a done'])
    expect(textLines(await talk.turn('again'))).toEqual(['b: b done'])
    expect(tree.stopsItself('a')).toBe(true)
  })
})

describe('stopping by itself', () => {
  it('is known of trees of ADK’s own agents, and of no others', () => {
    class Odd extends SequentialAgent {
      protected override async *runAsyncImpl(): AsyncGenerator<Event, void, void> {
        // Does nothing, in its own way.
      }
    }
    const leaf = (name: string) => new LlmAgent({ name })
    const odd = new Odd({ name: 'odd', subAgents: [leaf('below')] })
    const root = new SequentialAgent({ name: 'root', subAgents: [leaf('beside'), odd] })
    const { stopsItself } = createRunTree(root, { resumeAt: [] })
    expect(['beside', 'root', 'below', 'odd', 'stranger'].map(stopsItself)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })
})
