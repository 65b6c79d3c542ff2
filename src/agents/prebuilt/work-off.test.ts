import { describe, expect, test } from 'vitest'
import {
  agentOf,
  book,
  call,
  chat,
  goOn,
  plan,
  respond,
  textsOf,
  transfer,
  trip,
} from '../../../test/support/prebuilt.js'
import { createClient, idOf, play, resultsIn } from '../../../test/support/run-agent.js'
import { scriptedModel } from '../../models/index.js'
import { breakTool, exitTool } from '../tools/control-tools.js'
import { defineAgent } from '../chat/chat-agent.js'
import { defineTool } from '../tools/define-tool.js'
import { supervisor } from './supervisor.js'

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
