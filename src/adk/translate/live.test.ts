import { LLMock } from '@copilotkit/aimock'
import {
  createEvent,
  FunctionNode,
  FunctionTool,
  Gemini,
  JoinNode,
  LlmAgent,
  LogLevel,
  LongRunningFunctionTool,
  LoopAgent,
  ParallelAgent,
  RequestInput,
  SequentialAgent,
  setLogLevel,
  START,
  StreamingMode,
  Workflow,
  type Event,
} from '@google/adk'
import { readFileSync } from 'node:fs'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { eventsOf } from '../../../test/support/adk/events-of.js'
import {
  callsTool,
  partial,
  partialThought,
  says,
  ScriptedLlm,
  whole,
} from '../../../test/support/adk/scripted-llm.js'
import { adkEvent, messageLines, translateEvents } from '../../../test/support/adk/translate-events.js'

// Sequences, loops and parallel agents are marked as deprecated, and are what people have.
/* eslint-disable @typescript-eslint/no-deprecated */

beforeAll(() => setLogLevel(LogLevel.ERROR))

const saying = (name: string, ...pieces: string[]) =>
  new LlmAgent({ name, description: name, model: new ScriptedLlm([says(...pieces)]) })

const tool = (name: string, execute: () => unknown = () => 'sunny') =>
  new FunctionTool({ name, description: name, execute: () => Promise.resolve(execute()) })

describe('a model that is scripted', () => {
  test.each([StreamingMode.SSE, StreamingMode.NONE])(
    'thinks, speaks and uses a tool in the mode %s',
    async (mode) => {
      const isStreaming = mode === StreamingMode.SSE
      const thought = [partialThought('I look'), partialThought(' it up.')]
      const model = new ScriptedLlm([
        [
          ...(isStreaming ? [...thought, partial('One '), partial('moment.')] : []),
          whole([
            { text: 'I look it up.', thought: true, thoughtSignature: 'signed' },
            { text: 'One moment.' },
            { functionCall: { name: 'weather', args: { city: 'Oslo' } }, thoughtSignature: 'signed too' },
          ]),
        ],
        isStreaming ? says('It is ', 'sunny.') : [whole([{ text: 'It is sunny.' }])],
      ])
      const agent = new LlmAgent({ name: 'root', model, tools: [tool('weather')] })
      const translated = translateEvents(await eventsOf(agent, mode))
      expect(messageLines(translated)).toEqual([
        'reasoning: I look it up.',
        'assistant: One moment. (weather)',
        'tool: sunny',
        'assistant: It is sunny.',
      ])
      expect(translated.messages[0]).toMatchObject({ encryptedValue: 'signed' })
      expect(translated.messages[1]).toMatchObject({ toolCalls: [{ encryptedValue: 'signed too' }] })
      expect(translated.problems).toEqual([])
      expect(translated.marks.map(({ messageIds }) => messageIds)).toEqual([
        ['message-1'],
        undefined,
        ['message-2'],
      ])
    },
  )

  test('leaves a call to the client', async () => {
    const model = new ScriptedLlm([
      [partial('Pick '), whole([{ text: 'Pick ' }, { functionCall: { name: 'pick' } }])],
    ])
    const pick = new LongRunningFunctionTool({
      name: 'pick',
      description: 'p',
      execute: () => Promise.resolve(null),
    })
    const events = await eventsOf(new LlmAgent({ name: 'root', model, tools: [pick] }))
    const translated = translateEvents(events, { isClientTool: (name) => name === 'pick' })
    expect(messageLines(translated)).toEqual(['assistant: Pick  (pick)'])
    const [toolCallId, ...others] = translated.translator.pendingCallIds
    expect(toolCallId).toMatch(/^adk-/)
    expect(others).toEqual([])
    expect(translated.loose).toContainEqual(
      expect.objectContaining({ type: 'TOOL_CALL_START', toolCallId, toolCallName: 'pick' }),
    )
  })

  test('hands over to another agent, which gets a span', async () => {
    const model = new ScriptedLlm([callsTool({ name: 'transfer_to_agent', args: { agentName: 'helper' } })])
    const agent = new LlmAgent({ name: 'root', model, subAgents: [saying('helper', 'I ', 'help.')] })
    const translated = translateEvents(await eventsOf(agent))
    expect(messageLines(translated)).toEqual([
      'assistant:  (transfer_to_agent)',
      'tool: Transfer queued',
      'assistant[helper]: I help.',
    ])
    const spans = translated.loose.filter(({ type }) => type.startsWith('SUBAGENT'))
    expect(spans.map(({ type }) => type)).toEqual(['SUBAGENT_STARTED', 'SUBAGENT_FINISHED'])
  })

  test('asks before a tool runs', async () => {
    const model = new ScriptedLlm([callsTool({ name: 'pay' })])
    const pay = new FunctionTool({
      name: 'pay',
      description: 'p',
      requireConfirmation: true,
      execute: () => 'paid',
    })
    const { translator, messages } = translateEvents(
      await eventsOf(new LlmAgent({ name: 'root', model, tools: [pay] })),
    )
    expect(translator.requests).toMatchObject([{ request: { kind: 'confirmation', toolName: 'pay' } }])
    expect(messages.map(({ role }) => role)).toEqual(['assistant'])
  })

  test('goes on after an error, or ends with it', async () => {
    const unknown = new LlmAgent({
      name: 'root',
      model: new ScriptedLlm([callsTool({ name: 'nope' }), says('Sorry.')]),
    })
    const overcome = translateEvents(await eventsOf(unknown))
    expect(overcome.translator.error).toBeUndefined()
    expect(overcome.loose).toContainEqual({
      type: 'CUSTOM',
      name: 'adk.error',
      value: {
        code: 'UNKNOWN_ERROR',
        author: 'root',
      },
    })
    const broken = new LlmAgent({
      name: 'root',
      model: new ScriptedLlm([[partial('Hal'), new Error('kaput')]]),
    })
    const failed = translateEvents(await eventsOf(broken))
    expect(failed.translator.error).toEqual({ code: 'UNKNOWN_ERROR', message: 'kaput' })
    expect(messageLines(failed)).toEqual(['assistant: Hal'])
  })

  test('shows the progress of its tools at once', async () => {
    const slow = new FunctionTool({
      name: 'slow',
      description: 's',
      execute: (_args, context) => {
        const customMetadata = { done: 0.5 }
        context?.invocationContext.eventQueue?.push(
          createEvent({ author: 'slow', partial: true, customMetadata }),
        )
        return 'ok'
      },
    })
    const agent = new LlmAgent({
      name: 'root',
      model: new ScriptedLlm([callsTool({ name: 'slow' }), says('Done.')]),
      tools: [slow],
    })
    const types = translateEvents(await eventsOf(agent)).loose.map((event) =>
      'name' in event ? event.name : event.type,
    )
    expect(types.slice(0, 5)).toEqual([
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'adk.metadata', 'TOOL_CALL_RESULT'],
    ])
  })

  test('tells of state and artifacts that callbacks and tools leave', async () => {
    const agent = new LlmAgent({
      name: 'root',
      model: new ScriptedLlm([callsTool({ name: 'save' }), says('Saved', '.')]),
      outputKey: 'answer',
      tools: [
        new FunctionTool({
          name: 'save',
          description: 's',
          execute: async (_args, context) => {
            await context?.saveArtifact('a.txt', { text: 'hi' })
            return { ok: true }
          },
        }),
      ],
    })
    const { loose } = translateEvents(await eventsOf(agent))
    expect(loose).toContainEqual({
      type: 'CUSTOM',
      name: 'adk.artifact',
      value: { name: 'a.txt', version: 0 },
    })
    expect(loose.at(-1)).toEqual({ type: 'STATE_SNAPSHOT', snapshot: { answer: 'Saved.' } })
  })

  test('with an output schema gives data', async () => {
    const outputSchema = { type: 'OBJECT', properties: { a: { type: 'NUMBER' } } } as never
    const agent = new LlmAgent({ name: 'root', model: new ScriptedLlm([says('{"a"', ':1}')]), outputSchema })
    const { translator, messages } = translateEvents(await eventsOf(agent), { hidesText: () => true })
    expect([translator.output, messages]).toEqual([{ a: 1 }, []])
  })
})

describe('a tree', () => {
  test('of agents that run at the same time keeps them apart', async () => {
    const broken = new LlmAgent({ name: 'C', model: new ScriptedLlm([[partial('c1'), new Error('kaput')]]) })
    const agent = new ParallelAgent({
      name: 'root',
      subAgents: [saying('A', 'a1', 'a2'), broken, saying('B', 'b1', 'b2')],
    })
    const translated = translateEvents(await eventsOf(agent))
    expect(messageLines(translated).sort()).toEqual([
      'assistant[A]: a1a2',
      'assistant[B]: b1b2',
      'assistant[C]: c1',
    ])
    expect(translated.loose.filter(({ type }) => type === 'SUBAGENT_STARTED')).toHaveLength(3)
  })

  test('of agents that come one after the other, again and again, has a span for each time', async () => {
    const model = new ScriptedLlm([says('1'), says('3')])
    const other = new ScriptedLlm([says('2'), says('4')])
    const loop = new LoopAgent({
      name: 'loop',
      maxIterations: 2,
      subAgents: [new LlmAgent({ name: 'A', model }), new LlmAgent({ name: 'B', model: other })],
    })
    const translated = translateEvents(
      await eventsOf(new SequentialAgent({ name: 'root', subAgents: [loop] })),
    )
    expect(messageLines(translated)).toEqual([
      'assistant[A]: 1',
      'assistant[B]: 2',
      'assistant[A]: 3',
      'assistant[B]: 4',
    ])
    const ids = translated.loose.flatMap((event) =>
      event.type === 'SUBAGENT_STARTED' ? [event.subagentRunId] : [],
    )
    expect(new Set(ids).size).toBe(4)
    expect(translated.problems).toEqual([])
  })
})

describe('a workflow', () => {
  const agents = new Set(['A', 'B'])
  const options = { rootAuthor: 'wf', isAgent: (author: string) => agents.has(author) }
  const steps = ({ loose }: ReturnType<typeof translateEvents>) =>
    loose.flatMap((event) => (event.type === 'STEP_STARTED' ? [event.stepName] : []))

  test('of agents and functions has spans and steps, and an output', async () => {
    const [a, b, join] = [saying('A', 'a1', 'a2'), saying('B', 'b'), new JoinNode({ name: 'join' })]
    const count = new FunctionNode('count', (_context, input) => ({
      words: Object.keys(input as object).length,
    }))
    const workflow = new Workflow({
      name: 'wf',
      edges: [
        [START, a, join],
        [START, b, join],
        [join, count],
      ],
    })
    const translated = translateEvents(await eventsOf(workflow), options)
    expect(messageLines(translated).sort()).toEqual(['assistant[A]: a1a2', 'assistant[B]: b'])
    expect(steps(translated)).toEqual(['wf.join', 'wf.count'])
    expect(translated.translator.output).toEqual({ words: 2 })
    expect(translated.problems).toEqual([])
  })

  test('of a function alone answers with its text', async () => {
    const shout = new FunctionNode('shout', (_context, input) => String(input).toUpperCase())
    const translated = translateEvents(
      await eventsOf(new Workflow({ name: 'wf', edges: [[START, shout]] })),
      options,
    )
    expect(messageLines(translated)).toEqual(['assistant[shout]: HELLO'])
  })

  test('that starts agents by hand at the same time keeps them apart', async () => {
    const workflow = new Workflow({
      name: 'wf',
      dynamicEntry: async (context, input) => {
        await Promise.all([
          context.runNode(saying('A', 'a1', 'a2'), input),
          context.runNode(saying('B', 'b1', 'b2'), input),
        ])
        return { done: true }
      },
    })
    const translated = translateEvents(await eventsOf(workflow), options)
    expect(messageLines(translated)).toEqual(['assistant[A]: a1a2', 'assistant[B]: b1b2'])
    expect(translated.loose.filter(({ type }) => type === 'SUBAGENT_STARTED')).toHaveLength(2)
    expect(translated.translator.output).toEqual({ done: true })
  })

  test('that asks a person asks once', async () => {
    const ask = new FunctionNode('ask', () => new RequestInput({ interruptId: 'ask1', message: 'Go on?' }))
    const { translator, loose } = translateEvents(
      await eventsOf(new Workflow({ name: 'wf', edges: [[START, ask]] })),
      options,
    )
    expect(translator.requests).toMatchObject([
      { request: { kind: 'input', interruptId: 'ask1', message: 'Go on?' } },
    ])
    expect(loose.map(({ type }) => type)).toEqual(['STEP_STARTED', 'STEP_FINISHED'])
  })
})

describe('a model of Gemini', () => {
  beforeAll(() => setLogLevel(LogLevel.ERROR))

  const weather = new FunctionTool({
    name: 'weather',
    description: 'Tells the weather.',
    execute: () => 'sunny',
  })

  const mocks = new Set<LLMock>()
  afterEach(async () => {
    await Promise.all([...mocks].map((mock) => mock.stop()))
    mocks.clear()
  })
  const usage = (prompt: number, output: number) => ({
    promptTokenCount: prompt,
    candidatesTokenCount: output,
  })

  async function gemini(tools: FunctionTool[] = []) {
    const mock = await LLMock.create({ port: 0, chunkSize: 8 })
    mocks.add(mock)
    const model = new Gemini({ model: 'gemini-3-flash-preview', apiKey: 'mock' })
    const generateContentConfig = { httpOptions: { baseUrl: mock.url } }
    return { mock, agent: new LlmAgent({ name: 'root', model, generateContentConfig, tools }) }
  }

  test.each([StreamingMode.SSE, StreamingMode.NONE])(
    'Gemini thinks and speaks in the mode %s',
    async (mode) => {
      const { mock, agent } = await gemini()
      mock.onMessage('hello', {
        content: 'Hi there, friend!',
        reasoning: 'I should greet.',
        finishReason: 'stop',
        usage: usage(7, 5),
      })
      const translated = translateEvents(await eventsOf(agent, mode))
      expect(messageLines(translated)).toEqual(['reasoning: I should greet.', 'assistant: Hi there, friend!'])
      const deltas = translated.stream.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
      expect(deltas.length).toBe(mode === StreamingMode.SSE ? 3 : 1)
      expect(translated.usage).toEqual([{ inputTokens: 7, outputTokens: 5, totalTokens: 12 }])
    },
  )

  test('Gemini speaks and uses a tool', async () => {
    const { mock, agent } = await gemini([weather])
    mock.on({ hasToolResult: true }, { content: 'It is sunny.', finishReason: 'stop', usage: usage(20, 4) })
    const toolCalls = [{ name: 'weather', arguments: '{"city":"Oslo"}' }]
    mock.onMessage('hello', { content: 'Let me check.', toolCalls, finishReason: 'stop', usage: usage(7, 9) })
    const translated = translateEvents(await eventsOf(agent))
    expect(messageLines(translated)).toEqual([
      'assistant: Let me check. (weather)',
      'tool: sunny',
      'assistant: It is sunny.',
    ])
    expect(translated.usage.map(({ totalTokens }) => totalTokens)).toEqual([16, 24])
    expect(translated.loose.filter(({ type }) => type === 'CUSTOM')).toEqual([])
  })

  test('Gemini calls tools in parts of an answer that are apart', async () => {
    const { mock, agent } = await gemini([weather])
    mock.on({ hasToolResult: true }, { content: 'Both sunny.', finishReason: 'stop', usage: usage(30, 4) })
    mock.onMessage('hello', {
      blocks: [
        { type: 'toolCall', name: 'weather', arguments: '{"city":"Oslo"}' },
        { type: 'text', text: 'And the other.' },
        { type: 'toolCall', name: 'weather', arguments: '{"city":"Rome"}' },
      ],
      finishReason: 'stop',
      usage: usage(7, 9),
    })
    const translated = translateEvents(await eventsOf(agent))
    expect(messageLines(translated)).toEqual([
      'assistant:  (weather)',
      'tool: sunny',
      'assistant: And the other. (weather)',
      'tool: sunny',
      'assistant: Both sunny.',
    ])
    expect(translated.usage.map(({ totalTokens }) => totalTokens)).toEqual([16, 34])
    expect(translated.problems).toEqual([])
  })

  test('Gemini is cut off, refuses, or cannot be reached', async () => {
    const cut = await gemini()
    cut.mock.onMessage('hello', { content: 'Once upon a time', finishReason: 'length' })
    const short = translateEvents(await eventsOf(cut.agent))
    expect(messageLines(short)).toEqual(['assistant: Once upon a time'])
    expect(short.translator.error).toBeUndefined()
    expect(short.loose.at(-1)).toEqual({
      type: 'CUSTOM',
      name: 'adk.finish',
      value: { reason: 'MAX_TOKENS' },
    })

    const refusing = await gemini()
    refusing.mock.onMessage('hello', { content: '', finishReason: 'content_filter' })
    expect(translateEvents(await eventsOf(refusing.agent)).translator.error).toEqual({
      code: 'SAFETY',
      message: '',
    })

    const limited = await gemini()
    limited.mock.onMessage('hello', { error: { message: 'slow down' }, status: 400 })
    expect(translateEvents(await eventsOf(limited.agent)).translator.error).toEqual({
      code: '400',
      message: 'slow down',
    })
  })
})

describe('recorded runs', () => {
  // What the Runner of ADK 2.0 gave, where that is not easily had again: without times, invocations and empty actions.
  const recorded = JSON.parse(
    readFileSync(new URL('./fixtures/recorded.json', import.meta.url), 'utf8'),
  ) as Record<string, Partial<Event>[]>

  function translate(name: string, options: Parameters<typeof translateEvents>[1] = {}) {
    const events = recorded[name]?.map(adkEvent) ?? []
    expect(events).not.toEqual([])
    return translateEvents(events, options)
  }

  test('Gemini in progressive mode: ADK runs the calls of a piece, and those of the whole again', () => {
    const translated = translate('Gemini in progressive mode')
    expect(messageLines(translated)).toEqual([
      'assistant: Let me check. (weather, weather)',
      'tool: sunny',
      'tool: sunny',
      'assistant: Both sunny.',
    ])
    expect(translated.problems).toEqual([])
    expect(translated.marks.map(({ messageIds }) => messageIds?.join())).toEqual([
      undefined,
      'message-1',
      undefined,
      'message-2',
    ])
  })

  test('a call in a piece that the model gave no id: ADK has made and run two', () => {
    const translated = translate('a call in a piece')
    expect(messageLines(translated)).toEqual([
      'assistant:  (weather)',
      'tool: sunny',
      'assistant:  (weather)',
      'tool: sunny',
      'assistant: x',
    ])
  })

  test('a tool that needs a credential has no result yet; its sibling has', () => {
    const translated = translate('a tool that needs a credential')
    expect(messageLines(translated)).toEqual(['assistant:  (mail, weather)', 'tool: sunny'])
    expect(translated.translator.requests).toMatchObject([{ request: { kind: 'credential' } }])
    expect(JSON.stringify(translated.stream)).not.toContain('X-Key')
  })

  test('a sibling that fails, on no branch: the other one goes on', () => {
    const translated = translate('a sibling that fails')
    expect(messageLines(translated)).toEqual(['assistant[A]: a1', 'assistant[B]: b1b2b3'])
    expect(translated.loose.filter(({ type }) => type === 'SUBAGENT_STARTED')).toHaveLength(2)
    expect(translated.loose).toContainEqual(
      expect.objectContaining({
        name: 'adk.error',
        value: { code: 'UNKNOWN_ERROR', author: 'A' },
      }),
    )
  })

  test('a workflow whose node throws: the error is known before it is thrown', () => {
    const { translator } = translate('a workflow whose node throws', { isAgent: (author) => author === 'A' })
    expect(translator.error).toEqual({ code: 'UNKNOWN_ERROR', message: 'kaput' })
  })
})
