import type { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import {
  Annotation,
  type BaseCheckpointSaver,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { type AgentMiddleware, createAgent, humanInTheLoopMiddleware } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { clientTools, getClientTools } from '../../src/langgraph/tools/client-tools.js'
import { betweens, converse, yes, type MakeGraph } from '../support/langgraph/converse.js'
import { callChunks, type ModelStep } from '../support/langgraph/fake-model.js'
import {
  agentModel,
  clientTool,
  historyOf,
  interruptsIn,
  openInterrupts,
  promptText,
  serveGraph,
  type ServeGraphOptions,
  textIn,
} from '../support/langgraph/serve-graph.js'
import { ofType, resultsIn } from '../support/run-agent.js'
import { clientVersions, linesOf } from '../support/serve-agents.js'
import { clients } from './support-clients.js'
import { inputOf } from './support-server.js'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})

const oneQuestion: MakeGraph = (checkpointer) =>
  new StateGraph(State)
    .addNode('before', () => ({ notes: ['before'] }))
    .addNode('ask', () => {
      const answer: unknown = interrupt({ message: 'How many?', reason: 'input_required' })
      return { messages: [{ role: 'assistant', content: `Got ${JSON.stringify(answer)}.` }] }
    })
    .addEdge(START, 'before')
    .addEdge('before', 'ask')
    .compile({ checkpointer })

const twoAtOnce: MakeGraph = (checkpointer) => {
  const asks = (name: string) => () => ({ notes: [`${name} ${interrupt<unknown, string>(name)}`] })
  return new StateGraph(State)
    .addNode('a', asks('a'))
    .addNode('b', asks('b'))
    .addNode('end', ({ notes }) => ({ messages: [{ role: 'assistant', content: notes.join(', ') }] }))
    .addEdge(START, 'a')
    .addEdge(START, 'b')
    .addEdge(['a', 'b'], 'end')
    .compile({ checkpointer })
}

const twoInARow = () => {
  const first = interrupt<unknown, string>('First?')
  const second = interrupt<unknown, string>('Second?')
  return { messages: [{ role: 'assistant', content: `${first} and ${second}` }] }
}

describe.each(betweens)('between interrupt and answer: %s', (between) => {
  it('a node that raises an interrupt gets the answer, and the graph resumes there', async () => {
    const talk = await converse(oneQuestion, between)
    expect(interruptsIn(await talk.say('Go'))).toMatchObject([{ message: 'How many?' }])
    const events = await talk.answer(() => yes({ n: 3 }))
    expect(textIn(events)).toBe('Got {"n":3}.')
    expect(ofType(events, 'STEP_STARTED').map(({ stepName }) => stepName)).toEqual(['ask'])
  })

  it('a cancelled interrupt says so to the node', async () => {
    const talk = await converse(oneQuestion, between)
    await talk.say('Go')
    expect(textIn(await talk.answer(() => ({ status: 'cancelled' })))).toContain('__agui_cancelled__')
  })

  it('two interrupts at once are answered together', async () => {
    const talk = await converse(twoAtOnce, between)
    const questions = interruptsIn(await talk.say('Go'))
    expect(questions.map(({ message }) => message).toSorted()).toEqual(['a', 'b'])
    expect(textIn(await talk.answer(({ message }) => yes(`${message}!`)))).toBe('a a!, b b!')
  })

  it('two interrupts at once are answered one by one', async () => {
    const talk = await converse(twoAtOnce, between)
    await talk.say('Go')
    const half = await talk.answer(({ message }) => (message === 'b' ? yes('b!') : undefined))
    expect(interruptsIn(half).map(({ message }) => message)).toEqual(['a'])
    expect(textIn(await talk.answer(() => yes('a!')))).toBe('a a!, b b!')
  })

  it('two interrupts of a node, one after the other', async () => {
    const talk = await converse(
      (checkpointer) =>
        new StateGraph(State).addNode('ask', twoInARow).addEdge(START, 'ask').compile({ checkpointer }),
      between,
    )
    const [one] = interruptsIn(await talk.say('Go'))
    const [two] = interruptsIn(await talk.answer(() => yes('x')))
    expect([one?.message, two?.message]).toEqual(['First?', 'Second?'])
    expect(one?.id).not.toBe(two?.id)
    expect(textIn(await talk.answer(() => yes('y')))).toBe('x and y')
  })

  it('a nested graph raises an interrupt', async () => {
    const talk = await converse((checkpointer) => {
      const inner = new StateGraph(State).addNode('ask', twoInARow).addEdge(START, 'ask').compile()
      return new StateGraph(State)
        .addNode('sub', inner)
        .addNode('end', () => ({ messages: [{ role: 'assistant', content: 'End.' }] }))
        .addEdge(START, 'sub')
        .addEdge('sub', 'end')
        .compile({ checkpointer })
    }, between)
    const first = await talk.say('Go')
    const [span] = ofType(first, 'SUBAGENT_STARTED')
    expect(interruptsIn(first)).toMatchObject([{ message: 'First?', subagentRunId: span?.subagentRunId }])
    expect(interruptsIn(await talk.answer(() => yes('x')))).toMatchObject([{ message: 'Second?' }])
    const last = await talk.answer(() => yes('y'))
    expect(textIn(last)).toBe('x and yEnd.')
  })

  it('a graph that was compiled to stop before a node goes on, or does not', async () => {
    const ran: string[] = []
    const make: MakeGraph = (checkpointer) =>
      new StateGraph(State)
        .addNode('one', () => ({ notes: ['one'] }))
        .addNode('two', () => {
          ran.push('two')
          return { messages: [{ role: 'assistant', content: 'Two.' }] }
        })
        .addEdge(START, 'one')
        .addEdge('one', 'two')
        .compile({ checkpointer, interruptBefore: ['two'] })
    const talk = await converse(make, between)
    expect(interruptsIn(await talk.say('Go'))).toMatchObject([{ reason: 'langgraph:breakpoint' }])
    expect(ran).toEqual([])
    expect(textIn(await talk.answer(() => yes()))).toBe('Two.')
    expect(ran).toEqual(['two'])
    const other = await converse(make, between)
    await other.say('Go')
    const stopped = await other.answer(() => ({ status: 'cancelled' }))
    expect([textIn(stopped), stopped.at(-1)?.type, ran.length]).toEqual(['', 'RUN_FINISHED', 1])
  })

  const paid: number[] = []
  const pay = tool(
    ({ amount }) => {
      paid.push(amount)
      return `paid ${amount}`
    },
    { name: 'pay', description: 'Pays.', schema: z.object({ amount: z.number() }) },
  )
  // Its own type does not fit `exactOptionalPropertyTypes`.
  const reviewing = humanInTheLoopMiddleware as unknown as (options: object) => AgentMiddleware
  const review = reviewing({ interruptOn: { pay: true } })
  const careful = (steps: readonly ModelStep[]) => {
    paid.length = 0
    const model = agentModel(steps)
    const make: MakeGraph = (checkpointer) =>
      createAgent({
        model,
        tools: [pay],
        checkpointer,
        middleware: [review],
      }).graph
    return { model, make }
  }
  const pays = [callChunks('c1', 'pay', { amount: 3 }), ['Done.']] as const

  it.each([
    ['approve', { type: 'approve' }, [3], 'c1: paid 3'],
    ['edit', { type: 'edit', editedAction: { name: 'pay', args: { amount: 4 } } }, [4], 'c1: paid 4'],
    ['reject', { type: 'reject', message: 'Too much.' }, [], 'c1: Too much.'],
  ] as const)('humanInTheLoopMiddleware: %s', async (_, decision, done, result) => {
    const talk = await converse(careful(pays).make, between)
    const [question] = interruptsIn(await talk.say('Pay'))
    expect(question).toMatchObject({ reason: 'confirmation', toolCallId: 'c1' })
    expect(paid).toEqual([])
    const events = await talk.answer(() => yes(decision))
    expect([textIn(events), paid, resultsIn(events)]).toEqual(['Done.', done, [result]])
  })

  it('humanInTheLoopMiddleware: two calls of one answer are decided one by one', async () => {
    const { make } = careful([
      [...callChunks('c1', 'pay', { amount: 1 }, 0), ...callChunks('c2', 'pay', { amount: 2 }, 1)],
      ['Done.'],
    ])
    const talk = await converse(make, between)
    expect(interruptsIn(await talk.say('Pay')).map(({ toolCallId }) => toolCallId)).toEqual(['c1', 'c2'])
    const half = await talk.answer(({ toolCallId }) =>
      toolCallId === 'c1' ? yes({ type: 'approve' }) : undefined,
    )
    expect([interruptsIn(half).length > 0, paid]).toEqual([true, []])
    // A client without the thread gets both again.
    expect(textIn(await talk.answer(() => yes({ type: 'approve' })))).toBe('Done.')
    expect(paid).toEqual([1, 2])
  })

  it('an answer to an unknown interrupt is refused, and the open one stays', async () => {
    const talk = await converse(oneQuestion, between)
    await talk.say('Go')
    const resume = [{ interruptId: 'stale:0', ...yes() }]
    const { events } = await talk.served.stream('/run', {
      body: inputOf({ runId: 'run-9', messages: await historyOf(talk.served), resume }),
    })
    expect(ofType(events, 'RUN_ERROR')).toMatchObject([{ code: 'INVALID_RESUME' }])
    expect(textIn(await talk.answer(() => yes(1)))).toBe('Got 1.')
  })

  it('a message while an interrupt is open gets the interrupt again', async () => {
    const talk = await converse(oneQuestion, between)
    const [question] = interruptsIn(await talk.say('Go'))
    const [again] = interruptsIn(await talk.say('Hello?'))
    expect(again?.id).toBe(question?.id)
    expect(textIn(await talk.answer(() => yes(1)))).toBe('Got 1.')
  })

  it('a state that is changed while an interrupt is open is there when the graph resumes', async () => {
    const talk = await converse(
      (checkpointer) =>
        new StateGraph(State)
          .addNode('ask', ({ notes }) => {
            const answer = interrupt<unknown, string>('Well?')
            return { messages: [{ role: 'assistant', content: `${answer} ${notes.join()}` }] }
          })
          .addEdge(START, 'ask')
          .compile({ checkpointer }),
      between,
    )
    await talk.say('Go')
    const body = [{ op: 'add', path: '/notes', value: ['mine'] }]
    expect((await talk.served.ask('PATCH /state/thread-1', { body })).status).toBe(200)
    const state = { notes: ['mine'] }
    expect(textIn(await talk.answer(() => yes('Good:'), { state }))).toBe('Good: mine')
  })
})

describe('client tools', () => {
  const looked: string[] = []
  const look = tool(
    ({ what }) => {
      looked.push(what)
      return `found ${what}`
    },
    { name: 'look', description: 'Looks.', schema: z.object({ what: z.string() }) },
  )
  const tools = [clientTool('pick'), clientTool('draw')]
  const both = [...callChunks('c1', 'pick', { n: 1 }, 0), ...callChunks('c2', 'draw', { n: 2 }, 1)]
  const answeredBoth = ['human: Go', 'ai: pick({"n":1}) draw({"n":2})', 'tool: red', 'tool: done']

  type Graph = Parameters<typeof fromLangGraph>[0]
  type Model = ReturnType<typeof agentModel>
  type MakeGraph = (model: Model, checkpointer: BaseCheckpointSaver) => unknown

  const kinds: Readonly<Record<string, MakeGraph>> = {
    'createAgent with clientTools()': (model, checkpointer) =>
      createAgent({ model, tools: [look], checkpointer, middleware: [clientTools()] }).graph,
    'createAgent with clientTools({ keepPosition })': (model, checkpointer) =>
      createAgent({ model, tools: [look], checkpointer, middleware: [clientTools({ keepPosition: true })] })
        .graph,
    'a graph with a ToolNode of client tools': (model, checkpointer) =>
      new StateGraph(MessagesAnnotation)
        .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
        .addNode('tools', (state, config) =>
          new ToolNode([look, ...getClientTools(config)]).invoke(state, config),
        )
        .addEdge(START, 'agent')
        .addConditionalEdges('agent', toolsCondition)
        .addEdge('tools', 'agent')
        .compile({ checkpointer }),
    'a graph that sends each call to the tools by itself': (model, checkpointer) =>
      new StateGraph(MessagesAnnotation)
        .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
        .addNode('tools', (state, config) =>
          new ToolNode([look, ...getClientTools(config)]).invoke(state, config),
        )
        .addEdge(START, 'agent')
        .addConditionalEdges('agent', ({ messages }) => {
          const { tool_calls: calls = [] } = messages.at(-1) as AIMessage
          return calls.map((call) => new Send('tools', { messages, lg_tool_call: call }))
        })
        .addEdge('tools', 'agent')
        .compile({ checkpointer }),
  }

  async function serveTools(
    kind: MakeGraph,
    steps: readonly ModelStep[],
    options: Partial<ServeGraphOptions> = {},
  ) {
    looked.length = 0
    const model = agentModel(steps)
    const make = (checkpointer: BaseCheckpointSaver) =>
      fromLangGraph(kind(model, checkpointer) as Graph, { name: 'helper' })
    return { model, served: await serveGraph({ make, ...options }) }
  }

  const pendingIn = (events: Parameters<typeof textIn>[0]): unknown => {
    const last = events.at(-1)
    return last?.type === 'RUN_FINISHED' ? last.outcome : last
  }

  describe.each(Object.entries(kinds))('%s', (kindName, kind) => {
    describe.each(clientVersions)('with the client $version', ({ version, Client }) => {
      it('calls are left to the client, and answered together', async () => {
        const { model, served } = await serveTools(kind, [both, ['Nice.']])
        const talk = served.talk({ Client })
        const events = await talk.say('Go', { tools })
        expect(ofType(events, 'TOOL_CALL_START').map(({ toolCallId }) => toolCallId)).toEqual(['c1', 'c2'])
        expect(resultsIn(events)).toEqual([])
        if (version === '1.0')
          expect(pendingIn(events)).toMatchObject({ type: 'success', pendingToolCallIds: ['c1', 'c2'] })
        expect(textIn(await talk.answer({ c1: 'red', c2: 'done' }, { tools }))).toBe('Nice.')
        expect(promptText(model.calls[1])).toEqual(answeredBoth)
        expect(await historyOf(served)).toEqual(talk.client.messages)
      })
    })

    // A node that waits for one result after the other does not announce the next.
    const stores = kindName.includes('ToolNode') ? (['sqlite'] as const) : (['sqlite', 'memory'] as const)
    it.each(stores)('answered one by one, over restarts, threads in %s', async (store) => {
      const { model, served } = await serveTools(kind, [both, ['Nice.'], ['Bye.']], {
        store,
        checkpoints: 'sqlite',
      })
      const talk = served.talk()
      await talk.say('Go', { tools })
      const second = await served.restart()
      const next = second.talk()
      next.client.setMessages(talk.client.messages)
      await next.answer({ c2: 'done' }, { tools })
      expect(model.calls).toHaveLength(1)
      const third = (await second.restart()).talk()
      third.client.setMessages(next.client.messages)
      expect(textIn(await third.answer({ c1: 'red' }, { tools }))).toBe('Nice.')
      expect(promptText(model.calls[1]).slice(0, 2)).toEqual(answeredBoth.slice(0, 2))
      expect(promptText(model.calls[1]).slice(2).toSorted()).toEqual(['tool: done', 'tool: red'])
      expect(textIn(await third.say('Bye', { tools }))).toBe('Bye.')
    })

    it('a call beside one of the agent’s own tools waits until that has run', async () => {
      const { model, served } = await serveTools(kind, [
        [...callChunks('c1', 'look', { what: 'x' }, 0), ...callChunks('c2', 'pick', {}, 1)],
        ['Good.'],
      ])
      const talk = served.talk()
      const events = await talk.say('Go', { tools })
      expect([looked, resultsIn(events), model.calls.length]).toEqual([['x'], ['c1: found x'], 1])
      expect(textIn(await talk.answer({ c2: 'red' }, { tools }))).toBe('Good.')
      expect(promptText(model.calls[1]).toSorted()).toEqual(
        ['human: Go', 'ai: look({"what":"x"}) pick({})', 'tool: found x', 'tool: red'].toSorted(),
      )
      // LangGraph runs an interrupted node again from its start.
      expect(looked).toEqual(kindName.includes('ToolNode') ? ['x', 'x'] : ['x'])
    })

    it('a call that is never answered is in nobody’s way', async () => {
      const { model, served } = await serveTools(kind, [both, ['All right.'], ['Bye.']])
      const talk = served.talk()
      await talk.say('Go', { tools })
      expect(textIn(await talk.say('Forget it', { tools }))).toBe('All right.')
      expect(promptText(model.calls[1]).map((line) => line.split(':')[0])).toEqual([
        'human',
        'ai',
        'tool',
        'tool',
        'human',
      ])
      expect(textIn(await talk.say('Bye', { tools }))).toBe('Bye.')
    })

    it('the model gets a result that comes after another message, once', async () => {
      const { model, served } = await serveTools(kind, [
        callChunks('c1', 'pick', {}),
        ['Then not.'],
        ['Ah.'],
        ['Bye.'],
      ])
      const talk = served.talk()
      await talk.say('Go', { tools })
      await talk.say('Never mind', { tools })
      await talk.answer({ c1: 'red' }, { tools })
      await talk.say('Bye', { tools })
      expect(JSON.stringify(promptText(model.calls.at(-1))).match(/tool: red/g)).toHaveLength(1)
    })
  })
})

describe('AG-UI clients', () => {
  function asker(checkpointer: BaseCheckpointSaver) {
    const ask = (message: string) => () => {
      const answer: unknown = interrupt({ message })
      return { messages: [{ role: 'assistant', content: `${message} ${JSON.stringify(answer)}` }] }
    }
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('one', ask('One?'))
      .addNode('two', ask('Two?'))
      .addEdge(START, 'one')
      .addEdge('one', 'two')
      .compile({ checkpointer })
    return fromLangGraph(graph, { name: 'asker' })
  }

  const paid: number[] = []
  const pay = tool(
    ({ amount }) => {
      paid.push(amount)
      return `paid ${amount}`
    },
    { name: 'pay', description: 'Pays.', schema: z.object({ amount: z.number() }) },
  )
  // Its own type does not fit `exactOptionalPropertyTypes`.
  const reviewing = humanInTheLoopMiddleware as unknown as (options: object) => AgentMiddleware

  function payer(steps: readonly ModelStep[]) {
    paid.length = 0
    const model = agentModel(steps)
    return (checkpointer: BaseCheckpointSaver) => {
      const middleware = [reviewing({ interruptOn: { pay: true } })]
      return fromLangGraph(createAgent({ model, tools: [pay], checkpointer, middleware }), { name: 'payer' })
    }
  }

  describe.each(clients)('a client of version %s', (_, makeClient) => {
    it('gets an interrupt, answers, and gets the next one', async () => {
      const served = await serveGraph({ make: asker })
      const client = makeClient({ url: served.url })
      client.addMessage({ id: 'u1', role: 'user', content: 'Go' })
      await client.runAgent()
      const asked: unknown[] = []
      for (const payload of [{ n: 1 }, false]) {
        const [question] = client.pendingInterrupts
        asked.push(question?.message)
        await client.runAgent({
          resume: [{ interruptId: question?.id ?? '', status: 'resolved', payload }],
        })
      }
      expect(asked).toEqual(['One?', 'Two?'])
      expect(client.pendingInterrupts).toEqual([])
      expect(linesOf(client.messages as never)).toEqual([
        'user: Go',
        'assistant: One? {"n":1}',
        'assistant: Two? false',
      ])
    })

    it('answers where clients used to put answers', async () => {
      const served = await serveGraph({ make: asker })
      const body = (runId: string, more: object = {}) => ({
        ...{ threadId: 'thread-1', runId, state: {}, tools: [], context: [], forwardedProps: {} },
        messages: [{ id: 'u1', role: 'user', content: 'Go' }],
        ...more,
      })
      await served.stream('/run', { body: body('r1') })
      for (const [runId, resume] of [
        ['r2', 'first'],
        ['r3', false],
      ] as const)
        await served.stream('/run', { body: body(runId, { forwardedProps: { command: { resume } } }) })
      const client = makeClient({ url: served.url })
      await client.connectAgent()
      expect(linesOf(client.messages as never)).toEqual([
        'user: Go',
        'assistant: One? "first"',
        'assistant: Two? false',
      ])
    })

    it('decides on several actions, where clients put answers now and where they used to', async () => {
      const calls = [
        ...callChunks('c1', 'pay', { amount: 1 }, 0),
        ...callChunks('c2', 'pay', { amount: 2 }, 1),
      ]
      for (const shape of ['now', 'by id', 'in order']) {
        const served = await serveGraph({ make: payer([calls, ['Done.']]) })
        const client = makeClient({ url: served.url })
        client.addMessage({ id: 'u1', role: 'user', content: 'Pay' })
        await client.runAgent()
        const questions = await openInterrupts(served)
        expect(questions.map(({ toolCallId }) => toolCallId)).toEqual(['c1', 'c2'])
        const payload = { type: 'approve' }
        if (shape !== 'now') {
          const byId = Object.fromEntries(questions.map(({ id }) => [id, payload]))
          const resume = shape === 'by id' ? byId : { decisions: questions.map(() => payload) }
          const rest = { threadId: 'thread-1', runId: 'r2', state: {}, tools: [], context: [] }
          const forwardedProps = { command: { resume } }
          await served.stream('/run', { body: { ...rest, messages: client.messages, forwardedProps } })
        } else {
          const resolved = { status: 'resolved' as const, payload }
          await client.runAgent({ resume: questions.map(({ id }) => ({ interruptId: id, ...resolved })) })
        }
        expect(paid).toEqual([1, 2])
      }
    })
  })
})
