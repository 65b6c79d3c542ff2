import { describe, expect, test } from 'vitest'
import { createClient, idOf, ofType, play, resultsIn } from '../../../test/support/run-agent.js'
import { scriptedModel, type Script } from '../../models/index.js'
import type { Agent, Control } from '../agent.js'
import { defineAgent, type AgentOptions } from '../chat/chat-agent.js'
import { defineTool } from '../define-tool.js'

const call = (id: string, name: string, args: unknown = {}) => ({ toolCall: { id, name, args } })
const transfer = (id: string, to: string) => call(id, 'transfer_to_agent', { agent_name: to })

function chat(name: string, script: Script, options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(script)
  return { model, agent: defineAgent({ name, description: `The ${name}.`, model, ...options }) }
}

function agentOf(name: string, run: Agent['run']): Agent {
  return { name, description: `The ${name}.`, run }
}

function textsOf(messages: readonly { readonly role: string; readonly content?: unknown }[] = []): unknown[] {
  return messages.map(({ role, content }) => [role, content])
}

const book = defineTool({
  name: 'book',
  description: 'Books.',
  execute: async (_args, { interrupt }) => {
    const answer = await interrupt({ message: 'Book?' })
    return answer.status === 'resolved' ? `booked ${JSON.stringify(answer.payload)}` : 'dropped'
  },
})

describe('a transfer', () => {
  test('is a call, its result, and then the answer of the other agent', async () => {
    const billing = chat('billing', ['You owe nothing.'])
    const { agent } = chat('desk', [[{ reasoning: 'Hm.' }, 'One moment.', transfer('t1', 'billing')]], {
      subAgents: [billing.agent],
    })
    const { events, outcome } = await play(agent, 'My bill?')
    expect(resultsIn(events)).toEqual(["t1: Transferred to 'billing'."])
    expect(ofType(events, 'SUBAGENT_STARTED')).toMatchObject([{ name: 'billing' }])
    expect(outcome).toMatchObject({ type: 'completed', text: 'You owe nothing.' })
    expect(textsOf(billing.model.requests[0]?.messages)).toEqual([
      ['user', 'My bill?'],
      ['user', 'For context: [desk] said: One moment.'],
    ])
  })

  test('to nobody that is there is told to the model', async () => {
    const { agent, model } = chat('desk', [[transfer('t1', 'nobody')], 'Sorry.'], {
      subAgents: [chat('billing', []).agent],
    })
    const { events, outcome } = await play(agent, 'Hi')
    expect(resultsIn(events)).toEqual([
      "t1: Error: There is no agent 'nobody' to hand over to. Agents: billing.",
    ])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Sorry.' })
    expect(model.requests).toHaveLength(2)
  })

  test('that an agent returns to nobody that is there fails, and names both', async () => {
    const lost = agentOf('lost', async function* () {
      return await Promise.resolve<Control>({ type: 'transfer', to: 'nowhere' })
    })
    const { agent } = chat('desk', [[transfer('t1', 'lost')]], { subAgents: [lost] })
    const { events, outcome } = await play(agent, 'Hi')
    expect(outcome).toMatchObject({
      type: 'failed',
      error: {
        code: 'INVALID_AGENT',
        message: expect.stringMatching(/'lost' transfers to 'nowhere'.*desk/) as string,
      },
    })
    expect(ofType(events, 'RUN_ERROR')).toHaveLength(1)
  })

  test('there and back and on: own words stay own, in this run and the next', async () => {
    const billing = chat(
      'billing',
      [['Looking.', call('b1', 'look')], ['It is paid.', transfer('b2', 'desk')], 'Paid, as I said.'],
      {
        tools: [defineTool({ name: 'look', description: 'Looks.', execute: () => 'paid' })],
      },
    )
    const desk = chat('desk', [[transfer('t1', 'billing')], 'All is well.', [transfer('t2', 'billing')]], {
      subAgents: [billing.agent],
    })
    const client = createClient(desk.agent)
    const first = await client.say('My bill?')
    expect(first.outcome).toMatchObject({ type: 'completed', text: 'All is well.' })
    expect(textsOf(desk.model.requests[1]?.messages)).toEqual([
      ['user', 'My bill?'],
      ['assistant', undefined],
      ['tool', "Transferred to 'billing'."],
      ['user', 'For context: [billing] said: Looking.\n[billing] called tool `look` with arguments: {}'],
      ['user', 'For context: [billing] tool `look` returned: paid'],
      ['user', 'For context: [billing] said: It is paid.'],
    ])
    const second = await client.say('Really?')
    expect(second.outcome).toMatchObject({ text: 'Paid, as I said.' })
    expect(textsOf(billing.model.requests[2]?.messages)).toEqual([
      ['user', 'My bill?'],
      ['assistant', 'Looking.'],
      ['tool', 'paid'],
      ['assistant', 'It is paid.'],
      ['tool', "Transferred to 'desk'."],
      ['user', 'For context: [desk] said: All is well.'],
      ['user', 'Really?'],
    ])
  })

  test('in circles: a question after it reaches the right turn', async () => {
    const c = chat('c', [[call('c1', 'book')], 'Booked by c.'], { tools: [book] })
    const b = chat('b', [[transfer('b1', 'a')]])
    const a = chat('a', [[transfer('a1', 'b')], [transfer('a2', 'c')]], { subAgents: [b.agent, c.agent] })
    const client = createClient(a.agent)
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first)]: 'yes' })
    expect(resultsIn(second.events)).toEqual(['c1: booked "yes"'])
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Booked by c.' })
    expect([a, b, c].map(({ model }) => model.requests.length)).toEqual([2, 1, 2])
  })
})
