import {
  createEvent,
  FunctionNode,
  FunctionTool,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  ParallelWorker,
  RequestInput,
  SequentialAgent,
  START,
  Workflow,
  type Event,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  ClientTool,
  converse,
  gate,
  resultOf,
  resultsIn,
  textLines,
  scripted,
} from '../../../test/support/adk/converse.js'
import { callsTool, says, whole } from '../../../test/support/adk/scripted-llm.js'
import type { Part } from '../adk-types.js'
import { resultsByCaller } from './events-for-model.js'
import { createRunTree } from './run-tree.js'

/* eslint-disable @typescript-eslint/no-deprecated -- composites are on their way out, and in use */

const pick = new ClientTool('pick')
const asks = callsTool({ name: 'pick', id: 'c1' })
const red = [resultOf('c1', 'pick', { color: 'red' })]

/** Agents a, b and c, of which one calls a client tool first. */
function three(pausing: string) {
  const of = (name: string) =>
    scripted(name, name === pausing ? [asks, says(`${name} done`)] : [says(`${name} done`)], {
      tools: [pick],
    })
  return { a: of('a'), b: of('b'), c: of('c') }
}

describe('a sequence', () => {
  it.each([
    { pausing: 'a', before: [], after: ['a: a done', 'b: b done', 'c: c done'] },
    { pausing: 'b', before: ['a: a done'], after: ['b: b done', 'c: c done'] },
    { pausing: 'c', before: ['a: a done', 'b: b done'], after: ['c: c done'] },
  ])('stops at $pausing and goes on there', async ({ pausing, before, after }) => {
    const { a, b, c } = three(pausing)
    const talk = converse(new SequentialAgent({ name: 'seq', subAgents: [a.agent, b.agent, c.agent] }))
    expect(textLines(await talk.turn('go'))).toEqual(before)
    expect(textLines(await talk.turn(red, { resumeAt: [pausing] }))).toEqual(after)
    for (const [name, { llm }] of Object.entries({ a, b, c })) {
      expect(llm.calls.length, name).toBe(name === pausing ? 2 : 1)
      if (name === pausing) expect(resultsIn(llm.calls[1])).toEqual(['{"color":"red"}'])
    }
  })

  it('goes on also when ADK is told that runs are resumable', async () => {
    const { a, b, c } = three('b')
    const root = new SequentialAgent({ name: 'seq', subAgents: [a.agent, b.agent, c.agent] })
    const talk = converse(root, { resumable: true })
    await talk.turn('go')
    expect(textLines(await talk.turn(red, { resumeAt: ['b'] }))).toEqual(['b: b done', 'c: c done'])
  })

  it('stops for a question, and leaves out the last callback until it is over', async () => {
    const ends: string[] = []
    const ran: unknown[] = []
    const pay = new FunctionTool({
      name: 'pay',
      description: 'pays',
      requireConfirmation: true,
      execute: () => ran.push('paid'),
    })
    const a = scripted('a', [callsTool({ name: 'pay', id: 'p1' }), says('a done')], { tools: [pay] })
    const b = scripted('b', [says('b done')])
    const subAgents = [a.agent, b.agent]
    const afterAgentCallback = () => void ends.push('end')
    const talk = converse(new SequentialAgent({ name: 'seq', subAgents, afterAgentCallback }))
    const { events } = await talk.turn('go')
    const id = events.at(-1)?.content?.parts?.[0]?.functionCall?.id ?? ''
    expect([ends, ran, b.llm.calls]).toEqual([[], [], []])
    await talk.turn([resultOf(id, 'adk_request_confirmation', { confirmed: true })], { resumeAt: ['a'] })
    expect([ends, ran, a.llm.calls.length, b.llm.calls.length]).toEqual([['end'], ['paid'], 2, 1])
  })

  it('does not take a long-running tool for a pause that answers at once', async () => {
    const ticket = new FunctionTool({
      name: 'order',
      description: 'orders',
      isLongRunning: true,
      execute: () => ({ ticket: 7 }),
    })
    const a = scripted('a', [callsTool({ name: 'order' }), says('a done')], { tools: [ticket] })
    const b = scripted('b', [says('b done')])
    const talk = converse(new SequentialAgent({ name: 'seq', subAgents: [a.agent, b.agent] }))
    expect(textLines(await talk.turn('go'))).toEqual(['a: a done', 'b: b done'])
  })

  it('runs an agent that comes after one that said nothing to its result', async () => {
    const a = scripted('a', [asks, []], { tools: [pick] })
    const b = scripted('b', [says('b done')])
    const talk = converse(new SequentialAgent({ name: 'seq', subAgents: [a.agent, b.agent] }))
    await talk.turn('go')
    expect(textLines(await talk.turn(red, { resumeAt: ['a'] }))).toEqual(['b: b done'])
  })

  it('waits for one that gets no answer in this run', async () => {
    const a = scripted('a', [asks, says('a done')], { tools: [pick] })
    const b = scripted('b', [callsTool({ name: 'pick', id: 'c2' }), says('b done')], { tools: [pick] })
    const c = scripted('c', [says('c done')])
    const both = new ParallelAgent({ name: 'both', subAgents: [a.agent, b.agent] })
    const talk = converse(new SequentialAgent({ name: 'seq', subAgents: [both, c.agent] }))
    await talk.turn('go')
    expect(textLines(await talk.turn(red, { resumeAt: ['a'], waitingAt: { b: ['c1'] } }))).toEqual([
      'a: a done',
    ])
    const last = await talk.turn([resultOf('c2', 'pick', { color: 'blue' })], { resumeAt: ['b'] })
    expect(textLines(last)).toEqual(['b: b done', 'c: c done'])
    expect(resultsIn(b.llm.calls[1])).toEqual(['{"color":"blue"}'])
  })
})

describe('a loop', () => {
  const leave = new FunctionTool({
    name: 'leave',
    description: 'leaves',
    execute: (_: unknown, context) => {
      if (context) context.actions.escalate = true
      return 'left'
    },
  })

  it('counts on from where it had paused', async () => {
    const a = scripted('a', [says('a1'), says('a2'), says('a3')])
    const b = scripted('b', [says('b1'), asks, says('b2'), says('b3')], { tools: [pick] })
    const talk = converse(new LoopAgent({ name: 'loop', subAgents: [a.agent, b.agent], maxIterations: 3 }))
    const first = await talk.turn('go')
    expect(textLines(first)).toEqual(['a: a1', 'b: b1', 'a: a2'])
    const iterations = first.tree.iterations()
    expect(iterations).toEqual({ loop: 1 })
    const second = await talk.turn(red, { resumeAt: ['b'], iterations })
    expect(textLines(second)).toEqual(['b: b2', 'a: a3', 'b: b3'])
    expect(second.tree.iterations()).toEqual({})
  })

  it('ends with an escalation after the agent that asked for it', async () => {
    const a = scripted('a', [says('a1'), callsTool({ name: 'leave' }), says('bye')], { tools: [leave] })
    const b = scripted('b', [says('b1')])
    const talk = converse(new LoopAgent({ name: 'loop', subAgents: [a.agent, b.agent] }))
    const turn = await talk.turn('go')
    expect(textLines(turn)).toEqual(['a: a1', 'b: b1', 'a: bye'])
    expect(turn.tree.iterations()).toEqual({})
  })

  it('starts a sequence in it anew in the next round, inside another sequence', async () => {
    const first = scripted('first', [says('first')])
    const a = scripted('a', [says('a1'), says('a2')])
    const b = scripted('b', [asks, says('b1'), says('b2')], { tools: [pick] })
    const last = scripted('last', [says('last')])
    const inner = new SequentialAgent({ name: 'inner', subAgents: [a.agent, b.agent] })
    const loop = new LoopAgent({ name: 'loop', subAgents: [inner], maxIterations: 2 })
    const talk = converse(new SequentialAgent({ name: 'outer', subAgents: [first.agent, loop, last.agent] }))
    const paused = await talk.turn('go')
    expect(textLines(paused)).toEqual(['first: first', 'a: a1'])
    const { iterations } = paused.tree
    const resumed = await talk.turn(red, { resumeAt: ['b'], iterations: iterations() })
    expect(textLines(resumed)).toEqual(['b: b1', 'a: a2', 'b: b2', 'last: last'])
  })
})

describe('lanes side by side', () => {
  it('run to their own end when one pauses, and only that one goes on', async () => {
    const a = scripted('a', [asks, says('a done')], { tools: [pick] })
    const b = scripted('b', [says('b1')])
    const b2 = scripted('b2', [says('b2')])
    const lane = new SequentialAgent({ name: 'lane', subAgents: [b.agent, b2.agent] })
    const c = scripted('c', [says('c done')])
    const par = new ParallelAgent({ name: 'par', subAgents: [a.agent, lane] })
    const talk = converse(new SequentialAgent({ name: 'seq', subAgents: [par, c.agent] }))
    const paused = await talk.turn('go')
    expect(textLines(paused)).toEqual(['b: b1', 'b2: b2'])
    expect(new Set(paused.events.map(({ branch }) => branch))).toEqual(new Set(['par.a', 'par.lane']))
    const resumed = await talk.turn(red, { resumeAt: ['a'] })
    expect(textLines(resumed)).toEqual(['a: a done', 'c: c done'])
    expect(new Set(resumed.events.map(({ branch }) => branch))).toEqual(new Set(['par.a', undefined]))
  })

  it('get each its own result, when both are answered in one message', async () => {
    const look = new FunctionTool({ name: 'look', description: 'looks', execute: () => 'seen' })
    const calls = (id: string) => callsTool({ name: 'pick', id }, { name: 'look', id: `${id}-look` })
    const a = scripted('a', [calls('c1'), says('a done')], { tools: [pick, look] })
    const b = scripted('b', [callsTool({ name: 'pick', id: 'c2' }), says('b done')], { tools: [pick] })
    const talk = converse(new ParallelAgent({ name: 'par', subAgents: [a.agent, b.agent] }))
    await talk.turn('go')
    const answers = [...red, resultOf('c2', 'pick', { color: 'blue' })]
    expect(textLines(await talk.turn(answers, { resumeAt: ['a', 'b'] })).sort()).toEqual([
      'a: a done',
      'b: b done',
    ])
    expect(resultsIn(a.llm.calls[1])).toEqual(['{"color":"red"}', '{"result":"seen"}'])
    expect(resultsIn(b.llm.calls[1])).toEqual(['{"color":"blue"}'])
  })

  it('are all left when one fails', async () => {
    const begun = gate()
    let hasLeft = false
    const slow = scripted('slow', [
      async function* (_, signal) {
        try {
          begun.open()
          await new Promise((resolve) => signal?.addEventListener('abort', resolve))
          yield whole([{ text: 'too late' }])
        } finally {
          hasLeft = true
        }
      },
    ])
    const broken = scripted('broken', [], {
      beforeAgentCallback: async () => {
        await begun.opened
        throw new Error('broken')
      },
    })
    const talk = converse(new ParallelAgent({ name: 'par', subAgents: [slow.agent, broken.agent] }))
    await expect(talk.turn('go')).rejects.toThrow('broken')
    expect(hasLeft).toBe(true)
  })
})

describe('a workflow', () => {
  it('pauses in an agent of its graph and goes on, without a trace on the agent', async () => {
    const a = scripted('a', [asks, says('a done')], { tools: [pick] })
    const b = scripted('b', [says('b done')])
    const talk = converse(new Workflow({ name: 'wf', edges: [[START, a.agent, b.agent]] }))
    const { tree } = await talk.turn('go')
    expect(tree.stopsItself('a')).toBe(true)
    expect(textLines(await talk.turn(red, { resumeAt: ['a'] }))).toEqual(['a: a done', 'b: b done'])
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
    expect(textLines(await talk.turn('go'))).toEqual(['a: a done'])
    expect(textLines(await talk.turn(red, { resumeAt: ['b'] }))).toEqual([
      'b: b done',
      'c: c done',
      'd: d done',
    ])
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
    expect(textLines(await talk.turn('go'))).toEqual(['a: a done'])
    const turn = await talk.turn([resultOf('q1', 'adk_request_input', { result: 'yes' })], {
      resumeAt: ['ask'],
    })
    expect(textLines(turn).slice(-2)).toEqual(['b: b done', 'c: c done'])
    expect([a.llm.calls.length, resultsIn(b.llm.calls[1])]).toEqual([1, ['{"result":"yes"}']])
  })
})

describe('results of client tools', () => {
  const event = (author: string, parts: Part[], branch?: string): Event =>
    createEvent({
      author,
      content: { role: author === 'user' ? 'user' : 'model', parts },
      ...(branch ? { branch } : {}),
    })
  const call = (id: string): Part => ({ functionCall: { id, name: 'pick', args: {} } })
  const result = (id: string, name = 'pick'): Part => ({ functionResponse: { id, name, response: {} } })

  const shown = (events: readonly Event[]) =>
    events.map(({ author, branch, content }) => [
      author,
      branch,
      content?.parts?.map(
        ({ text, functionCall, functionResponse }) => text ?? functionCall?.id ?? functionResponse?.id,
      ),
    ])

  it('results that a client gave are those of the agents that called, words stay the user’s', () => {
    const events = [
      event('a', [call('c1')], 'lanes.a'),
      event('b', [call('c2')], 'lanes.b'),
      event('user', [result('c2'), result('c1'), { text: 'There.' }]),
    ]
    expect(shown(resultsByCaller(events)).slice(2)).toEqual([
      ['b', 'lanes.b', ['c2']],
      ['a', 'lanes.a', ['c1']],
      ['user', undefined, ['There.']],
    ])
    expect(shown(events).at(-1)).toEqual(['user', undefined, ['c2', 'c1', 'There.']])
  })

  it('answers to requests of ADK, and results of calls that nobody made, stay as they are', () => {
    const events = [
      event('a', [{ functionCall: { id: 'q1', name: 'adk_request_confirmation', args: {} } }]),
      event('user', [result('q1', 'adk_request_confirmation'), result('c9')]),
      event('user', [{ text: 'Hi.' }]),
    ]
    expect(resultsByCaller(events)).toEqual(events)
  })
})
