/* eslint-disable @typescript-eslint/no-deprecated -- composites are on their way out, and in use */
import {
  FunctionNode,
  LlmAgent,
  ParallelWorker,
  RequestInput,
  SequentialAgent,
  START,
  Workflow,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  ClientTool,
  converse,
  resultOf,
  resultsIn,
  said,
  scripted,
} from '../../../test/support/adk/converse.js'
import { callsTool, says } from '../../../test/support/adk/scripted-llm.js'
import { createRunTree } from './run-tree.js'

const pick = new ClientTool('pick')
const asks = callsTool({ name: 'pick', id: 'c1' })
const red = [resultOf('c1', 'pick', { color: 'red' })]

describe('a workflow', () => {
  it('pauses in an agent of its graph and goes on, without a trace on the agent', async () => {
    const a = scripted('a', [asks, says('a done')], { tools: [pick] })
    const b = scripted('b', [says('b done')])
    const talk = converse(new Workflow({ name: 'wf', edges: [[START, a.agent, b.agent]] }))
    const { tree } = await talk.turn('go')
    expect(tree.stopsItself('a')).toBe(true)
    expect(said(await talk.turn(red, { resumeAt: ['a'] }))).toEqual(['a: a done', 'b: b done'])
    expect([a.llm.calls.length, b.llm.calls.length, a.agent.includeContents]).toEqual([2, 1, 'default'])
    expect(resultsIn(a.llm.calls[1])).toEqual(['{"color":"red"}'])
  })

  it('goes on in the middle of a sequence that is a node of it', async () => {
    const a = scripted('a', [says('a done')])
    const b = scripted('b', [asks, says('b done')], { tools: [pick] })
    const c = scripted('c', [says('c done')])
    const d = scripted('d', [says('d done')])
    const seq = new SequentialAgent({ name: 'seq', subAgents: [a.agent, b.agent, c.agent] })
    const talk = converse(new Workflow({ name: 'wf', edges: [[START, seq, d.agent]] }))
    expect(said(await talk.turn('go'))).toEqual(['a: a done'])
    expect(said(await talk.turn(red, { resumeAt: ['b'] }))).toEqual(['b: b done', 'c: c done', 'd: d done'])
  })

  it('gives two agents that paused at once each its own result', async () => {
    const of = (name: string, id: string) =>
      scripted(name, [callsTool({ name: 'pick', id }), says(`${name} done`)], { tools: [pick] })
    const a = of('a', 'c1')
    const b = of('b', 'c2')
    const talk = converse(
      new Workflow({
        name: 'wf',
        edges: [
          [START, a.agent],
          [START, b.agent, new FunctionNode('quiet', () => undefined)],
        ],
      }),
    )
    await talk.turn('go')
    await talk.turn([...red, resultOf('c2', 'pick', { color: 'blue' })], { resumeAt: ['a', 'b'] })
    expect(resultsIn(a.llm.calls[1])).toEqual(['{"color":"red"}'])
    expect(resultsIn(b.llm.calls[1])).toEqual(['{"color":"blue"}'])
  })

  it('knows the agents of its graph, of workflows in it, of workers and behind tools', () => {
    const leaf = (name: string) => new LlmAgent({ name })
    const schema = z.object({ ok: z.boolean() })
    const worker = new ParallelWorker(new LlmAgent({ name: 'worker', outputSchema: schema }))
    const nested = new Workflow({ name: 'nested', edges: [[START, leaf('inner'), worker]] })
    const helper = new LlmAgent({ name: 'helper', inputSchema: z.object({ request: z.string() }) })
    const outer = new LlmAgent({ name: 'outer', tools: [helper] })
    const plain = new FunctionNode('plain', () => 'x')
    const wf = new Workflow({ name: 'wf', edges: [[START, outer, plain, nested]] })
    const { agentNames, structured, stopsItself } = createRunTree(wf, { resumeAt: [] })
    expect([...agentNames].sort()).toEqual(['helper', 'inner', 'outer', 'worker'])
    expect([...structured]).toEqual(['worker'])
    expect(['inner', 'plain', 'helper'].map(stopsItself)).toEqual([true, true, true])
  })

  it('that is a function is left as it is', () => {
    const wf = new Workflow({ name: 'wf', dynamicEntry: () => 'done' })
    expect(createRunTree(wf, { resumeAt: [] }).root).toBe(wf)
  })

  it('behind a tool of an agent in a sequence asks, and the sequence goes on at that agent', async () => {
    const ask = new FunctionNode(
      'ask',
      ({ resumeInputs: { q1 } }) => q1 ?? new RequestInput({ interruptId: 'q1', message: 'Sure?' }),
      { rerunOnResume: true },
    )
    const form = new Workflow({
      name: 'form',
      inputSchema: z.object({ of: z.string() }),
      edges: [[START, ask]],
    })
    const a = scripted('a', [says('a done')])
    const b = scripted('b', [callsTool({ name: 'form', id: 'f1', args: { of: 'x' } }), says('b done')], {
      tools: [form],
    })
    const c = scripted('c', [says('c done')])
    const talk = converse(new SequentialAgent({ name: 'seq', subAgents: [a.agent, b.agent, c.agent] }))
    expect(said(await talk.turn('go'))).toEqual(['a: a done'])
    const turn = await talk.turn([resultOf('q1', 'adk_request_input', { result: 'yes' })], {
      resumeAt: ['ask'],
    })
    expect(said(turn).slice(-2)).toEqual(['b: b done', 'c: c done'])
    expect([a.llm.calls.length, resultsIn(b.llm.calls[1])]).toEqual([1, ['{"result":"yes"}']])
  })
})
