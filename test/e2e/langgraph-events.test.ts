import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch'
import { AIMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { tool } from '@langchain/core/tools'
import {
  type BaseCheckpointSaver,
  interrupt,
  isGraphInterrupt,
  type LangGraphRunnableConfig,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { emit, emitMessage, emitToolCall, fromLangGraph } from '../../src/langgraph/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { callChunks, FakeModel, type ModelStep } from '../support/langgraph/fake-model.js'
import {
  historyOf,
  interruptsIn,
  promptText,
  serveGraph,
  textsIn,
  type ServeGraphOptions,
} from '../support/langgraph/serve-graph.js'
import { ofType, resultsIn } from '../support/run-agent.js'
import { clientVersions, linesOf, serveAgents } from '../support/serve-agents.js'

type Node = (state: typeof MessagesAnnotation.State, config: RunnableConfig) => unknown

/** Serves a graph of one node. */
const serveNode = (node: Node, options: Partial<ServeGraphOptions> = {}) =>
  serveGraph({
    ...options,
    make: (checkpointer: BaseCheckpointSaver) => {
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('work', async (state, config) => {
          await node(state, config)
          return {}
        })
        .addEdge(START, 'work')
        .compile({ checkpointer })
      return fromLangGraph(graph, { name: 'worker' })
    },
  })

describe('parallel nodes', () => {
  /** Pieces of several models, one of each in turn. */
  function inTurns(count: number): (index: number) => Promise<void> {
    const waiting: (() => void)[] = []
    return () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        if (waiting.length < count) return
        for (const next of waiting.splice(0)) next()
      })
  }

  const reasoning = (text: string) => ({ content: '', additional_kwargs: { reasoning_content: text } })
  const scripts: Readonly<Record<string, (n: number) => ModelStep>> = {
    'text alone': (n) => [`a${n}`, `b${n}`, `c${n}`],
    'reasoning, then text': (n) => [reasoning(`r${n}`), reasoning('!'), `a${n}`, `b${n}`],
    'of different length': (n) => [...Array<string>(n + 1).fill(`${n}`), ...Array<string>(4 - n).fill('')],
    'text and a call': (n) => [`a${n}`, `b${n}`, ...callChunks(`call-${n}`, 'look', { n })],
  }

  it.each(Object.entries(scripts))('a message ends once, after all of its text: %s', async (_, script) => {
    const turns = inTurns(4)
    const make = (checkpointer: BaseCheckpointSaver) => {
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('plan', () => ({}))
        .addNode('work', async ({ n }: { n: number }) => {
          const model = new FakeModel([script(n)], () => turns(n))
          return { messages: [await model.invoke('Go')] }
        })
        .addEdge(START, 'plan')
        .addConditionalEdges('plan', () => [0, 1, 2, 3].map((n) => new Send('work', { n })))
        .compile({ checkpointer })
      return fromLangGraph(graph, { name: 'crew' })
    }
    const served = await serveGraph({ make })
    const events = await served.talk().say('Go')
    expect(endsBeforeTheEnd(events)).toEqual([])
    expect(ofType(events, 'TEXT_MESSAGE_END')).toHaveLength(4)
    expect(ofType(events, 'TEXT_MESSAGE_START')).toHaveLength(4)
    expect(textsIn(events).toSorted()).toEqual(
      [0, 1, 2, 3].map((n) =>
        script(n)
          .filter((piece) => typeof piece === 'string')
          .join(''),
      ),
    )
  })

  /** The ends of messages and reasoning that something of the same id follows. */
  function endsBeforeTheEnd(events: readonly AgUiEvent[]): string[] {
    const idOf = (event: AgUiEvent) =>
      /^(TEXT|REASONING)_/.test(event.type) ? (event as { messageId: string }).messageId : undefined
    return events.flatMap((event, index) => {
      if (!event.type.endsWith('_MESSAGE_END')) return []
      const later = events.slice(index + 1).filter((other) => other.type.includes('_MESSAGE_'))
      return later.some((other) => idOf(other) === idOf(event)) ? [`${event.type} ${idOf(event)}`] : []
    })
  }
})

describe('a tool that the code of a node calls', () => {
  const ran: string[] = []
  const look = tool(
    ({ what }) => {
      ran.push(what)
      if (what === 'bad') throw new Error('tool-secret')
      if (what === 'sure?') return `sure: ${interrupt<string, string>('Sure?')}`
      return `saw ${what}`
    },
    { name: 'look', description: 'Looks.', schema: z.object({ what: z.string() }) },
  )

  /** A node that looks, lets its model answer, and looks again. */
  async function serveLooker(whats: readonly string[], options: { withoutCheckpointer?: boolean } = {}) {
    ran.length = 0
    const model = new FakeModel([['One.'], ['Two.'], ['Three.']])
    const make = (checkpointer: BaseCheckpointSaver) => {
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('work', async ({ messages }) => {
          for (const what of whats) await look.invoke({ what }).catch(rethrowInterrupt)
          const answer = await model.invoke(messages)
          await look.invoke({ what: 'after' })
          return { messages: [answer] }
        })
        .addEdge(START, 'work')
      const compiled = options.withoutCheckpointer ? graph.compile() : graph.compile({ checkpointer })
      return fromLangGraph(compiled, { name: 'looker' })
    }
    return { model, served: await serveGraph({ make }) }
  }

  const rethrowInterrupt = (error: unknown): void => {
    if (isGraphInterrupt(error)) throw error
  }
  const card = (what: string) => [`assistant: look({"what":"${what}"})`, `tool: saw ${what}`]

  describe.each(clientVersions)('with the client $version', ({ Client }) => {
    it.each([false, true])(
      'has its tool card, and the model does not see it; no checkpointer: %s',
      async (none) => {
        const { model, served } = await serveLooker(['before'], { withoutCheckpointer: none })
        const talk = served.talk({ Client })
        const events = await talk.say('Go')
        expect(events.flatMap(({ type }) => (type.startsWith('TOOL_CALL') ? [type.slice(10)] : []))).toEqual(
          Array(2).fill(['START', 'ARGS', 'END', 'RESULT']).flat(),
        )
        expect(ofType(events, 'CUSTOM')).toEqual([])
        await talk.say('Again')
        const turn = (user: string, answer: string) => [
          ...[`user: ${user}`, ...card('before'), `assistant: ${answer}`, ...card('after')],
        ]
        const lines = [...turn('Go', 'One.'), ...turn('Again', 'Two.')]
        expect(linesOf(talk.client.messages)).toEqual(lines)
        expect(linesOf(await historyOf(served))).toEqual(lines)
        expect(promptText(model.calls[1])).toEqual(['human: Go', 'ai: One.', 'human: Again'])
      },
    )
  })

  it('has a failed result when it fails, without the error', async () => {
    const { model, served } = await serveLooker(['bad'])
    const talk = served.talk()
    const events = await talk.say('Go')
    expect(resultsIn(events)[0]).toMatch(/: The tool has failed\.$/)
    expect(JSON.stringify(events)).not.toContain('tool-secret')
    await talk.say('Again')
    expect(promptText(model.calls[1])).toEqual(['human: Go', 'ai: One.', 'human: Again'])
  })

  it('has one tool card when it asks a person, and so have the calls before it', async () => {
    const { served } = await serveLooker(['first', 'sure?'])
    const talk = served.talk()
    const [question] = interruptsIn(await talk.say('Go'))
    await talk.send({ resume: [{ interruptId: question?.id ?? '', status: 'resolved', payload: 'yes' }] })
    expect(ran).toEqual(['first', 'sure?', 'first', 'sure?', 'after'])
    expect(linesOf(talk.client.messages)).toEqual([
      ...['user: Go', ...card('first'), 'assistant: look({"what":"sure?"})', 'tool: sure: yes'],
      ...['assistant: One.', ...card('after')],
    ])
  })

  it('a question about it that is never answered leaves nothing open to the model', async () => {
    const { model, served } = await serveLooker(['sure?'])
    const talk = served.talk()
    const [question] = interruptsIn(await talk.say('Go'))
    const events = await talk.send({ resume: [{ interruptId: question?.id ?? '', status: 'cancelled' }] })
    expect(events.at(-1)?.type).toBe('RUN_FINISHED')
    expect(promptText(model.calls[0])).toEqual(['human: Go'])
  })
})

it('what a node emits is shown, and the model does not see it', async () => {
  const model = new FakeModel([['One.'], ['Two.']])
  const make = (checkpointer: BaseCheckpointSaver) => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('work', async ({ messages }) => {
        const answer = await model.invoke(messages)
        await emitMessage('Saved.')
        await emitToolCall({ name: 'paint', args: {} })
        return { messages: [answer] }
      })
      .addEdge(START, 'work')
      .compile({ checkpointer })
    return fromLangGraph(graph, { name: 'worker' })
  }
  const talk = (await serveGraph({ make })).talk()
  await talk.say('Go')
  expect(linesOf(talk.client.messages)).toEqual([
    ...['user: Go', 'assistant: One.', 'assistant: Saved.', 'assistant: paint({})'],
  ])
  await talk.say('Again')
  expect(promptText(model.calls[1])).toEqual(['human: Go', 'ai: One.', 'human: Again'])
})

describe.each(['with', 'without'])(
  'messages that code emits under ids of its own, %s checkpointer',
  (checkpoints) => {
    /** Serves a node that runs `emitting` before and after its model. */
    async function serveEmitting(emitting: () => Promise<void>) {
      const model = new FakeModel([['One.'], ['Two.'], ['Three.']])
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('work', async ({ messages }) => {
          await emitting()
          const answer = await model.invoke(messages)
          await emitting()
          return { messages: [answer] }
        })
        .addEdge(START, 'work')
        .compile(checkpoints === 'with' ? { checkpointer: new MemorySaver() } : {})
      return { model, served: await serveAgents({ agents: [fromLangGraph(graph, { name: 'worker' })] }) }
    }

    it('are shown in every run, and the model sees none of them', async () => {
      let count = 0
      const { model, served } = await serveEmitting(async () => {
        count++
        await emitMessage(`Status ${count}.`, { id: `status-${count % 2}` })
        await emitToolCall({ id: `step-${count % 2}`, name: 'step', args: { count }, result: 'ok' })
      })
      const talk = served.talk()
      for (const text of ['A', 'B', 'C']) await talk.say(text)
      const turn = (text: string, n: number, answer: string) => [
        ...[`user: ${text}`, `assistant: Status ${n}.`, `assistant: step({"count":${n}})`, 'tool: ok'],
        ...[`assistant: ${answer}`, `assistant: Status ${n + 1}.`],
        ...[`assistant: step({"count":${n + 1}})`, 'tool: ok'],
      ]
      const lines = [...turn('A', 1, 'One.'), ...turn('B', 3, 'Two.'), ...turn('C', 5, 'Three.')]
      expect(linesOf(talk.client.messages)).toEqual(lines)
      expect(linesOf(await historyOf(served))).toEqual(lines)
      expect(promptText(model.calls[2])).toEqual([
        ...['human: A', 'ai: One.', 'human: B', 'ai: Two.', 'human: C'],
      ])
    })

    describe.each(clientVersions)('with the client $version', ({ Client }) => {
      it.each([
        ['another', 'Final'],
        ['the same', 'Draft'],
      ])('are what the node returns under the id, with %s text', async (_, text) => {
        const prompts: string[][] = []
        const graph = new StateGraph(MessagesAnnotation)
          .addNode('work', async ({ messages }) => {
            prompts.push(promptText(messages))
            const id = `m${prompts.length}`
            await emitMessage('Dra', { id })
            await emitMessage('ft', { id })
            return { messages: [new AIMessage({ id, content: text })] }
          })
          .addEdge(START, 'work')
          .compile(checkpoints === 'with' ? { checkpointer: new MemorySaver() } : {})
        const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'worker' })] })
        const talk = served.talk({ Client })
        const events = await talk.say('A')
        expect(textsIn(events)).toEqual(['Draft'])
        expect(ofType(events, 'MESSAGES_SNAPSHOT')).toHaveLength(text === 'Draft' ? 0 : 1)
        await talk.say('B')
        const lines = ['user: A', `assistant: ${text}`, 'user: B', `assistant: ${text}`]
        expect(linesOf(talk.client.messages)).toEqual(lines)
        expect(linesOf(await historyOf(served))).toEqual(lines)
        expect(prompts[1]).toEqual(['human: A', `ai: ${text}`, 'human: B'])
      })
    })

    it('replace the message of an earlier run that a node returns again, as the state does', async () => {
      let count = 0
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('work', async () => {
          await emitMessage(`Draft ${++count}`, { id: 'summary' })
          return { messages: [new AIMessage({ id: 'summary', content: `Final ${count}` })] }
        })
        .addEdge(START, 'work')
        .compile(checkpoints === 'with' ? { checkpointer: new MemorySaver() } : {})
      const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'worker' })] })
      const talk = served.talk()
      await talk.say('A')
      await talk.say('B')
      const lines = ['user: A', 'assistant: Final 2', 'user: B']
      expect(linesOf(talk.client.messages)).toEqual(lines)
      expect(linesOf(await historyOf(served))).toEqual(lines)
    })

    it('count as the subgraph returns them', async () => {
      const inner = new StateGraph(MessagesAnnotation)
        .addNode('write', async () => {
          await emitMessage('Draft', { id: 'm1' })
          return { messages: [new AIMessage({ id: 'm1', content: 'Final' })] }
        })
        .addEdge(START, 'write')
        .compile()
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('inner', inner)
        .addEdge(START, 'inner')
        .compile(checkpoints === 'with' ? { checkpointer: new MemorySaver() } : {})
      const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'worker' })] })
      const talk = served.talk()
      await talk.say('A')
      expect(linesOf(talk.client.messages)).toEqual(['user: A', 'assistant: Final'])
      expect(linesOf(await historyOf(served))).toEqual(['user: A', 'assistant: Final'])
    })
  },
)

describe('events of the application', () => {
  const report: Node = async (_, config) => {
    await emit('progress', { done: 1 }, config)
    return {}
  }

  it('a node that emits can be called alone, in a unit test', async () => {
    await expect(report({ messages: [] }, {})).resolves.toEqual({})
    await emit('nobody', 'listens')
  })

  it('an event from a worker that was there before the run arrives, with the config', async () => {
    const jobs: (() => void)[] = []
    let wake: () => void = () => undefined
    // The worker's async context is that of its start.
    const worker = (async () => {
      await new Promise<void>((resolve) => (wake = resolve))
      for (const job of jobs) job()
    })()
    const served = await serveNode(async (_, config) => {
      jobs.push(() => void emit('lost', 1))
      jobs.push(() => void emit('sent', 2, config))
      wake()
      await worker
    })
    const events = await served.talk().say('Go')
    expect(ofType(events, 'CUSTOM')).toMatchObject([{ name: 'sent', value: 2 }])
  })

  it('what a node sends becomes JSON by the rule of all runtimes, and what cannot is logged and not sent', async () => {
    const circle: Record<string, unknown> = { n: 1 }
    circle.self = circle
    const logged: string[] = []
    const note = (fields: object): void => void logged.push(JSON.stringify(fields))
    const log = { debug: note, info: note, warn: note, error: note }
    const look = tool(() => circle as never, { name: 'look', description: 'Looks.', schema: z.object({}) })
    const served = await serveNode(
      async (_, config) => {
        const { writer } = config as LangGraphRunnableConfig
        await emit('nothing', undefined)
        await emit('circle', circle)
        await emit('deep', { list: [{ circle }] })
        await emit('later', Promise.resolve(1))
        await emit('function', () => 1)
        writer?.({ name: 'written', payload: circle })
        await dispatchCustomEvent('dispatched', circle, config)
        await emitToolCall({ name: 'paint', args: circle, result: 'ok' })
        await emitToolCall({ name: 'draw', args: {}, result: circle })
        await look.invoke({})
        await emit('empty', null)
        await emit('rest', {
          when: new Date(0),
          map: new Map([['a', 1n]]),
          said: new AIMessage('Hi'),
          no: undefined,
        })
      },
      { log },
    )
    const events = await served.talk().say('Go')
    expect(ofType(events, 'CUSTOM').map(({ name, value }) => [name, value as unknown])).toEqual([
      ['empty', null],
      [
        'rest',
        { when: '1970-01-01T00:00:00.000Z', map: { a: '1' }, said: { role: 'assistant', content: 'Hi' } },
      ],
    ])
    expect(ofType(events, 'TOOL_CALL_START').map(({ toolCallName }) => toolCallName)).toEqual(['look'])
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
      { content: 'The result cannot be shown: it is not JSON.' },
    ])
    for (const what of [
      "The value of 'nothing' is not JSON: it is undefined",
      "The value of 'circle' is not JSON: self contains itself",
      "The value of 'deep' is not JSON: list[0].circle.self contains itself",
      "The value of 'later' is not JSON: it is a Promise",
      "The value of 'function' is not JSON: it is a function",
      "The value of 'written' is not JSON: self contains itself",
      "The value of 'dispatched' is not JSON: self contains itself",
      "The arguments of 'paint' is not JSON: self contains itself",
      "The result of 'draw' is not JSON: self contains itself",
      "The result of tool 'look' is not JSON: self contains itself",
    ])
      expect(logged.join()).toContain(what)
  })
})
