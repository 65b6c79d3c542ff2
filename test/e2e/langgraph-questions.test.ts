import type { Interrupt, ResumeEntry } from '@ag-ui/core'
import { tool } from '@langchain/core/tools'
import {
  Annotation,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph'
import { createAgent, humanInTheLoopMiddleware, type AgentMiddleware } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromLangGraph } from '../../src/langgraph/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { callPieces, type ModelStep } from '../support/langgraph/fake-model.js'
import { agentModel, historyOf, questionsIn, serveGraph, textIn } from '../support/langgraph/serve-graph.js'
import { ofType, resultsIn } from '../support/run-agent.js'
import type { ServedAgents } from '../support/serve-agents.js'
import { newClient } from './support-clients.js'
import { inputOf, user } from './support-server.js'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})

/** What becomes of the server, between question and answer. */
const betweens = [
  'nothing',
  'restart: threads and checkpoints in SQLite',
  'restart: threads in memory, checkpoints in SQLite',
] as const
type Between = (typeof betweens)[number]
type Graph = Parameters<typeof fromLangGraph>[0]
type MakeGraph = (checkpointer: BaseCheckpointSaver) => unknown
type Answers = (question: Interrupt) => Omit<ResumeEntry, 'interruptId'> | undefined

const yes = (payload: unknown = {}) => ({ status: 'resolved' as const, payload })

/** A conversation that goes on over a restart. The client is another one then, that knows what the server tells it. */
async function converse(make: MakeGraph, between: Between) {
  let served: ServedAgents = await serveGraph({
    make: (checkpointer) => fromLangGraph(make(checkpointer) as Graph, { name: 'asker' }),
    checkpoints: 'sqlite',
    store: between === 'restart: threads in memory, checkpoints in SQLite' ? 'memory' : 'sqlite',
  })
  let client = newClient({ url: served.url })
  let count = 0
  const go = async (fields: object = {}): Promise<readonly AgUiEvent[]> => {
    const body = inputOf({ runId: `run-${++count}`, messages: client.messages, ...fields })
    const { events } = await served.stream('/run', { body })
    client.setMessages(await historyOf(served))
    return events
  }
  return {
    go,
    get served() {
      return served
    },
    async say(text: string): Promise<readonly AgUiEvent[]> {
      client.addMessage(user(`u${count + 1}`, text))
      return go()
    },
    /** Restarts if that is to be done, comes back with a fresh client, and answers what it is asked. */
    async answer(answers: Answers, fields: object = {}): Promise<readonly AgUiEvent[]> {
      if (between !== 'nothing') served = await served.restart()
      client = newClient({ url: served.url })
      await client.connectAgent()
      const resume = client.pendingInterrupts.flatMap((question) => {
        const answer = answers(question)
        return answer ? [{ interruptId: question.id, ...answer }] : []
      })
      return go({ resume, ...fields })
    },
  }
}

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

describe.each(betweens)('between question and answer: %s', (between) => {
  it('a node that asks gets the answer, and the graph goes on there', async () => {
    const talk = await converse(oneQuestion, between)
    expect(questionsIn(await talk.say('Go'))).toMatchObject([{ message: 'How many?' }])
    const events = await talk.answer(() => yes({ n: 3 }))
    expect(textIn(events)).toBe('Got {"n":3}.')
    expect(ofType(events, 'STEP_STARTED').map(({ stepName }) => stepName)).toEqual(['ask'])
  })

  it('a question that is called off says so to the node', async () => {
    const talk = await converse(oneQuestion, between)
    await talk.say('Go')
    expect(textIn(await talk.answer(() => ({ status: 'cancelled' })))).toContain('__agui_cancelled__')
  })

  it('two questions at once are answered together', async () => {
    const talk = await converse(twoAtOnce, between)
    const questions = questionsIn(await talk.say('Go'))
    expect(questions.map(({ message }) => message).toSorted()).toEqual(['a', 'b'])
    expect(textIn(await talk.answer(({ message }) => yes(`${message}!`)))).toBe('a a!, b b!')
  })

  it('two questions at once are answered one by one', async () => {
    const talk = await converse(twoAtOnce, between)
    await talk.say('Go')
    const half = await talk.answer(({ message }) => (message === 'b' ? yes('b!') : undefined))
    expect(questionsIn(half).map(({ message }) => message)).toEqual(['a'])
    expect(textIn(await talk.answer(() => yes('a!')))).toBe('a a!, b b!')
  })

  it('two questions of a node, one after the other', async () => {
    const talk = await converse(
      (checkpointer) =>
        new StateGraph(State).addNode('ask', twoInARow).addEdge(START, 'ask').compile({ checkpointer }),
      between,
    )
    const [one] = questionsIn(await talk.say('Go'))
    const [two] = questionsIn(await talk.answer(() => yes('x')))
    expect([one?.message, two?.message]).toEqual(['First?', 'Second?'])
    expect(one?.id).not.toBe(two?.id)
    expect(textIn(await talk.answer(() => yes('y')))).toBe('x and y')
  })

  it('a graph inside asks', async () => {
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
    expect(questionsIn(first)).toMatchObject([{ message: 'First?', subagentRunId: span?.subagentRunId }])
    expect(questionsIn(await talk.answer(() => yes('x')))).toMatchObject([{ message: 'Second?' }])
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
    expect(questionsIn(await talk.say('Go'))).toMatchObject([{ reason: 'langgraph:breakpoint' }])
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
  const pays = [callPieces('c1', 'pay', { amount: 3 }), ['Done.']] as const

  it.each([
    ['approve', { type: 'approve' }, [3], 'c1: paid 3'],
    ['edit', { type: 'edit', editedAction: { name: 'pay', args: { amount: 4 } } }, [4], 'c1: paid 4'],
    ['reject', { type: 'reject', message: 'Too much.' }, [], 'c1: Too much.'],
  ] as const)('humanInTheLoopMiddleware: %s', async (_, decision, done, result) => {
    const talk = await converse(careful(pays).make, between)
    const [question] = questionsIn(await talk.say('Pay'))
    expect(question).toMatchObject({ reason: 'confirmation', toolCallId: 'c1' })
    expect(paid).toEqual([])
    const events = await talk.answer(() => yes(decision))
    expect([textIn(events), paid, resultsIn(events)]).toEqual(['Done.', done, [result]])
  })

  it('humanInTheLoopMiddleware: two calls of one answer are decided one by one', async () => {
    const { make } = careful([
      [...callPieces('c1', 'pay', { amount: 1 }, 0), ...callPieces('c2', 'pay', { amount: 2 }, 1)],
      ['Done.'],
    ])
    const talk = await converse(make, between)
    expect(questionsIn(await talk.say('Pay')).map(({ toolCallId }) => toolCallId)).toEqual(['c1', 'c2'])
    const half = await talk.answer(({ toolCallId }) =>
      toolCallId === 'c1' ? yes({ type: 'approve' }) : undefined,
    )
    expect([questionsIn(half).length > 0, paid]).toEqual([true, []])
    // Who has lost the thread asks for both again.
    expect(textIn(await talk.answer(() => yes({ type: 'approve' })))).toBe('Done.')
    expect(paid).toEqual([1, 2])
  })

  it('an answer to a question that nobody asked is refused, and the open one stays', async () => {
    const talk = await converse(oneQuestion, between)
    await talk.say('Go')
    const resume = [{ interruptId: 'stale:0', ...yes() }]
    const { events } = await talk.served.stream('/run', {
      body: inputOf({ runId: 'run-9', messages: await historyOf(talk.served), resume }),
    })
    expect(ofType(events, 'RUN_ERROR')).toMatchObject([{ code: 'INVALID_RESUME' }])
    expect(textIn(await talk.answer(() => yes(1)))).toBe('Got 1.')
  })

  it('who talks on while a question is open is asked again', async () => {
    const talk = await converse(oneQuestion, between)
    const [question] = questionsIn(await talk.say('Go'))
    const [again] = questionsIn(await talk.say('Hello?'))
    expect(again?.id).toBe(question?.id)
    expect(textIn(await talk.answer(() => yes(1)))).toBe('Got 1.')
  })

  it('a state that is changed while a question is open is there when the graph goes on', async () => {
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
