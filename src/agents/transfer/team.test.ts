import { describe, expect, test } from 'vitest'
import { createClient, idOf, ofType, play, resultsIn } from '../../../test/support/run-agent.js'
import { saying, startedIn, textsIn } from '../../../test/support/tree-agents.js'
import { scriptedModel, type Script } from '../../models/index.js'
import type { Agent, Control } from '../contract.js'
import { defineAgent, type AgentOptions } from '../chat/chat-agent.js'
import { breakTool, exitTool } from '../tools/control-tools.js'
import { defineTool } from '../tools/define-tool.js'
import { loop } from '../workflows/loop.js'
import { sequential } from '../workflows/sequential.js'
import { transferAfter } from './team.js'

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
    // eslint-disable-next-line require-yield
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

  test('in circles: an interrupt after it reaches the right agent', async () => {
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

describe('whom an agent may hand over to', () => {
  const offered = (model: { readonly requests: readonly { readonly tools?: readonly unknown[] }[] }) =>
    /"enum":(\[[^\]]*\])/.exec(JSON.stringify(model.requests[0]?.tools?.at(-1) ?? ''))?.[1]

  test('is those below it, and for those the one above', async () => {
    const billing = chat('billing', ['Paid.'])
    const desk = chat('desk', [[transfer('t', 'billing')]], {
      subAgents: [billing.agent, chat('sales', []).agent],
    })
    await play(desk.agent, 'Hi')
    expect(offered(desk.model)).toBe('["billing","sales"]')
    expect(offered(billing.model)).toBe('["desk"]')
  })

  test('is also those beside it when it says so', async () => {
    const billing = chat('billing', [[transfer('p', 'sales')]])
    const sales = chat('sales', ['Sold.'])
    const desk = chat('desk', [[transfer('t', 'billing')]], {
      subAgents: [billing.agent, sales.agent],
      transferToPeers: true,
    })
    const { events, outcome } = await play(desk.agent, 'Hi')
    expect(offered(billing.model)).toBe('["desk","sales"]')
    expect(startedIn(events)).toEqual(['billing', 'sales'])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Sold.' })
  })

  test('is not the one above when that is not allowed', async () => {
    const billing = chat('billing', ['Paid.'], { disallowTransferToParent: true })
    const desk = chat('desk', [[transfer('t', 'billing')]], { subAgents: [billing.agent] })
    await play(desk.agent, 'Hi')
    expect(billing.model.requests[0]).not.toHaveProperty('tools')
  })

  test('is nobody for an agent alone, and for a step of a workflow', async () => {
    const alone = chat('alone', ['Hi.'])
    await play(sequential({ name: 'flow', agents: [alone.agent] }), 'Hi')
    expect(alone.model.requests[0]).not.toHaveProperty('tools')
  })

  test('is both for one in the middle, which hands back to the one above all', async () => {
    const clerk = chat('clerk', ['Done by clerk.', [transfer('c', 'billing')]])
    const billing = chat('billing', [[transfer('b1', 'clerk')], [transfer('b2', 'desk')]], {
      subAgents: [transferAfter(clerk.agent, 'billing')],
    })
    const desk = chat('desk', [[transfer('d', 'billing')], 'All done.'], { subAgents: [billing.agent] })
    const { events, outcome } = await play(desk.agent, 'Hi')
    expect(offered(billing.model)).toBe('["clerk","desk"]')
    expect(offered(clerk.model)).toBe('["billing"]')
    expect(startedIn(events)).toEqual(['billing', 'clerk'])
    expect(outcome).toMatchObject({ type: 'completed', text: 'All done.' })
  })
})

describe('an agent and those it hands over to', () => {
  test('carry out all calls of an answer before they hand over', async () => {
    const look = defineTool({ name: 'look', description: 'Looks.', execute: () => 'seen' })
    const billing = chat('billing', ['Paid.'])
    const desk = chat('desk', [[transfer('t', 'billing'), call('l', 'look')]], {
      subAgents: [billing.agent],
      tools: [look],
    })
    const { events } = await play(desk.agent, 'Hi')
    expect(resultsIn(events)).toEqual(['l: seen', "t: Transferred to 'billing'."])
    expect(textsOf(billing.model.requests[0]?.messages)).toEqual([
      ['user', 'Hi'],
      ['user', 'For context: [desk] called tool `look` with arguments: {}'],
      ['user', 'For context: [desk] tool `look` returned: seen'],
    ])
  })

  test('do not hand over more often than they may', async () => {
    const ping = chat('ping', () => [transfer(crypto.randomUUID(), 'desk')])
    const desk = chat('desk', () => [transfer(crypto.randomUUID(), 'ping')], {
      subAgents: [ping.agent],
      maxTransfers: 5,
    })
    const { events, outcome } = await play(desk.agent, 'Hi')
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'MAX_ITERATIONS' } })
    expect(desk.model.requests.length + ping.model.requests.length).toBe(6)
    expect(ofType(events, 'RUN_ERROR')).toHaveLength(1)
  })

  test('may transfer as often as allowed, also with an interrupt in between', async () => {
    const b = chat('b', [[call('b1', 'book')], [transfer('b2', 'a')], 'Last.'], { tools: [book] })
    const a = chat('a', [[transfer('a1', 'b')], [transfer('a2', 'b')]], {
      subAgents: [b.agent],
      maxTransfers: 3,
    })
    const client = createClient(a.agent)
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Last.' })
  })

  test('end with one that exits', async () => {
    const billing = chat('billing', [[call('e', 'exit', { final_result: 'paid' })]], { tools: [exitTool()] })
    const desk = chat('desk', [[transfer('t', 'billing')]], { subAgents: [billing.agent] })
    const flow = sequential({ name: 'flow', agents: [desk.agent, saying('never', 'Never.')] })
    const { events, outcome } = await play(flow, 'Hi')
    expect(startedIn(events)).toEqual(['desk', 'billing'])
    expect(outcome).toMatchObject({ type: 'completed', result: 'paid' })
  })

  test('break the loop they are in', async () => {
    const judge = chat('judge', [['Good.', call('x', 'end_loop')]], { tools: [breakTool()] })
    const desk = chat('desk', [[transfer('t', 'judge')]], { subAgents: [judge.agent] })
    const { events } = await play(loop({ name: 'round', agents: [desk.agent] }), 'Hi')
    expect(textsIn(events)).toEqual(['Good.'])
  })

  test('fail with one that fails', async () => {
    const billing = chat('billing', [[{ error: { status: 400, message: 'refused' } }]])
    const desk = chat('desk', [[transfer('t', 'billing')], 'Never.'], { subAgents: [billing.agent] })
    const { outcome } = await play(desk.agent, 'Hi')
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'refused' } })
    expect(desk.model.requests).toHaveLength(1)
  })

  test('read the conversation as they like', async () => {
    const billing = chat('billing', ['Paid.'], {
      historyRewriter: (entries) =>
        entries.filter(({ agent }) => agent === undefined).map(({ message }) => message),
    })
    const desk = chat('desk', [['One moment.', transfer('t', 'billing')]], { subAgents: [billing.agent] })
    await play(desk.agent, 'Hi')
    expect(textsOf(billing.model.requests[0]?.messages)).toEqual([['user', 'Hi']])
  })

  test.each<[string, Agent[]]>([
    ['twice the same name', [saying('a', 'A.'), saying('a', 'B.')]],
    ['the name of the agent itself', [saying('desk', 'A.')]],
    ['one without a description', [{ ...saying('a', 'A.'), description: ' ' }]],
  ])('are refused with %s', (_what, subAgents) => {
    expect(() => chat('desk', [], { subAgents })).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }))
  })
})

describe('an agent that always hands over when it is done', () => {
  test('hands over with no word of its model', async () => {
    const worker = chat('worker', ['Worked.'])
    const boss = chat('boss', [[transfer('t', 'worker')], 'Thanks.'], {
      subAgents: [transferAfter(worker.agent, 'boss')],
    })
    const { events, outcome } = await play(boss.agent, 'Go.')
    expect(textsIn(events)).toEqual(['Worked.', 'Thanks.'])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Thanks.' })
  })

  test('does not when it exits, is interrupted or fails', async () => {
    const ends: Control[] = []
    for (const script of [
      [[call('e', 'exit', { final_result: 1 })]],
      [[call('q', 'book')]],
      [[{ error: { status: 400 } }]],
    ] satisfies Script[]) {
      const worker = chat('worker', script, { tools: [exitTool(), book] })
      const boss = chat('boss', [[transfer('t', 'worker')], 'Never.'], {
        subAgents: [transferAfter(worker.agent, 'boss')],
      })
      const { outcome } = await play(boss.agent, 'Go.')
      ends.push({ type: 'done', result: outcome.type })
      expect(boss.model.requests).toHaveLength(1)
    }
    expect(ends.map((end) => ('result' in end ? end.result : ''))).toEqual([
      ...['completed', 'interrupted', 'failed'],
    ])
  })
})
