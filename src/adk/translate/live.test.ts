// Sequences, loops and parallel agents are marked as deprecated, and are what people have.
/* eslint-disable @typescript-eslint/no-deprecated */
import {
  createEvent,
  FunctionNode,
  FunctionTool,
  JoinNode,
  LlmAgent,
  LogLevel,
  LoopAgent,
  LongRunningFunctionTool,
  ParallelAgent,
  RequestInput,
  SequentialAgent,
  setLogLevel,
  START,
  StreamingMode,
  Workflow,
} from '@google/adk'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  callsTool,
  partial,
  partialThought,
  says,
  ScriptedLlm,
  whole,
} from '../../../test/support/adk/scripted-llm.js'
import { eventsOf } from '../../../test/support/adk/events-of.js'
import { told, translateEvents } from '../../../test/support/adk/translate-events.js'

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
      expect(told(translated)).toEqual([
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
    expect(told(translated)).toEqual(['assistant: Pick  (pick)'])
    expect(translated.translator.pendingCallIds).toEqual([expect.stringMatching(/^adk-/)])
  })

  test('hands over to another agent, which gets a span', async () => {
    const model = new ScriptedLlm([callsTool({ name: 'transfer_to_agent', args: { agentName: 'helper' } })])
    const agent = new LlmAgent({ name: 'root', model, subAgents: [saying('helper', 'I ', 'help.')] })
    const translated = translateEvents(await eventsOf(agent))
    expect(told(translated)).toEqual([
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
    expect(told(failed)).toEqual(['assistant: Hal'])
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
    expect(told(translated).sort()).toEqual(['assistant[A]: a1a2', 'assistant[B]: b1b2', 'assistant[C]: c1'])
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
    expect(told(translated)).toEqual([
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
    expect(told(translated).sort()).toEqual(['assistant[A]: a1a2', 'assistant[B]: b'])
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
    expect(told(translated)).toEqual(['assistant[shout]: HELLO'])
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
    expect(told(translated)).toEqual(['assistant[A]: a1a2', 'assistant[B]: b1b2'])
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
