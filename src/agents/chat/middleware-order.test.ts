import { describe, expect, test } from 'vitest'
import { createClient, idOf, ofType, play, resultsIn } from '../../../test/support/run-agent.js'
import { scriptedModel, type ModelPart } from '../../models/index.js'
import { defineAgent } from './chat-agent.js'
import { defineTool } from '../tools/define-tool.js'
import type { Middleware } from './middleware.js'

const call = (id: string, name = 'look') => ({ toolCall: { id, name } })
const look = defineTool({ name: 'look', description: 'Looks.', execute: () => 'seen' })

function traced(name: string, log: string[]): Middleware {
  return {
    onStart: ({ instructions }) => {
      log.push(`${name} start`)
      return { instructions: `${instructions}${name}` }
    },
    onEnd: ({ text, result }) => void log.push(`${name} end: ${text}, ${JSON.stringify(result)}`),
    async *model(request, next) {
      log.push(`${name} asks`)
      yield* next({ ...request, instructions: `${request.instructions ?? ''}(${name})` })
      log.push(`${name} heard`)
    },
    async tool(info, next) {
      log.push(`${name} calls ${info.tool.name}`)
      const result = await next(info)
      log.push(`${name} got ${String(result)}`)
      return `${name}(${String(result)})`
    },
    afterTools: () => void log.push(`${name} after tools`),
  }
}

const other = (hook: keyof Middleware, log: string[]): Middleware => ({
  [hook]: () => void log.push('other'),
})

describe('middlewares', () => {
  test('stand around model and tools, the first one outermost', async () => {
    const log: string[] = []
    const model = scriptedModel([[call('c1')], 'Done.'])
    const middlewares = [traced('A', log), traced('B', log)]
    const agent = defineAgent({ name: 'a', instructions: 'I', model, tools: [look], middlewares })
    const { events } = await play(agent, 'Go.')
    expect(log).toEqual([
      ...['A start', 'B start'],
      ...['A asks', 'B asks', 'B heard', 'A heard'],
      ...['A calls look', 'B calls look', 'B got seen', 'A got B(seen)'],
      ...['B after tools', 'A after tools'],
      ...['A asks', 'B asks', 'B heard', 'A heard'],
      ...['B end: Done., undefined', 'A end: Done., undefined'],
    ])
    expect(model.requests[0]?.instructions).toBe('IAB(A)(B)')
    expect(resultsIn(events)).toEqual(['c1: A(B(seen))'])
  })

  test.each<[keyof Middleware, Middleware]>([
    ['onStart', { onStart: () => Promise.reject(new Error('stop')) }],
    ['onEnd', { onEnd: () => Promise.reject(new Error('stop')) }],
    ['afterTools', { afterTools: () => Promise.reject(new Error('stop')) }],
  ])('stop the agent when %s throws, and the ones after are not called', async (hook, broken) => {
    const log: string[] = []
    const agent = defineAgent({
      name: 'a',
      model: scriptedModel([[call('c1')], 'Done.']),
      tools: [look],
      // What ends goes from the last to the first.
      middlewares: hook === 'onStart' ? [broken, other(hook, log)] : [other(hook, log), broken],
    })
    expect((await play(agent, 'Go.')).outcome).toMatchObject({ type: 'failed', error: { message: 'stop' } })
    expect(log).toEqual([])
  })

  test('may bring tools, which are offered and can be called', async () => {
    const model = scriptedModel([[call('c1', 'extra')], 'Done.'])
    const extra = defineTool({ name: 'extra', description: 'Extra.', execute: () => 'more' })
    const agent = defineAgent({
      name: 'a',
      model,
      tools: [look],
      middlewares: [
        { onStart: ({ tools }) => ({ tools: [...tools, { tools: () => Promise.resolve([extra]) }] }) },
      ],
    })
    const { events } = await play(agent, 'Go.')
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['look', 'extra'])
    expect(resultsIn(events)).toEqual(['c1: more'])
  })

  test('may not bring a tool of a name that is taken', async () => {
    const agent = defineAgent({
      name: 'a',
      model: scriptedModel([]),
      tools: [look],
      middlewares: [{ onStart: ({ tools }) => ({ tools: [...tools, look] }) }],
    })
    expect((await play(agent, 'Go.')).outcome).toMatchObject({ error: { code: 'INVALID_AGENT' } })
  })

  test('get the result of a tool also when it is a generator with progress', async () => {
    const slow = defineTool({
      name: 'look',
      description: 'Looks.',
      async *execute() {
        yield await Promise.resolve({ percent: 50 })
        return 'seen'
      },
    })
    const seen: unknown[] = []
    const agent = defineAgent({
      name: 'a',
      model: scriptedModel([[call('c1')], 'Done.']),
      tools: [slow],
      middlewares: [
        {
          async tool(info, next) {
            const result = await next(info)
            seen.push(result)
            return result
          },
        },
      ],
    })
    const { events } = await play(agent, 'Go.')
    expect(seen).toEqual(['seen'])
    expect(ofType(events, 'ACTIVITY_SNAPSHOT')).toHaveLength(1)
  })

  test('may catch what a tool throws', async () => {
    const broken = defineTool({
      name: 'look',
      description: 'Looks.',
      execute: () => {
        throw new Error('broken')
      },
    })
    const agent = defineAgent({
      name: 'a',
      model: scriptedModel([[call('c1')], 'Done.']),
      tools: [broken],
      middlewares: [{ tool: (info, next) => next(info).catch(() => 'mended') }],
    })
    expect(resultsIn((await play(agent, 'Go.')).events)).toEqual(['c1: mended'])
  })

  test('may answer for the model and for a tool', async () => {
    const model = scriptedModel([])
    const parts: ModelPart[][] = [
      [
        { type: 'tool-call-start', toolCallId: 'c1', toolName: 'look' },
        { type: 'tool-call-end', toolCallId: 'c1' },
        { type: 'finish', reason: 'tool-calls' },
      ],
      [{ type: 'text-delta', delta: 'Mine.' }, { type: 'text-end' }, { type: 'finish', reason: 'stop' }],
    ]
    const agent = defineAgent({
      name: 'a',
      model,
      tools: [look],
      middlewares: [
        {
          async *model() {
            await Promise.resolve()
            yield* parts.shift() ?? []
          },
          tool: () => Promise.resolve('mine'),
        },
      ],
    })
    const { events, outcome } = await play(agent, 'Go.')
    expect(resultsIn(events)).toEqual(['c1: mine'])
    expect(outcome).toMatchObject({ text: 'Mine.' })
    expect(model.requests).toHaveLength(0)
  })

  test('around a tool do not take its interrupt for an end', async () => {
    const log: string[] = []
    const ask = defineTool({
      name: 'look',
      description: 'Asks.',
      execute: async (_args, { interrupt }) => (await interrupt({})).status,
    })
    const agent = defineAgent({
      name: 'a',
      model: scriptedModel([[call('c1')], 'Done.']),
      tools: [ask],
      middlewares: [traced('A', log)],
    })
    const client = createClient(agent)
    const first = await client.say('Go.')
    expect(log).toEqual(['A start', 'A asks', 'A heard', 'A calls look'])
    log.length = 0
    await client.answer({ [idOf(first)]: 1 })
    expect(log.slice(0, 4)).toEqual(['A start', 'A calls look', 'A got resolved', 'A after tools'])
  })

  test('that swallow an interrupt do not make it go away', async () => {
    const ask = defineTool({
      name: 'look',
      description: 'Asks.',
      execute: async (_args, { interrupt }) => (await interrupt({})).status,
    })
    const agent = defineAgent({
      name: 'a',
      model: scriptedModel([[call('c1')], 'Done.']),
      tools: [ask],
      middlewares: [{ tool: (info, next) => next(info).catch(() => 'swallowed') }],
    })
    const client = createClient(agent)
    const first = await client.say('Go.')
    expect(resultsIn((await client.answer({ [idOf(first)]: 1 })).events)).toEqual(['c1: resolved'])
  })

  test('may ask a person before the agent starts', async () => {
    const ask: Middleware = {
      async onStart({ instructions }, ctx) {
        const answer = await ctx.interrupt({ message: 'Who are you?' })
        return { instructions: `${instructions} ${JSON.stringify(answer)}` }
      },
    }
    const pause = defineTool({
      name: 'look',
      description: 'Asks.',
      execute: async (_args, { interrupt }) => (await interrupt({ message: 'Look?' })).status,
    })
    const model = scriptedModel([[call('c1')], 'Done.'])
    const agent = defineAgent({ name: 'a', instructions: 'User:', model, tools: [pause], middlewares: [ask] })
    const client = createClient(agent)
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first, 'Who are you?')]: 'Ann' })
    const third = await client.answer({ [idOf(second, 'Look?')]: 1 })
    expect(third.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    const told = 'User: {"status":"resolved","payload":"Ann"}'
    expect(model.requests.map(({ instructions }) => instructions)).toEqual([told, told])
  })

  test('may ask a person in every step, and no answer is taken for another', async () => {
    const heard: unknown[] = []
    const ask: Middleware = {
      async *model(request, next, ctx) {
        const turn = request.messages.filter(({ role }) => role === 'assistant').length
        heard.push(await ctx.interrupt({ message: `Ask for answer ${turn}?` }))
        yield* next(request)
      },
      async afterTools(ctx) {
        heard.push(await ctx.interrupt({ message: 'Go on?', state: heard.length }))
      },
    }
    let looked = 0
    const count = defineTool({ name: 'look', description: 'Looks.', execute: () => String(++looked) })
    const model = scriptedModel([[call('c1')], [call('c2')], 'Done.'])
    const agent = defineAgent({ name: 'a', model, tools: [count], middlewares: [ask] })
    const client = createClient(agent)
    const questions: unknown[] = []
    let played = await client.say('Go.')
    while (played.outcome.type === 'interrupted') {
      questions.push(...played.outcome.interrupts.map(({ message }) => message))
      played = await client.answer({ [idOf(played)]: questions.length })
    }
    expect(played.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(questions).toEqual([
      ...['Ask for answer 0?', 'Go on?', 'Ask for answer 1?', 'Go on?', 'Ask for answer 2?'],
    ])
    expect(heard.map((answer) => (answer as { payload: number }).payload)).toEqual([1, 2, 3, 4, 5])
    expect([looked, model.requests.length]).toEqual([2, 3])
  })

  test('may interrupt instead of the model: its messages are rejected, finished work stays', async () => {
    let looked = 0
    const count = defineTool({ name: 'look', description: 'Looks.', execute: () => String(++looked) })
    const ask: Middleware = {
      async *model(request, next, ctx) {
        const isSecond = request.messages.some(({ role }) => role === 'tool')
        for await (const part of next(request)) {
          yield part
          if (isSecond && part.type === 'text-delta') await ctx.interrupt({ message: 'Say it?' })
        }
      },
    }
    const model = scriptedModel((request) =>
      request.messages.some(({ role }) => role === 'tool') ? 'Done.' : [call('c1')],
    )
    const client = createClient(defineAgent({ name: 'a', model, tools: [count], middlewares: [ask] }))
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first, 'Say it?')]: 1 })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(looked).toBe(1)
    expect(model.requests.at(-1)?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  })

  test('may bring a tool that raises interrupts for the whole agent', async () => {
    const bring: Middleware = {
      onStart: ({ tools }, ctx) => ({
        tools: [
          ...tools,
          defineTool({
            name: 'extra',
            description: 'Asks.',
            execute: async () => (await ctx.interrupt({ message: 'Extra?' })).status,
          }),
        ],
      }),
    }
    const model = scriptedModel([[call('c1', 'extra'), call('c2')], 'Done.'])
    const client = createClient(defineAgent({ name: 'a', model, tools: [look], middlewares: [bring] }))
    const first = await client.say('Go.')
    expect(resultsIn(first.events)).toEqual(['c2: seen'])
    const second = await client.answer({ [idOf(first, 'Extra?')]: 1 })
    expect(resultsIn(second.events)).toEqual(['c1: resolved'])
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
  })

  test('are told of the end once, also when a tool ends the agent', async () => {
    const log: string[] = []
    const direct = defineTool({
      name: 'look',
      description: 'Looks.',
      returnDirectly: true,
      execute: () => 'seen',
    })
    const agent = defineAgent({
      name: 'a',
      model: scriptedModel([[call('c1')]]),
      tools: [direct],
      middlewares: [{ onEnd: ({ text, result }) => void log.push(`${text}|${String(result)}`) }],
    })
    await play(agent, 'Go.')
    expect(log).toEqual(['|seen'])
  })

  test('are called after the tools once in each iteration', async () => {
    const log: string[] = []
    const agent = defineAgent({
      name: 'a',
      model: scriptedModel([[call('c1'), call('c2')], [call('c3')], 'Done.']),
      tools: [look],
      middlewares: [{ afterTools: ({ runId }) => void log.push(typeof runId) }],
    })
    await play(agent, 'Go.')
    expect(log).toEqual(['string', 'string'])
  })
})
