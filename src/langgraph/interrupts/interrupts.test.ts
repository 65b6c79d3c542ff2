import type { Message } from '@ag-ui/core'
import { tool } from '@langchain/core/tools'
import { Annotation, interrupt, MemorySaver, START, StateGraph } from '@langchain/langgraph'
import { createAgent, humanInTheLoopMiddleware } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callChunks, FakeModel, type ModelStep } from '../../../test/support/langgraph/fake-model.js'
import type { Answer } from '../../agents/index.js'
import { type StoredInterrupt, storedInterrupts } from '../checkpoints/stored-interrupts.js'
import { readGraphMessages } from '../messages/to-agui.js'
import { clientToolAnswers, planGraphResume } from './resume.js'
import {
  breakpointInterrupt,
  clientToolReason,
  type ResumableInterrupt,
  toResumableInterrupts,
} from './to-interrupts.js'

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})
const config = { configurable: { thread_id: 't' } }

interface Graph {
  checkpointer?: unknown
  invoke(input: unknown, config: object): Promise<unknown>
  getState(config: object): Promise<{ values: Record<string, unknown>; next: string[]; config: object }>
}

/** Runs a graph by the interrupts in its checkpoint alone, as after a restart. */
function talk(graph: unknown) {
  const { invoke, getState, checkpointer } = bound(graph as Graph)
  const open = async (): Promise<ResumableInterrupt[]> => {
    const waiting = await storedInterrupts(checkpointer, config)
    const messages = readGraphMessages((await getState()).values.messages)
    return toResumableInterrupts(waiting, () => messages.at(-1)?.message)
  }
  return {
    open,
    values: async () => (await getState()).values,
    start: (input: unknown) => invoke(input),
    answer: async (answers: Record<string, Answer>): Promise<readonly ResumableInterrupt[]> => {
      const resume = planGraphResume(await open(), new Map(Object.entries(answers)))
      if (resume.type !== 'resume') throw new Error(`It is not resumed: ${resume.type}`)
      await invoke(resume.input)
      return await open()
    },
  }
}

function bound(graph: Graph) {
  return {
    invoke: (input: unknown) => graph.invoke(input, config),
    getState: () => graph.getState(config),
    checkpointer: graph.checkpointer as MemorySaver,
  }
}

const yes = (payload: unknown): Answer => ({ status: 'resolved', payload })
const ids = (questions: readonly ResumableInterrupt[]): string[] =>
  questions.map(({ interrupt: { id } }) => id)
const messages = (questions: readonly ResumableInterrupt[]) => questions.map((one) => one.interrupt.message)
/** createAgent refuses models that have a list of tools. */
const agentModel = (steps: readonly ModelStep[]): FakeModel => new FakeModel(steps)

describe('two interrupts of one node', () => {
  it('come one after the other, with ids of their own', async () => {
    const graph = new StateGraph(State)
      .addNode('two', () => ({
        log: [`${interrupt('First?')} ${interrupt(['not', 'a', 'text'])} ${interrupt('Last?')}`],
      }))
      .addEdge(START, 'two')
      .compile({ checkpointer: new MemorySaver() })
    const { open, start, answer, values } = talk(graph)
    await start({ log: [] })
    const [first = ''] = ids(await open())
    expect(first).toMatch(/^[0-9a-f]{32}:0$/)
    // An answer that looks like a list of answers is counted once.
    const [second = ''] = ids(await answer({ [first]: yes(['a', 'b']) }))
    expect(second).toBe(first.replace(':0', ':1'))
    const [third = ''] = ids(await answer({ [second]: yes(0) }))
    expect(third).toBe(first.replace(':0', ':2'))
    expect(await answer({ [third]: yes('c') })).toEqual([])
    expect(await values()).toEqual({ log: ['a,b 0 c'] })
  })
})

describe('two nodes with an interrupt each', () => {
  const build = () =>
    new StateGraph(State)
      .addNode('a', () => ({ log: [`a ${String(interrupt({ message: 'A?' }))}`] }))
      .addNode('b', () => ({ log: [`b ${String(interrupt({ message: 'B?' }))}`] }))
      .addNode('quick', () => ({ log: ['quick'] }))
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .addEdge(START, 'quick')
      .compile({ checkpointer: new MemorySaver() })

  it('each get their own answer', async () => {
    const { open, start, answer, values } = talk(build())
    await start({ log: [] })
    const asked = await open()
    const byMessage = Object.fromEntries(
      asked.map(({ interrupt: { id, message = '' } }) => [id, yes(message.toLowerCase())]),
    )
    expect(await answer(byMessage)).toEqual([])
    expect((await values()).log).toEqual(expect.arrayContaining(['a a?', 'b b?', 'quick']))
  })

  it('can be answered one by one', async () => {
    const { open, start, answer, values } = talk(build())
    await start({ log: [] })
    const asked = await open()
    const b = asked.find((one) => one.interrupt.message === 'B?')?.interrupt.id ?? ''
    const left = await answer({ [b]: yes(false) })
    expect(messages(left)).toEqual(['A?'])
    expect(ids(left)).toEqual(ids(asked.filter((one) => one.interrupt.message === 'A?')))
    await answer({ [ids(left)[0] ?? '']: yes(1) })
    expect((await values()).log).toEqual(expect.arrayContaining(['a 1', 'b false']))
  })
})

it('numbers the interrupts of a nested graph', async () => {
  const inner = new StateGraph(State)
    .addNode('in', () => ({ log: [`${interrupt('Deep?')} ${interrupt('Deeper?')}`] }))
    .addEdge(START, 'in')
    .compile()
  const graph = new StateGraph(State)
    .addNode('sub', inner)
    .addEdge(START, 'sub')
    .compile({ checkpointer: new MemorySaver() })
  const { open, start, answer, values } = talk(graph)
  await start({ log: [] })
  const [first = ''] = ids(await open())
  const next = await answer({ [first]: yes(['x', 'y']) })
  expect(messages(next)).toEqual(['Deeper?'])
  expect(ids(next)).toEqual([first.replace(':0', ':1')])
  await answer({ [ids(next)[0] ?? '']: yes('z') })
  expect(await values()).toEqual({ log: ['x,y z'] })
})

it('takes interrupts of several tools at once, and cancels one', async () => {
  const ask = tool(({ q }) => `got ${JSON.stringify(interrupt({ message: q }))}`, {
    name: 'ask',
    schema: z.object({ q: z.string() }),
  })
  const model = agentModel([
    [...callChunks('c1', 'ask', { q: 'One?' }), ...callChunks('c2', 'ask', { q: 'Two?' }, 1)],
    ['Done'],
  ])
  const { open, start, answer, values } = talk(
    createAgent({ model, tools: [ask], checkpointer: new MemorySaver() }).graph,
  )
  await start({ messages: [{ role: 'user', content: 'Go' }] })
  const asked = await open()
  expect(messages(asked).toSorted()).toEqual(['One?', 'Two?'])
  const [first, second] = asked.toSorted((a, b) =>
    (a.interrupt.message ?? '') < (b.interrupt.message ?? '') ? -1 : 1,
  )
  const cancelled = second?.interrupt.id ?? ''
  await answer({ [first?.interrupt.id ?? '']: yes(null), [cancelled]: { status: 'cancelled' } })
  const results = readGraphMessages((await values()).messages).filter(
    ({ message }) => message.type === 'tool',
  )
  expect(results.map(({ message }) => message.text)).toEqual([
    'got null',
    `got {"__agui_cancelled__":true,"interrupt_id":"${cancelled}"}`,
  ])
})

describe('humanInTheLoopMiddleware', () => {
  const build = () => {
    const schema = z.object({ q: z.string() })
    const remove = tool(({ q }) => `removed ${q}`, { name: 'remove', schema })
    const look = tool(({ q }) => `saw ${q}`, { name: 'look', schema })
    const calls = [
      ...callChunks('c0', 'look', { q: 'x' }),
      ...callChunks('c1', 'remove', { q: 'a' }, 1),
      ...callChunks('c2', 'remove', { q: 'b' }, 2),
    ]
    const review = humanInTheLoopMiddleware({
      interruptOn: { remove: { allowedDecisions: ['approve', 'edit', 'reject'] } },
      // Its types do not go with exact optional properties.
    } as never)
    const model = agentModel([calls, ['Done']])
    return createAgent({
      model,
      tools: [remove, look],
      middleware: [review as never],
      checkpointer: new MemorySaver(),
    }).graph
  }

  it('makes an interrupt of each action, with its tool call', async () => {
    const { open, start } = talk(build())
    await start({ messages: [{ role: 'user', content: 'Go' }] })
    const asked = await open()
    const [base = ''] = ids(asked).map((id) => id.replace(/:0$/, ''))
    expect(asked.map(({ interrupt: { id, toolCallId, reason } }) => [id, toolCallId, reason])).toEqual([
      [`${base}:0`, 'c1', 'confirmation'],
      [`${base}:1`, 'c2', 'confirmation'],
    ])
    expect(asked[0]?.interrupt.responseSchema).toMatchObject({
      properties: { type: { enum: ['approve', 'edit', 'reject'] }, message: {}, editedAction: {} },
    })
  })

  it('goes on when every action has its decision', async () => {
    const { open, start, answer, values } = talk(build())
    await start({ messages: [{ role: 'user', content: 'Go' }] })
    const asked = await open()
    const [first = '', second = ''] = ids(asked)
    const half = new Map([[first, yes({ type: 'approve' })]])
    expect(planGraphResume(asked, half)).toEqual({ type: 'wait' })
    const edited = { type: 'edit', editedAction: { name: 'remove', args: { q: 'other' } } }
    await answer({ [first]: yes({ type: 'approve' }), [second]: yes(edited) })
    const results = readGraphMessages((await values()).messages).filter(
      ({ message }) => message.type === 'tool',
    )
    expect(results.map(({ message }) => message.text)).toEqual(['saw x', 'removed a', 'removed other'])
  })

  it('takes silence for a no', async () => {
    const { open, start, answer, values } = talk(build())
    await start({ messages: [{ role: 'user', content: 'Go' }] })
    const answers = ids(await open()).map((id) => [id, { status: 'cancelled' as const }])
    await answer(Object.fromEntries(answers) as Record<string, Answer>)
    const results = readGraphMessages((await values()).messages).filter(
      ({ message }) => message.type === 'tool',
    )
    expect(results.map(({ message }) => message.text)).not.toContain('removed a')
    expect(results.map(({ message }) => message.text)).toContain('The user did not answer.')
  })
})

it('goes on after a breakpoint, also with a changed state', async () => {
  const build = () =>
    new StateGraph(State)
      .addNode('a', () => ({ log: ['a'] }))
      .addNode('b', () => ({ log: ['b'] }))
      .addEdge(START, 'a')
      .addEdge('a', 'b')
      .compile({ checkpointer: new MemorySaver(), interruptBefore: ['b'] })
  for (const [update, log] of [
    [{}, ['a', 'b']],
    [{ log: ['x'] }, ['a', 'x', 'b']],
  ] as const) {
    const graph = build()
    await graph.invoke({ log: [] }, config)
    const { next } = await graph.getState(config)
    const question = breakpointInterrupt({ next, checkpointId: 'cp' })
    expect(question.interrupt).toMatchObject({ reason: 'langgraph:breakpoint', message: 'Go on with "b"?' })
    const resume = planGraphResume([question], new Map([[question.interrupt.id, yes(true)]]), update)
    if (resume.type !== 'resume') throw new Error('It is not resumed.')
    await graph.invoke(resume.input as never, config)
    expect((await graph.getState(config)).values).toEqual({ log })
  }
})

describe('without a graph', () => {
  const asked = (value: unknown, id = 'q', answersBefore = 0): StoredInterrupt => ({
    id,
    value,
    ns: ['sub:1'],
    answersBefore,
  })
  const yes = (payload: unknown): Answer => ({ status: 'resolved', payload })

  describe('toResumableInterrupts', () => {
    it('turns the fields that AG-UI knows into fields of the interrupt, and keeps the whole value', () => {
      const value = {
        reason: 'app:pick',
        message: 'Which?',
        tool_call_id: 'c1',
        responseSchema: { type: 'string' },
        expiresAt: '2030-01-01T00:00:00Z',
        choices: ['a', 'b'],
      }
      expect(toResumableInterrupts([asked(value)])).toEqual([
        {
          kind: 'value',
          graphId: 'q',
          answersBefore: 0,
          interrupt: {
            id: 'q:0',
            reason: 'app:pick',
            message: 'Which?',
            toolCallId: 'c1',
            responseSchema: { type: 'string' },
            expiresAt: '2030-01-01T00:00:00Z',
            metadata: { langgraph: { value, ns: ['sub:1'] } },
          },
        },
      ])
    })

    it('takes a text for the message, and leaves out what has another type', () => {
      const [plain] = toResumableInterrupts([asked('Sure?')])
      expect(plain?.interrupt).toMatchObject({ message: 'Sure?', reason: 'input_required' })
      const [odd] = toResumableInterrupts([
        asked({ message: 7, reason: {}, toolCallId: 1, responseSchema: 'x' }),
      ])
      expect(Object.keys(odd?.interrupt ?? {}).toSorted()).toEqual(['id', 'metadata', 'reason'])
    })

    it('takes the schema that the graph gives beside the value', () => {
      const [question] = toResumableInterrupts([{ ...asked('Sure?'), responseSchema: { type: 'boolean' } }])
      expect(question?.interrupt.responseSchema).toEqual({ type: 'boolean' })
    })

    it('is JSON, whatever value the graph gives', () => {
      const circle: Record<string, unknown> = { when: new Date(0) }
      const [date] = toResumableInterrupts([asked({ ...circle })])
      circle.self = circle
      const [broken] = toResumableInterrupts([asked(circle)])
      expect(date?.interrupt.metadata?.langgraph).toMatchObject({
        value: { when: '1970-01-01T00:00:00.000Z' },
      })
      expect(broken?.interrupt.metadata?.langgraph).toMatchObject({ value: null })
      const [map] = toResumableInterrupts([
        asked(
          new Map<string, unknown>([
            ['message', 'Pay?'],
            ['euros', 7n],
          ]),
        ),
      ])
      expect(map?.interrupt).toMatchObject({
        message: 'Pay?',
        metadata: { langgraph: { value: { message: 'Pay?', euros: '7' } } },
      })
    })

    it('counts the answers before', () => {
      const [question] = toResumableInterrupts([asked('Sure?', 'q', 3)])
      expect(question?.interrupt.id).toBe('q:3')
    })
  })

  describe('planGraphResume', () => {
    const questions = toResumableInterrupts([asked('A?', 'a'), asked('B?', 'b')])

    it('gives each answer to its interrupt', () => {
      const resume = planGraphResume(questions, new Map([['b:0', yes(undefined)]]))
      expect(resume).toMatchObject({ input: { resume: { b: null } } })
    })

    it('waits without an answer', () => {
      expect(planGraphResume(questions, new Map())).toEqual({ type: 'wait' })
    })

    it('stops at a breakpoint that was cancelled', () => {
      const question = breakpointInterrupt({ next: ['b'], checkpointId: 'cp' })
      expect(planGraphResume([question], new Map([['breakpoint:cp', { status: 'cancelled' }]]))).toEqual({
        type: 'stop',
      })
    })

    it('takes a change of the state along', () => {
      const resume = planGraphResume(questions, new Map([['a:0', yes(1)]]), { city: 'Bern' })
      expect(resume).toMatchObject({ input: { resume: { a: 1 }, update: { city: 'Bern' } } })
    })
  })

  it('takes the results of client tools for answers', () => {
    const questions = toResumableInterrupts([
      asked({ reason: clientToolReason, toolCallId: 'c1' }),
      asked({ toolCallId: 'c2' }, 'b'),
    ])
    const results: Message[] = [
      { id: 't1', role: 'tool', toolCallId: 'c1', content: 'Red' },
      { id: 't2', role: 'tool', toolCallId: 'c2', content: 'Blue' },
    ]
    expect([...clientToolAnswers(questions, results)]).toEqual([['q:0', yes(results[0])]])
  })
})
