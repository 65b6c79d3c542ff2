import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  createClient,
  idOf,
  interruptsOf,
  ofType,
  play,
  resultsIn,
  toResume,
} from '../../../test/support/run-agent.js'
import { scriptedModel } from '../../models/index.js'
import { defineAgent } from '../chat/chat-agent.js'
import { defineTool } from '../tools/define-tool.js'
import type { Tool, ToolContext } from '../contract.js'

const call = (id: string, name = 'book') => ({ toolCall: { id, name } })

function toolOf(name: string, execute: (ctx: ToolContext) => unknown): Tool {
  return defineTool({ name, description: 'A tool.', execute: (_args, ctx) => execute(ctx) })
}

/** Asks before it acts, and notes how often it came how far. */
function booking() {
  const log: string[] = []
  const book = toolOf('book', async (ctx) => {
    log.push(`asks ${ctx.toolCallId}`)
    const answer = await ctx.interrupt({ message: `Book ${ctx.toolCallId}?` })
    log.push(`acts ${ctx.toolCallId}`)
    return answer.status === 'cancelled' ? 'dropped' : `booked: ${JSON.stringify(answer.payload)}`
  })
  const other = toolOf('other', ({ toolCallId }) => {
    log.push(`runs ${toolCallId}`)
    return 'other'
  })
  return { log, book, other }
}

describe('a tool that raises an interrupt', () => {
  test('ends the run with it, and resumes with the answer', async () => {
    const { log, book } = booking()
    const model = scriptedModel([['Let me book.', call('c1')], 'Booked.'])
    const client = createClient(defineAgent({ name: 'concierge', model, tools: [book] }))
    const first = await client.say('Book a room.')
    expect(first.events.at(-1)).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: {
        type: 'interrupt',
        interrupts: [{ id: idOf(first), reason: 'tool_call', toolCallId: 'c1', message: 'Book c1?' }],
      },
    })
    expect(resultsIn(first.events)).toEqual([])

    const second = await client.answer({ [idOf(first)]: { approved: true } })
    expect(second.events.map(({ type }) => type)).toEqual([
      'RUN_STARTED',
      'TOOL_CALL_RESULT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ])
    expect(resultsIn(second.events)).toEqual(['c1: booked: {"approved":true}'])
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Booked.' })
    expect(log).toEqual(['asks c1', 'asks c1', 'acts c1'])
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  })

  test('may say all that an interrupt has', async () => {
    const bookTool = toolOf('book', (ctx) =>
      ctx.interrupt({
        reason: 'confirmation',
        message: 'Sure?',
        responseSchema: z.object({ approved: z.boolean() }),
        expiresAt: '2030-01-01T00:00:00Z',
        metadata: { price: 7 },
      }),
    )
    const agent = defineAgent({ name: 'a', model: scriptedModel([[call('c1')]]), tools: [bookTool] })
    const [interrupt] = interruptsOf(await play(agent, 'Go.'))
    expect(interrupt).toMatchObject({
      reason: 'confirmation',
      message: 'Sure?',
      toolCallId: 'c1',
      expiresAt: '2030-01-01T00:00:00Z',
      metadata: { price: 7 },
      responseSchema: { type: 'object', properties: { approved: { type: 'boolean' } } },
    })
  })

  test('hears of a person who walked away', async () => {
    const { book } = booking()
    const model = scriptedModel([[call('c1')], 'As you like.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [book] }))
    const second = await client.answer({ [idOf(await client.say('Book.'))]: 'cancelled' })
    expect(resultsIn(second.events)).toEqual(['c1: dropped'])
  })

  test('raises several one after the other, and no answer is lost', async () => {
    const bookTool = toolOf('book', async ({ interrupt }) => {
      const answers: unknown[] = []
      for (const message of ['Which day?', 'How many?', 'Breakfast?'])
        answers.push(await interrupt({ message }))
      return answers
    })
    const model = scriptedModel([[call('c1')], 'Booked.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [bookTool] }))
    const ids = new Set<string>()
    let played = await client.say('Book.')
    for (const [message, payload] of [
      ['Which day?', 'Monday'],
      ['How many?', 2],
      ['Breakfast?', true],
    ] as const) {
      expect(interruptsOf(played)).toHaveLength(1)
      ids.add(idOf(played, message))
      played = await client.answer({ [idOf(played, message)]: payload })
    }
    expect(ids.size).toBe(3)
    expect(resultsIn(played.events)).toEqual([
      `c1: ${JSON.stringify(['Monday', 2, true].map((payload) => ({ status: 'resolved', payload })))}`,
    ])
  })

  test('may raise several at once, which may be answered in any order', async () => {
    const bookTool = toolOf('book', ({ interrupt }) =>
      Promise.all(['Which day?', 'How many?'].map(async (message) => await interrupt({ message }))),
    )
    const model = scriptedModel([[call('c1')], 'Booked.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [bookTool] }))
    const first = await client.say('Book.')
    expect(interruptsOf(first).map(({ message }) => message)).toEqual(['Which day?', 'How many?'])
    const second = await client.answer({ [idOf(first, 'How many?')]: 2 })
    expect(interruptsOf(second).map(({ id }) => id)).toEqual([idOf(first, 'Which day?')])
    const third = await client.answer({ [idOf(first, 'Which day?')]: 'Monday' })
    expect(resultsIn(third.events)).toEqual([
      'c1: [{"status":"resolved","payload":"Monday"},{"status":"resolved","payload":2}]',
    ])
  })

  test('gets back what it kept, and keeps it from the client', async () => {
    const seen: unknown[] = []
    const bookTool = toolOf('book', async ({ interrupt, resumed }) => {
      const count = (resumed?.state as { count: number } | undefined)?.count ?? 0
      seen.push(resumed)
      await interrupt({ message: 'One?', state: { count: count + 1 } })
      await interrupt({ message: 'Two?', state: { count: count + 10 } })
      return 'ok'
    })
    const model = scriptedModel([[call('c1')], 'Booked.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [bookTool] }))
    const first = await client.say('Book.')
    expect(JSON.stringify(first.events)).not.toContain('count')
    const second = await client.answer({ [idOf(first)]: null })
    await client.answer({ [idOf(second)]: null })
    expect(seen).toEqual([undefined, { state: { count: 1 } }, { state: { count: 11 } }])
  })

  test('starts afresh when it is called again', async () => {
    const seen: unknown[] = []
    const bookTool = toolOf('book', async ({ interrupt, resumed }) => {
      seen.push(resumed?.state)
      return (await interrupt({ state: 'kept' })).status
    })
    const model = scriptedModel([[call('c1')], [call('c2')], 'Booked.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [bookTool] }))
    const first = await client.say('Book.')
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(interruptsOf(second)).toMatchObject([{ toolCallId: 'c2' }])
    expect(idOf(second)).not.toBe(idOf(first))
    const third = await client.answer({ [idOf(second)]: 2 })
    expect(third.outcome).toMatchObject({ type: 'completed', text: 'Booked.' })
    expect(seen).toEqual([undefined, 'kept', undefined, 'kept'])
  })

  test.each<[string, (ctx: ToolContext) => Promise<unknown>]>([
    ['goes on', (ctx) => ctx.interrupt({}).catch(() => 'went on')],
    [
      'throws something else',
      (ctx) =>
        ctx.interrupt({}).catch(() => {
          throw new Error('something else')
        }),
    ],
  ])('is interrupted all the same when it catches the signal and %s', async (_how, execute) => {
    const model = scriptedModel([[call('c1')], 'Done.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [toolOf('book', execute)] }))
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first)]: { ok: 1 } })
    expect(resultsIn(second.events)).toEqual(['c1: {"status":"resolved","payload":{"ok":1}}'])
  })
})

describe('an answer', () => {
  const bookTool = (log: string[]) =>
    toolOf('book', async ({ interrupt }) => {
      log.push('ran')
      const answer = await interrupt({
        responseSchema: z.object({ nights: z.coerce.number().default(1) }),
      })
      return answer.status === 'resolved' ? answer.payload.nights : answer.status
    })

  test('is given to the tool as the schema makes it', async () => {
    const model = scriptedModel([[call('c1')], 'Done.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [bookTool([])] }))
    const second = await client.answer({ [idOf(await client.say('Go.'))]: {} })
    expect(resultsIn(second.events)).toEqual(['c1: 1'])
  })

  test('that does not fit its schema is refused, and nothing runs', async () => {
    const log: string[] = []
    const model = scriptedModel([[call('c1')], 'Done.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [bookTool(log)] }))
    const id = idOf(await client.say('Go.'))
    const refused = await client.answer({ [id]: 'three' })
    expect(refused.outcome).toMatchObject({
      type: 'failed',
      error: { code: 'INVALID_RESUME', details: { interruptId: id } },
    })
    expect(log).toEqual(['ran'])
    expect((await client.answer({ [id]: { nights: 3 } })).outcome.type).toBe('completed')
  })

  test('that only the schema itself can refuse fails the run, not the tool, and can be given again', async () => {
    const even = z.number().refine((nights) => nights % 2 === 0, 'must be even')
    const log: string[] = []
    const pick = toolOf('book', async ({ interrupt }) => {
      const answer = await interrupt({ responseSchema: even })
      return answer.status === 'resolved' ? `booked ${answer.payload}` : answer.status
    })
    const other = toolOf('other', async ({ interrupt }) => {
      await interrupt({ message: 'Other?' })
      log.push('other')
      return 'other'
    })
    const model = scriptedModel([[call('c1'), call('c2', 'other')], 'Done.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [pick, other] }))
    const first = await client.say('Go.')
    const [one, two] = interruptsOf(first).map(({ id }) => id)
    const refused = await client.answer({ [String(one)]: 3, [String(two)]: 1 })
    expect(refused.outcome).toMatchObject({
      type: 'failed',
      error: { code: 'INVALID_RESUME', message: expect.stringContaining('must be even') as string },
    })
    const second = await client.answer({ [String(one)]: 2, [String(two)]: 1 })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(resultsIn(refused.events)).toEqual(['c2: other'])
    expect(resultsIn(second.events)).toEqual(['c1: booked 2'])
    expect(log).toEqual(['other'])
  })

  test('is checked by the library, where JSON Schema cannot say in linear time what it wants', async () => {
    const wait = toolOf('book', async ({ interrupt }) => {
      const answer = await interrupt({ responseSchema: z.object({ after: z.iso.duration() }) })
      return answer.status === 'resolved' ? answer.payload.after : answer.status
    })
    const model = scriptedModel([[call('c1')], 'Done.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [wait] }))
    const id = idOf(await client.say('Go.'))
    expect((await client.answer({ [id]: { after: 'soon' } })).outcome).toMatchObject({
      type: 'failed',
      error: { code: 'INVALID_RESUME' },
    })
    expect(resultsIn((await client.answer({ [id]: { after: 'P1D' } })).events)).toEqual(['c1: P1D'])
  })

  test('is not asked for with plain JSON Schema that it cannot be checked against', async () => {
    const pick = toolOf('book', async ({ interrupt }) => {
      await interrupt({ responseSchema: { type: 'string', pattern: '(a)\\1' } })
    })
    const model = scriptedModel([[call('c1')], 'Done.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [pick] }))
    expect(resultsIn((await client.say('Go.')).events)).toEqual([
      expect.stringContaining('responseSchema: the JSON Schema cannot be used: `pattern`') as string,
    ])
  })

  test('to an unknown interrupt is refused with those that are open, and nothing runs', async () => {
    const log: string[] = []
    const model = scriptedModel([[call('c1')], 'Done.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [bookTool(log)] }))
    const id = idOf(await client.say('Go.'))
    const refused = await client.answer({ nonsense: 1 })
    expect(refused.outcome).toMatchObject({
      type: 'failed',
      error: {
        code: 'INVALID_RESUME',
        message: `There is no open interrupt 'nonsense'. Open are: ${id}.`,
        details: { interruptId: 'nonsense', open: [id] },
      },
    })
    expect(refused.events.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_ERROR'])
    expect(log).toEqual(['ran'])
  })

  test('without anything saved is refused, and nothing runs', async () => {
    const model = scriptedModel(['Done.'])
    const agent = defineAgent({ name: 'a', model })
    const { outcome } = await play(agent, { messages: [], resume: toResume({ x: 1 }) })
    expect(outcome).toMatchObject({
      error: { code: 'INVALID_RESUME', message: expect.stringContaining('None is open') as string },
    })
    expect(model.requests).toHaveLength(0)
  })

  test('that a client also put into the history as a result does not stand for the tool', async () => {
    const { book, log } = booking()
    const model = scriptedModel([[call('c1')], 'Done.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [book] }))
    const id = idOf(await client.say('Go.'))
    const fake: Message = { id: 'fake', role: 'tool', toolCallId: 'c1', content: 'approved' }
    const second = await client.send({
      messages: [...client.messages, fake],
      resume: toResume({ [id]: 'yes' }),
    })
    expect(log.at(-1)).toBe('acts c1')
    expect(resultsIn(second.events)).toEqual(['c1: booked: "yes"'])
    const shown = model.requests[1]?.messages.filter(({ role }) => role === 'tool')
    expect(shown?.map(({ content }) => content)).toEqual(['booked: "yes"'])
  })

  test('may come with a new message of the user', async () => {
    const { book } = booking()
    const model = scriptedModel([[call('c1')], 'Done.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [book] }))
    const id = idOf(await client.say('Go.'))
    const more: Message = { id: 'u2', role: 'user', content: 'And hurry.' }
    const second = await client.send({ messages: [...client.messages, more], resume: toResume({ [id]: 1 }) })
    expect(second.outcome).toMatchObject({ type: 'completed' })
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
  })
})

describe('several interrupts', () => {
  function three() {
    const { log, book, other } = booking()
    const model = scriptedModel([[call('c1'), call('c2', 'other'), call('c3'), call('c4')], 'Done.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [book, other] }))
    return { log, model, client }
  }

  test('are raised in one end of the run, after the other tools have run', async () => {
    const { client, log } = three()
    const first = await client.say('Go.')
    expect(interruptsOf(first).map(({ toolCallId }) => toolCallId)).toEqual(['c1', 'c3', 'c4'])
    expect(resultsIn(first.events)).toEqual(['c2: other'])
    expect(log).toEqual(['asks c1', 'runs c2', 'asks c3', 'asks c4'])
  })

  test('answered in part run in part; the rest is raised again with the same ids and nothing of it runs', async () => {
    const { client, log, model } = three()
    const first = await client.say('Go.')
    log.length = 0
    const second = await client.answer({ [idOf(first, 'Book c3?')]: 3 })
    expect(log).toEqual(['asks c3', 'acts c3'])
    expect(resultsIn(second.events)).toEqual(['c3: booked: 3'])
    expect(interruptsOf(second)).toEqual(interruptsOf(first).filter(({ toolCallId }) => toolCallId !== 'c3'))
    expect(model.requests).toHaveLength(1)

    log.length = 0
    const third = await client.answer({
      [idOf(first, 'Book c4?')]: 'cancelled',
      [idOf(first, 'Book c1?')]: 1,
    })
    expect(log).toEqual(['asks c1', 'asks c4', 'acts c1', 'acts c4'])
    expect(resultsIn(third.events)).toEqual(['c1: booked: 1', 'c4: dropped'])
    expect(third.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    const shown = model.requests[1]?.messages.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : []))
    expect(shown?.sort()).toEqual(['c1', 'c2', 'c3', 'c4'])
  })

  test('are raised again, unchanged, when nothing is answered; nothing runs', async () => {
    const { client, log } = three()
    const first = await client.say('Go.')
    log.length = 0
    const second = await client.say('Hello?')
    expect(interruptsOf(second)).toEqual(interruptsOf(first))
    expect(second.events.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
    expect(log).toEqual([])
    const all = Object.fromEntries(interruptsOf(first).map(({ id }) => [id, 1]))
    expect((await client.answer(all)).outcome).toMatchObject({ type: 'completed', text: 'Done.' })
  })

  test('have ids that no other run has', async () => {
    const { book } = booking()
    const agent = () => defineAgent({ name: 'a', model: scriptedModel([[call('c1')]]), tools: [book] })
    const first = await play(agent(), 'Go.')
    const second = await play(agent(), 'Go.')
    expect(idOf(first)).not.toBe(idOf(second))
  })
})

describe('beside an interrupt', () => {
  const bookTool = booking().book

  test('a tool that fails has its error told, and is not run again', async () => {
    let count = 0
    const broken = toolOf('broken', () => {
      count++
      throw new Error('broken')
    })
    const model = scriptedModel([[call('c1', 'broken'), call('c2')], 'Done.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [bookTool, broken] }))
    const first = await client.say('Go.')
    expect(resultsIn(first.events)).toEqual(['c1: Error: broken'])
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(count).toBe(1)
  })

  test('a tool that fails ends the run when the agent is told so', async () => {
    const broken = toolOf('broken', () => {
      throw new Error('broken')
    })
    const model = scriptedModel([[call('c1', 'broken'), call('c2')]])
    const agent = defineAgent({ name: 'a', model, tools: [bookTool, broken], onToolError: 'throw' })
    expect((await play(agent, 'Go.')).outcome).toMatchObject({
      type: 'failed',
      error: { code: 'TOOL_ERROR' },
    })
  })

  test('a result that ends the agent waits, and still ends it', async () => {
    let count = 0
    const direct = defineTool({
      name: 'direct',
      description: 'd',
      returnDirectly: true,
      execute: () => ({ n: ++count }),
    })
    const model = scriptedModel([[call('c1', 'direct'), call('c2')]])
    const client = createClient(defineAgent({ name: 'a', model, tools: [bookTool, direct] }))
    const first = await client.say('Go.')
    expect(resultsIn(first.events)).toEqual([])
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(resultsIn(second.events)).toEqual(['c2: booked: 1', 'c1: {"n":1}'])
    expect(second.outcome).toMatchObject({ type: 'completed', result: { n: 1 } })
    expect(model.requests).toHaveLength(1)
  })

  describe('a call to a tool of the client', () => {
    const paint = { name: 'paint', description: 'Paints.' }
    const start = async () => {
      const model = scriptedModel([[call('c1', 'paint'), call('c2')], 'Done.'])
      const client = createClient(defineAgent({ name: 'a', model, tools: [bookTool] }), [paint])
      const first = await client.say('Go.')
      expect(interruptsOf(first)).toMatchObject([{ toolCallId: 'c2' }])
      return { model, client, id: idOf(first) }
    }
    const painted: Message = { id: 't1', role: 'tool', toolCallId: 'c1', content: 'painted' }

    test('may be answered with the interrupt', async () => {
      const { model, client, id } = await start()
      const messages = [...client.messages, painted]
      const second = await client.send({ messages, resume: toResume({ [id]: 1 }) })
      expect(second.outcome).toMatchObject({ type: 'completed', text: 'Done.', pendingToolCalls: [] })
      expect(resultsIn(second.events)).toEqual(['c2: booked: 1'])
      expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual([
        'Go.',
        undefined,
        'painted',
        'booked: 1',
      ])
    })

    test('is still pending when only the interrupt is answered', async () => {
      const { model, client, id } = await start()
      const second = await client.answer({ [id]: 1 })
      expect(second.outcome).toMatchObject({ type: 'completed', pendingToolCalls: [{ id: 'c1' }] })
      expect(model.requests).toHaveLength(1)
      const third = await client.send({ messages: [...client.messages, painted] })
      expect(third.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    })

    test('stays one of the client when the tools are not sent again', async () => {
      const { client, id } = await start()
      const second = await client.answer({ [id]: 1 })
      expect(resultsIn(second.events)).toEqual(['c2: booked: 1'])
      const again = await client.send({ messages: [...client.messages, painted], tools: [] })
      expect(again.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    })

    test('is not failed when the answer comes without the tools', async () => {
      const { client, id } = await start()
      const second = await client.send({ resume: toResume({ [id]: 1 }), tools: [] })
      expect(resultsIn(second.events)).toEqual(['c2: booked: 1'])
      expect(second.outcome).toMatchObject({ pendingToolCalls: [{ id: 'c1' }] })
    })
  })

  test('a rejected attempt does not come back', async () => {
    const model = scriptedModel([['Half an', { error: { status: 503 } }], ['Again.', call('c1')], 'Done.'])
    const agent = defineAgent({ name: 'a', model, tools: [bookTool], retry: { initialDelayMs: 0 } })
    const client = createClient(agent)
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(JSON.stringify(model.requests[2]?.messages)).not.toContain('Half an')
  })
})

test('a middleware that brings a tool brings it also when the run goes on', async () => {
  const { book } = booking()
  const model = scriptedModel([[call('c1')], 'Done.'])
  const agent = defineAgent({
    name: 'a',
    model,
    middlewares: [{ onStart: ({ tools }) => ({ tools: [...tools, book] }) }],
  })
  const client = createClient(agent)
  const second = await client.answer({ [idOf(await client.say('Go.'))]: 1 })
  expect(resultsIn(second.events)).toEqual(['c1: booked: 1'])
  expect(model.requests[1]?.tools?.map(({ name }) => name)).toEqual(['book'])
})

test('text between interrupted calls stays where it is, and their results come behind it', async () => {
  const { book } = booking()
  const model = scriptedModel([['One.', call('c1'), { reasoning: 'Hm.' }, 'Two.', call('c2')], 'Done.'])
  const client = createClient(defineAgent({ name: 'a', model, tools: [book] }))
  const first = await client.say('Go.')
  const second = await client.answer({ [idOf(first, 'Book c2?')]: 2 })
  const third = await client.answer({ [idOf(second, 'Book c1?')]: 1 })
  expect(third.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
  expect(model.requests[1]?.messages.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'Go.'],
    ['assistant', 'One.'],
    ['reasoning', 'Hm.'],
    ['assistant', 'Two.'],
    ['tool', 'booked: 1'],
    ['tool', 'booked: 2'],
  ])
})

test('steps are counted on when a run goes on', async () => {
  const { book } = booking()
  const model = scriptedModel([[call('c1')], [call('c2')], [call('c3')], 'Done.'])
  const client = createClient(defineAgent({ name: 'a', model, tools: [book], maxIterations: 2 }))
  const first = await client.say('Go.')
  const second = await client.answer({ [idOf(first)]: 1 })
  const third = await client.answer({ [idOf(second)]: 1 })
  expect(third.outcome).toMatchObject({ type: 'failed', error: { code: 'MAX_ITERATIONS' } })
})

test('what a tool changed before its interrupt is kept: values and state', async () => {
  const book = toolOf('book', async ({ values, setState, interrupt, state }) => {
    values.set('tries', Number(values.get('tries') ?? 0) + 1)
    setState({ tries: values.get('tries') })
    await interrupt({})
    return { values: Object.fromEntries(values), state }
  })
  const model = scriptedModel([[call('c1')], 'Done.'])
  const client = createClient(defineAgent({ name: 'a', model, tools: [book] }))
  const first = await client.say('Go.')
  expect(ofType(first.events, 'STATE_DELTA')).toHaveLength(1)
  const second = await client.answer({ [idOf(first)]: 1 }, { values: { more: 1 } })
  expect(second.outcome.state).toEqual({ tries: 2 })
  expect(resultsIn(second.events)).toEqual(['c1: {"values":{"tries":2,"more":1},"state":{"tries":1}}'])
})
