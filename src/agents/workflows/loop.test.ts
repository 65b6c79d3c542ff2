import { describe, expect, test } from 'vitest'
import { createClient, idOf, interruptsOf, ofType, play, resultsIn } from '../../../test/support/run-agent.js'
import {
  agentOf,
  book,
  call,
  chat,
  linesOf,
  saying,
  startedIn,
  textsIn,
  words,
} from '../../../test/support/tree-agents.js'
import { breakTool } from '../tools/control-tools.js'
import { loop } from './loop.js'
import { sequential } from './sequential.js'

describe('a loop', () => {
  test('goes round as often as it may, and then is done without an error', async () => {
    const { events, outcome } = await play(
      loop({ name: 'round', agents: [saying('a', 'A.'), saying('b', 'B.')], maxIterations: 3 }),
      'Go.',
    )
    expect(textsIn(events)).toEqual(['A.', 'B.', 'A.', 'B.', 'A.', 'B.'])
    expect(outcome).toMatchObject({ type: 'completed', text: 'B.' })
    const spans = ofType(events, 'SUBAGENT_STARTED').map(({ subagentRunId }) => subagentRunId)
    expect(new Set(spans).size).toBe(6)
  })

  test('ends with a tool that breaks it: what the agent says with the call is heard, those after it do not run', async () => {
    const critic = chat('critic', ['Again.', ['Good.', call('x', 'end_loop')]], { tools: [breakTool()] })
    const round = loop({
      name: 'round',
      agents: [saying('writer', 'Text.'), critic.agent, saying('c', 'C.')],
    })
    const { events, outcome } = await play(round, 'Write.')
    expect(textsIn(events)).toEqual(['Text.', 'Again.', 'C.', 'Text.', 'Good.'])
    expect(resultsIn(events)).toEqual(['x: The loop ends here.'])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Good.' })
    expect(critic.model.requests).toHaveLength(2)
  })

  test('that was broken is done: what comes after it runs, and a loop around it goes on', async () => {
    const inner = loop({ name: 'inner', agents: [saying('stop', 'Stop.', { type: 'break' })] })
    const outer = loop({ name: 'outer', agents: [inner, saying('after', 'After.')], maxIterations: 2 })
    const { events, outcome } = await play(outer, 'Go.')
    expect(textsIn(events)).toEqual(['Stop.', 'After.', 'Stop.', 'After.'])
    expect(outcome.type).toBe('completed')
  })

  test('is broken from within a sequence, which is then over too', async () => {
    const steps = sequential({
      name: 'steps',
      agents: [saying('stop', 'Stop.', { type: 'break' }), saying('never', 'Never.')],
    })
    const { events } = await play(loop({ name: 'round', agents: [steps] }), 'Go.')
    expect(textsIn(events)).toEqual(['Stop.'])
  })

  test('delivers all that an agent says before it breaks', async () => {
    const talker = agentOf('talker', async function* (ctx) {
      yield* words('One.', ctx)
      await Promise.resolve()
      yield* words('Two.', ctx)
      return { type: 'break' }
    })
    const { events, outcome } = await play(loop({ name: 'round', agents: [talker] }), 'Go.')
    expect(textsIn(events)).toEqual(['One.', 'Two.'])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Two.' })
  })

  test('fails with an agent that fails in its third round: nobody is called a fourth time', async () => {
    let rounds = 0
    const flaky = agentOf('flaky', async function* (ctx) {
      await Promise.resolve()
      if (++rounds === 3) throw new Error('third')
      yield* words(`Round ${rounds}.`, ctx)
      return { type: 'done' }
    })
    const { events, outcome } = await play(loop({ name: 'round', agents: [flaky] }), 'Go.')
    expect(textsIn(events)).toEqual(['Round 1.', 'Round 2.'])
    expect(ofType(events, 'SUBAGENT_ERROR')).toHaveLength(1)
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'third' } })
    expect(rounds).toBe(3)
  })

  test('ends with an exit, and so does all around it', async () => {
    const round = loop({ name: 'round', agents: [saying('a', 'A.', { type: 'exit', result: 7 })] })
    const flow = sequential({ name: 'flow', agents: [round, saying('b', 'B.')] })
    const { events, outcome } = await play(flow, 'Go.')
    expect(textsIn(events)).toEqual(['A.'])
    expect(outcome).toMatchObject({ type: 'completed', result: 7 })
  })

  test('lets agents hear all rounds: own words as their own', async () => {
    const writer = chat('writer', ['Draft.', 'Better draft.'])
    const critic = chat('critic', ['Too short.', 'Fine.'])
    await play(loop({ name: 'round', agents: [writer.agent, critic.agent], maxIterations: 2 }), 'Write.')
    expect(linesOf(critic.model.requests[1]?.messages)).toEqual([
      'user: Write.',
      'user: For context: [writer] said: Draft.',
      'assistant: Too short.',
      'user: For context: [writer] said: Better draft.',
    ])
  })

  test.each([0, -1, 1.5, Number.NaN])('of %d rounds is refused', (maxIterations) => {
    expect(() => loop({ name: 'round', agents: [saying('a', 'A.')], maxIterations })).toThrow(
      expect.objectContaining({ code: 'INVALID_AGENT' }),
    )
  })
})

describe('a loop with an interrupt in each round', () => {
  test('raises a new one in the next round, with the same call id as well', async () => {
    const asker = chat('asker', (_request, index) => (index % 2 === 0 ? [call('a', 'book')] : 'Booked.'), {
      tools: [book],
    })
    const round = loop({ name: 'round', agents: [asker.agent, saying('b', 'B.')], maxIterations: 2 })
    const client = createClient(round)
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(textsIn(second.events)).toEqual(['Booked.', 'B.'])
    expect(idOf(second)).not.toBe(idOf(first))
    const third = await client.answer({ [idOf(second)]: 2 })
    expect(textsIn(third.events)).toEqual(['Booked.', 'B.'])
    expect(third.outcome.type).toBe('completed')
    expect(linesOf(third.outcome.messages).filter((line) => line.startsWith('tool'))).toEqual([
      'tool: booked 1',
      'tool: booked 2',
    ])
  })

  test('raised by the agent itself, is one interrupt a round', async () => {
    const asked: unknown[] = []
    const asker = agentOf('asker', async function* (ctx) {
      const answer = await ctx.interrupt({ message: 'Go on?' })
      asked.push(answer)
      yield* words('Gone on.', ctx)
      return { type: 'done' }
    })
    const client = createClient(loop({ name: 'round', agents: [asker], maxIterations: 2 }))
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(startedIn(second.events)).toEqual(['asker', 'asker'])
    expect(interruptsOf(second)).toHaveLength(1)
    expect(idOf(second)).not.toBe(idOf(first))
    const third = await client.answer({ [idOf(second)]: 'cancelled' })
    expect(third.outcome.type).toBe('completed')
    expect(asked).toEqual([{ status: 'resolved', payload: 1 }, { status: 'cancelled' }])
  })
})
