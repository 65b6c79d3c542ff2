import type { Tool as ToolInfo } from '@ag-ui/core'
import {
  AgentTool,
  FunctionTool,
  GOOGLE_SEARCH,
  InMemorySessionService,
  LlmAgent,
  ParallelWorker,
  Runner,
  StreamingMode,
  Workflow,
  node,
  setLogger,
  type BaseAgent,
  type Event,
  type LlmAgentConfig,
} from '@google/adk'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  ScriptedLlm,
  callsTool,
  partial,
  says,
  whole,
  type LlmStep,
} from '../../../test/support/adk/scripted-llm.js'
import { sequentialIds } from '../../core/ids.js'
import type { Content, FunctionCall, Part } from '../adk-types.js'
import { clientTools } from './client-tools.js'
import { instruct } from './instruct.js'
import { noResult } from './repair-contents.js'
import { createRunPlugin, type RunPluginOptions } from './run-plugin.js'

beforeAll(() => setLogger(null))

const pick: ToolInfo = {
  name: 'pick',
  description: 'Picks a color.',
  parameters: { type: 'object', properties: {} },
}
const draw: ToolInfo = { ...pick, name: 'draw' }

function backend(
  name: string,
  execute: () => unknown = () => ({ from: name }),
  more: object = {},
): FunctionTool {
  return new FunctionTool({ name, description: name, parameters: z.object({}), execute, ...more })
}

function agent(name: string, steps: readonly LlmStep[], config: Partial<LlmAgentConfig> = {}) {
  const model = new ScriptedLlm(steps)
  return { model, agent: new LlmAgent({ name, model, ...config }) }
}

/** A conversation with an agent: each turn has a Runner and a plugin of its own. */
async function talkTo(root: BaseAgent | Workflow, options: Partial<RunPluginOptions> = {}) {
  const sessionService = new InMemorySessionService()
  const { id: sessionId } = await sessionService.createSession({ appName: 'app', userId: 'ann' })
  const newId = sequentialIds()
  const reports: string[] = []
  const turn = async (...parts: (Part | string)[]) => {
    const run = createRunPlugin({
      tools: [pick],
      where: 'auto',
      root,
      instructions: [],
      newId,
      report: (problem) => reports.push(problem),
      ...options,
    })
    const runner = new Runner({ appName: 'app', agent: root, sessionService, plugins: [run.plugin] })
    const newMessage = {
      role: 'user',
      parts: parts.map((part) => (typeof part === 'string' ? { text: part } : part)),
    }
    const events: Event[] = []
    for await (const event of runner.runAsync({
      userId: 'ann',
      sessionId,
      newMessage,
      runConfig: { streamingMode: StreamingMode.SSE },
    }))
      events.push(event)
    return { events, run, calls: callsOf(events) }
  }
  return { turn, reports }
}

function callsOf(events: readonly Event[]): FunctionCall[] {
  return events.flatMap(
    ({ content }) => content?.parts?.flatMap(({ functionCall }) => functionCall ?? []) ?? [],
  )
}

function texts(events: readonly Event[]): string[] {
  return events.flatMap(({ partial: isPartial, content }) =>
    isPartial ? [] : (content?.parts?.flatMap(({ text }) => text ?? []) ?? []),
  )
}

const resultOf = (
  id: string | undefined,
  response: Record<string, unknown> = { ok: true },
  name = 'pick',
): Part => ({
  functionResponse: { ...(id !== undefined && { id }), name, response },
})

/** The names of the tools in each request. */
function offered({ requests }: ScriptedLlm): string[][] {
  return requests.map(({ config }) =>
    (config?.tools ?? []).flatMap((tool) =>
      'functionDeclarations' in tool ? (tool.functionDeclarations ?? []).map(({ name }) => name ?? '') : [],
    ),
  )
}

/** Function calls and responses of a request in short: `call:id`, `result:id`, `text`. */
function shape(contents: readonly Content[] | undefined): string[] {
  return (contents ?? []).map(({ parts = [] }) =>
    parts
      .map(({ functionCall, functionResponse, text }) => {
        if (functionCall) return `call:${functionCall.id ?? ''}`
        if (!functionResponse) return text ?? ''
        const isMissing = functionResponse.response?.status === noResult.status
        return `${isMissing ? 'none' : 'result'}:${functionResponse.id ?? ''}`
      })
      .join(' '),
  )
}

describe('a call of a client tool', () => {
  it('ends the run, and its result goes to the model with the next', async () => {
    const { model, agent: root } = agent('root', [
      callsTool({ name: 'pick', args: { a: 1 } }),
      says('Red it is.'),
    ])
    const { turn } = await talkTo(root)
    const first = await turn('paint')
    expect(first.calls).toEqual([{ name: 'pick', args: { a: 1 }, id: 'call-1' }])
    expect(first.events).toHaveLength(1)
    expect(first.events[0]?.longRunningToolIds).toEqual(['call-1'])
    expect(first.run.isClientTool('pick')).toBe(true)
    const second = await turn(resultOf('call-1'))
    expect(texts(second.events)).toEqual(['Red it is.'])
    expect(shape(model.calls[1])).toEqual(['paint', 'call:call-1', 'result:call-1'])
  })

  it('#906: comes behind the text of the same answer', async () => {
    const answer = whole([{ text: 'Pick one.' }, { functionCall: { name: 'pick', args: {} } }])
    const { agent: root } = agent('root', [[partial('Pick one.'), answer]])
    const { turn } = await talkTo(root)
    const { events } = await turn('paint')
    expect(events.at(-1)?.content?.parts).toEqual([
      { text: 'Pick one.' },
      { functionCall: { name: 'pick', args: {}, id: 'call-1' } },
    ])
  })

  it('beside a call of a backend tool pauses after that one has run', async () => {
    const { model, agent: root } = agent(
      'root',
      [callsTool({ name: 'pick' }, { name: 'mix' }), says('Done.')],
      { tools: [backend('mix')] },
    )
    const { turn } = await talkTo(root)
    const { events } = await turn('paint')
    expect(events).toHaveLength(2)
    expect(model.calls).toHaveLength(1)
    await turn(resultOf('call-1'))
    expect(shape(model.calls[1])).toEqual(['paint', 'call:call-1 call:call-2', 'result:call-1 result:call-2'])
  })

  it('pauses when more of the answer follows, as with Gemini', async () => {
    const usage = { usageMetadata: { totalTokenCount: 3 }, partial: false }
    const { model, agent: root } = agent('root', [[...callsTool({ name: 'pick' }), usage]])
    const { turn } = await talkTo(root)
    await turn('paint')
    expect(model.calls).toHaveLength(1)
  })

  it('in an agent that was transferred to also ends those above it', async () => {
    const usage = { usageMetadata: { totalTokenCount: 3 }, partial: false }
    const after: string[] = []
    const child = agent('child', [[...callsTool({ name: 'pick' }, { name: 'mix' }), usage]], {
      tools: [backend('mix')],
    })
    const root = agent(
      'root',
      [[...callsTool({ name: 'transfer_to_agent', args: { agentName: 'child' } }), usage]],
      {
        subAgents: [child.agent],
        afterAgentCallback: () => void after.push('root'),
      },
    )
    const { turn } = await talkTo(root.agent)
    const { events } = await turn('paint')
    expect(events.findLast(({ content }) => content)?.author).toBe('child')
    expect([root.model.calls.length, child.model.calls.length]).toEqual([1, 1])
    // They are not done.
    expect(after).toEqual([])
  })

  it('in a node pauses the workflow, which goes on with the text of the user in front', async () => {
    const first = agent('first', [callsTool({ name: 'pick' }), says('red')])
    const second = agent('second', [says('painted')])
    const { turn } = await talkTo(
      new Workflow({ name: 'flow', edges: [['START', first.agent, second.agent]] }),
    )
    await turn('paint')
    expect(second.model.calls).toHaveLength(0)
    await turn(resultOf('call-1'))
    expect(shape(first.model.calls[1])).toEqual(['paint', 'call:call-1', 'result:call-1'])
    expect(second.model.calls).toHaveLength(1)
  })

  it('with all that one answer calls in several pieces is a pause with all of them', async () => {
    const { model, agent: root } = agent('root', [
      [...callsTool({ name: 'pick' }), ...callsTool({ name: 'pick' })],
      says('Both.'),
    ])
    const { turn } = await talkTo(root)
    expect((await turn('paint')).calls.map(({ id }) => id)).toEqual(['call-1', 'call-2'])
    await turn(resultOf('call-1', { n: 1 }), resultOf('call-2', { n: 2 }))
    expect(shape(model.calls[1])).toEqual([
      'paint',
      'call:call-1',
      'result:call-1',
      'call:call-2',
      'result:call-2',
    ])
  })

  it('that nobody answers is told to the model when the user goes on', async () => {
    const { model, agent: root } = agent('root', [callsTool({ name: 'pick' }), says('As you like.')])
    const { turn } = await talkTo(root)
    await turn('paint')
    await turn('never mind')
    expect(shape(model.calls[1])).toEqual(['paint', 'call:call-1', 'none:call-1', 'never mind'])
  })
})

describe('ids of calls', () => {
  it('of the model are kept, unless the thread has them already', async () => {
    const { model, agent: root } = agent(
      'root',
      [
        callsTool({ name: 'mix', id: 'x' }),
        callsTool({ name: 'mix', id: 'x' }, { name: 'mix', id: 'y' }, { name: 'mix', id: 'y' }),
        says('Done.'),
      ],
      { tools: [backend('mix')] },
    )
    const { turn } = await talkTo(root)
    const { calls } = await turn('paint')
    expect(calls.map(({ id }) => id)).toEqual(['x', 'call-1', 'y', 'call-2'])
    expect(shape(model.calls[2])).toEqual([
      'paint',
      'call:x',
      'result:x',
      'call:call-1 call:y call:call-2',
      'result:call-1 result:y result:call-2',
    ])
  })

  it('#968/#1168: a call that comes in pieces first is one call with one id, and runs once', async () => {
    let runs = 0
    const piece = (name: string) => ({ ...whole([{ functionCall: { name, args: {} } }]), partial: true })
    const { agent: root } = agent(
      'root',
      [[piece('mix'), partial('so '), piece('mix'), ...callsTool({ name: 'mix' })], says('Done.')],
      { tools: [backend('mix', () => ({ run: (runs += 1) }))] },
    )
    const { turn } = await talkTo(root)
    const { calls, events } = await turn('paint')
    expect(calls).toEqual([{ name: 'mix', args: {}, id: 'call-1' }])
    expect(runs).toBe(1)
    expect(events.some(({ content }) => content?.parts?.[0]?.text === 'so ')).toBe(true)
  })
})

it('a tool that does not exist answers so, instead of leaving the call open', async () => {
  const { model, agent: root } = agent('root', [callsTool({ name: 'gone' }), says('Sorry.')])
  const { turn } = await talkTo(root)
  const { events } = await turn('paint')
  expect(events.map(({ errorCode }) => errorCode)).toEqual([undefined, undefined, undefined, undefined])
  expect(model.calls[1]?.at(-1)?.parts?.[0]?.functionResponse?.response).toEqual({
    error: 'There is no tool named "gone".',
  })
  expect(model.requests[1]?.toolsDict).not.toHaveProperty('gone')
})

it('a long-running tool that fails has a result, instead of leaving the call open', async () => {
  const fail = () => {
    throw new Error('No paint.')
  }
  const { model, agent: root } = agent('root', [callsTool({ name: 'order' }), says('Sorry.')], {
    tools: [backend('order', fail, { isLongRunning: true })],
  })
  const { turn } = await talkTo(root)
  expect(texts((await turn('paint')).events)).toEqual(['Sorry.'])
  expect(model.calls[1]?.at(-1)?.parts?.[0]?.functionResponse?.response).toEqual({
    error: "Error in tool 'order': No paint.",
  })
})

it('an agent that has transferred is not asked again when the other is done', async () => {
  const usage = { usageMetadata: { totalTokenCount: 3 }, partial: false }
  const child = agent('child', [says('I can.')])
  const root = agent(
    'root',
    [[...callsTool({ name: 'transfer_to_agent', args: { agentName: 'child' } }), usage]],
    {
      subAgents: [child.agent],
    },
  )
  const { turn } = await talkTo(root.agent)
  expect(texts((await turn('help')).events)).toEqual(['I can.'])
  expect(root.model.calls).toHaveLength(1)
})

it('an agent that transfers to nobody is asked again', async () => {
  const { model, agent: root } = agent(
    'root',
    [callsTool({ name: 'transfer_to_agent', args: { agentName: 'nobody' } }), says('I do it.')],
    { subAgents: [agent('child', []).agent] },
  )
  const { turn } = await talkTo(root)
  expect(texts((await turn('help')).events)).toContain('I do it.')
  expect(model.calls).toHaveLength(2)
})

describe('which agents have the tools', () => {
  it('all, when no clientTools() is in the tree', async () => {
    const child = agent('child', [says('Hi.')])
    const root = agent('root', [callsTool({ name: 'transfer_to_agent', args: { agentName: 'child' } })], {
      subAgents: [child.agent],
    })
    const { turn } = await talkTo(root.agent)
    await turn('hi')
    expect(offered(root.model)).toEqual([['transfer_to_agent', 'pick']])
    expect(offered(child.model)).toEqual([['transfer_to_agent', 'pick']])
  })

  it.each([
    ['auto', ['pick'], []],
    ['placed', ['pick'], []],
    ['everywhere', ['pick'], ['pick']],
    ['nowhere', [], []],
  ] as const)('with clientTools() on one of two and %s: %o and %o', async (where, ofFirst, ofSecond) => {
    const first = agent('first', [says('a')], { tools: [clientTools()] })
    const second = agent('second', [says('b')])
    const { turn } = await talkTo(
      new Workflow({ name: 'flow', edges: [['START', first.agent, second.agent]] }),
      {
        where,
      },
    )
    await turn('hi')
    expect(offered(first.model)).toEqual([ofFirst])
    expect(offered(second.model)).toEqual([ofSecond])
  })

  it('finds clientTools() in what a workflow wraps, and none behind an AgentTool', async () => {
    const inner = agent('inner', [says('a')], { tools: [clientTools()] })
    const plain = agent('plain', [says('b')])
    const worker = new ParallelWorker(node(inner.agent))
    const flow = new Workflow({ name: 'flow', edges: [['START', plain.agent, worker]] })
    await (await talkTo(flow)).turn('hi')
    expect([offered(plain.model), offered(inner.model)]).toEqual([[[]], [['pick']]])

    const behind = agent('behind', [], { tools: [clientTools()] })
    const root = agent('root', [says('c')], { tools: [new AgentTool({ agent: behind.agent })] })
    const { turn, reports } = await talkTo(root.agent)
    await turn('hi')
    expect(offered(root.model)).toEqual([['behind', 'pick']])
    expect(reports).toEqual([
      '`clientTools()` is in vain on "behind", which runs as a tool: it has to answer at once.',
    ])
  })

  it('an agent behind an AgentTool has neither tools nor instructions', async () => {
    const inner = agent('inner', [says('yes')])
    const root = agent('root', [callsTool({ name: 'inner', args: { request: 'q' } }), says('Yes.')], {
      tools: [new AgentTool({ agent: inner.agent })],
    })
    const { turn } = await talkTo(root.agent, { instructions: ['Be brief.'] })
    await turn('hi')
    expect(offered(inner.model)).toEqual([[]])
    expect(inner.model.requests[0]?.config?.systemInstruction).not.toContain('brief')
    expect(root.model.requests[1]?.config?.systemInstruction).toContain('brief')
  })

  it('an agent in a workflow that is a tool has none: it has to answer at once', async () => {
    const inner = agent('inner', [says('yes')])
    const inputSchema = z.object({ q: z.string() })
    const flow = new Workflow({ name: 'flow', inputSchema, edges: [['START', inner.agent]] })
    const root = agent('root', [callsTool({ name: 'flow', args: { q: 'x' } }), says('Yes.')], {
      tools: [flow],
    })
    const { turn, reports } = await talkTo(root.agent)
    await turn('hi')
    expect(offered(inner.model)).toEqual([[]])
    expect(reports).toEqual([
      '"inner" is not offered the client\'s tools: it runs as a tool, and has to answer at once.',
    ])
  })

  it('agents whose requests take no functions have them only when they ask', async () => {
    const outputSchema = z.object({ a: z.string() })
    const strict = agent('strict', [[whole([{ text: '{"a":"b"}' }])]], { outputSchema })
    const search = agent('search', [says('b')], { tools: [GOOGLE_SEARCH] })
    Object.assign(search.model, { model: 'gemini-2.5-flash' })
    const asks = agent('asks', [[whole([{ text: '{"a":"b"}' }])]], { tools: [clientTools()], outputSchema })
    const flow = new Workflow({ name: 'flow', edges: [['START', strict.agent, search.agent, asks.agent]] })
    const { turn, reports } = await talkTo(flow, { where: 'everywhere' })
    await turn('hi')
    expect(offered(strict.model)).toEqual([[]])
    expect(offered(search.model)).toEqual([[]])
    expect(offered(asks.model)).toEqual([['set_model_response', 'pick']])
    expect(reports).toHaveLength(2)
  })
})

describe('the tools of the client', () => {
  it('are filtered and prefixed for the model, and have their own names for the client', async () => {
    const first = agent('first', [callsTool({ name: 'ui_pick' })], {
      tools: [
        clientTools({ filter: ['pick'], prefix: 'ui_' }),
        clientTools({ filter: ({ name }) => name === 'draw' }),
      ],
    })
    const { turn } = await talkTo(first.agent, { tools: [pick, draw, { ...pick, name: 'other' }] })
    const { run } = await turn('hi')
    expect(offered(first.model)).toEqual([['ui_pick', 'draw']])
    expect(run.wireName('ui_pick')).toBe('pick')
    expect(run.modelName('pick')).toBe('ui_pick')
    expect(run.modelName('mix')).toBe('mix')
    expect([run.isClientTool('ui_pick'), run.isClientTool('mix')]).toEqual([true, false])
  })

  it('stand back behind those of the agent, of ADK and of their own name, and say so once', async () => {
    const mix = backend('mix')
    const { model, agent: root } = agent('root', [callsTool({ name: 'mix' }), says('Done.')], {
      tools: [mix],
    })
    const bad = [undefined, { description: 'x' }, { name: '' }] as unknown as ToolInfo[]
    const tools = [
      { ...pick, name: 'mix' },
      { ...pick, name: 'transfer_to_agent' },
      { ...pick, name: 'adk_request_input' },
      ...bad,
      pick,
      { ...pick, description: 'Another.' },
      { name: 'paint it!', description: undefined, parameters: 'none' } as unknown as ToolInfo,
    ]
    const { turn, reports } = await talkTo(root, { tools })
    const { run } = await turn('hi')
    expect(offered(model)).toEqual([
      ['mix', 'pick', 'paint_it_'],
      ['mix', 'pick', 'paint_it_'],
    ])
    expect(model.calls[1]?.at(-1)?.parts?.[0]?.functionResponse?.response).toEqual({ from: 'mix' })
    expect(model.requests[0]?.toolsDict.pick?.description).toBe('Picks a color.')
    expect(run.wireName('paint_it_', 'root')).toBe('paint it!')
    // By the agent: it is a tool of its own there.
    expect(run.isClientTool('mix', 'root')).toBe(false)
    expect(reports).toEqual([
      'A tool of the client has no name and is not offered.',
      'The client has several tools named "pick". The first is offered.',
      'The client\'s tool "transfer_to_agent" is not offered: ADK has a use of its own for the name.',
      'The client\'s tool "adk_request_input" is not offered: ADK has a use of its own for the name.',
      'The client\'s tool "mix" is not offered to an agent that has one of that name itself.',
    ])
  })

  it('#1264: leave the agent and its tools as they are', async () => {
    const placeholder = clientTools({ filter: ['pick'] })
    const tools = [backend('mix', () => ({ fn: 1 })), placeholder]
    const { agent: root } = agent('root', [says('Hi.')], { tools })
    const config = root.generateContentConfig
    const { turn } = await talkTo(root)
    await turn('hi')
    expect(root.tools).toEqual(tools)
    expect(root.generateContentConfig).toBe(config)
    expect(config).toEqual({})
    expect(await placeholder.getTools()).toEqual([])
  })

  it('#1786: of two runs at once with one agent stay apart', async () => {
    const inside: (() => void)[] = []
    const both = new Promise<void>((resolve) => {
      inside.push(resolve)
    })
    let waiting = 0
    const step: LlmStep = async function* (request) {
      waiting += 1
      if (waiting === 2) inside[0]?.()
      await both
      const own = Object.keys(request.toolsDict).filter((name) => name !== 'mix')
      yield* callsTool(...own.map((name) => ({ name })))
    }
    const { model, agent: root } = agent('root', [step, step], { tools: [backend('mix'), clientTools()] })
    const ann = await talkTo(root, { tools: [{ ...pick, name: 'of_ann' }] })
    const bob = await talkTo(root, { tools: [{ ...pick, name: 'of_bob' }] })
    const [first, second] = await Promise.all([ann.turn('hi'), bob.turn('hi')])
    expect(first.calls.map(({ name }) => name)).toEqual(['of_ann'])
    expect(second.calls.map(({ name }) => name)).toEqual(['of_bob'])
    expect(offered(model)).toEqual([
      ['mix', 'of_ann'],
      ['mix', 'of_bob'],
    ])
    expect([first.run.isClientTool('of_bob'), second.run.isClientTool('of_ann')]).toEqual([false, false])
  })
})

it('instructions follow those of the agent in every request, whatever form they have', async () => {
  const forms = [{ role: 'system', parts: [{ text: 'c' }] }, [{ text: 'p' }], { text: 'q' }]
  const { model, agent: root } = agent('root', [callsTool({ name: 'mix' }), says('Done.')], {
    instruction: 'Paint.',
    tools: [backend('mix')],
  })
  const { turn } = await talkTo(root, { instructions: ['Be brief.', 'It is May.'] })
  await turn('hi')
  for (const { config } of model.requests)
    expect(config?.systemInstruction).toMatch(/\n\nPaint\.\n\nBe brief\.\n\nIt is May\.$/)
  expect(
    forms.map((systemInstruction) => {
      const request = { contents: [], toolsDict: {}, liveConnectConfig: {}, config: { systemInstruction } }
      instruct(request, ['x'])
      return request.config.systemInstruction
    }),
  ).toEqual([
    { role: 'system', parts: [{ text: 'c' }, { text: 'x' }] },
    [{ text: 'p' }, { text: 'x' }],
    [{ text: 'q' }, { text: 'x' }],
  ])
})

it('results that ADK loses beside a call that asks are there, once, and those it keeps are not in the way', async () => {
  const { agent: root } = agent(
    'root',
    [
      callsTool({ name: 'mix' }),
      callsTool({ name: 'mix' }, { name: 'ask' }, { name: 'fail' }, { name: 'list' }, { name: 'pick' }),
    ],
    {
      tools: [
        backend('mix'),
        backend('list', () => [1, 2]),
        backend('fail', () => {
          throw new Error('No paint.')
        }),
        backend('ask', undefined, { requireConfirmation: true }),
      ],
    },
  )
  const { turn } = await talkTo(root)
  const { run, calls } = await turn('paint')
  const ids = calls.flatMap(({ id }) => id ?? [])
  expect(ids.slice(0, 6)).toEqual(['call-1', 'call-2', 'call-3', 'call-4', 'call-5', 'call-6'])
  expect(run.takeDroppedResults(ids)).toEqual([
    { id: 'call-2', name: 'mix', response: { from: 'mix' } },
    { id: 'call-4', name: 'fail', response: { error: "Error in tool 'fail': No paint." } },
    { id: 'call-5', name: 'list', response: { results: [1, 2] } },
  ])
  expect(run.takeDroppedResults(ids)).toEqual([])
})
