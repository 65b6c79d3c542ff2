/* eslint-disable @typescript-eslint/no-deprecated -- composites are on their way out, and in use */
import {
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
  START,
  Workflow,
  type BaseAgent,
} from '@google/adk'
import type { Interrupt } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { asked, callId, clientTool, questionsIn, serveAdk, textIn } from '../support/adk/serve-adk.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import { serveAgents, type ServedAgents } from '../support/serve-agents.js'
import { newClient } from './support-clients.js'
import { inputOf, user } from './support-server.js'

const done: string[] = []
const remove = new FunctionTool({
  name: 'remove',
  description: 'Removes a file.',
  parameters: z.object({ path: z.string() }),
  requireConfirmation: true,
  execute: ({ path }) => {
    done.push(path)
    return { removed: path }
  },
})

const removes = (path: string): LlmStep => callsTool({ name: 'remove', args: { path } })

function agentOf(name: string, steps: readonly LlmStep[]) {
  const llm = new ScriptedLlm(steps)
  return { llm, make: () => new LlmAgent({ name, model: llm, tools: [remove] }) }
}

type Scripted = ReturnType<typeof agentOf>

const askedOften = (...agents: readonly Scripted[]): number[] => agents.map(({ llm }) => llm.calls.length)

const betweens = ['nothing', 'sessions are lost', 'threads are lost'] as const

/** Serves a tree. Between a question and its answer, or a call and its result, something may get lost. */
async function serveTree(root: () => BaseAgent | Workflow, between: (typeof betweens)[number]) {
  done.length = 0
  const kept = new InMemorySessionService()
  const serve = (): Promise<ServedAgents> =>
    between === 'threads are lost'
      ? serveAgents({ agents: [fromAdk(root(), { sessionService: kept })] })
      : serveAdk({ make: () => fromAdk(root()), store: 'sqlite' })
  let served = await serve()
  let count = 0
  const tools = [clientTool('pick')]
  const go = async (fields: object): Promise<readonly AgUiEvent[]> => {
    const body = inputOf({ runId: `run-${++count}`, tools, ...fields })
    return (await served.stream('/run', { body })).events
  }
  const comeBack = async () => {
    if (between === 'threads are lost') served = await serve()
    if (between === 'sessions are lost') served = await served.restart()
    const client = newClient({ url: served.url })
    await client.connectAgent()
    return client
  }
  return {
    say: (text: string) => go({ messages: [user(`u${count}`, text)] }),
    async confirm(isConfirmed: (question: Interrupt) => boolean = () => true) {
      const { messages, pendingInterrupts } = await comeBack()
      const resume = pendingInterrupts.map((question) => ({
        interruptId: question.id,
        status: 'resolved',
        payload: { confirmed: isConfirmed(question) },
      }))
      return go({ messages, resume })
    },
    async answer(toolCallId: string, content: string) {
      const { messages } = await comeBack()
      return go({ messages: [...messages, { id: `t${count}`, role: 'tool', toolCallId, content }] })
    },
  }
}

describe.each(betweens)('between question and answer: %s', (between) => {
  it('a sequence goes on at the agent that asked', async () => {
    const a = agentOf('a', [says('A.')])
    const b = agentOf('b', [removes('/b'), says('B.')])
    const c = agentOf('c', [says('C.')])
    const root = () => new SequentialAgent({ name: 'line', subAgents: [a.make(), b.make(), c.make()] })
    const tree = await serveTree(root, between)
    expect(questionsIn(await tree.say('Go'))).toHaveLength(1)
    expect(textIn(await tree.confirm())).toBe('B.C.')
    expect([askedOften(a, b, c), done]).toEqual([[1, 2, 1], ['/b']])
  })

  it('a loop goes on in its round', async () => {
    const a = agentOf('a', [says('A1.'), says('A2.')])
    const b = agentOf('b', [says('B1.'), removes('/b'), says('B2.')])
    const root = () => new LoopAgent({ name: 'rounds', maxIterations: 2, subAgents: [a.make(), b.make()] })
    const tree = await serveTree(root, between)
    await tree.say('Go')
    expect(textIn(await tree.confirm())).toBe('B2.')
    expect([askedOften(a, b), done]).toEqual([[2, 3], ['/b']])
  })

  it('a loop goes on in its round after a call of the client’s tool', async () => {
    const a = agentOf('a', [says('A1.'), says('A2.')])
    const b = agentOf('b', [says('B1.'), callsTool({ name: 'pick' }), says('B2.')])
    const root = () => new LoopAgent({ name: 'rounds', maxIterations: 2, subAgents: [a.make(), b.make()] })
    const tree = await serveTree(root, between)
    const first = await tree.say('Go')
    expect(textIn(await tree.answer(callId(first, 'pick'), 'red'))).toBe('B2.')
    expect(askedOften(a, b)).toEqual([2, 3])
  })

  it('lanes that have both asked are both answered, and what comes after follows', async () => {
    const a = agentOf('a', [removes('/a'), says('A.')])
    const b = agentOf('b', [removes('/b'), says('B.')])
    const last = agentOf('last', [says('Last.')])
    const root = () =>
      new SequentialAgent({
        name: 'all',
        subAgents: [new ParallelAgent({ name: 'lanes', subAgents: [a.make(), b.make()] }), last.make()],
      })
    const tree = await serveTree(root, between)
    expect(questionsIn(await tree.say('Go'))).toHaveLength(2)
    const events = await tree.confirm(({ metadata }) => metadata?.agent === 'b')
    expect(textIn(events)).toMatch(/^(A\.B\.|B\.A\.)Last\.$/)
    expect([askedOften(a, b, last), done]).toEqual([[2, 2, 1], ['/b']])
  })

  it('a node of a workflow goes on with all it has seen, and the next one follows', async () => {
    const a = agentOf('a', [says('A.')])
    const b = agentOf('b', [removes('/1'), removes('/2'), says('B.')])
    const c = agentOf('c', [says('C.')])
    const root = () => new Workflow({ name: 'flow', edges: [[START, a.make(), b.make(), c.make()]] })
    const tree = await serveTree(root, between)
    await tree.say('Go')
    expect(questionsIn(await tree.confirm())).toHaveLength(1)
    expect(textIn(await tree.confirm())).toBe('B.C.')
    expect([askedOften(a, b, c), done]).toEqual([
      [1, 3, 1],
      ['/1', '/2'],
    ])
    expect(asked(b.llm.calls[2])).toEqual([
      'user: A.',
      'model: remove({"path":"/1"})',
      'user: remove -> {"removed":"/1"}',
      'model: remove({"path":"/2"})',
      'user: remove -> {"removed":"/2"}',
    ])
  })

  it('a sub-agent that was transferred to goes on', async () => {
    const child = agentOf('child', [removes('/c'), says('Child.')])
    const boss = new ScriptedLlm([callsTool({ name: 'transfer_to_agent', args: { agentName: 'child' } })])
    const root = () => new LlmAgent({ name: 'boss', model: boss, subAgents: [child.make()] })
    const tree = await serveTree(root, between)
    await tree.say('Go')
    expect(textIn(await tree.confirm())).toBe('Child.')
    expect([boss.calls.length, child.llm.calls.length, done]).toEqual([1, 2, ['/c']])
  })
})
