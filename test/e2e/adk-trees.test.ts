/* eslint-disable @typescript-eslint/no-deprecated -- composites are on their way out, and in use */
import {
  FunctionNode,
  FunctionTool,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
  START,
  Workflow,
  type BaseAgent,
  type LlmAgentConfig,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { asked, callId, callsIn, clientTool, serveAdk, textIn } from '../support/adk/serve-adk.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import { ofType } from '../support/run-agent.js'
import type { ServedAgents } from '../support/serve-agents.js'

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
    expect(asked(b.llm.calls[1])).toEqual(['user: A.', 'model: pick({})', 'user: pick -> {"result":"red"}'])
    const third = await tree.answer({ [callId(second, 'draw')]: 'done' })
    expect([textIn(third), askedOften(a, b, c)]).toEqual(['B.C.', [1, 3, 1]])
    expect(asked(b.llm.calls[2])).toEqual([
      'user: A.',
      'model: pick({})',
      'user: pick -> {"result":"red"}',
      'model: draw({})',
      'user: draw -> {"result":"done"}',
    ])
    expect(asked(c.llm.calls[0])).toEqual(['user: B.'])
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
    expect(asked(child.llm.calls[1]).at(-1)).toBe('user: pick -> {"result":"red"}')
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
  expect(asked(child.llm.calls[1]).at(-1)).toBe('user: work -> {"ok":true} | pick -> {"result":"red"}')
  expect([done, boss.calls.length]).toEqual([['work'], 1])
})
