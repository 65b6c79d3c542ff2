import { describe, expect, test } from 'vitest'
import {
  idOf,
  interruptsOf,
  play,
  resultsIn,
  toResume,
  type Played,
  linted,
} from '../../../test/support/run-agent.js'
import { scriptedModel, type Script } from '../../models/index.js'
import { agentTool } from '../tools/agent-tool.js'
import { defineAgent, type AgentOptions } from '../chat/chat-agent.js'
import { parseCheckpoint, type Checkpoint } from './checkpoint.js'
import { defineTool } from '../tools/define-tool.js'
import { run, type CheckpointStore } from '../run/run.js'
import type { Tool, ToolContext } from '../contract.js'

const call = (id: string, name = 'book', args: unknown = {}) => ({ toolCall: { id, name, args } })

function toolOf(name: string, execute: (ctx: ToolContext) => unknown): Tool {
  return defineTool({ name, description: 'A tool.', execute: (_args, ctx) => execute(ctx) })
}

const book = toolOf('book', async ({ interrupt, toolCallId }) => {
  await interrupt({ message: `Book ${toolCallId}?`, state: { step: 1 } })
  return 'booked'
})

function agentOf(script: Script, options: Partial<AgentOptions> = {}) {
  return defineAgent({ name: 'concierge', model: scriptedModel(script), tools: [book], ...options })
}

/** A store that keeps text, as a disk does, and notes what happens to it. */
function textStore() {
  const texts = new Map<string, string>()
  const log: string[] = []
  const store: CheckpointStore = {
    load: (threadId) => Promise.resolve(JSON.parse(texts.get(threadId) ?? 'null') as unknown),
    save(threadId, checkpoint) {
      log.push('saved')
      texts.set(threadId, JSON.stringify(checkpoint))
      return Promise.resolve()
    },
  }
  return {
    store,
    log,
    read: (threadId: string) => JSON.parse(texts.get(threadId) ?? 'null') as Checkpoint,
    write: (threadId: string, value: unknown) => texts.set(threadId, JSON.stringify(value)),
  }
}

function checkpointOf({ outcome }: Played): Checkpoint {
  if (outcome.type !== 'interrupted') throw new Error(`The run was ${outcome.type}.`)
  return JSON.parse(JSON.stringify(outcome.checkpoint)) as Checkpoint
}

describe('a checkpoint', () => {
  test('is plain JSON with all that is needed to go on', async () => {
    const played = await play(agentOf([['Let me.', call('c1')]]), {
      threadId: 't1',
      runId: 'r1',
      messages: [],
    })
    if (played.outcome.type !== 'interrupted') throw new Error('not interrupted')
    const { checkpoint } = played.outcome
    expect(checkpoint).toEqual(checkpointOf(played))
    expect(checkpoint).toMatchObject({
      version: 1,
      threadId: 't1',
      runId: 'r1',
      messages: [{ role: 'assistant', content: 'Let me.', toolCalls: [{ id: 'c1' }] }],
      state: {},
      values: {},
      openInterrupts: [{ interrupt: { id: idOf(played), toolCallId: 'c1' } }],
      answered: [],
    })
  })

  test('is complete: the run goes on with nothing but it and the answer', async () => {
    const played = await play(agentOf([['Let me.', call('c1')]]), 'Book.')
    const model = scriptedModel(['Booked.'])
    const other = defineAgent({ name: 'concierge', model, tools: [book] })
    const resumed = await play(
      other,
      { resume: toResume({ [idOf(played)]: 1 }) },
      { checkpoint: checkpointOf(played) },
    )
    expect(resumed.outcome).toMatchObject({ type: 'completed', text: 'Booked.' })
    expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  })

  test('brings its thread along', async () => {
    const played = await play(agentOf([[call('c1')], 'Booked.']), { threadId: 't1', messages: [] })
    const checkpoint = checkpointOf(played)
    const resumed = run(agentOf(['Booked.']), { resume: toResume({ [idOf(played)]: 1 }) }, { checkpoint })
    expect(resumed.threadId).toBe('t1')
    expect((await resumed.result).type).toBe('completed')
  })

  test('has the messages when the client sends none of its own', async () => {
    const played = await play(agentOf([[call('c1')]]), 'Book.')
    const checkpoint = checkpointOf(played)
    const resumed = run(
      agentOf(['Booked.']),
      { messages: [], resume: toResume({ [idOf(played)]: 1 }) },
      { checkpoint },
    )
    const outcome = await resumed.result
    expect(outcome.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  })

  test('is not changed by a run that goes on from it', async () => {
    const count = toolOf('book', async ({ values, interrupt }) => {
      const box = values.get('box') as { n: number }
      box.n++
      await interrupt({})
      return box.n
    })
    const agent = () => agentOf([[call('c1')], 'Booked.'], { tools: [count] })
    const played = await play(agent(), 'Book.', { values: { box: { n: 0 } } })
    if (played.outcome.type !== 'interrupted') throw new Error('not interrupted')
    const { checkpoint } = played.outcome
    const before = JSON.stringify(checkpoint)
    const resume = toResume({ [idOf(played)]: 1 })
    for (let time = 0; time < 2; time++) {
      const { events } = await play(agentOf(['Booked.'], { tools: [count] }), { resume }, { checkpoint })
      expect(resultsIn(events)).toEqual(['c1: 2'])
    }
    expect(JSON.stringify(checkpoint)).toBe(before)
  })

  test.each<[string, (ctx: ToolContext) => unknown]>([
    ['values.when is a Date, not JSON.', ({ values }) => values.set('when', new Date(0))],
    ['values.map.x is a Map, not JSON.', ({ values }) => values.set('map', { x: new Map() })],
    [
      'values.list[1] is a value of type undefined, not JSON.',
      ({ values }) => values.set('list', [1, undefined]),
    ],
    ['values.big is a value of type bigint, not JSON.', ({ values }) => values.set('big', 1n)],
    ['values.nan is NaN, not JSON.', ({ values }) => values.set('nan', Number.NaN)],
  ])('is refused when it would not survive: %s', async (message, spoil) => {
    const tool = toolOf('book', async (ctx) => {
      spoil(ctx)
      await ctx.interrupt({})
    })
    const { store, log } = textStore()
    const { outcome } = await play(agentOf([[call('c1')]], { tools: [tool] }), 'Book.', {
      checkpoints: store,
    })
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'ENCODING_ERROR', message } })
    expect(log).toEqual([])
  })

  test('is refused when the state of an interrupt is not JSON, with the path', async () => {
    const tool = toolOf('book', ({ interrupt }) => interrupt({ state: { at: { when: new Date(0) } } }))
    const { outcome } = await play(agentOf([[call('c1')]], { tools: [tool] }), 'Book.')
    expect(outcome).toMatchObject({
      type: 'failed',
      error: {
        code: 'ENCODING_ERROR',
        message: expect.stringMatching(/state\.at\.when is a Date/) as string,
      },
    })
  })
})

describe('a checkpoint that cannot be used', () => {
  const resumeWith = async (
    change: (checkpoint: Record<string, unknown>) => unknown,
    agent = agentOf(['Booked.']),
  ) => {
    const played = await play(agentOf([[call('c1')]]), 'Book.')
    const checkpoint = change({ ...checkpointOf(played) })
    const request = { messages: [], resume: toResume({ [idOf(played)]: 1 }) }
    const resumed = run(agent, request, { checkpoint })
    const events = []
    for await (const event of linted(resumed, request)) events.push(event)
    expect(events.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_ERROR'])
    return await resumed.result
  }
  const refused = (message: RegExp) => ({
    type: 'failed',
    error: { code: 'INVALID_CHECKPOINT', message: expect.stringMatching(message) as string },
  })

  test('because it is of a newer version is refused', async () => {
    expect(await resumeWith((old) => ({ ...old, version: 99 }))).toMatchObject(
      refused(/of version 99; this is version 1/),
    )
  })

  test.each([7, 'text', [], {}, { version: '1' }])('because it is %j is refused', async (value) => {
    expect(await resumeWith(() => value)).toMatchObject(refused(/not a checkpoint/))
  })

  test('because it is damaged is refused with the place', async () => {
    expect(await resumeWith((old) => ({ ...old, openInterrupts: [{ address: 'x' }] }))).toMatchObject(
      refused(/damaged at openInterrupts\.0\.interrupt/),
    )
  })

  test('because the store fails is an error, not a fresh start', async () => {
    const model = scriptedModel(['Hi.'])
    const agent = defineAgent({ name: 'a', model })
    const load = () => Promise.reject(new Error('disk on fire'))
    const { outcome } = await play(agent, 'Hi.', { checkpoints: { load, save: () => Promise.resolve() } })
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'disk on fire' } })
    expect(model.requests).toHaveLength(0)
  })

  const other = toolOf('other', () => 'other')
  const innerOf = (name: string, tools: readonly Tool[]) =>
    defineAgent({ name, description: 'Inner.', model: scriptedModel(['x']), tools })

  test.each<[string, Partial<AgentOptions>, Partial<AgentOptions>, RegExp]>([
    ['has another name', {}, { name: 'porter' }, /agent\.name was "concierge" and is "porter"/],
    ['lost a tool', {}, { tools: [other] }, /agent\.tools\.book was .* and is absent/],
    [
      'has another agent under a tool',
      { tools: [book, agentTool(innerOf('inner', [other]))] },
      { tools: [book, agentTool(innerOf('inner', []))] },
      /agent\.tools\.inner\.tools\.other was .* and is absent/,
    ],
  ])('because the agent %s is refused, and nothing runs', async (_why, before, after, message) => {
    const played = await play(agentOf([[call('c1')]], before), 'Book.')
    const model = scriptedModel(['Booked.'])
    const { outcome } = await play(
      agentOf([], { ...after, model }),
      { resume: toResume({ [idOf(played)]: 1 }) },
      { checkpoint: checkpointOf(played) },
    )
    expect(outcome).toMatchObject(refused(message))
    expect(model.requests).toHaveLength(0)
  })

  test('is not one because the agent has learned more since', async () => {
    const played = await play(agentOf([[call('c1')]]), 'Book.')
    const { outcome } = await play(
      agentOf(['Booked.'], { tools: [book, other], description: 'Now with a description.' }),
      { resume: toResume({ [idOf(played)]: 1 }) },
      { checkpoint: checkpointOf(played) },
    )
    expect(outcome).toMatchObject({ type: 'completed', text: 'Booked.' })
  })
})

describe('an old checkpoint', () => {
  const current = {
    version: 1,
    threadId: 't',
    runId: 'r',
    agents: {},
    messages: [],
    state: {},
    values: {},
    openInterrupts: [],
  }

  test('is brought up to date, one version after the other', () => {
    const migrations = {
      [-1]: (old: Record<string, unknown>) => ({ ...old, version: 0, frames: { a: 1 } }),
      0: (old: Record<string, unknown>) => ({ ...old, version: 1, answered: ['x'] }),
    }
    const migrated = parseCheckpoint({ ...current, version: -1 }, migrations)
    expect(migrated).toMatchObject({ version: 1, frames: { a: 1 }, answered: ['x'] })
  })

  test('of which nothing is known is refused', () => {
    expect(() => parseCheckpoint({ ...current, version: 0 })).toThrow(
      expect.objectContaining({ code: 'INVALID_CHECKPOINT' }),
    )
  })

  test('of version 1 goes on', async () => {
    // Frozen: as a run of version 1 left it on disk. Later versions must read it.
    const frozen = {
      version: 1,
      threadId: 't1',
      runId: 'r1',
      agents: { kind: 'chat', name: 'concierge' },
      messages: [
        { id: 'u1', role: 'user', content: 'Book.' },
        {
          id: 'a1',
          role: 'assistant',
          toolCalls: [{ id: 'c1', type: 'function', function: { name: 'book', arguments: '{}' } }],
        },
      ],
      state: {},
      values: { guest: 'Ann' },
      openInterrupts: [
        {
          interrupt: {
            id: 'int-338bc5121b392456',
            reason: 'tool_call',
            toolCallId: 'c1',
            message: 'Book c1?',
          },
          address: 'concierge/call:book%3Ac1',
        },
      ],
      frames: {
        'concierge/call:book%3Ac1?': { answers: [], state: { step: 1 } },
        concierge: {
          iteration: 1,
          added: [],
          batch: { calls: [{ id: 'c1', name: 'book', args: '{}' }], clientCalls: [], results: {}, shown: [] },
        },
      },
      answered: [],
    }
    const seen: unknown[] = []
    const tool = toolOf('book', async ({ interrupt, resumed, values }) => {
      seen.push(resumed, values.get('guest'))
      return (await interrupt({ message: 'Book c1?' })).status
    })
    const model = scriptedModel(['Booked.'])
    const [point] = frozen.openInterrupts
    const { events, outcome } = await play(
      defineAgent({ name: 'concierge', model, tools: [tool] }),
      { resume: toResume({ [String(point?.interrupt.id)]: 1 }) },
      { checkpoint: frozen },
    )
    expect(outcome).toMatchObject({ type: 'completed', text: 'Booked.' })
    expect(resultsIn(events)).toEqual(['c1: resolved'])
    expect(seen).toEqual([{ state: { step: 1 } }, 'Ann'])
  })
})

describe('a store of checkpoints', () => {
  test('has the checkpoint before anybody sees the interrupt', async () => {
    const { store, log } = textStore()
    const running = run(agentOf([[call('c1')]]), 'Book.', { checkpoints: store })
    for await (const event of linted(running, 'Book.')) log.push(event.type)
    expect(log.slice(-2)).toEqual(['saved', 'RUN_FINISHED'])
  })

  test('that fails to save keeps the interrupt from being shown', async () => {
    const save = () => Promise.reject(new Error('disk full'))
    const { events, outcome } = await play(agentOf([[call('c1')]]), 'Book.', {
      checkpoints: { load: () => Promise.resolve(undefined), save },
    })
    expect(outcome).toMatchObject({ type: 'failed', error: { message: 'disk full' } })
    expect(events.at(-1)?.type).toBe('RUN_ERROR')
  })

  test('is all a thread needs to be resumed, and a second resume does no harm', async () => {
    const { store } = textStore()
    const acted: string[] = []
    const tool = toolOf('book', async ({ interrupt }) => {
      await interrupt({})
      acted.push('booked')
    })
    const model = scriptedModel([[call('c1')], 'Booked.', 'You are welcome.'])
    const agent = defineAgent({ name: 'concierge', model, tools: [tool] })
    const threadId = 't1'
    const first = await play(
      agent,
      { threadId, messages: [{ id: 'u1', role: 'user', content: 'Book.' }] },
      { checkpoints: store },
    )
    const resume = toResume({ [idOf(first)]: 1 })
    const { messages } = first.outcome
    const second = await play(agent, { threadId, messages, resume }, { checkpoints: store })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Booked.' })
    const problems: string[] = []
    const third = await play(
      agent,
      { threadId, messages: second.outcome.messages, resume },
      { checkpoints: store, onProblem: (problem) => problems.push(problem) },
    )
    expect(third.outcome).toMatchObject({ type: 'completed', messages: second.outcome.messages })
    expect(third.events.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
    expect(problems).toEqual([expect.stringContaining('was answered before')])
    expect(acted).toEqual(['booked'])
    expect(model.requests).toHaveLength(2)
    // And the conversation goes on as any other.
    const thanks = { id: 'u2', role: 'user', content: 'Thanks.' } as const
    const fourth = await play(
      agent,
      { threadId, messages: [...third.outcome.messages, thanks] },
      { checkpoints: store },
    )
    expect(fourth.outcome).toMatchObject({ type: 'completed', text: 'You are welcome.' })
  })

  test('keeps the thread up to date when a resumed run ends', async () => {
    const { store, read } = textStore()
    const agent = agentOf([[call('c1')], 'Booked.'])
    const first = await play(agent, { threadId: 't1', messages: [] }, { checkpoints: store })
    const { messages } = first.outcome
    await play(
      agent,
      { threadId: 't1', messages, resume: toResume({ [idOf(first)]: 1 }) },
      { checkpoints: store },
    )
    expect(read('t1')).toMatchObject({ openInterrupts: [], frames: {}, values: {}, answered: [idOf(first)] })
    expect(read('t1').messages.at(-1)).toMatchObject({ content: 'Booked.' })
  })

  test('starts the next run of a thread with values of its own', async () => {
    const { store } = textStore()
    const keys = toolOf('keys', ({ values }) => [...values.keys()])
    const agent = agentOf([[call('c1')], 'Booked.', [call('c2', 'keys')], 'None.'], { tools: [book, keys] })
    const options = { checkpoints: store }
    const first = await play(agent, { threadId: 't1', messages: [] }, { ...options, values: { a: 1 } })
    const resume = toResume({ [idOf(first)]: 1 })
    const second = await play(agent, { threadId: 't1', messages: first.outcome.messages, resume }, options)
    const third = await play(agent, { threadId: 't1', messages: second.outcome.messages }, options)
    expect(resultsIn(third.events)).toEqual(['c2: []'])
  })

  test('raises open interrupts again when the thread is run without answers', async () => {
    const { store } = textStore()
    const model = scriptedModel([[call('c1')], 'Booked.'])
    const agent = defineAgent({ name: 'concierge', model, tools: [book] })
    const first = await play(agent, { threadId: 't1', messages: [] }, { checkpoints: store })
    const { messages } = first.outcome
    const second = await play(agent, { threadId: 't1', messages }, { checkpoints: store })
    expect(interruptsOf(second)).toEqual(interruptsOf(first))
    expect(model.requests).toHaveLength(1)
  })

  test('takes a repeated answer beside a new one for what it is', async () => {
    const { store } = textStore()
    const agent = agentOf([[call('c1'), call('c2')], 'Booked.'])
    const first = await play(agent, { threadId: 't1', messages: [] }, { checkpoints: store })
    const [one, two] = interruptsOf(first).map(({ id }) => id)
    const answer = (messages: Played['outcome']['messages'], ...ids: (string | undefined)[]) =>
      play(
        agent,
        { threadId: 't1', messages, resume: toResume(Object.fromEntries(ids.map((id) => [String(id), 1]))) },
        { checkpoints: store },
      )
    const second = await answer(first.outcome.messages, one)
    expect(interruptsOf(second).map(({ id }) => id)).toEqual([two])
    const third = await answer(second.outcome.messages, one, two)
    expect(third.outcome).toMatchObject({ type: 'completed', text: 'Booked.' })
    expect(resultsIn(third.events)).toEqual(['c2: booked'])
  })
})

describe('a run that fails after an answer', () => {
  const build = (failures: number) => {
    const acted: string[] = []
    const act = toolOf('book', async ({ interrupt, toolCallId }) => {
      await interrupt({})
      acted.push(toolCallId)
      return 'booked'
    })
    let asked = 0
    const model = scriptedModel((request) => {
      if (!request.messages.some(({ role }) => role === 'tool')) return [call('c1')]
      return asked++ < failures ? ['Half', { error: { status: 400 } }] : 'Booked.'
    })
    return { acted, act, model }
  }

  test('can be tried again with a store, and what is done is not done again', async () => {
    const { acted, act, model } = build(2)
    const { store } = textStore()
    const agent = defineAgent({ name: 'concierge', model, tools: [act] })
    let played = await play(agent, { threadId: 't1', messages: [] }, { checkpoints: store })
    const resume = toResume({ [idOf(played)]: 1 })
    const types: string[] = []
    for (let time = 0; time < 3; time++) {
      const { messages } = played.outcome
      played = await play(agent, { threadId: 't1', messages, resume }, { checkpoints: store })
      types.push(played.outcome.type)
    }
    expect(types).toEqual(['failed', 'failed', 'completed'])
    expect(acted).toEqual(['c1'])
    expect(played.outcome).toMatchObject({ text: 'Booked.' })
    expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain('Half')
  })

  test('gives a checkpoint to try again from without a store', async () => {
    const { acted, act, model } = build(1)
    const agent = defineAgent({ name: 'concierge', model, tools: [act] })
    const first = await play(agent, 'Go.')
    const resume = toResume({ [idOf(first)]: 1 })
    const second = await play(agent, { resume }, { checkpoint: checkpointOf(first) })
    if (second.outcome.type !== 'failed') throw new Error('did not fail')
    const checkpoint = JSON.parse(JSON.stringify(second.outcome.checkpoint)) as unknown
    const third = await play(agent, { resume }, { checkpoint })
    expect(third.outcome).toMatchObject({ type: 'completed', text: 'Booked.' })
    expect(acted).toEqual(['c1'])
  })

  test('goes on after what it did last, with calls that were not carried out marked as such', async () => {
    const { acted, act } = build(0)
    const broken = toolOf('broken', () => {
      throw new Error('broken')
    })
    const model = scriptedModel([[call('c1')], [call('c2', 'broken')], 'Booked.'])
    const agent = defineAgent({ name: 'concierge', model, tools: [act, broken], onToolError: 'throw' })
    const first = await play(agent, 'Go.')
    const resume = toResume({ [idOf(first)]: 1 })
    const second = await play(agent, { resume }, { checkpoint: checkpointOf(first) })
    if (second.outcome.type !== 'failed') throw new Error('did not fail')
    const third = await play(agent, { resume }, { checkpoint: second.outcome.checkpoint })
    expect(third.outcome).toMatchObject({ type: 'completed', text: 'Booked.' })
    expect(acted).toEqual(['c1'])
    expect(model.requests[2]?.messages.map(({ content }) => content)).toEqual([
      'Go.',
      undefined,
      'booked',
      undefined,
      'The call of broken was cancelled: it was not carried out and has no result.',
    ])
  })

  test('does not do again what an agent inside a tool has done', async () => {
    const { acted, act, model } = build(1)
    const inner = defineAgent({ name: 'inner', description: 'Inner.', model, tools: [act] })
    const outer = defineAgent({
      name: 'outer',
      model: scriptedModel((request) =>
        request.messages.some(({ role }) => role === 'tool')
          ? 'Done.'
          : [call('o1', 'inner', { request: 'Go.' })],
      ),
      tools: [agentTool(inner)],
      onToolError: 'throw',
    })
    const { store } = textStore()
    const first = await play(outer, { threadId: 't1', messages: [] }, { checkpoints: store })
    const resume = toResume({ [idOf(first)]: 1 })
    const second = await play(
      outer,
      { threadId: 't1', messages: first.outcome.messages, resume },
      { checkpoints: store },
    )
    expect(second.outcome.type).toBe('failed')
    const third = await play(
      outer,
      { threadId: 't1', messages: second.outcome.messages, resume },
      { checkpoints: store },
    )
    expect(third.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(acted).toEqual(['c1'])
  })
})
