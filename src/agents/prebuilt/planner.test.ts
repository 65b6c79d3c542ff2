import { describe, expect, test } from 'vitest'
import { agentOf, call, chat, plan, respond, shownIn, trip } from '../../../test/support/prebuilt.js'
import { ofType, play, rejectedIn } from '../../../test/support/run-agent.js'
import { scriptedModel } from '../../models/index.js'
import { defineTool } from '../tools/define-tool.js'
import { planExecute } from './plan-execute.js'

describe('the planner', () => {
  test('is shown what to give, and its JSON is not shown to people', async () => {
    const { agent, planner, replanner } = trip({
      plans: [[{ reasoning: 'Hm.' }, plan('go')]],
      does: ['Gone.'],
      decides: [respond('Done.')],
    })
    const { events, outcome } = await play(agent, 'Go.')
    expect(planner.requests[0]).toMatchObject({
      instructions: expect.stringMatching(/^Make a plan/) as string,
      output: { schema: { required: ['steps'], additionalProperties: false } },
    })
    expect(replanner.requests[0]).toMatchObject({
      instructions: expect.stringMatching(/^You are shown a plan/) as string,
      output: { schema: { required: ['type', 'response', 'steps'], additionalProperties: false } },
    })
    expect(ofType(events, 'REASONING_MESSAGE_CONTENT')).toMatchObject([{ delta: 'Hm.' }])
    expect(JSON.stringify(outcome.messages)).not.toContain('steps')
  })

  test('is asked again when it gives something else, and people see nothing of it', async () => {
    const { agent } = trip({
      plans: ['Let us go!', plan('go')],
      does: ['Gone.'],
      decides: [respond('Done.')],
    })
    const { events, outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(shownIn(events, 'trip').filter((line) => line.includes('says'))).toEqual([
      'executor says Gone.',
      'trip says Done.',
    ])
  })

  test('may use tools, whose calls are shown', async () => {
    const look = defineTool({ name: 'look', description: 'Looks.', execute: () => 'rain' })
    const model = scriptedModel([['Let me see.', call('l1', 'look')], plan('take an umbrella')])
    const planner = { model, tools: [look], name: 'strategist', instructions: 'Plan for rain.' }
    const { agent } = trip({ plans: [], does: ['Taken.'], decides: [respond('Ready.')], planner })
    const { events, outcome } = await play(agent, 'Go out.')
    expect(shownIn(events, 'trip').slice(0, 4)).toEqual([
      'strategist starts',
      'strategist calls look',
      'strategist gets rain',
      'strategist ends',
    ])
    expect(model.requests[0]?.instructions).toMatch(/^Plan for rain\.\n\nMake a plan/)
    expect(model.requests[1]?.messages[1]).toMatchObject({ role: 'assistant', content: 'Let me see.' })
    expect(outcome).toMatchObject({ type: 'completed', text: 'Ready.' })
  })

  test('with calls that are taken back: that is known', async () => {
    const look = defineTool({ name: 'look', description: 'Looks.', execute: () => 'rain' })
    const model = scriptedModel([['Let me see.', call('l1', 'look')], plan('go')])
    const retry = {
      verdict: ({
        attempt,
        answer,
      }: {
        readonly attempt: number
        readonly answer?: { toolCalls: readonly unknown[] }
      }) =>
        attempt === 1 && answer?.toolCalls.length === 1
          ? { retry: true as const, reason: 'no looking', delayMs: 0 }
          : 'accept',
    }
    const { agent } = trip({
      plans: [],
      does: ['Gone.'],
      decides: [respond('Ok.')],
      planner: { model, tools: [look], retry },
    })
    const { events } = await play(agent, 'Go.')
    expect(rejectedIn(events)[0]).toMatchObject({
      metadata: { millrace: { rejected: 'no looking' } },
      toolCalls: [{ id: 'l1' }],
    })
  })

  test('decides what follows too, unless somebody else does', async () => {
    const model = scriptedModel([plan('go'), respond('Done.')])
    const agent = planExecute({
      name: 'trip',
      planner: { model, name: 'mind' },
      executor: chat('executor', ['Gone.']).agent,
    })
    const { events, outcome } = await play(agent, 'Go.')
    expect(ofType(events, 'SUBAGENT_STARTED').map(({ name }) => name)).toEqual([
      'mind',
      'executor',
      'replanner',
    ])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' })
  })

  test('may find nothing to do: then it is answered at once', async () => {
    const { agent, executor } = trip({ plans: [plan()], does: [], decides: [respond('You are welcome.')] })
    const { outcome } = await play(agent, 'Thanks!')
    expect(outcome).toMatchObject({
      type: 'completed',
      text: 'You are welcome.',
      state: { plan: { steps: [] } },
    })
    expect(executor.requests).toHaveLength(0)
  })

  test('may be any agent, and so may the replanner', async () => {
    const planner = agentOf('planner', () => ({ type: 'done', result: { steps: ['one', 'two'] } }))
    const replanner = agentOf('replanner', ({ state }) => {
      const { steps } = (state as { plan: { steps: { text: string; status: string }[] } }).plan
      const open = steps.filter(({ status }) => status === 'pending').map(({ text }) => text)
      const result =
        open.length > 0 ? { type: 'plan', steps: open } : { type: 'respond', response: 'Both are done.' }
      return { type: 'done', result }
    })
    const { agent } = trip({ plans: [], does: ['1', '2'], decides: [], planner, replanner })
    expect((await play(agent, 'Go.')).outcome).toMatchObject({ type: 'completed', text: 'Both are done.' })
  })

  test.each([
    ['no plan', { steps: 'all' }, { type: 'respond', response: 'Done.' }, 'planner'],
    ['no decision', { steps: ['go'] }, { type: 'plan', steps: [] }, 'replanner'],
    ['nothing', undefined, undefined, 'planner'],
  ])('that is an agent and gives %s fails by name', async (_what, planned, decided, who) => {
    const giving = (name: string, result: unknown) => agentOf(name, () => ({ type: 'done', result }))
    const crew = { planner: giving('planner', planned), replanner: giving('replanner', decided) }
    const { agent } = trip({ plans: [], does: ['Gone.'], decides: [], ...crew })
    const { outcome } = await play(agent, 'Go.')
    const message = expect.stringContaining(`'${who}'`) as string
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'AGENT_ERROR', message } })
  })
})
