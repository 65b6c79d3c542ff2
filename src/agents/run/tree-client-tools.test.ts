import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { createClient, idOf, interruptsOf, toResume, type Played } from '../../../test/support/run-agent.js'
import {
  book,
  call,
  chat,
  linesOf,
  request,
  saying,
  startedIn,
  textsIn,
  toolOf,
  transfer,
} from '../../../test/support/tree-agents.js'
import { agentTool } from '../tools/agent-tool.js'
import { loop } from '../workflows/loop.js'
import { parallel } from '../workflows/parallel.js'
import { sequential } from '../workflows/sequential.js'

const paint = { name: 'paint', description: 'Paints.' }

const resultOf = (toolCallId: string): Message => ({
  id: `result-${toolCallId}`,
  role: 'tool',
  toolCallId,
  content: `${toolCallId} painted`,
})

/** An agent whose model has the client paint under this id. */
const painter = (name: string, id = name) =>
  chat(name, [[`${name} paints.`, call(id, 'paint')], `${name} is content.`])

function pendingOf({ outcome }: Played): string[] {
  if (outcome.type !== 'completed') throw new Error(outcome.type)
  return outcome.pendingToolCalls.map(({ id }) => id)
}

type Client = ReturnType<typeof createClient>

const give = (client: Client, ...ids: string[]): Promise<Played> =>
  client.send({ messages: [...client.messages, ...ids.map(resultOf)] })

describe('a tool of the client in a sequence', () => {
  test('ends the run; with its result the agent goes on, and only then the next', async () => {
    const one = painter('one', 'p')
    const two = chat('two', ['Two.'])
    const flow = sequential({ name: 'flow', agents: [saying('zero', 'Zero.'), one.agent, two.agent] })
    const client = createClient(flow, [paint])
    const first = await client.say('Go.')
    expect(startedIn(first.events)).toEqual(['zero', 'one'])
    expect(pendingOf(first)).toEqual(['p'])
    const second = await give(client, 'p')
    expect(startedIn(second.events)).toEqual(['one', 'two'])
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Two.', pendingToolCalls: [] })
    expect(linesOf(one.model.requests[1]?.messages)).toEqual([
      'user: Go.',
      'user: For context: [zero] said: Zero.',
      'assistant: one paints.',
      'assistant: -> paint',
      'tool: p painted',
    ])
    expect(linesOf(two.model.requests[0]?.messages)).toEqual([
      'user: Go.',
      'user: For context: [zero] said: Zero.',
      'user: For context: [one] said: one paints.\n[one] called tool `paint` with arguments: {}',
      'user: For context: [one] tool `paint` returned: p painted',
      'user: For context: [one] said: one is content.',
    ])
  })

  test('beside tools of the agent waits for those, and they are not run again', async () => {
    let looked = 0
    const look = toolOf('look', () => `looked ${++looked}`)
    const one = chat('one', [[call('l', 'look'), call('p', 'paint')], 'Content.'], { tools: [look] })
    const client = createClient(sequential({ name: 'flow', agents: [one.agent] }), [paint])
    const first = await client.say('Go.')
    expect(pendingOf(first)).toEqual(['p'])
    const second = await give(client, 'p')
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Content.' })
    expect(looked).toBe(1)
  })

  test('called again in the same step waits again', async () => {
    const one = chat('one', [[call('p', 'paint')], [call('q', 'paint')], 'Content.'])
    const client = createClient(sequential({ name: 'flow', agents: [one.agent, saying('two', 'Two.')] }), [
      paint,
    ])
    expect(pendingOf(await client.say('Go.'))).toEqual(['p'])
    const second = await give(client, 'p')
    expect(pendingOf(second)).toEqual(['q'])
    expect(startedIn(second.events)).toEqual(['one'])
    const third = await give(client, 'q')
    expect(textsIn(third.events)).toEqual(['Content.', 'Two.'])
  })

  test('whose person says something else instead is given up: the flow starts afresh', async () => {
    const one = chat('one', [[call('p', 'paint')], 'Hello again.'])
    const client = createClient(sequential({ name: 'flow', agents: [saying('zero', 'Zero.'), one.agent] }), [
      paint,
    ])
    await client.say('Go.')
    const second = await client.say('Never mind.')
    expect(textsIn(second.events)).toEqual(['Zero.', 'Hello again.'])
    expect(linesOf(one.model.requests[1]?.messages)).toEqual([
      'user: Go.',
      'user: For context: [zero] said: Zero.',
      'assistant: -> paint',
      'tool: The call of paint was cancelled: it was not carried out and has no result.',
      'user: Never mind.',
      'user: For context: [zero] said: Zero.',
    ])
  })

  test('whose result comes with something else said starts afresh too, and knows the result', async () => {
    const one = chat('one', [[call('p', 'paint')], 'Hello again.'])
    const client = createClient(sequential({ name: 'flow', agents: [saying('zero', 'Zero.'), one.agent] }), [
      paint,
    ])
    await client.say('Go.')
    const said: Message = { id: 'u2', role: 'user', content: 'Now this.' }
    const second = await client.send({ messages: [...client.messages, resultOf('p'), said] })
    expect(textsIn(second.events)).toEqual(['Zero.', 'Hello again.'])
    expect(linesOf(one.model.requests[1]?.messages)).toContain('tool: p painted')
  })

  test('goes on with a tree that has changed by starting afresh, and says so', async () => {
    const client = createClient(
      sequential({ name: 'flow', agents: [painter('one', 'p').agent, saying('two', 'Two.')] }),
      [paint],
    )
    await client.say('Go.')
    const problems: string[] = []
    const other = createClient(sequential({ name: 'flow', agents: [saying('three', 'Three.')] }), [paint])
    const second = await other.send(
      { threadId: client.threadId, messages: [...client.messages, resultOf('p')] },
      { checkpoint: client.checkpoint, onProblem: (problem) => problems.push(problem) },
    )
    expect(textsIn(second.events)).toEqual(['Three.'])
    expect(problems.join()).toContain('starts afresh')
  })
})

describe('tools of the client in lanes', () => {
  test('are left to it together; each lane goes on with its result, and what was done stays done', async () => {
    const a = painter('a')
    const b = painter('b')
    const last = chat('last', ['Last.'])
    const all = parallel({ name: 'all', agents: [a.agent, saying('quick', 'Quick.'), b.agent] })
    const client = createClient(sequential({ name: 'flow', agents: [all, last.agent] }), [paint])
    const first = await client.say('Go.')
    expect(pendingOf(first).sort()).toEqual(['a', 'b'])
    const second = await give(client, 'b', 'a')
    expect(startedIn(second.events)).toEqual(['all', 'a', 'b', 'last'])
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Last.' })
    expect(linesOf(a.model.requests[1]?.messages)).toEqual([
      'user: Go.',
      'assistant: a paints.',
      'assistant: -> paint',
      'tool: a painted',
    ])
    expect(linesOf(last.model.requests[0]?.messages).map((line) => line.slice(0, 40))).toEqual([
      'user: Go.',
      'user: For context: [a] said: a paints.\n[',
      'user: For context: [a] tool `paint` retu',
      'user: For context: [a] said: a is conten',
      'user: For context: [quick] said: Quick.',
      'user: For context: [b] said: b paints.\n[',
      'user: For context: [b] tool `paint` retu',
      'user: For context: [b] said: b is conten',
    ])
  })

  test('may be answered before, with or after an interrupt in another lane', async () => {
    for (const order of ['before', 'with', 'after'] as const) {
      const asker = chat('asker', [[call('q', 'book')], 'Booked.'], { tools: [book] })
      const hand = painter('hand', 'p')
      const all = parallel({ name: 'all', agents: [asker.agent, hand.agent] })
      const client = createClient(sequential({ name: 'flow', agents: [all, saying('end', 'End.')] }), [paint])
      const first = await client.say('Go.')
      expect(interruptsOf(first)).toHaveLength(1)
      const resume = toResume({ [idOf(first)]: 1 })
      if (order === 'before') {
        const asked = await give(client, 'p')
        expect(interruptsOf(asked).map(({ id }) => id)).toEqual([idOf(first)])
        await client.send({ resume })
      } else if (order === 'with')
        await client.send({ resume, messages: [...client.messages, resultOf('p')] })
      else {
        const second = await client.send({ resume })
        expect(pendingOf(second)).toEqual(['p'])
        expect(textsIn(second.events)).toContain('Booked.')
        await give(client, 'p')
      }
      expect([order, linesOf(client.messages).at(-1)]).toEqual([order, 'assistant: End.'])
      expect([asker, hand].map(({ model }) => model.requests.length)).toEqual([2, 2])
    }
  })
})

describe('a tool of the client elsewhere in a tree', () => {
  test('called by one who was handed over to: that one goes on, not the one who handed over', async () => {
    const member = painter('member', 'p')
    const desk = chat('desk', [['Moment.', transfer('t', 'member')], 'Never.'], { subAgents: [member.agent] })
    const client = createClient(desk.agent, [paint])
    const first = await client.say('Go.')
    expect(pendingOf(first)).toEqual(['p'])
    const second = await give(client, 'p')
    expect(textsIn(second.events)).toEqual(['member is content.'])
    expect([desk, member].map(({ model }) => model.requests.length)).toEqual([1, 2])
    // The next time it is the first one's turn again.
    expect(textsIn((await client.say('And?')).events)).toEqual(['Never.'])
  })

  test('called in the answer that hands over: the other one begins when the result is there', async () => {
    const heir = chat('heir', ['I have it.'])
    const boss = chat('boss', [[call('p', 'paint'), transfer('t', 'heir')]], { subAgents: [heir.agent] })
    const client = createClient(boss.agent, [paint])
    const first = await client.say('Go.')
    expect([pendingOf(first), heir.model.requests.length]).toEqual([['p'], 0])
    const second = await give(client, 'p')
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'I have it.' })
    expect([boss.model.requests.length, linesOf(heir.model.requests[0]?.messages)]).toEqual([
      1,
      [
        'user: Go.',
        'user: For context: [boss] called tool `paint` with arguments: {}',
        'user: For context: [boss] tool `paint` returned: p painted',
      ],
    ])
  })

  test('called in a round of a loop: the loop goes on in that round', async () => {
    const one = chat('one', (_request, index) =>
      index % 2 === 0 ? [call(`p${index}`, 'paint')] : 'Content.',
    )
    const round = loop({ name: 'round', agents: [saying('zero', 'Zero.'), one.agent], maxIterations: 2 })
    const client = createClient(round, [paint])
    expect(pendingOf(await client.say('Go.'))).toEqual(['p0'])
    const second = await give(client, 'p0')
    expect(textsIn(second.events)).toEqual(['Content.', 'Zero.'])
    expect(pendingOf(second)).toEqual(['p2'])
    const third = await give(client, 'p2')
    expect(textsIn(third.events)).toEqual(['Content.'])
    expect(pendingOf(third)).toEqual([])
  })

  test('is not there for agents that work on a call', async () => {
    const inner = chat('inner', ['Inner.'])
    const boss = chat('boss', [[request('b', 'inner')], 'Done.'], { tools: [agentTool(inner.agent)] })
    await createClient(sequential({ name: 'flow', agents: [boss.agent] }), [paint]).say('Go.')
    expect(inner.model.requests[0]).not.toHaveProperty('tools')
    expect(boss.model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['inner', 'paint'])
  })
})
