import { describe, expect, it } from 'vitest'
import {
  agentTool,
  defineAgent,
  defineTool,
  sequential,
  type Agent,
  type Middleware,
  type ToolContext,
} from '../../src/index.js'
import { deepAgent } from '../../src/agents/prebuilt/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { serveAgents, type ServeAgentsOptions } from '../support/serve-agents.js'

const identify: ServeAgentsOptions['identify'] = (request) => ({
  app: 'shop',
  user: request.headers.get('x-user') ?? 'nobody',
  claims: { role: 'guest' },
})

describe('a tool', () => {
  const seen: unknown[] = []

  /** Says who asks, once before and once after a person has answered. */
  const whoAsks = defineTool({
    name: 'who_asks',
    description: 'Says who asks.',
    async execute(_, { app, user, claims, threadId, client, interrupt }: ToolContext) {
      seen.push([app, user, claims, threadId, client.context, client.forwardedProps])
      await interrupt({ message: 'May I?' })
      return `${user} asks`
    },
  })

  function asker(): Agent {
    const model = scriptedModel([[{ toolCall: { name: 'who_asks' } }], 'Done.'])
    return defineAgent({ name: 'asker', description: 'Asks.', model, tools: [whoAsks] })
  }

  function boss(): Agent {
    const model = scriptedModel([[{ toolCall: { name: 'asker', args: { request: 'Ask.' } } }], 'All done.'])
    return defineAgent({ name: 'boss', model, tools: [agentTool(asker())] })
  }

  it.each([
    ['of an agent', asker],
    ['of an agent behind a tool call', boss],
  ])('%s sees who asks and what came with the run', async (_, make) => {
    seen.length = 0
    const served = await serveAgents({ agents: [make()], identify })
    const talk = served.talk({ threadId: 'trip', headers: { 'x-user': 'ann' } })
    const context = [{ description: 'page', value: 'checkout' }]
    const sent = { context, forwardedProps: { tenant: 'north' } }
    const asked = (await talk.say('Who am I?', sent)).at(-1)
    expect(asked).toMatchObject({ outcome: { interrupts: [{ message: 'May I?' }] } })
    const [interrupt] = talk.client.pendingInterrupts
    const resume = [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: 'yes' }]
    expect((await talk.send({ ...sent, resume })).at(-1)).toMatchObject({ outcome: { type: 'success' } })
    const person = ['shop', 'ann', { role: 'guest' }, 'trip', context, { tenant: 'north' }]
    expect(seen).toEqual([person, person])
  })
})

describe('middlewares', () => {
  const look = defineTool({ name: 'look', description: 'Looks.', execute: () => 'seen' })
  const guard: Middleware = { tool: () => Promise.reject(new Error('not for guests')) }

  async function eventsWith(middlewares: readonly Middleware[], onToolError?: 'throw') {
    const model = scriptedModel([[{ toolCall: { name: 'look' } }], 'Done.'])
    const more = onToolError ? { onToolError } : {}
    const agent = defineAgent({ name: 'a', model, tools: [look], middlewares, ...more })
    return (await serveAgents({ agents: [agent] })).talk().say('Go.')
  }

  it('end from the last to the first, as the first is the outermost', async () => {
    const log: string[] = []
    const logged = (name: string): Middleware => ({
      onStart: () => void log.push(`${name} starts`),
      afterTools: () => void log.push(`${name} has tools behind it`),
      onEnd: () => void log.push(`${name} ends`),
    })
    await eventsWith([logged('outer'), logged('inner')])
    expect(log).toEqual([
      ...['outer starts', 'inner starts'],
      ...['inner has tools behind it', 'outer has tools behind it'],
      ...['inner ends', 'outer ends'],
    ])
  })

  it('that throw around a tool make the call fail, for the model to read', async () => {
    const events = await eventsWith([guard])
    const content = 'Error: not for guests'
    expect(events).toContainEqual(expect.objectContaining({ type: 'TOOL_CALL_RESULT', content }))
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  })

  it('that throw around a tool fail the run when errors of tools do', async () => {
    expect((await eventsWith([guard], 'throw')).at(-1)).toMatchObject({
      type: 'RUN_ERROR',
      code: 'TOOL_ERROR',
    })
  })
})

describe('one run', () => {
  it('chooses the model and the settings of one agent of the tree', async () => {
    const [small, large] = ['small', 'large'].map((modelId) =>
      scriptedModel(() => `From ${modelId}.`, { modelId }),
    )
    if (!small || !large) throw new Error('no models')
    type Props = Readonly<
      Record<string, { readonly model?: string; readonly temperature?: number } | undefined>
    >
    const make = (name: string): Agent =>
      defineAgent({
        name,
        model: ({ client }) => ((client.forwardedProps as Props)[name]?.model === 'large' ? large : small),
        settings: ({ client }) => ({ temperature: (client.forwardedProps as Props)[name]?.temperature ?? 1 }),
      })
    const flow = sequential({ name: 'flow', agents: [make('writer'), make('critic')] })
    const talk = (await serveAgents({ agents: [flow] })).talk()
    await talk.say('Go.', { forwardedProps: { critic: { model: 'large', temperature: 0 } } })
    expect(small.requests.map(({ settings }) => settings)).toEqual([{ temperature: 1 }])
    expect(large.requests.map(({ settings }) => settings)).toEqual([{ temperature: 0 }])
    await talk.say('Again.', { forwardedProps: {} })
    expect([small.requests.length, large.requests.length]).toEqual([3, 1])
  })
})

describe('an agent with a list of steps', () => {
  it('begins every request as the one before it, so that providers can cache it', async () => {
    const write = (status: string) => ({
      toolCall: { name: 'write_todos', args: { todos: [{ content: 'Look', status }] } },
    })
    const model = scriptedModel([[write('in_progress')], [write('completed')], 'Done.', 'More.'])
    const served = await serveAgents({ agents: [deepAgent({ name: 'deep', model })] })
    const talk = served.talk()
    await talk.say('Go.')
    await talk.say('And now?')
    const sent = model.requests.map(({ messages }) => messages.map(({ role, content }) => [role, content]))
    for (const [index, before] of sent.slice(0, -1).entries())
      expect(sent[index + 1]?.slice(0, before.length)).toEqual(before)
    expect(new Set(model.requests.map(({ instructions }) => instructions)).size).toBe(1)
    expect(sent).toHaveLength(4)
  })
})

describe('the results of parallel calls', () => {
  it('reach the model in the order of the calls, though the last was answered first', async () => {
    const book = defineTool({
      name: 'book',
      description: 'Books.',
      async execute(_, { interrupt, toolCallId }) {
        await interrupt({ message: toolCallId })
        return `${toolCallId} booked`
      },
    })
    const calls = ['c1', 'c2', 'c3'].map((id) => ({ toolCall: { id, name: 'book' } }))
    const model = scriptedModel([calls, 'Done.', 'Again.'])
    const agent = defineAgent({ name: 'clerk', model, tools: [book] })
    const served = await serveAgents({ agents: [agent], store: 'sqlite' })
    const talk = served.talk()
    await talk.say('Book all.')
    const open = talk.client.pendingInterrupts
    const none = { state: {}, tools: [], context: [], forwardedProps: {} }
    const fields = { threadId: 'thread-1', protocolVersion: '1.0', ...none }
    // One by one, which the client of AG-UI 1.0 does not do.
    for (const asked of ['c3', 'c1', 'c2']) {
      const interruptId = open.find(({ message }) => message === asked)?.id
      const resume = [{ interruptId, status: 'resolved', payload: true }]
      await served.stream('/', { body: { ...fields, runId: asked, messages: talk.client.messages, resume } })
    }
    const messages = [...talk.client.messages, { id: 'u2', role: 'user', content: 'And now?' }]
    await served.stream('/', { body: { ...fields, runId: 'last', messages } })
    const results = model.requests.map(({ messages }) =>
      messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])),
    )
    expect(results).toEqual([[], ['c1', 'c2', 'c3'], ['c1', 'c2', 'c3']])
  })
})

describe('what is not JSON', () => {
  const loose = () => ({ at: new Date(0), big: 7n, by: new Map([['a', new Set([1])]]), none: NaN })
  const json = { at: '1970-01-01T00:00:00.000Z', big: '7', by: { a: [1] }, none: null }

  type Execute = (args: unknown, ctx: ToolContext) => unknown
  /** How a value leaves a tool, and the event that carries it. */
  const ways: readonly {
    way: string
    execute: (value: unknown) => Execute
    shown: (json: object) => object
  }[] = [
    {
      way: 'returned',
      execute: (value) => () => value,
      shown: (value) => ({ type: 'TOOL_CALL_RESULT', content: JSON.stringify(value) }),
    },
    {
      way: 'yielded',
      execute: (value) =>
        async function* () {
          yield value
          return await Promise.resolve('ok')
        },
      shown: (value) => ({ type: 'ACTIVITY_SNAPSHOT', content: expect.objectContaining(value) as unknown }),
    },
    {
      way: 'yielded by function*',
      execute: (value) =>
        function* () {
          yield value
          return 'ok'
        },
      shown: (value) => ({ type: 'ACTIVITY_SNAPSHOT', content: expect.objectContaining(value) as unknown }),
    },
    {
      way: 'set as state',
      execute: (value) => (_, ctx) => ctx.setState({ value }),
      shown: (value) => ({ type: 'STATE_SNAPSHOT', snapshot: { value } }),
    },
    {
      way: 'emitted',
      execute: (value) => (_, ctx) => ctx.emit({ type: 'CUSTOM', name: 'x', value }),
      shown: (value) => ({ type: 'CUSTOM', value }),
    },
    {
      way: 'the end of the run',
      execute: (value) => (_, ctx) => ctx.exit(value),
      shown: (value) => ({ type: 'RUN_FINISHED', result: value }),
    },
  ]

  async function eventsOf(execute: Execute) {
    const tool = defineTool({ name: 'tool', description: 'A tool.', execute })
    const model = scriptedModel([[{ toolCall: { name: 'tool' } }], 'Done.'])
    const served = await serveAgents({ agents: [defineAgent({ name: 'a', model, tools: [tool] })] })
    return served.talk().say('Go.')
  }

  it.each(ways)('becomes JSON when it is $way', async ({ execute, shown }) => {
    expect(await eventsOf(execute(loose()))).toContainEqual(expect.objectContaining(shown(json)))
  })

  it.each(ways)('and cannot become it is told to the model when it is $way', async ({ execute }) => {
    const events = await eventsOf(execute({ forgotten: Promise.resolve() }))
    const content = expect.stringMatching(/^Error: .* is not JSON: .*forgotten is a Promise\.$/) as string
    expect(events).toContainEqual(expect.objectContaining({ type: 'TOOL_CALL_RESULT', content }))
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
  })
})
