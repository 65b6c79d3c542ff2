import { describe, expect, test } from 'vitest'
import { createClient, idOf, ofType, play, resultsIn } from '../../../test/support/run-agent.js'
import { call, chat, shownIn, textsOf, transfer, book, agentOf } from '../../../test/support/prebuilt.js'
import { exitTool } from '../tools/control-tools.js'
import { saying } from '../../../test/support/tree-agents.js'
import { supervisor, type SupervisorOptions } from './supervisor.js'
import { scriptedModel } from '../../models/index.js'

describe('a supervisor', () => {
  test('calls, hands over, hears the answer, hands over to the next, and answers itself', async () => {
    const maths = chat('maths', ['It is 42.'])
    const poet = chat('poet', ['Forty-two, who knew.'])
    const model = scriptedModel([
      [transfer('t1', 'maths')],
      ['A poem now.', transfer('t2', 'poet')],
      'Done: 42.',
    ])
    const boss = supervisor({ name: 'boss', model, workers: [maths.agent, poet.agent] })
    const { events, outcome } = await play(boss, '6 times 7, in verse?')
    expect(shownIn(events)).toEqual([
      'boss calls transfer_to_agent',
      "boss gets Transferred to 'maths'.",
      'maths starts',
      'maths says It is 42.',
      'maths ends',
      'boss says A poem now.',
      'boss calls transfer_to_agent',
      "boss gets Transferred to 'poet'.",
      'poet starts',
      'poet says Forty-two, who knew.',
      'poet ends',
      'boss says Done: 42.',
      'RUN_FINISHED',
    ])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done: 42.' })
    expect(textsOf(poet.model.requests[0]?.messages)).toEqual([
      ['user', '6 times 7, in verse?'],
      ['user', 'For context: [maths] said: It is 42.'],
      ['user', 'For context: [boss] said: A poem now.'],
    ])
    expect(textsOf(model.requests[2]?.messages).at(-1)).toEqual([
      'user',
      'For context: [poet] said: Forty-two, who knew.',
    ])
  })

  test('offers its model the workers, and the workers no way but to answer', async () => {
    const maths = chat('maths', ['42'])
    const model = scriptedModel([[transfer('t1', 'maths')], 'Done.'])
    const boss = supervisor({ name: 'boss', model, instructions: 'Be brief.', workers: [maths.agent] })
    await play(boss, 'Go.')
    expect(model.requests[0]?.tools).toMatchObject([
      { name: 'transfer_to_agent', parameters: { properties: { agent_name: { enum: ['maths'] } } } },
    ])
    expect(model.requests[0]?.instructions).toMatch(/^Be brief\.\n\nYou lead other agents\./)
    expect(maths.model.requests[0]).not.toHaveProperty('tools')
  })

  test('takes instructions that are a function of the run', async () => {
    const model = scriptedModel(['Hi.'])
    const instructions = ({ threadId }: { readonly threadId: string }) => `In ${threadId}.`
    const boss = supervisor({ name: 'boss', model, instructions, workers: [chat('maths', []).agent] })
    await play(boss, { threadId: 'here', messages: [{ id: 'u', role: 'user', content: 'Hi' }] })
    expect(model.requests[0]?.instructions).toMatch(/^In here\.\n\nYou lead/)
  })

  test('may be handed back to by a worker that decides so itself', async () => {
    const lazy = agentOf('lazy', () => ({ type: 'transfer', to: 'boss' }))
    const model = scriptedModel([[transfer('t1', 'lazy')], 'Then I do it.'])
    const { outcome } = await play(supervisor({ name: 'boss', model, workers: [lazy] }), 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Then I do it.' })
  })

  test('uses its own tools too', async () => {
    const model = scriptedModel([[call('b1', 'book')], [transfer('t1', 'maths')], 'Done.'])
    const boss = supervisor({ name: 'boss', model, tools: [book], workers: [chat('maths', ['42']).agent] })
    const client = createClient(boss)
    const second = await client.answer({ [idOf(await client.say('Go.'))]: 'yes' })
    expect(resultsIn(second.events)).toEqual(['b1: booked "yes"', "t1: Transferred to 'maths'."])
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
  })

  test('stops with an error when the turn goes round for ever', async () => {
    const maths = chat('maths', () => '42')
    const model = scriptedModel((_request, index) => [transfer(`t${index}`, 'maths')])
    const boss = supervisor({ name: 'boss', model, workers: [maths.agent], maxTransfers: 3 })
    const { outcome } = await play(boss, 'Go.')
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'MAX_ITERATIONS' } })
    expect(maths.model.requests).toHaveLength(2)
  })

  test.each([
    ['no workers', []],
    ['two of one name', [chat('maths', []).agent, chat('maths', []).agent]],
    ['one of its own name', [chat('boss', []).agent]],
    ['one without a description', [{ ...chat('maths', []).agent, description: ' ' }]],
  ])('is refused with %s', (_what, workers) => {
    const model = scriptedModel([])
    expect(() => supervisor({ name: 'boss', model, workers })).toThrow(
      expect.objectContaining({ code: 'INVALID_AGENT' }) as Error,
    )
  })
})

describe('a worker that fails', () => {
  const broken = agentOf('broken', () => {
    throw new Error('out of ink')
  })

  test('is told to the supervisor, which goes on', async () => {
    const model = scriptedModel([[transfer('t1', 'broken')], 'I could not print it.'])
    const { events, outcome } = await play(supervisor({ name: 'boss', model, workers: [broken] }), 'Print.')
    expect(ofType(events, 'SUBAGENT_ERROR')).toHaveLength(1)
    expect(textsOf(model.requests[1]?.messages).at(-1)).toEqual([
      'user',
      'For context: [broken] failed. The agent failed.',
    ])
    expect(outcome).toMatchObject({ type: 'completed', text: 'I could not print it.' })
  })

  test('fails all of it when that is asked for', async () => {
    const model = scriptedModel([[transfer('t1', 'broken')]])
    const boss = supervisor({ name: 'boss', model, workers: [broken], onWorkerError: 'throw' })
    const { outcome } = await play(boss, 'Print.')
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'out of ink' } })
  })
})

describe('supervisors of supervisors', () => {
  const nested = (worker: Parameters<typeof chat>, boss: Parameters<typeof scriptedModel>[0]) => {
    const innermost = chat(...worker)
    const middleModel = scriptedModel([[transfer('m1', worker[0])], 'Middle is done.'])
    const middle = supervisor({
      name: 'middle',
      description: 'The middle.',
      model: middleModel,
      workers: [innermost.agent],
    })
    const bossModel = scriptedModel(boss)
    const agent = supervisor({ name: 'boss', model: bossModel, workers: [middle] })
    return { agent, innermost, middleModel, bossModel }
  }

  test('report up the line', async () => {
    const { agent, bossModel } = nested(['clerk', ['Filed.']], [[transfer('b1', 'middle')], 'All filed.'])
    const { events, outcome } = await play(agent, 'File it.')
    expect(shownIn(events).filter((line) => / (says|starts|ends)/.test(line))).toEqual([
      'middle starts',
      'clerk starts',
      'clerk says Filed.',
      'clerk ends',
      'middle says Middle is done.',
      'middle ends',
      'boss says All filed.',
    ])
    expect(textsOf(bossModel.requests[1]?.messages).slice(-2)).toEqual([
      ['user', 'For context: [clerk] said: Filed.'],
      ['user', 'For context: [middle] said: Middle is done.'],
    ])
    expect(outcome).toMatchObject({ type: 'completed', text: 'All filed.' })
  })

  test('pause when the innermost worker asks, and go on in all of them', async () => {
    const { agent, innermost, middleModel, bossModel } = nested(
      ['clerk', [[call('c1', 'book')], 'Booked.'], { tools: [book] }],
      [[transfer('b1', 'middle')], 'All booked.'],
    )
    const client = createClient(agent)
    const first = await client.say('Book it.')
    const second = await client.answer({ [idOf(first)]: 'yes' })
    expect(shownIn(second.events)).toEqual([
      'middle starts',
      'clerk starts',
      'clerk gets booked "yes"',
      'clerk says Booked.',
      'clerk ends',
      'middle says Middle is done.',
      'middle ends',
      'boss says All booked.',
      'RUN_FINISHED',
    ])
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'All booked.' })
    expect([bossModel, middleModel, innermost.model].map(({ requests }) => requests.length)).toEqual([
      2, 2, 2,
    ])
  })

  test('all end when the innermost worker exits', async () => {
    const { agent, middleModel, bossModel } = nested(
      ['clerk', [[call('c1', 'exit', { final_result: 'over' })]], { tools: [exitTool()] }],
      [[transfer('b1', 'middle')]],
    )
    const { outcome } = await play(agent, 'End it.')
    expect(outcome).toMatchObject({ type: 'completed', result: 'over' })
    expect([bossModel, middleModel].map(({ requests }) => requests.length)).toEqual([1, 1])
  })

  test('wait when a worker calls a tool of the client, and go on with its result', async () => {
    const { agent, innermost } = nested(
      ['clerk', [[call('c1', 'paint')], 'Painted.']],
      [[transfer('b1', 'middle')], 'All painted.'],
    )
    const client = createClient(agent, [
      { name: 'paint', description: 'Paints.', parameters: { type: 'object' } },
    ])
    const first = await client.say('Paint it.')
    expect(first.outcome).toMatchObject({ type: 'completed', pendingToolCalls: [{ id: 'c1' }] })
    const result = { id: 'r1', role: 'tool' as const, toolCallId: 'c1', content: 'blue' }
    const second = await client.send({ messages: [...client.messages, result] })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'All painted.' })
    expect(innermost.model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'blue' })
  })
})

test('without a model it is refused when it is made, and told what it needs', () => {
  const options = { name: 'boss', workers: [saying('clerk', 'Yes.')] } as unknown as SupervisorOptions
  expect(() => supervisor(options)).toThrow(
    expect.objectContaining({
      code: 'INVALID_AGENT',
      message: expect.stringContaining("'boss' needs a model") as string,
    }),
  )
})
