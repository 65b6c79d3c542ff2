import { describe, expect, test } from 'vitest'
import { createClient, idOf, ofType, play, resultsIn } from '../../../test/support/run-agent.js'
import {
  agentOf,
  book,
  call,
  chat,
  linesOf,
  saying,
  startedIn,
  textsIn,
} from '../../../test/support/tree-agents.js'
import { exitTool } from '../tools/control-tools.js'
import { sequential } from './sequential.js'

describe('a sequence', () => {
  test('runs its agents in order, each in a span, and each hears those before it', async () => {
    const two = chat('two', ['Two.'])
    const three = chat('three', [[{ reasoning: 'Hm.' }, 'Three.']])
    const flow = sequential({ name: 'flow', agents: [saying('one', 'One.'), two.agent, three.agent] })
    const { events, outcome } = await play(flow, 'Count.')
    expect(startedIn(events)).toEqual(['one', 'two', 'three'])
    expect(textsIn(events)).toEqual(['One.', 'Two.', 'Three.'])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Three.' })
    expect(linesOf(three.model.requests[0]?.messages)).toEqual([
      'user: Count.',
      'user: For context: [one] said: One.',
      'user: For context: [two] said: Two.',
    ])
  })

  test('leaves the messages of the conversation as they are', async () => {
    const flow = sequential({ name: 'flow', agents: [saying('one', 'One.'), chat('two', ['Two.']).agent] })
    const { outcome } = await play(flow, 'Count.')
    expect(linesOf(outcome.messages)).toEqual(['user: Count.', 'assistant: One.', 'assistant: Two.'])
  })

  test('gives the result of its last agent', async () => {
    const last = chat('last', ['{"n":1}'], { output: { type: 'object' } })
    const flow = sequential({ name: 'flow', agents: [saying('one', 'One.'), last.agent] })
    expect((await play(flow, 'Go.')).outcome).toMatchObject({ type: 'completed', result: { n: 1 } })
  })

  test('ends with an agent that exits: those after it never run', async () => {
    const one = chat('one', [[call('e', 'exit', { final_result: 'enough' })]], { tools: [exitTool()] })
    const flow = sequential({ name: 'flow', agents: [one.agent, saying('two', 'Two.')] })
    const { events, outcome } = await play(flow, 'Go.')
    expect(startedIn(events)).toEqual(['one'])
    expect(outcome).toMatchObject({ type: 'completed', result: 'enough' })
  })

  test('within another ends that one too when an agent exits', async () => {
    const inner = sequential({ name: 'inner', agents: [saying('one', 'One.', { type: 'exit', result: 1 })] })
    const flow = sequential({ name: 'flow', agents: [inner, saying('two', 'Two.')] })
    const { events, outcome } = await play(flow, 'Go.')
    expect(startedIn(events)).toEqual(['inner', 'one'])
    expect(outcome).toMatchObject({ type: 'completed', result: 1 })
  })

  test('ends with an agent that fails, and its failure is that of the run', async () => {
    const broken = chat('broken', [['Half', { error: { status: 400, message: 'refused' } }]])
    const flow = sequential({ name: 'flow', agents: [broken.agent, saying('two', 'Two.')] })
    const { events, outcome } = await play(flow, 'Go.')
    expect(startedIn(events)).toEqual(['broken'])
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'refused' } })
    expect(ofType(events, 'SUBAGENT_ERROR')).toHaveLength(1)
    expect(ofType(events, 'RUN_ERROR')).toHaveLength(1)
  })

  test('ends with an agent that throws before it yields, once', async () => {
    const sudden = agentOf('sudden', () => {
      throw new Error('sudden')
    })
    const flow = sequential({ name: 'flow', agents: [sudden, saying('two', 'Two.')] })
    const { events, outcome } = await play(flow, 'Go.')
    expect(events.map(({ type }) => type)).toEqual([
      'RUN_STARTED',
      'SUBAGENT_STARTED',
      'SUBAGENT_ERROR',
      'RUN_ERROR',
    ])
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'sudden' } })
  })

  test('refuses a transfer: its agents have nobody to hand over to', async () => {
    const lost = saying('lost', 'Bye.', { type: 'transfer', to: 'two' })
    const flow = sequential({ name: 'flow', agents: [lost, saying('two', 'Two.')] })
    const { events, outcome } = await play(flow, 'Go.')
    expect(startedIn(events)).toEqual(['lost'])
    expect(outcome).toMatchObject({
      type: 'failed',
      error: { code: 'INVALID_AGENT', details: { from: 'lost', to: 'two' } },
    })
  })

  test('may have one agent twice: its own words stay its own', async () => {
    const twin = chat('twin', ['First.', 'Second.'])
    const flow = sequential({ name: 'flow', agents: [twin.agent, saying('other', 'Hm.'), twin.agent] })
    const { events } = await play(flow, 'Go.')
    const spans = ofType(events, 'SUBAGENT_STARTED').map(({ subagentRunId }) => subagentRunId)
    expect(new Set(spans).size).toBe(3)
    expect(linesOf(twin.model.requests[1]?.messages)).toEqual([
      'user: Go.',
      'assistant: First.',
      'user: For context: [other] said: Hm.',
    ])
  })

  test.each([
    ['no agents', { name: 'flow', agents: [] }],
    ['no name', { name: ' ', agents: [saying('one', 'One.')] }],
  ])('with %s is refused', (_what, options) => {
    expect(() => sequential(options)).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }))
  })
})

describe('a sequence with two agents that ask', () => {
  const build = () => {
    const one = chat('one', [['First.', call('a', 'book')], 'One is booked.'], { tools: [book] })
    const two = chat('two', [[call('b', 'book')], 'Two is booked.'], { tools: [book] })
    const last = chat('last', ['All is booked.'])
    const flow = sequential({ name: 'flow', agents: [one.agent, two.agent, last.agent] })
    return { client: createClient(flow), one, two, last }
  }

  test('raises interrupts one after the other, and finished work is never done again', async () => {
    const { client, one, two, last } = build()
    const first = await client.say('Book.')
    expect(startedIn(first.events)).toEqual(['one'])
    const second = await client.answer({ [idOf(first, 'Book a?')]: 1 })
    expect(startedIn(second.events)).toEqual(['one', 'two'])
    expect(resultsIn(second.events)).toEqual(['a: booked 1'])
    const third = await client.answer({ [idOf(second, 'Book b?')]: 2 })
    expect(startedIn(third.events)).toEqual(['two', 'last'])
    expect(third.outcome).toMatchObject({ type: 'completed', text: 'All is booked.' })
    expect([one, two, last].map(({ model }) => model.requests.length)).toEqual([2, 2, 1])
  })

  test('is heard by the last as if it had never stopped', async () => {
    const { client, last } = build()
    const first = await client.say('Book.')
    const second = await client.answer({ [idOf(first)]: 1 })
    await client.answer({ [idOf(second)]: 'cancelled' })
    expect(linesOf(last.model.requests[0]?.messages)).toEqual([
      'user: Book.',
      'user: For context: [one] said: First.\n[one] called tool `book` with arguments: {}',
      'user: For context: [one] tool `book` returned: booked 1',
      'user: For context: [one] said: One is booked.',
      'user: For context: [two] called tool `book` with arguments: {}',
      'user: For context: [two] tool `book` returned: dropped',
      'user: For context: [two] said: Two is booked.',
    ])
  })
})
