import type { Tool as ToolInfo } from '@ag-ui/core'
import { LLMock } from '@copilotkit/aimock'
import {
  AgentTool,
  FunctionTool,
  Gemini,
  GOOGLE_SEARCH,
  InMemorySessionService,
  LlmAgent,
  node,
  ParallelWorker,
  Runner,
  setLogger,
  StreamingMode,
  Workflow,
  type BaseAgent,
  type Event,
  type LlmAgentConfig,
} from '@google/adk'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import {
  callsTool,
  partial,
  says,
  ScriptedLlm,
  whole,
  type LlmStep,
} from '../../../test/support/adk/scripted-llm.js'
import { sequentialIds } from '../../core/ids.js'
import type { Content, FunctionCall, Part } from '../adk-types.js'
import { clientTools } from './client-tools.js'
import { createToolNames } from './offer-client-tools.js'
import { noResult } from './repair-contents.js'
import { addClientInstructions, RunPlugin, type RunPluginOptions } from './run-plugin.js'

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
    const run = new RunPlugin({
      tools: [pick],
      where: 'auto',
      root,
      instructions: () => [],
      newId,
      report: (problem) => reports.push(problem),
      ...options,
    })
    const runner = new Runner({ appName: 'app', agent: root, sessionService, plugins: [run] })
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
      '`clientTools()` has no effect on "behind", which runs as a tool: it has to answer at once.',
    ])
  })

  it('an agent behind an AgentTool has neither tools nor instructions', async () => {
    const inner = agent('inner', [says('yes')])
    const root = agent('root', [callsTool({ name: 'inner', args: { request: 'q' } }), says('Yes.')], {
      tools: [new AgentTool({ agent: inner.agent })],
    })
    const { turn } = await talkTo(root.agent, { instructions: () => ['Be brief.'] })
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
      'The client\'s tool "transfer_to_agent" is not offered: ADK reserves the name.',
      'The client\'s tool "adk_request_input" is not offered: ADK reserves the name.',
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
  const { turn } = await talkTo(root, { instructions: () => ['Be brief.', 'It is May.'] })
  await turn('hi')
  for (const { config } of model.requests)
    expect(config?.systemInstruction).toMatch(/\n\nPaint\.\n\nBe brief\.\n\nIt is May\.$/)
  expect(
    forms.map((systemInstruction) => {
      const request = { contents: [], toolsDict: {}, liveConnectConfig: {}, config: { systemInstruction } }
      addClientInstructions(request, ['x'])
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

describe('with the real Gemini class', () => {
  type Fixture = Parameters<LLMock['on']>[1]

  interface Body {
    readonly contents: readonly Content[]
    readonly tools: readonly { readonly functionDeclarations: readonly Record<string, unknown>[] }[]
    readonly systemInstruction: Content
  }

  beforeAll(() => setLogger(null))

  let mock: LLMock | undefined

  afterEach(async () => {
    vi.restoreAllMocks()
    await mock?.stop()
    mock = undefined
  })

  /** What the real client puts on the wire, and a conversation through it. */
  async function talkThroughGemini(
    answers: readonly Fixture[],
    { rootOf, tools = [pick] }: { rootOf: (model: () => Gemini) => BaseAgent | Workflow; tools?: ToolInfo[] },
  ) {
    const server = await LLMock.create({ port: 0 })
    mock = server
    let asked = 0
    const next = () => answers[asked++] ?? { content: 'Too often.', finishReason: 'stop' }
    server.on({}, next as Fixture)
    const bodies: Body[] = []
    const real = globalThis.fetch
    vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
      bodies.push(JSON.parse(init?.body as string) as Body)
      return real(input, init)
    })
    class Mocked extends Gemini {
      override getHttpOptions() {
        return { ...super.getHttpOptions(), baseUrl: server.url }
      }
    }
    const root = rootOf(() => new Mocked({ model: 'gemini-2.5-flash', apiKey: 'test' }))
    const sessionService = new InMemorySessionService()
    const { id: sessionId } = await sessionService.createSession({ appName: 'app', userId: 'ann' })
    const newId = sequentialIds()
    const turn = async (...parts: Part[]) => {
      const plugin = new RunPlugin({
        tools,
        where: 'auto',
        root,
        instructions: () => ['Be brief.'],
        newId,
        report: () => undefined,
      })
      const runner = new Runner({ appName: 'app', agent: root, sessionService, plugins: [plugin] })
      const events: Event[] = []
      const runConfig = { streamingMode: StreamingMode.SSE }
      for await (const event of runner.runAsync({
        userId: 'ann',
        sessionId,
        newMessage: { role: 'user', parts },
        runConfig,
      }))
        events.push(event)
      return events
    }
    return { turn, bodies }
  }

  const pick: ToolInfo = {
    name: 'pick',
    description: 'Picks a color.',
    parameters: { type: 'object', properties: { of: { type: 'string' } } },
  }
  const painter = (model: () => Gemini) => new LlmAgent({ name: 'painter', model: model() })
  const mix = new FunctionTool({
    name: 'mix',
    description: '',
    parameters: z.object({}),
    execute: () => ({ mixed: true }),
  })
  const calls = (...names: string[]): Fixture => ({
    toolCalls: names.map((name) => ({ name, arguments: '{}' })),
    finishReason: 'stop',
  })
  const answers = (content: string): Fixture => ({ content, finishReason: 'stop' })
  const resultOf = (id: string | undefined, n = 1): Part => ({
    functionResponse: { ...(id !== undefined && { id }), name: 'pick', response: { n } },
  })

  function callsIn(events: readonly Event[]): FunctionCall[] {
    return events.flatMap(
      ({ content }) => content?.parts?.flatMap(({ functionCall }) => functionCall ?? []) ?? [],
    )
  }

  it('a call of a client tool pauses, in spite of the chunk with the usage behind it', async () => {
    const { turn, bodies } = await talkThroughGemini([calls('pick'), answers('Red.')], { rootOf: painter })
    const [call] = callsIn(await turn({ text: 'paint' }))
    expect(call?.id).toBe('call-1')
    expect(bodies).toHaveLength(1)
    await turn(resultOf(call?.id))
    // Gemini gave no id, and gets none.
    expect(bodies[1]?.contents).toEqual([
      { role: 'user', parts: [{ text: 'paint' }] },
      { role: 'model', parts: [{ functionCall: { name: 'pick', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'pick', response: { n: 1 } } }] },
    ])
    expect(bodies).toHaveLength(2)
  })

  it('beside calls of backend tools it pauses as well, also after a transfer', async () => {
    const rootOf = (model: () => Gemini) =>
      new LlmAgent({
        name: 'root',
        model: model(),
        subAgents: [new LlmAgent({ name: 'child', model: model(), tools: [mix] })],
      })
    const transfer: Fixture = {
      toolCalls: [{ name: 'transfer_to_agent', arguments: '{"agentName":"child"}' }],
      finishReason: 'stop',
    }
    const { turn, bodies } = await talkThroughGemini([transfer, calls('pick', 'mix')], { rootOf })
    await turn({ text: 'paint' })
    expect(bodies).toHaveLength(2)
  })

  it('an agent that has transferred does not answer once more', async () => {
    const rootOf = (model: () => Gemini) =>
      new LlmAgent({
        name: 'root',
        model: model(),
        subAgents: [new LlmAgent({ name: 'child', model: model() })],
      })
    const transfer: Fixture = {
      toolCalls: [{ name: 'transfer_to_agent', arguments: '{"agentName":"child"}' }],
      finishReason: 'stop',
    }
    const { turn, bodies } = await talkThroughGemini([transfer, answers('I can.')], { rootOf })
    await turn({ text: 'paint' })
    expect(bodies).toHaveLength(2)
  })

  it('parallel calls that come in separate chunks have one result each, behind the call', async () => {
    const block = { type: 'toolCall', name: 'pick', arguments: '{}' } as const
    const answer: Fixture = { blocks: [block, { type: 'text', text: 'and' }, block], finishReason: 'stop' }
    const { turn, bodies } = await talkThroughGemini([answer, answers('Both.')], { rootOf: painter })
    const found = callsIn(await turn({ text: 'paint' }))
    expect(found.map(({ id }) => id)).toEqual(['call-1', 'call-2'])
    await turn(resultOf(found[0]?.id, 1), resultOf(found[1]?.id, 2))
    const call = { role: 'model', parts: [{ functionCall: { name: 'pick', args: {} } }] }
    const result = (n: number) => ({
      role: 'user',
      parts: [{ functionResponse: { name: 'pick', response: { n } } }],
    })
    expect(bodies[1]?.contents).toEqual([
      { role: 'user', parts: [{ text: 'paint' }] },
      call,
      result(1),
      { role: 'model', parts: [{ text: 'and' }] },
      call,
      result(2),
    ])
  })

  it('ids that Gemini gives are kept for it', async () => {
    const answer: Fixture = {
      toolCalls: [{ name: 'pick', arguments: '{}', id: 'g-7' }],
      finishReason: 'stop',
    }
    const { turn, bodies } = await talkThroughGemini([answer, answers('Red.')], { rootOf: painter })
    await turn({ text: 'paint' })
    await turn(resultOf('g-7'))
    expect(bodies[1]?.contents.slice(1)).toEqual([
      { role: 'model', parts: [{ functionCall: { id: 'g-7', name: 'pick', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'g-7', name: 'pick', response: { n: 1 } } }] },
    ])
  })

  it('a node that goes on begins with the user', async () => {
    const rootOf = (model: () => Gemini) => new Workflow({ name: 'flow', edges: [['START', painter(model)]] })
    const { turn, bodies } = await talkThroughGemini([calls('pick'), answers('Red.')], { rootOf })
    await turn({ text: 'paint' })
    await turn(resultOf('call-1'))
    expect(bodies[1]?.contents.map(({ role }) => role)).toEqual(['user', 'model', 'user'])
    expect(bodies[1]?.contents[0]?.parts).toEqual([{ text: 'paint' }])
  })

  it('tools and instructions are on the wire in a form that it takes', async () => {
    const strange: ToolInfo = {
      name: 'paint it',
      description: 'Paints.',
      parameters: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        additionalProperties: false,
        properties: { color: { $ref: '#/$defs/color' }, $id: { type: ['integer', 'null'] } },
        required: ['color'],
        $defs: { color: { oneOf: [{ const: 'red' }, { const: 'blue' }], readOnly: true } },
      },
    }
    const { turn, bodies } = await talkThroughGemini([answers('Hi.')], {
      rootOf: (model) =>
        new LlmAgent({ name: 'painter', model: model(), instruction: 'Paint.', tools: [mix] }),
      tools: [strange],
    })
    await turn({ text: 'hi' })
    expect(bodies[0]?.systemInstruction.parts?.[0]?.text).toMatch(/Paint\.\n\nBe brief\.$/)
    expect(bodies[0]?.tools).toHaveLength(1)
    expect(bodies[0]?.tools[0]?.functionDeclarations[1]).toEqual({
      name: 'paint_it',
      description: 'Paints.',
      parametersJsonSchema: {
        type: 'object',
        properties: {
          color: {
            anyOf: [
              { type: 'string', enum: ['red'] },
              { type: 'string', enum: ['blue'] },
            ],
          },
          $id: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
        },
        required: ['color'],
      },
    })
  })

  it.each(['1', '0'])(
    '#968: with progressive streaming %s a tool runs once for each call',
    async (progressive) => {
      vi.stubEnv('ADK_ENABLE_PROGRESSIVE_SSE_STREAMING', progressive)
      let runs = 0
      const count = new FunctionTool({
        name: 'count',
        description: '',
        parameters: z.object({}),
        execute: () => ({ runs: (runs += 1) }),
      })
      const { turn, bodies } = await talkThroughGemini([calls('count', 'count'), answers('Two.')], {
        rootOf: (model) => new LlmAgent({ name: 'painter', model: model(), tools: [count] }),
      })
      const events = await turn({ text: 'count' })
      vi.unstubAllEnvs()
      expect(runs).toBe(2)
      expect(new Set(callsIn(events).map(({ id }) => id))).toEqual(new Set(['call-1', 'call-2']))
      expect(callsIn(events)).toHaveLength(2)
      expect(bodies).toHaveLength(2)
    },
  )
})

it('keeps names that models take', () => {
  const { toModel, toWire } = createToolNames()
  expect(toModel('pick_color-2')).toBe('pick_color-2')
  expect(toWire('pick_color-2')).toBe('pick_color-2')
  expect(toWire('another')).toBeUndefined()
})

it('puts a prefix before the name for the model alone', () => {
  const { toModel, toWire } = createToolNames()
  expect(toModel('pick', 'ui_')).toBe('ui_pick')
  expect(toWire('ui_pick')).toBe('pick')
  expect(toModel('pick')).toBe('pick')
})

it.each([
  ['pick color', 'pick_color'],
  ['ui.pick:color', 'ui_pick_color'],
  ['2d', '_2d'],
  ['größe', 'gr__e'],
  ['色', '_'],
  ['constructor', 'constructor_'],
  ['__proto__', '__proto___'],
  ['x'.repeat(70), 'x'.repeat(64)],
])('cleans %s', (name, cleaned) => {
  const { toModel, toWire } = createToolNames()
  expect(toModel(name)).toBe(cleaned)
  expect(toWire(cleaned)).toBe(name)
})

it('gives different tools different names, and one tool always the same', () => {
  const { toModel, toWire } = createToolNames()
  const long = 'x'.repeat(64)
  expect(['a b', 'a_b', 'a.b', 'a b', `${long}1`, `${long}2`].map((name) => toModel(name))).toEqual([
    'a_b',
    'a_b_2',
    'a_b_3',
    'a_b',
    long,
    `${'x'.repeat(62)}_2`,
  ])
  expect(toWire('a_b_3')).toBe('a.b')
})

it.each([
  ['transfer_to_agent', undefined],
  ['set_model_response', undefined],
  ['finish_task', undefined],
  ['adk_request_input', undefined],
  ['finish_task', 'ui_'],
  ['request_input', 'adk_'],
])('has no name for %s with the prefix %s: it is ADK that answers to it', (name, prefix) => {
  expect(createToolNames().toModel(name, prefix)).toBeUndefined()
})
