import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  aborted,
  deferred,
  linted,
  play,
  resultsIn,
  settled,
  type Deferred,
  type Played,
} from '../../../test/support/run-agent.js'
import {
  agentOf,
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
import { manualClock } from '../../core/clock.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { Agent, Tool } from '../contract.js'
import { agentTool } from '../tools/agent-tool.js'
import { run, type CancelOptions, type Outcome, type RunOptions } from './run.js'
import { loop } from '../workflows/loop.js'
import { parallel } from '../workflows/parallel.js'
import { sequential } from '../workflows/sequential.js'

const rejections: unknown[] = []
const onRejection = (error: unknown): void => void rejections.push(error)
beforeEach(() => void process.on('unhandledRejection', onRejection))
afterEach(async () => {
  await settled()
  process.off('unhandledRejection', onRejection)
  expect(rejections.splice(0)).toEqual([])
})

const threadId = 'thread'
const hello = { threadId, messages: [{ id: 'u', role: 'user' as const, content: 'Go.' }] }

interface Stopped extends Played {
  readonly outcome: Extract<Outcome, { type: 'cancelled' }>
}

/** Runs an agent and stops it as soon as `when` resolves. `then` is called when it was told. */
async function stop(
  agent: Agent,
  when: Promise<unknown>,
  { then, cancel, ...options }: RunOptions & { cancel?: CancelOptions; then?: () => void } = {},
): Promise<Stopped> {
  const running = run(agent, hello, options)
  const events: AgUiEvent[] = []
  const reading = (async () => {
    for await (const event of linted(running, hello)) events.push(event)
  })()
  await when
  await settled()
  expect(running.cancel(cancel)).toBe(true)
  then?.()
  await reading
  const outcome = await running.result
  if (outcome.type !== 'cancelled') throw new Error(`It was ${outcome.type}.`)
  return { events, outcome }
}

/** Lets a stopped run go on, in another process as it were. */
function goOn(agent: Agent, { outcome }: Stopped): Promise<Played> {
  return play(agent, { threadId }, { checkpoint: JSON.parse(JSON.stringify(outcome.checkpoint)) as unknown })
}

/** A tool that works until its door is opened, and counts how often it came to its end. */
function slowTool(name: string): Tool & { readonly begun: Deferred; readonly door: Deferred; ends: number } {
  const begun = deferred()
  const door = deferred()
  const slow = {
    ...toolOf(name, async ({ signal }) => {
      begun.resolve()
      await Promise.race([door.promise, aborted(signal)])
      signal.throwIfAborted()
      slow.ends++
      return `${name} done`
    }),
    begun,
    door,
    ends: 0,
  }
  return slow
}

describe('a safe point in a tree', () => {
  test('is between the steps of a sequence: what is done is not done again', async () => {
    const slow = slowTool('slow')
    const one = chat('one', [[call('a', 'slow')], 'One.'], { tools: [slow] })
    const flow = sequential({
      name: 'flow',
      agents: [saying('zero', 'Zero.'), one.agent, saying('two', 'Two.')],
    })
    const stopped = await stop(flow, slow.begun.promise, {
      cancel: { at: 'tools' },
      then: () => slow.door.resolve(),
    })
    expect(resultsIn(stopped.events)).toEqual(['a: slow done'])
    expect(textsIn(stopped.events)).toEqual(['Zero.'])
    const { events, outcome } = await goOn(flow, stopped)
    expect(textsIn(events)).toEqual(['One.', 'Two.'])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Two.' })
    expect(slow.ends).toBe(1)
    expect(one.model.requests).toHaveLength(2)
  })

  test('is also where no model and no tool is: after a step', async () => {
    const begun = deferred()
    const door = deferred()
    const first = agentOf('first', async function* (ctx) {
      begun.resolve()
      await door.promise
      yield* words('First.', ctx)
      return { type: 'done' }
    })
    const flow = sequential({ name: 'flow', agents: [first, saying('second', 'Second.')] })
    const stopped = await stop(flow, begun.promise, { cancel: { at: 'model' }, then: () => door.resolve() })
    expect(textsIn(stopped.events)).toEqual(['First.'])
    expect(textsIn((await goOn(flow, stopped)).events)).toEqual(['Second.'])
  })

  test('is between the rounds of a loop', async () => {
    const begun = deferred()
    const door = deferred()
    let rounds = 0
    const worker = agentOf('worker', async function* (ctx) {
      const round = ++rounds
      begun.resolve()
      await door.promise
      yield* words(`Round ${round}.`, ctx)
      return { type: 'done' }
    })
    const round = loop({ name: 'round', agents: [worker], maxIterations: 3 })
    const stopped = await stop(round, begun.promise, { cancel: { at: 'tools' }, then: () => door.resolve() })
    expect(textsIn(stopped.events)).toEqual(['Round 1.'])
    const { events, outcome } = await goOn(round, stopped)
    expect(textsIn(events)).toEqual(['Round 2.', 'Round 3.'])
    expect(outcome.type).toBe('completed')
  })

  test('is before the turn of the one handed over to', async () => {
    const slow = slowTool('slow')
    const b = chat('b', ['B.'])
    const a = chat('a', [[call('s', 'slow'), transfer('t', 'b')]], { tools: [slow], subAgents: [b.agent] })
    const stopped = await stop(a.agent, slow.begun.promise, {
      cancel: { at: 'tools' },
      then: () => slow.door.resolve(),
    })
    expect(startedIn(stopped.events)).toEqual([])
    const { events, outcome } = await goOn(a.agent, stopped)
    expect(startedIn(events)).toEqual(['b'])
    expect(outcome).toMatchObject({ type: 'completed', text: 'B.' })
    expect([a.model.requests.length, slow.ends]).toEqual([1, 1])
  })

  test('is in each lane by itself: all reach theirs, and each goes on from it', async () => {
    const tools = [slowTool('one'), slowTool('two')]
    const lanes = tools.map((tool) =>
      chat(tool.name, [[call(tool.name, tool.name)], 'Done.'], { tools: [tool] }),
    )
    const both = parallel({
      name: 'both',
      agents: [...lanes.map(({ agent }) => agent), saying('quick', 'Quick.')],
    })
    const begun = Promise.all(tools.map((tool) => tool.begun.promise))
    const stopped = await stop(both, begun, {
      cancel: { at: 'tools' },
      then: () => tools.forEach(({ door }) => door.resolve()),
    })
    expect(resultsIn(stopped.events).sort()).toEqual(['one: one done', 'two: two done'])
    const { events, outcome } = await goOn(both, stopped)
    expect(startedIn(events)).toEqual(['one', 'two'])
    expect(outcome.type).toBe('completed')
    expect(tools.map(({ ends }) => ends)).toEqual([1, 1])
    expect(lanes.map(({ model }) => model.requests.length)).toEqual([2, 2])
  })

  test('that is not reached in time is not waited for', async () => {
    const clock = manualClock()
    const slow = slowTool('slow')
    const one = chat('one', [[call('a', 'slow')], 'One.'], { tools: [slow] })
    const flow = sequential({ name: 'flow', agents: [one.agent, saying('two', 'Two.')] })
    const stopped = await stop(flow, slow.begun.promise, {
      clock,
      cancel: { at: 'tools', timeoutMs: 50 },
      then: () => void clock.advance(50),
    })
    expect(resultsIn(stopped.events)).toEqual([])
    slow.door.resolve()
    const { events, outcome } = await goOn(flow, stopped)
    expect(resultsIn(events)).toEqual(['a: slow done'])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Two.' })
    expect(slow.ends).toBe(1)
  })
})

describe('a tree that is stopped at once', () => {
  test('in the midst of an answer goes on with that answer, and with nothing that is done', async () => {
    const half = deferred()
    const two = chat('two', (_request, index) =>
      index === 0
        ? ['Half of ', { wait: (signal) => (half.resolve(), aborted(signal)) }]
        : ['Half of it, and the rest.'],
    )
    let runs = 0
    const one = agentOf('one', async function* (ctx) {
      runs++
      await Promise.resolve()
      yield* words('One.', ctx)
      return { type: 'done' }
    })
    const flow = sequential({ name: 'flow', agents: [one, two.agent, saying('three', 'Three.')] })
    const stopped = await stop(flow, half.promise)
    expect(textsIn(stopped.events)).toEqual(['One.', 'Half of '])
    const { events, outcome } = await goOn(flow, stopped)
    expect(textsIn(events)).toEqual(['Half of it, and the rest.', 'Three.'])
    expect(outcome.type).toBe('completed')
    expect(runs).toBe(1)
    expect(linesOf(two.model.requests[1]?.messages)).toEqual([
      'user: Go.',
      'user: For context: [one] said: One.',
    ])
  })

  test('between the parts of an answer requests all of it again, as if none of it had been written', async () => {
    const half = deferred()
    const look = toolOf('look', () => 'seen')
    const answer = ['Let me look.', call('l', 'look')]
    const one = chat(
      'one',
      (_request, index) =>
        [[...answer, { wait: (signal: AbortSignal) => (half.resolve(), aborted(signal)) }], answer, 'Seen.'][
          index
        ] ?? [],
      { tools: [look] },
    )
    const flow = sequential({ name: 'flow', agents: [one.agent] })
    const { events, outcome } = await goOn(flow, await stop(flow, half.promise))
    expect(outcome).toMatchObject({ type: 'completed', text: 'Seen.' })
    expect(resultsIn(events)).toHaveLength(1)
    expect(linesOf(one.model.requests[1]?.messages)).toEqual(['user: Go.'])
    expect(linesOf(one.model.requests[2]?.messages)).toEqual([
      'user: Go.',
      'assistant: Let me look.',
      'assistant: -> look',
      'tool: seen',
    ])
  })

  test('while agents work on calls side by side goes on with each where it was', async () => {
    const tools = [slowTool('one'), slowTool('two')]
    const done = toolOf('first', () => 'first done')
    const workers = tools.map((tool) =>
      chat(
        `${tool.name}-worker`,
        [[call(`${tool.name}1`, 'first')], [call(`${tool.name}2`, tool.name)], 'Done.'],
        {
          tools: [tool, done],
        },
      ),
    )
    const boss = chat('boss', [[request('a', 'one-worker'), request('b', 'two-worker')], 'All done.'], {
      tools: workers.map(({ agent }) => agentTool(agent)),
    })
    const stopped = await stop(boss.agent, Promise.all(tools.map(({ begun }) => begun.promise)))
    expect(resultsIn(stopped.events)).toHaveLength(2)
    for (const { door } of tools) door.resolve()
    const { events, outcome } = await goOn(boss.agent, stopped)
    expect(resultsIn(events).sort()).toEqual([
      ...['a: Done.', 'b: Done.', 'one2: one done', 'two2: two done'],
    ])
    expect(outcome).toMatchObject({ type: 'completed', text: 'All done.' })
    expect(workers.map(({ model }) => model.requests.length)).toEqual([3, 3])
    expect(boss.model.requests).toHaveLength(2)
  })

  test('twice, before an agent has its turn again, still knows where that one was', async () => {
    const slow = slowTool('slow')
    const again = deferred()
    let isFirst = true
    const worker = chat('worker', [[call('w', 'note')], [call('s', 'slow')], 'Worked.'], {
      tools: [slow, toolOf('note', () => 'noted')],
    })
    const boss = chat('boss', [[request('b', 'worker')], 'Done.'], {
      tools: [agentTool(worker.agent)],
      // The second time the run is stopped here, before the agent behind the call is reached.
      instructions: async ({ signal }) => {
        if (!isFirst) {
          again.resolve()
          await aborted(signal)
          signal.throwIfAborted()
        }
        isFirst = false
        return ''
      },
    })
    const first = await stop(boss.agent, slow.begun.promise)
    const checkpoint: unknown = JSON.parse(JSON.stringify(first.outcome.checkpoint))
    const running = run(boss.agent, { threadId }, { checkpoint })
    await again.promise
    running.cancel()
    const second = await running.result
    isFirst = true
    slow.door.resolve()
    const third = await play(boss.agent, { threadId }, { checkpoint: second.checkpoint })
    expect(third.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(linesOf(worker.model.requests[2]?.messages)).toEqual([
      'user: Do b.',
      'assistant: -> note',
      'tool: noted',
      'assistant: -> slow',
      'tool: slow done',
    ])
  })

  test.each([0, 1, 256])(
    'at the very end of an agent does not run it again: a step, a lane, one behind a call (buffer %d)',
    async (bufferSize) => {
      for (const name of ['step', 'lane', 'worker']) {
        const runs: string[] = []
        const counted = (own: string): Agent =>
          agentOf(own, async function* (ctx) {
            runs.push(own)
            await Promise.resolve()
            yield* words(`${own} is done.`, ctx)
            return { type: 'done' }
          })
        const boss = chat(
          'boss',
          (asked) =>
            asked.messages.some(({ role }) => role === 'tool') ? 'Thanks.' : [request('b', 'worker')],
          { tools: [agentTool(counted('worker'))] },
        )
        const lanes = parallel({ name: 'lanes', agents: [counted('lane'), counted('beside')] })
        const flow = sequential({ name: 'flow', agents: [counted('step'), lanes, boss.agent] })
        const running = run(flow, hello, { bufferSize })
        const spans = new Map<string, string>()
        for await (const event of linted(running, hello)) {
          if (event.type === 'SUBAGENT_STARTED') spans.set(event.subagentRunId, event.name)
          if (event.type === 'SUBAGENT_FINISHED' && spans.get(event.subagentRunId) === name) running.cancel()
        }
        const { checkpoint, type } = await running.result
        if (type === 'completed') continue
        const { outcome } = await play(flow, { threadId }, { checkpoint })
        expect(outcome).toMatchObject({ type: 'completed', text: 'Thanks.' })
        expect([name, ...runs.filter((one) => one === name)]).toEqual([name, name])
        const result = outcome.messages.find(({ role }) => role === 'tool')
        expect(result?.content).toBe('worker is done.')
      }
    },
  )

  test('when a person had answered goes on when the answer is given again, with what was done with it', async () => {
    const slow = slowTool('slow')
    let asked = 0
    const ask = toolOf('ask', async ({ interrupt }) => {
      asked++
      const answer = await interrupt({ message: 'Go?' })
      return answer.status
    })
    const one = chat('one', [[call('q', 'ask')], [call('s', 'slow')], 'One.'], { tools: [ask, slow] })
    const flow = sequential({ name: 'flow', agents: [one.agent, saying('two', 'Two.')] })
    const first = await play(flow, hello)
    if (first.outcome.type !== 'interrupted') throw new Error(first.outcome.type)
    const resume = first.outcome.interrupts.map(({ id }) => ({
      interruptId: id,
      status: 'resolved' as const,
    }))
    const running = run(flow, { threadId, resume }, { checkpoint: first.outcome.checkpoint })
    await slow.begun.promise
    running.cancel()
    const { checkpoint } = await running.result
    expect(checkpoint?.openInterrupts).toEqual([])
    slow.door.resolve()
    const last = await play(flow, { threadId, resume }, { checkpoint })
    expect(last.outcome).toMatchObject({ type: 'completed', text: 'Two.' })
    expect([asked, slow.ends, one.model.requests.length]).toEqual([2, 1, 3])
  })

  test('and told something else starts afresh', async () => {
    const half = deferred()
    const one = chat('one', (_request, index) =>
      index === 0 ? ['Half', { wait: (signal) => (half.resolve(), aborted(signal)) }] : 'Hello.',
    )
    const flow = sequential({ name: 'flow', agents: [saying('zero', 'Zero.'), one.agent] })
    const { outcome } = await stop(flow, half.promise)
    const messages = [...outcome.messages, { id: 'v', role: 'user' as const, content: 'Other.' }]
    const second = await play(flow, { threadId, messages }, { checkpoint: outcome.checkpoint })
    expect(textsIn(second.events)).toEqual(['Zero.', 'Hello.'])
  })
})

test('a tree that has ended cannot be cancelled, and says nothing more', async () => {
  const running = run(sequential({ name: 'flow', agents: [saying('a', 'A.')] }), hello)
  const events: AgUiEvent[] = []
  for await (const event of linted(running, hello)) events.push(event)
  await running.result
  const { length } = events
  expect(running.cancel()).toBe(false)
  expect(running.cancel({ at: 'tools' })).toBe(false)
  await settled()
  expect(events).toHaveLength(length)
  expect((await running.result).type).toBe('completed')
})
