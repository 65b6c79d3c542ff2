import { describe, expect, it } from 'vitest'
import { toSurface, withA2ui } from '../../src/a2ui/index.js'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { isReported } from '../../src/protocol/index.js'
import { a2uiRuntimes, kitA2ui } from '../support/a2ui-runtimes.js'
import { historyOf } from '../support/langgraph/serve-graph.js'
import { deferred } from '../support/run-agent.js'
import { linesOf, serveAgents } from '../support/serve-agents.js'
import { inputOf, user } from './support-server.js'

/** What a person does on a surface, and what happens around it. */

const surface = {
  surfaceId: 'trip',
  components: [
    { id: 'root', component: 'Button', child: 'label', action: { event: { name: 'book' } } },
    { id: 'label', component: 'Text', text: 'Book' },
  ],
}
const userAction = { name: 'book', surfaceId: 'trip', context: { city: 'Oslo' } }
const click = { forwardedProps: { a2uiAction: { userAction } } }
const clicked = 'User performed action "book" on surface "trip". Context: {"city":"Oslo"}'
const shown = { main: [{ call: 'show' }, 'Look.', 'Booked.', 'Again.'], show: () => toSurface(surface) }

describe.each(a2uiRuntimes)('with %s', (_runtime, make) => {
  it('takes a click that comes after a run has failed', async () => {
    const { agent } = make(shown)
    let fails = false
    const failing = {
      ...agent,
      async *run(ctx: Parameters<typeof agent.run>[0]) {
        if (!fails) return yield* agent.run(ctx)
        fails = false
        throw new Error('broken')
      },
    }
    const served = await serveAgents({ agents: [failing] })
    const talk = served.talk()
    await talk.say('Show it.')
    fails = true
    await talk.say('Fail.').catch(() => undefined)
    const events = await talk.send(click)
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    expect(linesOf((await historyOf(served)).filter(isReported))[1]).toBe(`tool: ${clicked}`)
    expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: Booked.')
  })

  it('takes a click on a thread that the server has forgotten', async () => {
    const first = await serveAgents({ agents: [make(shown).agent] })
    const before = first.talk()
    await before.say('Show it.')
    const talker = make({ main: ['Booked.'] })
    const talk = (await serveAgents({ agents: [talker.agent] })).talk()
    talk.client.setMessages(structuredClone(before.client.messages))
    await talk.send(click)
    expect(talker.mainPrompts()[0]).toContain(JSON.stringify(clicked).slice(1, -1))
    expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: Booked.')
  })

  it('leaves no surface that is written for ever when the run is stopped', async () => {
    const [writing, released] = [deferred(), deferred()]
    const talker = make({
      main: [{ call: 'generate_a2ui' }, 'Never said.'],
      writer: [surface],
      onWrite: (signal) => {
        signal?.addEventListener('abort', () => released.reject(new Error('stopped')))
        writing.resolve()
        return released.promise
      },
    })
    const served = await serveAgents({ agents: [talker.agent] })
    const talk = served.talk()
    const talking = talk.say('Plan a trip.').catch(() => undefined)
    await writing.promise
    const stopping = served.ask('POST /cancel', { body: { threadId: 'thread-1' } })
    await Promise.race([stopping, released.promise.catch(() => undefined)])
    released.resolve()
    await Promise.all([stopping, talking])
    const activities = (await historyOf(served)).filter(({ role }) => role === 'activity')
    expect(activities).toMatchObject([{ content: { status: 'failed' } }])
  })
})

it('reports a click once, also when the request is sent again or a middleware has reported it', async () => {
  const talker = kitA2ui(shown)
  const served = await serveAgents({ agents: [talker.agent] })
  const talk = served.talk()
  await talk.say('Show it.')
  await talk.send({ ...click, runId: 'again' })
  await talk.send({ ...click, runId: 'again' })
  expect((await historyOf(served)).filter(isReported)).toHaveLength(2)
  talk.client.use((input, next) => {
    const id = 'from-the-middleware'
    const call = { id, type: 'function' as const, function: { name: 'log_a2ui_event', arguments: '{}' } }
    const report = [
      { id: 'x', role: 'assistant' as const, content: '', toolCalls: [call] },
      { id: 'y', role: 'tool' as const, toolCallId: id, content: clicked },
    ]
    return next.run({ ...input, messages: [...input.messages, ...report] })
  })
  await talk.send(click)
  expect(
    (await historyOf(served))
      .filter(isReported)
      .map(({ id }) => id)
      .slice(2),
  ).toEqual(['x', 'y'])
})

it('refuses a click that is none before anything runs', async () => {
  const { agent, mainPrompts } = kitA2ui({ main: [] })
  const served = await serveAgents({ agents: [agent] })
  const forwardedProps = { a2uiAction: { userAction: { name: 'book' } } }
  const body = inputOf({ messages: [user('u1', 'Hi')], forwardedProps })
  expect(await served.ask('POST /run', { body })).toMatchObject({
    status: 400,
    body: {
      error: {
        code: 'INVALID_INPUT',
        message: expect.stringContaining('a2uiAction.userAction.surfaceId') as unknown,
      },
    },
  })
  expect(mainPrompts()).toEqual([])
})

it('tells CopilotKit which agents draw', async () => {
  const model = scriptedModel([])
  const plain = defineAgent({ name: 'plain', model })
  const drawing = withA2ui(defineAgent({ name: 'drawing', model }))
  const infoOf = async (...agents: Parameters<typeof serveAgents>[0]['agents'][]) => {
    const served = await serveAgents({ agents: agents.flat() as never, copilotKit: true })
    return (await served.ask('GET /copilotkit/info')).body
  }
  expect(await infoOf([plain, drawing])).toMatchObject({
    a2uiEnabled: true,
    a2ui: { enabled: true, agents: ['drawing'] },
  })
  expect(await infoOf([drawing, plain])).toMatchObject({ a2ui: { agents: ['drawing', 'default'] } })
  const without = await infoOf([plain])
  expect(without).toMatchObject({ a2uiEnabled: false })
  expect(without).not.toHaveProperty('a2ui')
})

it('draws a surface again for a call id that an earlier run had', async () => {
  // The id of the scripted model counts from one in every process.
  const run = () =>
    withA2ui(
      defineAgent({
        name: 'kit',
        model: scriptedModel([[{ toolCall: { name: 'show', args: {} } }], 'Look.']),
        tools: [defineTool({ name: 'show', description: 'Shows.', execute: () => toSurface(surface) })],
      }),
    )
  let agent = run()
  const served = await serveAgents({ agents: [{ ...agent, run: (ctx) => agent.run(ctx) }] })
  const talk = served.talk()
  await talk.say('Show it.')
  agent = run()
  await talk.say('Show it again.')
  const activities = (await historyOf(served)).filter(({ role }) => role === 'activity')
  expect(activities).toHaveLength(2)
  expect(talk.client.messages.filter(({ role }) => role === 'activity')).toEqual(activities)
})
