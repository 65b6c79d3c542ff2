import { AIMessage } from '@langchain/core/messages'
import { interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { z } from 'zod'
import { defineAgent, defineTool, parallel, type Agent } from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import {
  scriptedModel,
  type ModelRequest,
  type ScriptedAnswer,
  type ScriptPiece,
} from '../../src/models/index.js'

/** Agents on scripts, one for each thing that a page does, and what a test needs to hold them. */
export interface StagedAgents {
  readonly agents: readonly [Agent, ...Agent[]]
  /** Lets the agent `chat` count on, by one number. It waits after each. */
  readonly countOn: () => void
  /** How many models have been told to stop while they counted. */
  readonly stops: () => number
  /** Resolves when the tool of `digger` is at work the next time. It ignores its signal, and returns when it is let go. */
  readonly digging: () => Promise<void>
  readonly letGo: () => void
}

export function stageAgents(): StagedAgents {
  const { pieces, countOn, stops } = stageCounter()
  const { agent: digger, digging, letGo } = stageDigger()
  return {
    agents: [
      ...([chatAgent(pieces), weather(), painter(), shopper(), clerk(), router(), duo()] as const),
      ...[witness(), digger],
    ],
    ...{ countOn, stops, digging, letGo },
  }
}

/** Repeats what it is told; counts to three, held by the test, when it is asked to. */
function chatAgent(count: () => readonly ScriptPiece[]): Agent {
  const model = scriptedModel(
    (request) => (textOf(request) === 'Count.' ? count() : `You said: ${textOf(request)}`),
    { chunkSize: 5 },
  )
  return defineAgent({ name: 'chat', model })
}

function stageCounter() {
  let gates: Gate[] = []
  let stopped = 0
  const waitFor = (promise: Promise<void>) => (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      void promise.then(resolve)
      signal.addEventListener('abort', () => {
        stopped++
        resolve()
      })
    })
  const pieces = (): ScriptPiece[] => {
    gates = [newGate(), newGate()]
    return [
      'One, ',
      ...gates.flatMap(({ promise }, index) => [
        { wait: waitFor(promise) },
        ['two, ', 'three.'][index] ?? '',
      ]),
    ]
  }
  return { pieces, countOn: () => gates.shift()?.resolve(), stops: () => stopped }
}

interface Gate {
  readonly promise: Promise<void>
  readonly resolve: () => void
}

function newGate(): Gate {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}

/** Says what it has been told, all of it. */
function witness(): Agent {
  const model = scriptedModel(({ messages }) =>
    messages.map(({ role, content }) => `${role} ${JSON.stringify(content)}`).join('; '),
  )
  return defineAgent({ name: 'witness', model })
}

/** Calls a tool that ignores its signal, when it is told to dig. */
function stageDigger() {
  let begun = newGate()
  let done = newGate()
  const model = scriptedModel((request): ScriptedAnswer => {
    const text = textOf(request)
    return text === 'Dig.' ? ['Digging.', { toolCall: { name: 'dig', args: {} } }] : `You said: ${text}`
  })
  const dig = defineTool({
    name: 'dig',
    description: 'Digs, and hears nothing.',
    input: z.object({}),
    async execute() {
      begun.resolve()
      await done.promise
      return 'A hole.'
    },
  })
  return {
    agent: defineAgent({ name: 'digger', model, tools: [dig] }),
    digging: async () => {
      await begun.promise
      begun = newGate()
    },
    letGo: () => {
      done.resolve()
      done = newGate()
    },
  }
}

function weather(): Agent {
  const model = scriptedModel((request) =>
    answered(request) ? 'It rains in Oslo.' : [{ toolCall: { name: 'get_weather', args: { city: 'Oslo' } } }],
  )
  const getWeather = defineTool({
    name: 'get_weather',
    description: 'Tells the weather in a city.',
    input: z.object({ city: z.string() }),
    execute: ({ city }) => ({ city, sky: 'rain' }),
  })
  return defineAgent({ name: 'weather', model, tools: [getWeather] })
}

/** Calls the page's own tool. */
function painter(): Agent {
  const model = scriptedModel((request): ScriptedAnswer => {
    const result = answered(request)
    if (result !== undefined) return `The page says: ${result}`
    const offered = request.tools?.some(({ name }) => name === 'set_colour')
    return offered ? [{ toolCall: { name: 'set_colour', args: { colour: 'pink' } } }] : 'I have no paint.'
  })
  return defineAgent({ name: 'painter', model })
}

/** Keeps a list in the shared state: `Buy milk.` */
function shopper(): Agent {
  const model = scriptedModel((request) => {
    const item = /Buy (\w+)/.exec(textOf(request))?.[1] ?? 'nothing'
    return answered(request) ? `Bought ${item}.` : [{ toolCall: { name: 'buy', args: { item } } }]
  })
  const buy = defineTool({
    name: 'buy',
    description: 'Puts an item on the list.',
    input: z.object({ item: z.string() }),
    execute({ item }, ctx) {
      ctx.setState((state: unknown) => ({ items: [...itemsIn(state), item] }))
      return 'done'
    },
  })
  return defineAgent({ name: 'shopper', model, tools: [buy] })
}

function itemsIn(state: unknown): string[] {
  return z.object({ items: z.array(z.string()) }).safeParse(state).data?.items ?? []
}

/** Asks a person before it books. */
function clerk(): Agent {
  // Books once in a conversation, whatever else is said.
  const model = scriptedModel(({ messages }) => {
    const booked = messages.find(({ role }) => role === 'tool')?.content
    return typeof booked === 'string' ? booked : [{ toolCall: { name: 'book', args: {} } }]
  })
  const book = defineTool({
    name: 'book',
    description: 'Books a table, after the guest has agreed.',
    input: z.object({}),
    async execute(_, ctx) {
      const answer = await ctx.interrupt({
        message: 'Book a table?',
        responseSchema: z.object({ approved: z.boolean() }),
      })
      return answer.status === 'resolved' && answer.payload.approved ? 'The table is booked.' : 'No table.'
    },
  })
  return defineAgent({ name: 'clerk', model, tools: [book] })
}

/** A graph that raises an interrupt with a plain text, as LangGraph's own examples do. */
function router(): Agent {
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('ask', () => {
      const answer: unknown = interrupt('By sea or by air?')
      return {
        messages: [new AIMessage(`It goes ${typeof answer === 'string' ? answer : JSON.stringify(answer)}.`)],
      }
    })
    .addEdge(START, 'ask')
    .compile({ checkpointer: new MemorySaver() })
  return fromLangGraph(graph, { name: 'router' })
}

/** Two agents side by side, which speak by turns: a piece of one, then a piece of the other. */
function duo(): Agent {
  let turn = newGate()
  const speaker = (name: string, wait: () => Promise<void>) =>
    defineAgent({
      name,
      model: scriptedModel(() =>
        ['begins, ', 'goes on, ', 'ends.'].flatMap((text) => [{ wait }, `${name} ${text}`]),
      ),
    })
  let waiting = 0
  // Neither goes on before the other has come as far.
  const meet = () => {
    const { promise } = turn
    if (++waiting % 2 === 0) {
      turn.resolve()
      turn = newGate()
    }
    return promise
  }
  return parallel({ name: 'duo', agents: [speaker('Left', meet), speaker('Right', meet)] })
}

/** The user's latest words. */
function textOf({ messages }: ModelRequest): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content
  return typeof content === 'string' ? content : JSON.stringify(content ?? '')
}

/** The result of the call that the model made last, if the conversation ends with it. */
function answered({ messages }: ModelRequest): string | undefined {
  const last = messages.at(-1)
  if (last?.role !== 'tool') return undefined
  return typeof last.content === 'string' ? last.content : JSON.stringify(last.content)
}
