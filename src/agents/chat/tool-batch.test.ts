import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  aborted,
  createClient,
  deferred,
  ofType,
  play,
  resultsIn,
  settled,
  linted,
} from '../../../test/support/run-agent.js'
import { scriptedModel } from '../../models/index.js'
import { defineTool } from '../tools/define-tool.js'
import { run } from '../run/run.js'
import type { Tool, ToolContext } from '../contract.js'
import { defineAgent } from './chat-agent.js'

const call = (id: string, name: string, args: unknown = {}) => ({ toolCall: { id, name, args } })

function toolOf(name: string, execute: (ctx: ToolContext, args: unknown) => unknown): Tool {
  return defineTool({
    name,
    description: 'A tool.',
    parameters: { type: 'object' },
    execute: (args: unknown, ctx) => execute(ctx, args),
  })
}

function agentWith(tools: readonly Tool[], script: Parameters<typeof scriptedModel>[0]) {
  const model = scriptedModel(script)
  return { model, agent: defineAgent({ name: 'a', model, tools }) }
}

describe('tool calls of one answer', () => {
  test('run side by side', async () => {
    const both = [deferred(), deferred()] as const
    const meet = (own: 0 | 1) => async () => {
      both[own].resolve()
      await both[own === 0 ? 1 : 0].promise
      return 'met'
    }
    const tools = [toolOf('x', meet(0)), toolOf('y', meet(1))]
    const { agent } = agentWith(tools, [[call('c1', 'x'), call('c2', 'y')], 'Done.'])
    const { events } = await play(agent, 'Go.')
    expect(resultsIn(events)).toEqual(['c1: met', 'c2: met'])
  })

  test('give their results in the order of the calls, whoever is first', async () => {
    const order: string[] = []
    const doors = new Map(['c1', 'c2', 'c3'].map((id) => [id, deferred()]))
    const wait = toolOf('wait', async ({ toolCallId }) => {
      await doors.get(toolCallId)?.promise
      order.push(toolCallId)
      return toolCallId
    })
    const { agent, model } = agentWith(
      [wait],
      [[call('c1', 'wait'), call('c2', 'wait'), call('c3', 'wait')], 'Done.'],
    )
    const playing = play(agent, 'Go.')
    for (const id of ['c3', 'c1', 'c2']) {
      await settled()
      doors.get(id)?.resolve()
    }
    expect(resultsIn((await playing).events)).toEqual(['c1: c1', 'c2: c2', 'c3: c3'])
    expect(order).toEqual(['c3', 'c1', 'c2'])
    const shown = model.requests[1]?.messages.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : []))
    expect(shown).toEqual(['c1', 'c2', 'c3'])
  })

  test('of one tool keep apart what each of them does', async () => {
    const end = toolOf('end', ({ toolCallId, exit }) => {
      if (toolCallId === 'c2') exit(`exit of ${toolCallId}`)
      return toolCallId
    })
    const { agent } = agentWith([end], [[call('c1', 'end'), call('c2', 'end'), call('c3', 'end')]])
    const { outcome, events } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', result: 'exit of c2' })
    expect(resultsIn(events)).toEqual(['c1: c1', 'c3: c3', 'c2: c2'])
  })

  test('see the conversation up to the call', async () => {
    const seen: unknown[] = []
    const first = deferred()
    const x = toolOf('x', async ({ toolCallId, messages }) => {
      if (toolCallId === 'c1') first.resolve()
      else {
        await first.promise
        await settled()
      }
      seen.push(messages.map(({ role }) => role))
      return 'ok'
    })
    const { agent } = agentWith([x], [[call('c1', 'x'), call('c2', 'x')], 'Done.'])
    await play(agent, 'Go.')
    expect(seen).toEqual([
      ['user', 'assistant'],
      ['user', 'assistant'],
    ])
  })
})

describe('what a tool returns', () => {
  test.each([
    ['text', 'text'],
    [undefined, ''],
    [null, ''],
    [{ a: [1] }, '{"a":[1]}'],
    [7, '7'],
    [false, 'false'],
  ])('%j is told as %j', async (value, content) => {
    const { agent } = agentWith([toolOf('x', () => value)], [[call('c1', 'x')], 'Done.'])
    expect(resultsIn((await play(agent, 'Go.')).events)).toEqual([`c1: ${content}`])
  })

  test('may come with progress, which is shown as an activity beside the call', async () => {
    const work = defineTool({
      name: 'work',
      description: 'Works.',
      async *execute() {
        await Promise.resolve()
        yield { percent: 50 }
        yield 'nearly there'
        return 'done'
      },
    })
    const { agent } = agentWith([work], [[call('c1', 'work')], 'Done.'])
    const { events, outcome } = await play(agent, 'Go.')
    expect(ofType(events, 'ACTIVITY_SNAPSHOT')).toMatchObject([
      { activityType: 'tool-progress', content: { toolCallId: 'c1', toolName: 'work', percent: 50 } },
      { activityType: 'tool-progress', content: { toolCallId: 'c1', message: 'nearly there' } },
    ])
    expect(resultsIn(events)).toEqual(['c1: done'])
    expect(outcome.messages.filter(({ role }) => role === 'activity')).toHaveLength(1)
  })

  test('may come with events of its own, while it works', async () => {
    const door = deferred()
    const work = toolOf('work', async ({ emit }) => {
      emit({ type: 'CUSTOM', name: 'note', value: 1 })
      await door.promise
      emit({ type: 'CUSTOM', name: 'note', value: 2 })
      return 'done'
    })
    const { agent } = agentWith([work], [[call('c1', 'work')], 'Done.'])
    const notes: unknown[] = []
    for await (const event of linted(run(agent, 'Go.'), 'Go.')) {
      if (event.type !== 'CUSTOM') continue
      notes.push(event.value)
      door.resolve()
    }
    expect(notes).toEqual([1, 2])
  })
})

describe('a tool that goes wrong', () => {
  const broken = toolOf('broken', () => {
    throw new Error('the scales are broken')
  })
  const picky = defineTool({
    name: 'picky',
    description: 'Picky.',
    input: z.object({ city: z.string() }),
    execute: ({ city }) => city,
  })
  const circle: Record<string, unknown> = {}
  circle.self = circle
  const cases: [string, ReturnType<typeof call>, RegExp][] = [
    ['throws', call('c1', 'broken'), /^c1: Error: the scales are broken$/],
    [
      'does not exist',
      call('c1', 'nowhere'),
      /^c1: Error: There is no tool 'nowhere'\. Tools: broken, picky, round\.$/,
    ],
    [
      'gets arguments that do not fit',
      call('c1', 'picky', { city: 1 }),
      /^c1: Error: .*'picky' do not fit:\n- \$\.city/,
    ],
    [
      'gets arguments that are not JSON',
      call('c1', 'picky', '{"city'),
      /^c1: Error: .*'picky' are not JSON: \{"city$/,
    ],
    ['returns what is not JSON', call('c1', 'round'), /^c1: Error: The result of tool 'round' is not JSON/],
  ]
  const tools = [broken, picky, toolOf('round', () => circle)]

  test.each(cases)('because it %s tells the model, and the run goes on', async (_why, asked, expected) => {
    const { agent, model } = agentWith(tools, [[asked], 'Sorry.'])
    const { events, outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Sorry.' })
    expect(resultsIn(events)[0]).toMatch(expected)
    expect(ofType(events, 'TOOL_CALL_RESULT')[0]?.metadata).toEqual({ millrace: { isError: true } })
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', toolCallId: 'c1' })
  })

  test.each(cases)('because it %s ends the run when the agent is told so', async (_why, asked) => {
    const model = scriptedModel([[asked], 'Sorry.'])
    const agent = defineAgent({ name: 'a', model, tools, onToolError: 'throw' })
    const { events, outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({
      type: 'failed',
      error: { code: expect.stringMatching(/TOOL|ENCODING_ERROR/) as string },
    })
    expect(events.at(-1)?.type).toBe('RUN_ERROR')
    expect(model.requests).toHaveLength(1)
  })

  test('stops its siblings when it ends the run', async () => {
    const log: string[] = []
    const slow = toolOf('slow', async ({ signal }) => {
      await aborted(signal)
      log.push('slow was stopped')
    })
    const model = scriptedModel([[call('c1', 'slow'), call('c2', 'broken')]])
    const agent = defineAgent({ name: 'a', model, tools: [slow, broken], onToolError: 'throw' })
    const { outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({
      error: { code: 'TOOL_ERROR', message: expect.stringContaining('broken') as string },
    })
    expect(log).toEqual(['slow was stopped'])
  })

  test('has what its siblings have done told before it ends the run', async () => {
    const door = deferred()
    const late = toolOf('late', async () => {
      await door.promise
      throw new Error('too late')
    })
    const fine = toolOf('fine', () => 'fine')
    const model = scriptedModel([[call('c1', 'late'), call('c2', 'fine')]])
    const agent = defineAgent({ name: 'a', model, tools: [late, fine], onToolError: 'throw' })
    const playing = play(agent, 'Go.')
    await settled()
    door.resolve()
    const { events, outcome } = await playing
    expect(outcome.type).toBe('failed')
    expect(resultsIn(events)).toEqual(['c2: fine'])
  })

  test('leaves its siblings alone otherwise', async () => {
    const { agent } = agentWith(
      [broken, toolOf('fine', () => 'fine')],
      [[call('c1', 'broken'), call('c2', 'fine')], 'Done.'],
    )
    const { events } = await play(agent, 'Go.')
    expect(resultsIn(events)).toEqual(['c1: Error: the scales are broken', 'c2: fine'])
  })

  test('takes empty arguments for none', async () => {
    const seen: unknown[] = []
    const { agent } = agentWith(
      [toolOf('x', (_ctx, args) => void seen.push(args))],
      [[call('c1', 'x', '')], 'Done.'],
    )
    await play(agent, 'Go.')
    expect(seen).toEqual([{}])
  })
})

describe('a reader who leaves while tools are at work', () => {
  test('has the finally blocks of all of them run', async () => {
    const log: string[] = []
    const ticking = defineTool({
      name: 'ticking',
      description: 'Ticks.',
      async *execute(_args, { toolCallId, signal }) {
        try {
          await Promise.resolve()
          for (let tick = 0; ; tick++) yield { tick }
        } finally {
          log.push(`${toolCallId} closed, aborted: ${signal.aborted}`)
        }
      },
    })
    const waiting = toolOf('waiting', async ({ signal }) => {
      await aborted(signal)
      log.push('waiting aborted')
    })
    const { agent } = agentWith(
      [ticking, waiting],
      [[call('c1', 'ticking'), call('c2', 'waiting'), call('c3', 'ticking')]],
    )
    const running = run(agent, 'Go.', { bufferSize: 2 })
    for await (const event of linted(running, 'Go.')) if (event.type === 'ACTIVITY_SNAPSHOT') break
    expect((await running.result).type).toBe('cancelled')
    await settled()
    expect(log.sort()).toEqual(['c1 closed, aborted: true', 'c3 closed, aborted: true', 'waiting aborted'])
  })
})

describe('the shared state', () => {
  test('is changed by tools, and the client gets the differences', async () => {
    const add = toolOf('add', ({ setState, state }, args) => {
      setState((before: { items: unknown[] }) => ({ items: [...before.items, args] }))
      return JSON.stringify(state)
    })
    const { agent } = agentWith(
      [add],
      [[call('c1', 'add', { n: 1 })], [call('c2', 'add', { n: 2 })], 'Done.'],
    )
    const { events, outcome } = await play(agent, { messages: [], state: { items: [], other: 1 } })
    expect(ofType(events, 'STATE_DELTA').map(({ delta }) => delta)).toEqual([
      [
        { op: 'remove', path: '/other' },
        { op: 'add', path: '/items/0', value: { n: 1 } },
      ],
      [{ op: 'add', path: '/items/1', value: { n: 2 } }],
    ])
    expect(outcome.state).toEqual({ items: [{ n: 1 }, { n: 2 }] })
  })

  test('is the same for the client when tools change it at the same time', async () => {
    const add = toolOf('add', async ({ setState, emit, toolCallId }) => {
      for (let n = 0; n < 5; n++) {
        // Uneven numbers of events make the lanes overtake each other.
        if (toolCallId === 'c1') emit({ type: 'CUSTOM', name: 'noise', value: n })
        setState((list: unknown[]) => [`${toolCallId}-${n}`, ...list])
        if (toolCallId !== 'c2') await Promise.resolve()
      }
    })
    const { agent } = agentWith([add], [[call('c1', 'add'), call('c2', 'add'), call('c3', 'add')], 'Done.'])
    let last: unknown
    const probe = toolOf('probe', ({ state }) => void (last = state))
    const { agent: prober } = agentWith(
      [add, probe],
      [[call('c1', 'add'), call('c2', 'add'), call('c3', 'add')], [call('c4', 'probe')], 'Done.'],
    )
    await play(agent, { messages: [], state: [] })
    const { outcome } = await play(prober, { messages: [], state: [] })
    expect(last).toHaveLength(15)
    expect(outcome.state).toEqual(last)
  })

  test('reaches the client also when a tool changes it in place', async () => {
    const bump = toolOf('bump', ({ setState }) => {
      setState((state: { n: number }) => {
        state.n++
        return state
      })
    })
    const given = { n: 1 }
    const { agent } = agentWith([bump], [[call('c1', 'bump')], 'Done.'])
    const { events, outcome } = await play(agent, { messages: [], state: given })
    expect(ofType(events, 'STATE_DELTA')).toHaveLength(1)
    expect(outcome.state).toEqual({ n: 2 })
    expect(given).toEqual({ n: 1 })
  })

  test('must be JSON: the tool that breaks this fails, with the place', async () => {
    const { agent } = agentWith(
      [toolOf('bad', ({ setState }) => setState({ list: [{ when: Promise.resolve() }] }))],
      [[call('c1', 'bad')], 'Done.'],
    )
    const { events, outcome } = await play(agent, 'Go.')
    expect(resultsIn(events)).toEqual(['c1: Error: state is not JSON: list[0].when is a Promise.'])
    expect(outcome.state).toEqual({})
  })
})

describe('the values of a run', () => {
  test('are shared by all tools, and start with what the caller gave', async () => {
    const count = toolOf('count', ({ values }) => {
      values.set('n', Number(values.get('n')) + 1)
      return values.get('n')
    })
    const { agent } = agentWith([count], [[call('c1', 'count')], [call('c2', 'count')], 'Done.'])
    expect(resultsIn((await play(agent, 'Go.', { values: { n: 1 } })).events)).toEqual(['c1: 2', 'c2: 3'])
  })

  test('are gone in the next run', async () => {
    const { agent } = agentWith(
      [toolOf('x', ({ values }) => [...values.keys()])],
      [[call('c1', 'x')], 'One.', [call('c2', 'x')], 'Two.'],
    )
    const client = createClient(agent)
    await client.say('Go.', { values: { a: 1 } })
    expect(resultsIn((await client.say('Again.')).events)).toEqual(['c2: []'])
  })
})
