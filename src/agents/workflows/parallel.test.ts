import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { recordSpans, type RecordedSpans } from '../../../test/support/record-spans.js'
import {
  aborted,
  createClient,
  deferred,
  idOf,
  interruptsOf,
  linted,
  ofType,
  play,
  resultsIn,
  settled,
} from '../../../test/support/run-agent.js'
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
import { manualClock } from '../../core/clock.js'
import type { Agent } from '../contract.js'
import { run } from '../run/run.js'
import { loop } from './loop.js'
import { parallel } from './parallel.js'
import { sequential } from './sequential.js'

/** An agent that says something and then works until it is stopped, and tells when it has cleaned up. */
function endless(name: string, log: string[], begun = deferred()): Agent {
  return agentOf(name, async function* (ctx) {
    try {
      yield* words(`${name} works.`, ctx)
      begun.resolve()
      await aborted(ctx.signal)
      ctx.signal.throwIfAborted()
      return { type: 'done' }
    } finally {
      await Promise.resolve()
      log.push(`${name} cleaned up`)
    }
  })
}

/** An agent that ends when the others are at work. */
function after(door: Promise<void>, agent: Agent): Agent {
  return agentOf(agent.name, async function* (ctx) {
    await door
    return yield* agent.run(ctx)
  })
}

function failing(name: string): Agent {
  // eslint-disable-next-line require-yield
  return agentOf(name, async function* () {
    await Promise.resolve()
    throw new Error('lane broke')
  })
}

let spans: RecordedSpans
beforeEach(() => {
  spans = recordSpans()
})
afterEach(() => {
  expect(spans.open).toBe(0)
  spans.stop()
})

describe('agents side by side', () => {
  test('all speak, each in a span of its own', async () => {
    const views = parallel({ name: 'views', agents: [saying('a', 'A.'), saying('b', 'B.')] })
    const { events, outcome } = await play(sequential({ name: 'flow', agents: [views] }), 'Go.')
    expect(textsIn(events).sort()).toEqual(['A.', 'B.'])
    const [above, a, b] = ofType(events, 'SUBAGENT_STARTED')
    expect([a, b].map((one) => one?.parentSubagentRunId)).toEqual([
      above?.subagentRunId,
      above?.subagentRunId,
    ])
    expect(outcome.type).toBe('completed')
  })

  test('hear what was said before and their own words, not each other; those after hear all in lane order', async () => {
    const door = deferred()
    const slow = chat('slow', [[{ wait: door.promise }, 'Slow one.', call('s', 'look')], 'Slow two.'], {
      tools: [{ name: 'look', description: 'Looks.', parameters: {}, call: () => 'seen' }],
    })
    const quick = chat('quick', [['Quick.', { wait: () => (door.resolve(), door.promise) }]])
    const last = chat('last', ['Last.'])
    const flow = sequential({
      name: 'flow',
      agents: [
        saying('first', 'First.'),
        parallel({ name: 'both', agents: [slow.agent, quick.agent] }),
        last.agent,
      ],
    })
    await play(flow, 'Go.')
    expect(linesOf(slow.model.requests[1]?.messages)).toEqual([
      'user: Go.',
      'user: For context: [first] said: First.',
      'assistant: Slow one.',
      'assistant: -> look',
      'tool: seen',
    ])
    expect(linesOf(quick.model.requests[0]?.messages)).toHaveLength(2)
    expect(linesOf(last.model.requests[0]?.messages)).toEqual([
      'user: Go.',
      'user: For context: [first] said: First.',
      'user: For context: [slow] said: Slow one.\n[slow] called tool `look` with arguments: {}',
      'user: For context: [slow] tool `look` returned: seen',
      'user: For context: [slow] said: Slow two.',
      'user: For context: [quick] said: Quick.',
    ])
  })

  test('may be lanes within lanes: who comes after reads them in order', async () => {
    const doors = [deferred(), deferred(), deferred()]
    const late = (index: number, name: string): Agent =>
      agentOf(name, async function* (ctx) {
        await doors[index]?.promise
        yield* words(`${name}.`, ctx)
        doors[index - 1]?.resolve()
        return { type: 'done' }
      })
    // They speak from the last to the first.
    const inner = parallel({ name: 'inner', agents: [late(1, 'C'), late(2, 'D')] })
    const lane = sequential({ name: 'lane', agents: [inner, saying('E', 'E.')] })
    const outer = parallel({ name: 'outer', agents: [late(0, 'B'), lane] })
    const last = chat('last', ['Last.'])
    doors[2]?.resolve()
    const { events } = await play(
      sequential({ name: 'flow', agents: [saying('A', 'A.'), outer, saying('F', 'F.'), last.agent] }),
      'Go.',
    )
    expect(textsIn(events).slice(0, 3)).toEqual(['A.', 'D.', 'C.'])
    expect(linesOf(last.model.requests[0]?.messages).slice(1)).toEqual(
      ['A', 'B', 'C', 'D', 'E', 'F'].map((name) => `user: For context: [${name}] said: ${name}.`),
    )
  })

  test('may be one agent twice: addresses, spans and interrupts are apart', async () => {
    const interrupted = agentOf('interrupted', async function* (ctx) {
      const answer = await ctx.interrupt({ message: ctx.span.address })
      yield* words(answer.status === 'resolved' ? String(answer.payload) : 'dropped', ctx)
      return { type: 'done' }
    })
    const client = createClient(parallel({ name: 'both', agents: [interrupted, interrupted] }))
    const first = await client.say('Go.')
    expect(interruptsOf(first).map(({ message }) => message)).toEqual([
      'both/lane:0/interrupted',
      'both/lane:1/interrupted',
    ])
    const ids = ofType(first.events, 'SUBAGENT_STARTED').map(({ subagentRunId }) => subagentRunId)
    expect(new Set(ids).size).toBe(2)
    const [one, two] = interruptsOf(first).map(({ id }) => id)
    const second = await client.answer({ [String(one)]: 'left', [String(two)]: 'right' })
    expect(textsIn(second.events).sort()).toEqual(['left', 'right'])
    expect(second.outcome.type).toBe('completed')
  })
})

describe('a lane that fails', () => {
  test('stops its siblings, which clean up; their spans are closed and its error is that of the run', async () => {
    const log: string[] = []
    const begun = deferred()
    const views = parallel({
      name: 'views',
      agents: [endless('busy', log, begun), after(begun.promise, failing('broken'))],
    })
    const { events, outcome } = await play(sequential({ name: 'flow', agents: [views] }), 'Go.')
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'lane broke' } })
    expect(log).toEqual(['busy cleaned up'])
    expect(startedIn(events)).toEqual(['views', 'busy', 'broken'])
    expect(ofType(events, 'SUBAGENT_ERROR')).toHaveLength(3)
  })

  test('stops its siblings within their grace: one that does not listen is left behind', async () => {
    const clock = manualClock()
    const begun = deferred()
    const deaf = agentOf('deaf', async function* () {
      begun.resolve()
      await new Promise(() => undefined)
      yield { type: 'CUSTOM', name: 'never', value: 0 }
      return { type: 'done' }
    })
    const views = parallel({ name: 'views', agents: [deaf, after(begun.promise, failing('broken'))] })
    const playing = play(views, 'Go.', { clock, graceMs: 10 })
    await begun.promise
    await settled()
    await clock.advance(10)
    expect((await playing).outcome).toMatchObject({ type: 'failed', error: { message: 'lane broke' } })
  })

  test('lets the others finish when it is to settle, and those after it are told', async () => {
    const last = chat('last', ['Last.'])
    const door = deferred()
    const good = after(door.promise, saying('good', 'Good.'))
    const broken = agentOf('broken', async function* (ctx) {
      yield* words('Trying.', ctx)
      void settled().then(() => door.resolve())
      await Promise.resolve()
      throw new Error('lane broke')
    })
    const views = parallel({ name: 'views', agents: [broken, good], onError: 'settle' })
    const { events, outcome } = await play(sequential({ name: 'flow', agents: [views, last.agent] }), 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Last.' })
    expect(ofType(events, 'SUBAGENT_ERROR')).toHaveLength(1)
    expect(linesOf(last.model.requests[0]?.messages)).toEqual([
      'user: Go.',
      'user: For context: [broken] said: Trying.',
      'user: For context: [broken] failed. The agent failed.',
      'user: For context: [good] said: Good.',
    ])
  })

  test('fails them all when there is no other left', async () => {
    const views = parallel({
      name: 'views',
      agents: [failing('a'), failing('b')],
      onError: 'settle',
    })
    const { outcome } = await play(views, 'Go.')
    expect(outcome).toMatchObject({
      type: 'failed',
      error: {
        code: 'AGENT_ERROR',
        message: expect.stringContaining("All agents of 'views' failed") as string,
      },
    })
  })

  test('and is to settle is not run again when another lane is interrupted', async () => {
    let runs = 0
    // eslint-disable-next-line require-yield
    const broken = agentOf('broken', async function* () {
      runs++
      await Promise.resolve()
      throw new Error('lane broke')
    })
    const interrupted = chat('interrupted', [[call('a', 'book')], 'Booked.'], { tools: [book] })
    const last = chat('last', ['Last.'])
    const views = parallel({ name: 'views', agents: [broken, interrupted.agent], onError: 'settle' })
    const client = createClient(sequential({ name: 'flow', agents: [views, last.agent] }))
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Last.' })
    expect(runs).toBe(1)
    expect(linesOf(last.model.requests[0]?.messages)[1]).toBe(
      'user: For context: [broken] failed. The agent failed.',
    )
  })

  test('before it yields anything, fails once', async () => {
    const sudden = agentOf('sudden', () => {
      throw new Error('sudden')
    })
    const { events, outcome } = await play(parallel({ name: 'views', agents: [sudden] }), 'Go.')
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'sudden' } })
    expect(ofType(events, 'SUBAGENT_ERROR')).toHaveLength(1)
  })
})

describe('a lane that ends more than itself', () => {
  test('by an exit stops the others and all around it', async () => {
    const log: string[] = []
    const begun = deferred()
    const views = parallel({
      name: 'views',
      agents: [
        endless('busy', log, begun),
        after(begun.promise, saying('boss', 'Enough.', { type: 'exit', result: 9 })),
      ],
    })
    const flow = sequential({ name: 'flow', agents: [views, saying('never', 'Never.')] })
    const { events, outcome } = await play(flow, 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', result: 9 })
    expect(log).toEqual(['busy cleaned up'])
    expect(startedIn(events)).not.toContain('never')
  })

  test('by a break ends the loop around it, and what comes after the loop runs', async () => {
    const log: string[] = []
    const begun = deferred()
    const views = parallel({
      name: 'views',
      agents: [
        endless('busy', log, begun),
        after(begun.promise, saying('judge', 'Good.', { type: 'break' })),
      ],
    })
    const round = loop({ name: 'round', agents: [views, saying('never', 'Never.')] })
    const flow = sequential({ name: 'flow', agents: [round, saying('then', 'Then.')] })
    const { events, outcome } = await play(flow, 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Then.' })
    expect(log).toEqual(['busy cleaned up'])
    expect(startedIn(events)).not.toContain('never')
  })

  test('by a break withdraws the interrupts of another lane', async () => {
    const interrupted = chat('interrupted', [[call('a', 'book')]], { tools: [book] })
    const judge = agentOf('judge', async function* () {
      await settled()
      yield { type: 'CUSTOM', name: 'judged', value: 0 }
      return { type: 'break' }
    })
    const views = parallel({ name: 'views', agents: [interrupted.agent, judge] })
    const { outcome } = await play(loop({ name: 'round', agents: [views] }), 'Go.')
    expect(outcome.type).toBe('completed')
  })

  test('by a transfer fails: a lane has nobody to hand over to', async () => {
    const lost = saying('lost', 'Bye.', { type: 'transfer', to: 'b' })
    const { outcome } = await play(parallel({ name: 'views', agents: [lost, saying('b', 'B.')] }), 'Go.')
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'INVALID_AGENT' } })
  })
})

describe('lanes of which some ask and some finish', () => {
  const build = () => {
    const log: string[] = []
    const interrupted = (name: string) =>
      chat(name, [[`${name} asks.`, call(name, 'book')], `${name} is done.`], { tools: [book] })
    const one = interrupted('one')
    const two = interrupted('two')
    const quick = agentOf('quick', async function* (ctx) {
      log.push('quick')
      await Promise.resolve()
      yield* words('Quick.', ctx)
      return { type: 'done' }
    })
    const last = chat('last', ['Last.'])
    const views = parallel({
      name: 'views',
      agents: [one.agent, quick, two.agent, saying('still', 'Still.')],
    })
    const flow = sequential({ name: 'flow', agents: [views, last.agent] })
    return { client: createClient(flow), log, one, two, last }
  }

  test('end the run once with all interrupts, and those that are done stay silent', async () => {
    const { client, log, one, last } = build()
    const first = await client.say('Go.')
    expect(textsIn(first.events).sort()).toEqual(['Quick.', 'Still.', 'one asks.', 'two asks.'])
    expect(
      interruptsOf(first)
        .map(({ message }) => message)
        .sort(),
    ).toEqual(['Book one?', 'Book two?'])
    const answers = { [idOf(first, 'Book one?')]: 1, [idOf(first, 'Book two?')]: 2 }
    const second = await client.answer(answers)
    expect(textsIn(second.events).sort()).toEqual(['Last.', 'one is done.', 'two is done.'])
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Last.' })
    expect(log).toEqual(['quick'])
    expect(linesOf(one.model.requests[1]?.messages)).toEqual([
      'user: Go.',
      'assistant: one asks.',
      'assistant: -> book',
      'tool: booked 1',
    ])
    expect(linesOf(last.model.requests[0]?.messages)).toEqual([
      'user: Go.',
      'user: For context: [one] said: one asks.\n[one] called tool `book` with arguments: {}',
      'user: For context: [one] tool `book` returned: booked 1',
      'user: For context: [one] said: one is done.',
      'user: For context: [quick] said: Quick.',
      'user: For context: [two] said: two asks.\n[two] called tool `book` with arguments: {}',
      'user: For context: [two] tool `book` returned: booked 2',
      'user: For context: [two] said: two is done.',
      'user: For context: [still] said: Still.',
    ])
  })

  test('keep the one that has no answer as it is: it is raised again under the same id, and not entered', async () => {
    const { client, one, two } = build()
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first, 'Book two?')]: 2 })
    expect(interruptsOf(second).map(({ id }) => id)).toEqual([idOf(first, 'Book one?')])
    expect(startedIn(second.events)).toEqual(['views', 'two'])
    expect(resultsIn(second.events)).toEqual(['two: booked 2'])
    const third = await client.answer({ [idOf(first, 'Book one?')]: 'cancelled' })
    expect(resultsIn(third.events)).toEqual(['one: dropped'])
    expect(third.outcome).toMatchObject({ type: 'completed', text: 'Last.' })
    expect([one, two].map(({ model }) => model.requests.length)).toEqual([2, 2])
  })
})

test('a reader that leaves early stops all lanes, and each cleans up', async () => {
  const log: string[] = []
  const views = parallel({ name: 'views', agents: [endless('a', log), endless('b', log), endless('c', log)] })
  const running = run(views, 'Go.')
  for await (const event of linted(running, 'Go.')) if (event.type === 'TEXT_MESSAGE_CONTENT') break
  expect((await running.result).type).toBe('cancelled')
  expect(log.sort()).toEqual(['a cleaned up', 'b cleaned up', 'c cleaned up'])
})

test('an interrupt that the agent of a lane swallows is raised all the same, and its later work does not count', async () => {
  const swallower = agentOf('swallower', async function* (ctx) {
    let heard: string
    try {
      const answer = await ctx.interrupt({ message: 'Really?' })
      heard = answer.status
    } catch {
      heard = 'swallowed'
    }
    yield* words(`Heard ${heard}.`, ctx)
    return { type: 'exit', result: heard }
  })
  const client = createClient(parallel({ name: 'views', agents: [swallower, saying('b', 'B.')] }))
  const first = await client.say('Go.')
  expect(interruptsOf(first)).toMatchObject([{ message: 'Really?' }])
  const second = await client.answer({ [idOf(first)]: 1 })
  expect(second.outcome).toMatchObject({ type: 'completed', result: 'resolved' })
})
