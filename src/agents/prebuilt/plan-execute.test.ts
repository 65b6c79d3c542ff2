import jsonpatch from 'fast-json-patch'
import { describe, expect, test, vi } from 'vitest'
import {
  agentOf,
  book,
  call,
  chat,
  goOn,
  plan,
  respond,
  shownIn,
  textsOf,
  transfer,
  trip,
} from '../../../test/support/prebuilt.js'
import { createClient, idOf, linted, play, resultsIn, type Played } from '../../../test/support/run-agent.js'
import { scriptedModel, type Script } from '../../models/index.js'
import type { AgentEvent } from '../../protocol/index.js'
import { defineAgent } from '../chat/chat-agent.js'
import { run } from '../run/run.js'
import { agentTool } from '../tools/agent-tool.js'
import { breakTool, exitTool } from '../tools/control-tools.js'
import { defineTool } from '../tools/define-tool.js'
import { parallel } from '../workflows/parallel.js'
import { planExecute, type PlanExecuteOptions } from './plan-execute.js'
import { supervisor } from './supervisor.js'

/** Each state of the plan that a client draws, as `text: status`. */
function drawn({ events }: Played, before: unknown = {}): string[][] {
  let state = before as { plan?: { steps: { text: string; status: string }[] } }
  const seen: string[][] = []
  for (const event of events) {
    if (event.type === 'STATE_SNAPSHOT') state = event.snapshot as typeof state
    if (event.type !== 'STATE_DELTA') continue
    state = event.delta.reduce((now, operation) => patched(now, operation), state)
    seen.push((state.plan?.steps ?? []).map(({ text, status }) => `${text}: ${status}`))
  }
  return seen
}

function patched<T>(value: T, operation: unknown): T {
  const copy = structuredClone(value)
  jsonpatch.applyOperation(copy, operation as Parameters<typeof jsonpatch.applyOperation>[1])
  return copy
}

test('the first open step is carried out, and what is decided then replaces the others', async () => {
  const { agent, executor, replanner } = trip({
    plans: [plan('find a hotel', 'book it', 'pack')],
    does: ['The Grand.', 'Booked.'],
    decides: [goOn('book the Grand'), respond('The Grand is yours.')],
  })
  const played = await play(agent, 'A trip to Oslo.')
  expect(shownIn(played.events, 'trip')).toEqual([
    'planner starts',
    'planner ends',
    'executor starts',
    'executor says The Grand.',
    'executor ends',
    'replanner starts',
    'replanner ends',
    'executor starts',
    'executor says Booked.',
    'executor ends',
    'replanner starts',
    'replanner ends',
    'trip says The Grand is yours.',
    'RUN_FINISHED',
  ])
  expect(drawn(played)).toEqual([
    [],
    ['find a hotel: running', 'book it: pending', 'pack: pending'],
    ['find a hotel: done', 'book it: pending', 'pack: pending'],
    ['find a hotel: done', 'book the Grand: running'],
    ['find a hotel: done', 'book the Grand: done'],
  ])
  expect(played.outcome).toMatchObject({
    type: 'completed',
    text: 'The Grand is yours.',
    state: {
      plan: {
        steps: [
          { text: 'find a hotel', status: 'done', result: 'The Grand.' },
          { text: 'book the Grand', status: 'done', result: 'Booked.' },
        ],
      },
    },
  })
  expect(textsOf(executor.requests[1]?.messages)).toEqual([
    ['user', 'A trip to Oslo.'],
    ['user', 'The plan:\n1. [x] find a hotel\n   Result: The Grand.\n2. [>] book the Grand'],
    ['user', 'Do this step, and nothing else: book the Grand'],
  ])
  expect(textsOf(replanner.requests[0]?.messages)).toEqual([
    ['user', 'A trip to Oslo.'],
    ['user', 'The plan:\n1. [x] find a hotel\n   Result: The Grand.\n2. [ ] book it\n3. [ ] pack'],
    ['user', 'What follows? Respond, or plan what is still to be done.'],
  ])
})

describe('when the steps are used up', () => {
  const endless = (options: Partial<PlanExecuteOptions>, decides: Script = () => goOn('more')) =>
    trip({ plans: [plan('some')], does: () => 'Done some.', decides, maxIterations: 2, ...options })

  test('it is an error, which says so', async () => {
    const { agent, executor } = endless({})
    const { outcome } = await play(agent, 'Go.')
    const message = expect.stringContaining("'trip' carried out 2 steps") as string
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'MAX_ITERATIONS', message } })
    expect(outcome.state).toMatchObject({
      plan: { steps: [{ status: 'done' }, { status: 'done' }, { text: 'more', status: 'pending' }] },
    })
    expect(executor.requests).toHaveLength(2)
  })

  test('an answer is asked for when that is wanted', async () => {
    const { agent, replanner } = endless({ onExhausted: 'answer' }, [goOn('more'), respond('Half of it.')])
    const { outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Half of it.' })
    expect(replanner.requests.map(({ messages }) => textsOf(messages).at(-1))).toMatchObject([
      ['user', expect.stringMatching(/^What follows/)],
      ['user', expect.stringMatching(/^No more steps/)],
    ])
  })

  test('without one, it is told how far the plan came', async () => {
    const { agent } = endless({ onExhausted: 'answer' })
    expect((await play(agent, 'Go.')).outcome).toMatchObject({
      type: 'completed',
      text: expect.stringMatching(
        /^I did not come to an end[\s\S]*1\. \[x\] some[\s\S]*3\. \[ \] more/,
      ) as string,
    })
  })
})

describe('the plan in the shared state', () => {
  const parts = {
    plans: [plan('go'), plan('stay')],
    does: ['Gone.', 'Stayed.'],
    decides: () => respond('Ok.'),
  }

  test('stands beside what is there, under the key it is given', async () => {
    const { agent } = trip({ ...parts, stateKey: 'todo' })
    const { outcome } = await play(agent, {
      messages: [{ id: 'u', role: 'user', content: 'Go.' }],
      state: { theme: 'dark' },
    })
    expect(outcome.state).toEqual({
      theme: 'dark',
      todo: { steps: [{ text: 'go', status: 'done', result: 'Gone.' }] },
    })
  })

  test('is a new one in each run', async () => {
    const client = createClient(trip(parts).agent)
    const first = await client.say('Go.')
    const second = await client.say('Stay.')
    expect(drawn(second, first.outcome.state)).toEqual([[], ['stay: running'], ['stay: done']])
  })
})

test('stopped between two steps, it goes on with the second', async () => {
  const { agent, planner, executor } = trip({
    plans: [plan('one', 'two')],
    does: ['1', '2'],
    decides: [goOn('two'), respond('Both.')],
  })
  const going = run(agent, { threadId: 't', messages: [{ id: 'u', role: 'user', content: 'Go.' }] })
  for await (const event of linted(going, { threadId: 't', messages: [] }))
    if (event.type === 'TEXT_MESSAGE_CONTENT' && event.delta === '1') void going.cancel({ at: 'tools' })
  const stopped = await going.result
  expect(stopped).toMatchObject({
    type: 'cancelled',
    state: { plan: { steps: [{ status: 'done' }, { status: 'pending' }] } },
  })
  const checkpoint = JSON.parse(JSON.stringify(stopped.checkpoint)) as unknown
  const { outcome } = await play(agent, { threadId: 't' }, { checkpoint })
  expect(outcome).toMatchObject({ type: 'completed', text: 'Both.' })
  expect([planner, executor].map(({ requests }) => requests.length)).toEqual([1, 2])
})

test('stopped anywhere, it goes on to the same end, and no step is carried out twice', async () => {
  const look = vi.fn(() => 'rain')
  const tools = [defineTool({ name: 'look', description: 'Looks.', execute: look })]
  // Each answers by what it hears, as often as it is asked.
  const build = () =>
    trip({
      plans: () => plan('one', 'two'),
      does: ({ messages }) => (messages.at(-1)?.role === 'tool' ? 'Looked.' : [call('l', 'look')]),
      decides: ({ messages }) =>
        JSON.stringify(messages).includes('[ ] two') ? goOn('two') : respond('Both.'),
      tools,
    }).agent
  const request = { threadId: 't', messages: [{ id: 'u', role: 'user' as const, content: 'Go.' }] }
  /** Stops when the agents have sent so many events. */
  const stopAt = async (at: number) => {
    let sent = 0
    const edit = (event: AgentEvent) => {
      if (++sent === at) void going.cancel()
      return event
    }
    const going = run(build(), request, { edit })
    for await (const _event of linted(going, request));
    return { sent, outcome: await going.result }
  }
  const { sent } = await stopAt(0)
  expect(sent).toBeGreaterThan(30)
  for (let at = 1; at < sent; at++) {
    look.mockClear()
    const { outcome: stopped } = await stopAt(at)
    expect(stopped.type).toBe('cancelled')
    const checkpoint = JSON.parse(JSON.stringify(stopped.checkpoint)) as unknown
    const { outcome } = await play(build(), { threadId: 't' }, { checkpoint })
    expect(outcome, `stopped at ${at}`).toMatchObject({
      type: 'completed',
      text: 'Both.',
      state: {
        plan: {
          steps: [
            { text: 'one', result: 'Looked.' },
            { text: 'two', result: 'Looked.' },
          ],
        },
      },
    })
    expect(look, `stopped at ${at}`).toHaveBeenCalledTimes(2)
  }
})

test('four levels: a supervisor, a plan, its executor and a tool that asks, to the last answer', async () => {
  const { agent: plans, executor } = trip({
    plans: [plan('look', 'book')],
    does: ['Looked.', [call('b1', 'book')], 'Booked it.'],
    decides: [goOn('book'), respond('The trip is booked.')],
    tools: [book],
  })
  const model = scriptedModel([[transfer('t1', 'trip')], 'Have a good trip!'])
  const client = createClient(supervisor({ name: 'boss', model, workers: [plans] }))
  const first = await client.say('A trip, please.')
  expect(first.outcome.type).toBe('interrupted')
  const second = await client.answer({ [idOf(first, 'Book?')]: 'yes' })
  expect(shownIn(second.events)).toEqual([
    'trip starts',
    'executor starts',
    'executor gets booked "yes"',
    'executor says Booked it.',
    'executor ends',
    'replanner starts',
    'replanner ends',
    'trip says The trip is booked.',
    'trip ends',
    'boss says Have a good trip!',
    'RUN_FINISHED',
  ])
  expect(second.outcome).toMatchObject({ type: 'completed', text: 'Have a good trip!' })
  expect(executor.requests).toHaveLength(3)
  expect(textsOf(model.requests[1]?.messages).at(-1)).toEqual([
    'user',
    'For context: [trip] said: The trip is booked.',
  ])
})

test.each([true, false])(
  'as a tool that is shown: %s, its answer is the result of the call',
  async (isShown) => {
    const { agent: plans, replanner } = trip({
      plans: [plan('go')],
      does: ['Gone.'],
      decides: [respond('We went.')],
    })
    const { agent } = chat('boss', [[call('t1', 'trip', { request: 'Go.' })], 'They went.'], {
      tools: [agentTool(plans, { isShown })],
    })
    const { events, outcome } = await play(agent, 'Send them.')
    expect(resultsIn(events)).toEqual(['t1: We went.'])
    expect(outcome).toMatchObject({ type: 'completed', text: 'They went.' })
    expect(textsOf(replanner.requests[0]?.messages).slice(0, 2)).toEqual([
      ['user', 'Go.'],
      ['user', 'The plan:\n1. [x] go\n   Result: Gone.'],
    ])
  },
)

test('two side by side, each with a key of its own, keep their plans apart', async () => {
  const parts = { does: ['Done.'], decides: [respond('Ok.')] }
  const one = trip({ ...parts, plans: [plan('eat')], name: 'cook', stateKey: 'meals' }).agent
  const two = trip({ ...parts, plans: [plan('sweep')], name: 'cleaner', stateKey: 'chores' }).agent
  const { outcome } = await play(parallel({ name: 'home', agents: [one, two] }), 'Go.')
  expect(outcome.state).toEqual({
    meals: { steps: [{ text: 'eat', status: 'done', result: 'Done.' }] },
    chores: { steps: [{ text: 'sweep', status: 'done', result: 'Done.' }] },
  })
})

test.each([
  ['no name', { name: ' ' }],
  ['no room for a step', { maxIterations: 0 }],
  ['a key that is none', { stateKey: '' }],
  ['an agent as the planner and no replanner', { planner: chat('p', []).agent, replanner: undefined }],
])('it is refused with %s', (_what, options) => {
  const crew = { name: 'trip', planner: scriptedModel([]), executor: chat('executor', []).agent }
  const given = { ...crew, ...options } as PlanExecuteOptions
  expect(() => planExecute(given)).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }) as Error)
})

describe('the executor', () => {
  test('hears the conversation before, and of its own steps only the results', async () => {
    const look = defineTool({ name: 'look', description: 'Looks.', execute: () => 'rain' })
    const { agent, executor, planner } = trip({
      plans: [plan('look', 'tell'), plan('tell again')],
      does: [[call('l1', 'look')], 'It rains.', 'Told.', 'Told again.'],
      decides: [goOn('tell'), respond('It rains.'), respond('As I said: it rains.')],
      tools: [look],
    })
    const client = createClient(agent)
    await client.say('Weather?')
    expect(textsOf(executor.requests[2]?.messages)).toEqual([
      ['user', 'Weather?'],
      ['user', 'The plan:\n1. [x] look\n   Result: It rains.\n2. [>] tell'],
      ['user', 'Do this step, and nothing else: tell'],
    ])
    await client.say('Sure?')
    const before = [
      ['user', 'Weather?'],
      ['user', 'For context: [executor] called tool `look` with arguments: {}'],
      ['user', 'For context: [executor] tool `look` returned: rain'],
      ['user', 'For context: [executor] said: It rains.'],
      ['user', 'For context: [executor] said: Told.'],
      ['assistant', 'It rains.'],
      ['user', 'Sure?'],
    ]
    expect(textsOf(executor.requests[3]?.messages).slice(0, -2)).toEqual(before)
    expect(textsOf(planner.requests[1]?.messages).slice(0, 5)).toEqual(before.slice(0, 5))
  })

  test('may have a result, which counts for what it says', async () => {
    const executor = defineAgent({
      name: 'executor',
      model: scriptedModel(['{"stars":5}']),
      output: { type: 'object', properties: { stars: { type: 'integer' } } },
    })
    const { agent } = trip({ plans: [plan('rate')], does: [], decides: [respond('Five.')], executor })
    const { outcome } = await play(agent, 'Rate it.')
    expect(outcome).toMatchObject({ state: { plan: { steps: [{ result: '{"stars":5}' }] } } })
  })

  test('may be a team: what is said last is the result', async () => {
    const worker = chat('worker', ['Worked.'])
    const executor = supervisor({
      name: 'crew',
      description: 'The crew.',
      model: scriptedModel([[transfer('t1', 'worker')], 'It works.']),
      workers: [worker.agent],
    })
    const { agent } = trip({ plans: [plan('work')], does: [], decides: [respond('Done.')], executor })
    const { outcome } = await play(agent, 'Work.')
    expect(outcome).toMatchObject({ text: 'Done.', state: { plan: { steps: [{ result: 'It works.' }] } } })
  })

  test('asks, and goes on where it was: finished steps stay finished', async () => {
    const { agent, executor, planner, replanner } = trip({
      plans: [plan('look', 'book')],
      does: ['Looked.', [call('b1', 'book')], 'Booked it.'],
      decides: [goOn('book'), respond('All booked.')],
      tools: [book],
    })
    const client = createClient(agent)
    const first = await client.say('Book.')
    expect(first.outcome).toMatchObject({
      type: 'interrupted',
      state: {
        plan: {
          steps: [
            { text: 'look', status: 'done' },
            { text: 'book', status: 'running' },
          ],
        },
      },
    })
    const second = await client.answer({ [idOf(first)]: 'yes' })
    expect(resultsIn(second.events)).toEqual(['b1: booked "yes"'])
    expect(second.outcome).toMatchObject({
      type: 'completed',
      text: 'All booked.',
      state: { plan: { steps: [{ result: 'Looked.' }, { status: 'done', result: 'Booked it.' }] } },
    })
    expect([planner, executor, replanner].map(({ requests }) => requests.length)).toEqual([1, 3, 2])
    // The same as before the pause, and then what it did.
    expect(textsOf(executor.requests[2]?.messages)).toEqual([
      ...textsOf(executor.requests[1]?.messages),
      ['assistant', undefined],
      ['tool', 'booked "yes"'],
    ])
  })

  test('calls a tool of the client, and goes on with what it gave', async () => {
    const { agent, executor } = trip({
      plans: [plan('paint')],
      does: [[call('p1', 'paint')], 'Painted.'],
      decides: [respond('It is blue.')],
    })
    const client = createClient(agent, [
      { name: 'paint', description: 'Paints.', parameters: { type: 'object' } },
    ])
    expect((await client.say('Paint.')).outcome).toMatchObject({ pendingToolCalls: [{ id: 'p1' }] })
    const result = { id: 'r1', role: 'tool' as const, toolCallId: 'p1', content: 'blue' }
    const second = await client.send({ messages: [...client.messages, result] })
    expect(executor.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'blue' })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'It is blue.' })
  })

  test('that exits ends all of it, and its step is done', async () => {
    const { agent, replanner } = trip({
      plans: [plan('leave', 'come back')],
      does: [[call('e1', 'exit', { final_result: 'left' })]],
      decides: [],
      tools: [exitTool()],
    })
    const { outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({
      type: 'completed',
      result: 'left',
      state: { plan: { steps: [{ status: 'done', result: 'left' }, { status: 'pending' }] } },
    })
    expect(replanner.requests).toHaveLength(0)
  })

  test('that breaks ends the work on the plan, and nothing around it', async () => {
    const { agent, replanner } = trip({
      plans: [plan('try', 'try again')],
      does: [['Good enough.', call('e1', 'end_loop')]],
      decides: [],
      tools: [breakTool()],
    })
    const boss = supervisor({
      name: 'boss',
      model: scriptedModel([[transfer('t1', 'trip')], 'Then we stop.']),
      workers: [agent],
    })
    const { outcome } = await play(boss, 'Go.')
    expect(outcome).toMatchObject({
      text: 'Then we stop.',
      state: { plan: { steps: [{ status: 'done', result: 'Good enough.' }, { status: 'pending' }] } },
    })
    expect(replanner.requests).toHaveLength(0)
  })

  test('that fails fails all of it, and its step is open again', async () => {
    const { agent } = trip({ plans: [plan('go')], does: [[{ error: new Error('no legs') }]], decides: [] })
    const { outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({
      type: 'failed',
      error: { message: 'no legs' },
      state: { plan: { steps: [{ text: 'go', status: 'pending' }] } },
    })
  })

  test('may hand over to nobody', async () => {
    const executor = agentOf('executor', () => ({ type: 'transfer', to: 'other' }))
    const { agent } = trip({ plans: [plan('go')], does: [], decides: [], executor })
    const message = expect.stringMatching(/'executor' transfers to 'other'.*'trip'/) as string
    expect((await play(agent, 'Go.')).outcome).toMatchObject({
      type: 'failed',
      error: { code: 'INVALID_AGENT', message },
    })
  })
})
