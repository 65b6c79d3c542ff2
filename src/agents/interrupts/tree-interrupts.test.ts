import { describe, expect, test } from 'vitest'
import {
  createClient,
  idOf,
  interruptsOf,
  ofType,
  play,
  resultsIn,
  toResume,
  type Played,
} from '../../../test/support/run-agent.js'
import {
  agentOf,
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
  words,
} from '../../../test/support/tree-agents.js'
import type { Agent } from '../contract.js'
import { agentTool } from '../tools/agent-tool.js'
import { loop } from '../workflows/loop.js'
import { parallel } from '../workflows/parallel.js'
import { sequential } from '../workflows/sequential.js'

const messagesIn = (played: Played): (string | undefined)[] =>
  interruptsOf(played)
    .map(({ message }) => message)
    .sort()

/** An agent whose model books under this id and is content. */
const booker = (name: string, id = name) =>
  chat(name, [[`${name} asks.`, call(id, 'book')], `${name} is content.`], { tools: [book] })

describe('interrupts all over a tree', () => {
  const build = () => {
    const deep = booker('deep')
    const boss = chat('boss', [[request('b1', 'deep'), call('b2', 'book')], 'Boss is content.'], {
      tools: [agentTool(deep.agent), book],
    })
    const flat = booker('flat')
    const last = chat('last', ['All is booked.'])
    const both = parallel({ name: 'both', agents: [boss.agent, flat.agent] })
    const tree = sequential({ name: 'tree', agents: [saying('first', 'First.'), both, last.agent] })
    return { client: createClient(tree), deep, boss, flat, last }
  }

  test('end the run once, all of them', async () => {
    const { client } = build()
    const first = await client.say('Go.')
    expect(messagesIn(first)).toEqual(['Book b2?', 'Book deep?', 'Book flat?'])
    expect(ofType(first.events, 'RUN_FINISHED')).toHaveLength(1)
    const names = new Map(
      ofType(first.events, 'SUBAGENT_STARTED').map((one) => [one.subagentRunId, one.name]),
    )
    // Every span on the way is suspended on what is asked in it and below it, and on nothing else.
    const suspended = ofType(first.events, 'SUBAGENT_FINISHED').flatMap(({ subagentRunId, outcome }) =>
      outcome?.type === 'suspended'
        ? [[names.get(subagentRunId), outcome.interruptIds?.length] as const]
        : [],
    )
    expect(Object.fromEntries(suspended)).toEqual({ deep: 1, boss: 2, flat: 1, both: 3 })
  })

  test('may be answered one by one, in any order: the rest stays as it is', async () => {
    const { client, deep, boss, flat, last } = build()
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first, 'Book deep?')]: 1 })
    expect(messagesIn(second)).toEqual(['Book b2?', 'Book flat?'])
    expect(startedIn(second.events)).toEqual(['both', 'boss', 'deep'])
    const third = await client.answer({ [idOf(first, 'Book flat?')]: 'cancelled' })
    expect(messagesIn(third)).toEqual(['Book b2?'])
    expect(startedIn(third.events)).toEqual(['both', 'flat'])
    expect(resultsIn(third.events)).toEqual(['flat: dropped'])
    const fourth = await client.answer({ [idOf(first, 'Book b2?')]: 2 })
    expect(fourth.outcome).toMatchObject({ type: 'completed', text: 'All is booked.' })
    expect([deep, boss, flat, last].map(({ model }) => model.requests.length)).toEqual([2, 2, 2, 1])
    expect(linesOf(last.model.requests[0]?.messages)).toEqual([
      'user: Go.',
      'user: For context: [first] said: First.',
      'user: For context: [boss] called tool `deep` with arguments: {"request":"Do b1."}\n' +
        '[boss] called tool `book` with arguments: {}',
      expect.stringContaining('[boss] tool') as string,
      expect.stringContaining('[boss] tool') as string,
      'user: For context: [boss] said: Boss is content.',
      'user: For context: [flat] said: flat asks.\n[flat] called tool `book` with arguments: {}',
      'user: For context: [flat] tool `book` returned: dropped',
      'user: For context: [flat] said: flat is content.',
    ])
  })

  test('are raised again under the same ids when nobody answers, and no agent runs', async () => {
    const { client } = build()
    const first = await client.say('Go.')
    const again = await client.send({})
    expect(interruptsOf(again).map(({ id }) => id)).toEqual(interruptsOf(first).map(({ id }) => id))
    expect(startedIn(again.events)).toEqual([])
  })

  test('that were answered are not to be answered again, and unknown ones are refused', async () => {
    const { client } = build()
    const first = await client.say('Go.')
    const id = idOf(first, 'Book deep?')
    await client.answer({ [id]: 1 })
    const problems: string[] = []
    const again = await client.answer({ [id]: 2 }, { onProblem: (problem) => problems.push(problem) })
    expect(messagesIn(again)).toEqual(['Book b2?', 'Book flat?'])
    expect(problems.filter((problem) => problem.includes('answered before'))).toHaveLength(1)
    const refused = await client.answer({ 'int-unknown': 1 })
    expect(refused.outcome).toMatchObject({ type: 'failed', error: { code: 'INVALID_RESUME' } })
  })

  test('survive agents that were made anew', async () => {
    const { client } = build()
    const first = await client.say('Go.')
    const answers = Object.fromEntries(interruptsOf(first).map(({ id, message }) => [id, message]))
    const content = (name: string, more: Parameters<typeof chat>[2]) =>
      chat(name, () => `${name} is content.`, more).agent
    const tree = sequential({
      name: 'tree',
      agents: [
        saying('first', 'Never again.'),
        parallel({
          name: 'both',
          agents: [
            content('boss', { tools: [agentTool(content('deep', { tools: [book] })), book] }),
            content('flat', { tools: [book] }),
          ],
        }),
        content('last', {}),
      ],
    })
    const second = await play(
      tree,
      { threadId: client.threadId, resume: toResume(answers) },
      { checkpoint: client.checkpoint },
    )
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'last is content.' })
    expect(textsIn(second.events)).not.toContain('Never again.')
  })
})

describe('an interrupt in a loop of lanes', () => {
  test('is a new one in the next round, in each lane', async () => {
    const booking = (name: string): Agent =>
      agentOf(name, async function* (ctx) {
        const answer = await ctx.interrupt({ message: `${name}?` })
        yield* words(`${name} ${answer.status === 'resolved' ? String(answer.payload) : 'dropped'}.`, ctx)
        return { type: 'done' }
      })
    const both = parallel({ name: 'both', agents: [booking('a'), booking('b')] })
    const client = createClient(loop({ name: 'round', agents: [both], maxIterations: 2 }))
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first, 'a?')]: 1 })
    expect(messagesIn(second)).toEqual(['b?'])
    const third = await client.answer({ [idOf(second, 'b?')]: 2 })
    expect(messagesIn(third)).toEqual(['a?', 'b?'])
    const ids = [first, third].flatMap((one) => interruptsOf(one).map(({ id }) => id))
    expect(new Set(ids).size).toBe(4)
    const fourth = await client.answer({ [idOf(third, 'a?')]: 3, [idOf(third, 'b?')]: 'cancelled' })
    expect(fourth.outcome.type).toBe('completed')
    expect(linesOf(fourth.outcome.messages).sort()).toEqual([
      ...['assistant: a 1.', 'assistant: a 3.', 'assistant: b 2.', 'assistant: b dropped.', 'user: Go.'],
    ])
  })
})

describe('an interrupt after transfers in circles', () => {
  test('reaches the agent that raised it, also when that agent has run before', async () => {
    const c = chat('c', [[transfer('c1', 'a')], [call('c2', 'book')], 'Booked by c.'], { tools: [book] })
    const b = chat('b', [[transfer('b1', 'a')]])
    const a = chat('a', [[transfer('a1', 'c')], [transfer('a2', 'b')], [transfer('a3', 'c')]], {
      subAgents: [b.agent, c.agent],
    })
    const client = createClient(sequential({ name: 'flow', agents: [a.agent, saying('end', 'End.')] }))
    const first = await client.say('Go.')
    expect(startedIn(first.events)).toEqual(['a', 'c', 'b', 'c'])
    const second = await client.answer({ [idOf(first)]: 'yes' })
    expect(resultsIn(second.events)).toEqual(['c2: booked "yes"'])
    expect(textsIn(second.events)).toEqual(['Booked by c.', 'End.'])
    expect([a, b, c].map(({ model }) => model.requests.length)).toEqual([3, 1, 3])
  })
})

describe('two calls of one agent in a lane that ask', () => {
  test('keep what they have: one answer leaves one interrupt, and later calls of the tool start afresh', async () => {
    const runs: Record<string, number> = {}
    const counted = toolOf('counted', async ({ interrupt, resumed, toolCallId }) => {
      runs[toolCallId] = (runs[toolCallId] ?? 0) + 1
      const before = (resumed?.state as { readonly asked: number } | null | undefined)?.asked ?? 0
      const answer = await interrupt({ message: `${toolCallId}?`, state: { asked: before + 1 } })
      return `${before} ${answer.status}`
    })
    const worker = chat(
      'worker',
      [[call('x', 'counted'), call('y', 'counted')], [call('z', 'counted')], 'Done.'],
      { tools: [counted] },
    )
    const client = createClient(parallel({ name: 'both', agents: [worker.agent, saying('b', 'B.')] }))
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first, 'y?')]: 1 })
    expect(messagesIn(second)).toEqual(['x?'])
    expect(runs).toEqual({ x: 1, y: 2 })
    const third = await client.answer({ [idOf(second, 'x?')]: 1 })
    expect(resultsIn(third.events)).toEqual(['x: 1 resolved'])
    expect(messagesIn(third)).toEqual(['z?'])
    const fourth = await client.answer({ [idOf(third, 'z?')]: 'cancelled' })
    expect(resultsIn(fourth.events)).toEqual(['z: 1 cancelled'])
    expect(fourth.outcome.type).toBe('completed')
    expect(runs).toEqual({ x: 2, y: 2, z: 2 })
  })
})

describe('a tree that has changed since it was saved', () => {
  const flow = (...agents: Agent[]) => sequential({ name: 'flow', agents })
  const booking = () => booker('booking').agent

  test.each<[string, Agent]>([
    ['an agent less', flow(saying('one', 'One.'))],
    ['another order', flow(booking(), saying('one', 'One.'))],
    ['another agent in the place', flow(saying('two', 'Two.'), booking())],
    ['a tool less', flow(saying('one', 'One.'), chat('booking', []).agent)],
    ['lanes for steps', parallel({ name: 'flow', agents: [saying('one', 'One.'), booking()] })],
    ['another name', sequential({ name: 'other', agents: [saying('one', 'One.'), booking()] })],
  ])('by %s cannot be resumed, and keeps its interrupts', async (_what, changed) => {
    const client = createClient(flow(saying('one', 'One.'), booking()))
    const first = await client.say('Go.')
    const fields = { threadId: client.threadId, resume: toResume({ [idOf(first)]: 1 }) }
    const { outcome, events } = await play(changed, fields, { checkpoint: client.checkpoint })
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'INVALID_CHECKPOINT' } })
    expect(startedIn(events)).toEqual([])
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(second.outcome.type).toBe('completed')
  })

  test('by one more at the end goes on, and runs that too', async () => {
    const client = createClient(flow(saying('one', 'One.'), booking()))
    const first = await client.say('Go.')
    const longer = flow(
      saying('one', 'One.'),
      chat('booking', ['Booked.'], { tools: [book] }).agent,
      saying('more', 'More.'),
    )
    const fields = { threadId: client.threadId, resume: toResume({ [idOf(first)]: 1 }) }
    const { outcome } = await play(longer, fields, { checkpoint: client.checkpoint })
    expect(outcome).toMatchObject({ type: 'completed', text: 'More.' })
  })

  test('behind a tool cannot be resumed either', async () => {
    const bossWith = (inner: Agent) =>
      chat('boss', [[request('b', 'inner')], 'Done.'], { tools: [agentTool(inner)] }).agent
    const inner = (name: string) =>
      sequential({ name: 'inner', description: 'd', agents: [saying(name, 'Hm.'), booking()] })
    const client = createClient(bossWith(inner('one')))
    const first = await client.say('Go.')
    const fields = { threadId: client.threadId, resume: toResume({ [idOf(first)]: 1 }) }
    const { outcome } = await play(bossWith(inner('two')), fields, { checkpoint: client.checkpoint })
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'INVALID_CHECKPOINT' } })
  })

  test('in a team cannot be resumed when the one whose turn it is has gone', async () => {
    const team = (...members: Agent[]) =>
      chat('desk', [[transfer('t', 'booking')]], { subAgents: members }).agent
    const client = createClient(team(booking(), saying('other', 'Other.')))
    const first = await client.say('Go.')
    const fields = { threadId: client.threadId, resume: toResume({ [idOf(first)]: 1 }) }
    const { outcome } = await play(team(saying('other', 'Other.')), fields, { checkpoint: client.checkpoint })
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'INVALID_CHECKPOINT' } })
  })
})

test('a lane that fails when it is resumed leaves the interrupts of the run open, and the others as they were', async () => {
  let isBroken = true
  const flaky = agentOf('flaky', async function* (ctx) {
    const answer = await ctx.interrupt({ message: 'flaky?' })
    if (isBroken) throw new Error('flaky broke')
    yield* words(`flaky ${answer.status}.`, ctx)
    return { type: 'done' }
  })
  const steady = booker('steady')
  const client = createClient(parallel({ name: 'both', agents: [flaky, steady.agent] }))
  const first = await client.say('Go.')
  const failed = await client.answer({ [idOf(first, 'flaky?')]: 1 })
  expect(failed.outcome).toMatchObject({ type: 'failed', error: { message: 'flaky broke' } })
  isBroken = false
  const again = await client.answer({ [idOf(first, 'flaky?')]: 1 })
  expect(messagesIn(again)).toEqual(['Book steady?'])
  const last = await client.answer({ [idOf(first, 'Book steady?')]: 2 })
  expect(last.outcome).toMatchObject({ type: 'completed' })
  expect(steady.model.requests).toHaveLength(2)
})
