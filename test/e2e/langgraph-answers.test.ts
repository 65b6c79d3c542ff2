import { tool } from '@langchain/core/tools'
import {
  Annotation,
  type BaseCheckpointSaver,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { type AgentMiddleware, createAgent, humanInTheLoopMiddleware } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { sequential } from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { betweens, converse, yes, type MakeGraph } from '../support/langgraph/converse.js'
import { callChunks } from '../support/langgraph/fake-model.js'
import { agentModel, interruptsIn, serveGraph, textIn } from '../support/langgraph/serve-graph.js'
import { deferred, ofType } from '../support/run-agent.js'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  notes: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})
type StateUpdate = typeof State.Update

/** What nodes got as answers, attempt by attempt. */
const got: string[] = []
/** Called by a node that has its answers, before it ends. */
let afterAnswer: () => unknown = () => undefined

const failOnce = (): void => {
  let isFirst = true
  afterAnswer = () => {
    if (!isFirst) return
    isFirst = false
    throw new Error('not yet')
  }
}

async function askOnce(): Promise<StateUpdate> {
  const answer = interrupt<string, string>('Pay?')
  got.push(answer)
  await afterAnswer()
  return { messages: [{ role: 'assistant', content: `Got ${answer}.` }] }
}

async function askTwice(): Promise<StateUpdate> {
  const first = interrupt<string, string>('Who?')
  const second = interrupt<string, string>('Pay?')
  got.push(`${first} ${second}`)
  await afterAnswer()
  return { messages: [{ role: 'assistant', content: `Got ${first} ${second}.` }] }
}

const single = (node: () => Promise<StateUpdate>) =>
  new StateGraph(State).addNode('ask', node).addEdge(START, 'ask')

const graphs: Readonly<Record<string, MakeGraph>> = {
  'a node': (checkpointer) => single(askOnce).compile({ checkpointer }),
  'a nested graph': (checkpointer) =>
    new StateGraph(State)
      .addNode('sub', single(askOnce).compile())
      .addEdge(START, 'sub')
      .compile({ checkpointer }),
  'a graph in a nested graph': (checkpointer) => {
    const middle = new StateGraph(State).addNode('inner', single(askOnce).compile()).addEdge(START, 'inner')
    return new StateGraph(State)
      .addNode('sub', middle.compile())
      .addEdge(START, 'sub')
      .compile({ checkpointer })
  },
  'a graph that the code of a node calls': (checkpointer) => {
    const inner = single(askOnce).compile()
    return new StateGraph(State)
      .addNode('caller', async (state, config) => ({
        messages: (await inner.invoke(state, config)).messages.slice(-1),
      }))
      .addEdge(START, 'caller')
      .compile({ checkpointer })
  },
}

describe.each(betweens)('between the answers: %s', (between) => {
  describe.each(Object.entries(graphs))('%s', (_, make) => {
    it('gets the second answer after it failed with the first', async () => {
      got.length = 0
      failOnce()
      const talk = await converse(make, between)
      await talk.say('Go')
      expect(ofType(await talk.answer(() => yes('approve')), 'RUN_ERROR')).toHaveLength(1)
      expect(textIn(await talk.answer(() => yes('reject')))).toBe('Got reject.')
      expect(got).toEqual(['approve', 'reject'])
    })

    it('gets the second answer after the run of the first was cancelled', async () => {
      got.length = 0
      const [working, isCancelled] = [deferred(), deferred()]
      let isFirst = true
      afterAnswer = () => {
        if (!isFirst) return undefined
        isFirst = false
        working.resolve()
        return isCancelled.promise
      }
      const talk = await converse(make, between)
      await talk.say('Go')
      const running = talk.answer(() => yes('approve'))
      await working.promise
      await talk.served.ask('POST /cancel', { body: { threadId: 'thread-1' } })
      isCancelled.resolve()
      await running
      expect(textIn(await talk.answer(() => yes('reject')))).toBe('Got reject.')
      expect(got).toEqual(['approve', 'reject'])
    })
  })

  it('keeps the answer before the one that failed', async () => {
    got.length = 0
    failOnce()
    const talk = await converse((checkpointer) => single(askTwice).compile({ checkpointer }), between)
    await talk.say('Go')
    await talk.answer(() => yes('Ann'))
    expect(ofType(await talk.answer(() => yes('approve')), 'RUN_ERROR')).toHaveLength(1)
    expect(textIn(await talk.answer(() => yes('reject')))).toBe('Got Ann reject.')
    expect(got).toEqual(['Ann approve', 'Ann reject'])
  })

  it('a failure leaves the answers of parallel nodes that are done', async () => {
    got.length = 0
    const otherIsDone = deferred()
    let isFirst = true
    afterAnswer = async () => {
      if (!isFirst) return
      isFirst = false
      await otherIsDone.promise
      // Its writes are saved on the way.
      await new Promise(setImmediate)
      throw new Error('not yet')
    }
    const make: MakeGraph = (checkpointer) =>
      new StateGraph(State)
        .addNode('ask', askOnce)
        .addNode('other', () => {
          const answer = interrupt<string, string>('Other?')
          otherIsDone.resolve()
          return { notes: [answer] }
        })
        .addNode('end', ({ notes }) => ({ messages: [{ role: 'assistant', content: notes.join() }] }))
        .addEdge(START, 'ask')
        .addEdge(START, 'other')
        .addEdge(['ask', 'other'], 'end')
        .compile({ checkpointer })
    const talk = await converse(make, between)
    await talk.say('Go')
    await talk.answer(({ message }) => yes(message === 'Pay?' ? 'approve' : 'fine'))
    const events = await talk.answer(({ message }) => yes(message === 'Pay?' ? 'reject' : 'bad'))
    expect([textIn(events), got]).toEqual(['Got reject.fine', ['approve', 'reject']])
  })

  it('a review that is decided again after a failure counts', async () => {
    const paid: number[] = []
    const pay = tool(({ amount }) => void paid.push(amount), {
      ...{ name: 'pay', description: 'Pays.', schema: z.object({ amount: z.number() }) },
    })
    // Its own type does not fit `exactOptionalPropertyTypes`.
    const reviewing = humanInTheLoopMiddleware as unknown as (options: object) => AgentMiddleware
    const model = agentModel([callChunks('c1', 'pay', { amount: 3 }), ['Done.']])
    const talk = await converse(
      (checkpointer) =>
        createAgent({
          ...{ model, tools: [pay], checkpointer },
          middleware: [reviewing({ interruptOn: { pay: true } })],
        }).graph,
      between,
    )
    await talk.say('Pay')
    expect(ofType(await talk.answer(() => yes({ type: 'edit' })), 'RUN_ERROR')).toHaveLength(1)
    const events = await talk.answer(() => yes({ type: 'reject', message: 'Too much.' }))
    expect([textIn(events), paid]).toEqual(['Done.', []])
  })
})

// Threads in memory are gone after a restart, and with them which run failed.
describe.each(betweens.slice(0, 2))('when a later node fails, between the answers: %s', (between) => {
  const later = (builder: ReturnType<typeof single>) => {
    let isFirst = true
    return builder
      .addNode('ship', () => {
        if (!isFirst) return { messages: [{ role: 'assistant', content: 'Shipped.' }] }
        isFirst = false
        throw new Error('not yet')
      })
      .addEdge('ask', 'ship')
  }

  it('an answer that the graph has used is not asked for again; sent again, it resumes the graph', async () => {
    got.length = 0
    afterAnswer = () => undefined
    const graph = later(single(askOnce))
    const talk = await converse((checkpointer) => graph.compile({ checkpointer }), between)
    const [asked] = interruptsIn(await talk.say('Go'))
    expect(ofType(await talk.answer(() => yes('approve')), 'RUN_ERROR')).toHaveLength(1)
    const open: unknown[] = []
    const resume = [{ interruptId: asked?.id, ...yes('approve') }]
    const events = await talk.answer((one) => void open.push(one), { resume })
    expect([open, textIn(events), got]).toEqual([[], 'Shipped.', ['approve']])
  })

  it('a breakpoint that the graph is past is not asked about again', async () => {
    const graph = later(single(() => Promise.resolve({ notes: ['asked'] })))
    const talk = await converse(
      (checkpointer) => graph.compile({ checkpointer, interruptBefore: ['ask'] }),
      between,
    )
    await talk.say('Go')
    expect(ofType(await talk.answer(() => yes()), 'RUN_ERROR')).toHaveLength(1)
    const open: unknown[] = []
    const events = await talk.answer((one) => void open.push(one))
    expect([open, textIn(events)]).toEqual([[], 'Shipped.'])
  })
})

it('an interrupt takes another answer after the process died with the first', async () => {
  got.length = 0
  afterAnswer = () => undefined
  const checkpointer = new MemorySaver()
  const served = await serveGraph({
    make: () =>
      fromLangGraph(single(askOnce).compile({ checkpointer }), { name: 'asker', threadId: () => 't' }),
  })
  const talk = served.talk()
  const [question] = interruptsIn(await talk.say('Go'))
  // LangGraph saves an answer before it runs the node.
  const saved = await checkpointer.getTuple({ configurable: { thread_id: 't' } })
  const graphId = question?.id.split(':')[0] ?? ''
  await checkpointer.putWrites(saved?.config ?? {}, [['__resume__', ['approve']]], graphId)
  const events = await talk.send({ resume: [{ interruptId: question?.id ?? '', ...yes('reject') }] })
  expect([textIn(events), got]).toEqual(['Got reject.', ['reject']])
})

it('a graph below another agent takes another answer after it failed with the first', async () => {
  got.length = 0
  failOnce()
  const make = (checkpointer: BaseCheckpointSaver) =>
    sequential({
      name: 'boss',
      agents: [fromLangGraph(single(askOnce).compile({ checkpointer }), { name: 'asker' })],
    })
  const served = await serveGraph({ make })
  const talk = served.talk()
  const [question] = interruptsIn(await talk.say('Go'))
  const answer = (payload: string) => [{ interruptId: question?.id ?? '', ...yes(payload) }]
  await talk.send({ resume: answer('approve') }).catch(() => undefined)
  const events = await talk.send({ resume: answer('reject') })
  expect([textIn(events), got]).toEqual(['Got reject.', ['approve', 'reject']])
})
