import type { Tool as ToolInfo } from '@ag-ui/core'
import { LLMock } from '@copilotkit/aimock'
import {
  FunctionTool,
  Gemini,
  InMemorySessionService,
  LlmAgent,
  Runner,
  StreamingMode,
  Workflow,
  setLogger,
  type BaseAgent,
  type Event,
} from '@google/adk'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { sequentialIds } from '../../core/ids.js'
import type { Content, FunctionCall, Part } from '../adk-types.js'
import { createRunPlugin } from './run-plugin.js'

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
    const { plugin } = createRunPlugin({
      tools,
      where: 'auto',
      root,
      instructions: ['Be brief.'],
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
const says = (content: string): Fixture => ({ content, finishReason: 'stop' })
const resultOf = (id: string | undefined, n = 1): Part => ({
  functionResponse: { ...(id !== undefined && { id }), name: 'pick', response: { n } },
})

function callsIn(events: readonly Event[]): FunctionCall[] {
  return events.flatMap(
    ({ content }) => content?.parts?.flatMap(({ functionCall }) => functionCall ?? []) ?? [],
  )
}

it('a call of a client tool pauses, in spite of the chunk with the usage behind it', async () => {
  const { turn, bodies } = await talkThroughGemini([calls('pick'), says('Red.')], { rootOf: painter })
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
  const { turn, bodies } = await talkThroughGemini([transfer, says('I can.')], { rootOf })
  await turn({ text: 'paint' })
  expect(bodies).toHaveLength(2)
})

it('parallel calls that come in separate chunks have one result each, behind the call', async () => {
  const block = { type: 'toolCall', name: 'pick', arguments: '{}' } as const
  const answer: Fixture = { blocks: [block, { type: 'text', text: 'and' }, block], finishReason: 'stop' }
  const { turn, bodies } = await talkThroughGemini([answer, says('Both.')], { rootOf: painter })
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
  const answer: Fixture = { toolCalls: [{ name: 'pick', arguments: '{}', id: 'g-7' }], finishReason: 'stop' }
  const { turn, bodies } = await talkThroughGemini([answer, says('Red.')], { rootOf: painter })
  await turn({ text: 'paint' })
  await turn(resultOf('g-7'))
  expect(bodies[1]?.contents.slice(1)).toEqual([
    { role: 'model', parts: [{ functionCall: { id: 'g-7', name: 'pick', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { id: 'g-7', name: 'pick', response: { n: 1 } } }] },
  ])
})

it('a node that goes on begins with the user', async () => {
  const rootOf = (model: () => Gemini) => new Workflow({ name: 'flow', edges: [['START', painter(model)]] })
  const { turn, bodies } = await talkThroughGemini([calls('pick'), says('Red.')], { rootOf })
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
  const { turn, bodies } = await talkThroughGemini([says('Hi.')], {
    rootOf: (model) => new LlmAgent({ name: 'painter', model: model(), instruction: 'Paint.', tools: [mix] }),
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
    const { turn, bodies } = await talkThroughGemini([calls('count', 'count'), says('Two.')], {
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
