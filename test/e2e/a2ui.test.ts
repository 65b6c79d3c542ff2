import type { ActivityMessage } from '@ag-ui/core'
import { A2UI_SCHEMA_CONTEXT_DESCRIPTION, BASIC_CATALOG_ID } from '@ag-ui/a2ui-toolkit'
import { describe, expect, it } from 'vitest'
import { toSurface } from '../../src/a2ui/index.js'
import { isReported, type AgUiEvent } from '../../src/protocol/index.js'
import { a2uiRuntimes } from '../support/a2ui-runtimes.js'
import { historyOf } from '../support/langgraph/serve-graph.js'
import { ofType } from '../support/run-agent.js'
import { linesOf, serveAgents, type ServedAgents } from '../support/serve-agents.js'

const button = {
  id: 'root',
  component: 'Button',
  child: 'label',
  action: { event: { name: 'book', context: { city: { path: '/city' } } } },
}
const label = { id: 'label', component: 'Text', text: { path: '/city' } }
const surface = { surfaceId: 'trip', components: [button, label], data: { city: 'Oslo' } }
const broken = { ...surface, components: [button] }
const generate = { call: 'generate_a2ui', args: { intent: 'create' } }

/** The contents of the surfaces in a stream, in order. */
function shownIn(events: readonly AgUiEvent[]): readonly ActivityMessage['content'][] {
  const all = ofType(events, 'ACTIVITY_SNAPSHOT')
  expect(all.every(({ activityType }) => activityType === 'a2ui-surface')).toBe(true)
  return all.map(({ content }) => content)
}

async function storedSurfaces(served: ServedAgents): Promise<readonly ActivityMessage[]> {
  const messages = await historyOf(served)
  return messages.filter((message) => message.role === 'activity')
}

function operations(surfaceId: string, catalogId = BASIC_CATALOG_ID, fields: object = surface): object[] {
  const { components, data } = fields as typeof surface
  const version = 'v0.9'
  return [
    { version, createSurface: { surfaceId, catalogId } },
    { version, updateComponents: { surfaceId, components } },
    { version, updateDataModel: { surfaceId, path: '/', value: data } },
  ]
}

const click = { name: 'book', surfaceId: 'trip', sourceComponentId: 'root', context: { city: 'Oslo' } }
const clicked = 'User performed action "book" on surface "trip" (component: root). Context: {"city":"Oslo"}'

describe.each(a2uiRuntimes)('with %s', (_runtime, make) => {
  it('draws the surface that a model has written, and keeps it with the thread', async () => {
    const talker = make({ main: [generate, 'Here you are.'], writer: [surface] })
    const served = await serveAgents({ agents: [talker.agent] })
    const talk = served.talk()
    const events = await talk.say('Plan a trip.')
    const shown = shownIn(events)
    expect(shown[0]).toEqual({ status: 'building' })
    expect(shown.at(-1)).toEqual({ a2ui_operations: operations('trip') })
    const [stored, ...others] = await storedSurfaces(served)
    expect(others).toEqual([])
    expect(stored?.content).toEqual({ a2ui_operations: operations('trip') })
    const [result] = ofType(events, 'TOOL_CALL_RESULT')
    expect(stored?.id).toBe(`a2ui-surface-${result?.toolCallId}`)
    expect(talk.client.messages.filter(({ role }) => role === 'activity')).toEqual([stored])
    expect(ofType(events, 'CUSTOM')).toEqual([])
    expect(talker.writerPrompts()[0]).toContain('Plan a trip.')
    expect(talker.writerPrompts()[0]).toContain('ChoicePicker')
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  })

  it('tells the model what is wrong with a surface, and draws the next one', async () => {
    const talker = make({ main: [generate, 'Here you are.'], writer: [broken, surface] })
    const served = await serveAgents({ agents: [talker.agent] })
    const shown = shownIn(await served.talk().say('Plan a trip.'))
    const retrying = shown.find((content) => content.status === 'retrying')
    expect(retrying).toMatchObject({ attempt: 2, maxAttempts: 3, errors: [{ code: 'unresolved_child' }] })
    expect(shown.at(-1)).toEqual({ a2ui_operations: operations('trip') })
    expect(talker.writerPrompts()[1]).toContain("Child reference 'label' does not match any component id")
  })

  it('gives up after a few attempts: the page shows it, the model is told, the conversation goes on', async () => {
    const talker = make({
      main: [generate, 'I could not draw it.', 'Still here.'],
      writer: [
        broken,
        'Here is your surface!',
        { ...surface, components: [{ ...label, id: 'root', component: 'Hologram' }] },
      ],
    })
    const served = await serveAgents({ agents: [talker.agent] })
    const talk = served.talk()
    const events = await talk.say('Plan a trip.')
    expect(shownIn(events).at(-1)).toMatchObject({
      status: 'failed',
      attempts: [{ attempt: 1 }, {}, { attempt: 3 }],
    })
    expect(talker.mainPrompts()[1]).toContain('No valid surface after 3 attempts')
    expect(talker.writerPrompts()[2]).toContain('Answer with one call of render_a2ui')
    await talk.say('Are you there?')
    expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: Still here.')
    expect(await storedSurfaces(served)).toMatchObject([{ content: { status: 'failed' } }])
  })

  it('shows that a surface has failed when its model fails', async () => {
    const talker = make({ main: [generate, 'Sorry.'], writer: [new Error('no tokens left')] })
    const served = await serveAgents({ agents: [talker.agent] })
    const shown = shownIn(await served.talk().say('Plan a trip.'))
    expect(shown).toMatchObject([{ status: 'building' }, { status: 'failed' }])
    expect(JSON.stringify(shown)).not.toContain('tokens')
  })

  it('takes the components of the page, and keeps advice for other models from the agent', async () => {
    const catalogId = 'https://example.com/catalog.json'
    const components = {
      Ticket: { allOf: [{ $ref: 'common' }, { properties: { to: {} }, required: ['component', 'to'] }] },
    }
    const context = [
      { description: A2UI_SCHEMA_CONTEXT_DESCRIPTION, value: JSON.stringify({ catalogId, components }) },
      { description: 'A2UI generation guidelines — protocol rules', value: 'You MUST call render_a2ui.' },
      { description: 'The page', value: 'a travel agency' },
    ]
    const ticket = { surfaceId: 'trip', components: [{ id: 'root', component: 'Ticket', to: 'Oslo' }] }
    const noTarget = { ...ticket, components: [{ id: 'root', component: 'Ticket' }] }
    const talker = make({ main: [generate, 'Here.'], writer: [surface, noTarget, ticket] })
    const served = await serveAgents({ agents: [talker.agent] })
    const talk = served.talk()
    const shown = shownIn(await talk.say('Plan a trip.', { context }))
    expect(shown.at(-1)).toEqual({ a2ui_operations: operations('trip', catalogId, ticket).slice(0, 2) })
    const [first, second, third] = talker.writerPrompts()
    expect(first).toContain('a travel agency')
    expect(second).toContain("Component type 'Button' is not in the catalog")
    expect(third).toContain("missing required prop 'to'")
    for (const prompt of talker.mainPrompts()) {
      expect(prompt).not.toContain('You MUST call')
      expect(prompt).not.toContain('Ticket: ')
    }
  })

  it('draws what a tool of the application returns', async () => {
    const { agent } = make({ main: [{ call: 'show' }, 'Look.'], show: () => toSurface(surface) })
    const served = await serveAgents({ agents: [agent] })
    expect(shownIn(await served.talk().say('Show it.'))).toEqual([{ a2ui_operations: operations('trip') }])
  })

  it('changes a surface where it stands', async () => {
    const version = 'v0.9'
    const results = [
      toSurface(surface),
      {
        a2ui_operations: [{ version, updateDataModel: { surfaceId: 'trip', path: '/city', value: 'Rome' } }],
      },
    ]
    const update = {
      call: 'generate_a2ui',
      args: { intent: 'update', target_surface_id: 'trip', changes: 'Plain text.' },
    }
    const plain = { surfaceId: 'ignored', components: [{ ...label, id: 'root' }], data: { city: 'Bonn' } }
    const talker = make({
      main: [{ call: 'show' }, 'Look.', { call: 'show' }, 'Rome now.', update, 'Plain now.'],
      show: () => results.shift(),
      writer: [plain],
    })
    const served = await serveAgents({ agents: [talker.agent] })
    const talk = served.talk()
    await talk.say('Show it.')
    const before = await storedSurfaces(served)
    await talk.say('Rome, please.')
    await talk.say('Plain text, please.')
    const after = await storedSurfaces(served)
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    expect(talker.writerPrompts()[0]).toContain('Plain text.')
    expect(after[0]?.content).toEqual({
      a2ui_operations: operations('trip', BASIC_CATALOG_ID, {
        components: [{ ...label, id: 'root' }, label],
        data: { city: 'Bonn' },
      }),
    })
    expect(talk.client.messages.filter(({ role }) => role === 'activity')).toEqual(after)
  })

  it.each([
    [
      'operations that are none',
      [{ version: 'v0.9', paint: {} }],
      /Operation 0 must be an object with one of/,
      /Operation 0 must be/,
    ],
    [
      'a surface that was never made',
      operations('trip').slice(1),
      /'trip' does not exist: `createSurface`/,
      /'trip' does not exist/,
    ],
    [
      'components without a root',
      operations('trip', BASIC_CATALOG_ID, { components: [label] }),
      /No component has id 'root'/,
      /no_root at components/,
    ],
    [
      'an unknown component',
      operations('trip', BASIC_CATALOG_ID, { components: [{ id: 'root', component: 'toString' }] }),
      /'toString' is not in the catalog/,
      /unknown_component at components\[0\]/,
    ],
  ])('shows that a tool has returned %s, and says why in the log', async (_, given, problem, code) => {
    const { agent } = make({ main: [{ call: 'show' }, 'Hm.'], show: () => ({ a2ui_operations: given }) })
    const logged: string[] = []
    const nothing = () => undefined
    const warn = (facts: object) => void logged.push(JSON.stringify(facts))
    const log = { debug: nothing, info: nothing, error: nothing, warn }
    const served = await serveAgents({ agents: [agent], log })
    const events = await served.talk().say('Show it.')
    const shown = shownIn(events)
    expect(shown).toMatchObject([{ status: 'failed' }])
    expect(shown[0]?.error).toMatch(problem)
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    expect(logged.join('\n')).toMatch(code)
  })

  it('reports a click to the agent, which answers it', async () => {
    const talker = make({
      main: [{ call: 'show' }, 'Look.', 'Booked Oslo.', 'As I said.'],
      show: () => toSurface(surface),
    })
    const served = await serveAgents({ agents: [talker.agent], store: 'sqlite' })
    const talk = served.talk()
    await talk.say('Show it.')
    const events = await talk.send({ forwardedProps: { a2uiAction: { userAction: click } } })
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
    expect(linesOf(talk.client.messages).at(-1)).toBe('assistant: Booked Oslo.')
    expect(talker.mainPrompts()[2]).toContain(JSON.stringify(clicked).slice(1, -1))
    const reported = (await historyOf(served)).filter(isReported)
    expect(linesOf(reported)).toEqual([
      `assistant: log_a2ui_event(${JSON.stringify(click)})`,
      `tool: ${clicked}`,
    ])
    await talk.say('What did I book?')
    expect(talker.mainPrompts()[3]).toContain('User performed action')
    expect((await historyOf(served)).filter(isReported)).toEqual(reported)
  })
})
