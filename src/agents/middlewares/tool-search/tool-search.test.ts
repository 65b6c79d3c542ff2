import { describe, expect, test } from 'vitest'
import { createClient, idOf, ofType, resultsIn, toResume } from '../../../../test/support/run-agent.js'
import { scriptedModel, type Script, type ScriptedModel } from '../../../models/index.js'
import { defineAgent } from '../../chat/chat-agent.js'
import type { Tool } from '../../contract.js'
import { agentTool } from '../../tools/agent-tool.js'
import { defineTool } from '../../tools/define-tool.js'
import { endsSoon } from '../../../../test/support/ends-soon.js'
import { rankTools, selectedNames, toolSearch, type ToolSearchOptions } from './tool-search.js'

function toolOf(name: string, description: string): Tool {
  return defineTool({ name, description, execute: () => `${name} did it` })
}

const weather = toolOf('weather', 'The weather in a city.')
const book = defineTool({
  name: 'book',
  description: 'Books a room.',
  parameters: { type: 'object', properties: { room: { type: 'integer' } }, required: ['room'] },
  execute: async (_, ctx) => (await ctx.interrupt({ message: 'Book it?' })).status,
})
const print = toolOf('print', 'Prints a page.')
const clock = toolOf('clock', 'The time.')
const tools = [weather, book, print]

function clerk(script: Script, options: Partial<ToolSearchOptions> = {}) {
  const model = scriptedModel(script)
  const middlewares = [toolSearch({ tools, ...options })]
  const agent = defineAgent({ name: 'clerk', instructions: 'Help.', model, tools: [clock], middlewares })
  return { model, agent, client: createClient(agent) }
}

const use = (id: string, name: string, args: Record<string, unknown> = {}) => ({
  toolCall: { id, name, args },
})
const find = (id: string, query: string, more = {}) => use(id, 'tool_search', { query, ...more })
const offered = ({ requests }: ScriptedModel) =>
  requests.map((one) => (one.tools ?? []).map(({ name }) => name).join())

describe('hidden tools', () => {
  test('are shown and can be called when they were found', async () => {
    const { client, model } = clerk([[find('c1', 'weather')], [use('c2', 'weather')], 'Sunny.'])
    const { outcome, events } = await client.say('What is the weather?')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Sunny.' })
    expect(offered(model)).toEqual([
      'clock,tool_search',
      'clock,tool_search,weather',
      'clock,tool_search,weather',
    ])
    expect(resultsIn(events)).toEqual([
      'c1: {"tools":[{"name":"weather","description":"The weather in a city."}],"note":"You can call these tools now."}',
      'c2: weather did it',
    ])
  })

  test('are named to the model', async () => {
    const { client, model } = clerk(['Hello.'])
    await client.say('Hello.')
    expect(model.requests[0]?.instructions).toMatch(/^Help\.\n\n.*tool_search.*:\nweather, book, print$/)
  })

  test('that are called anyway say how to find them', async () => {
    const { client, model } = clerk([
      [use('c1', 'print')],
      [find('c2', 'select:print')],
      [use('c3', 'print')],
      'Ok.',
    ])
    const { events } = await client.say('Print.')
    const [refused, , done] = ofType(events, 'TOOL_CALL_RESULT')
    expect(refused).toMatchObject({
      content: expect.stringContaining('call tool_search with the query "select:print"') as string,
      metadata: { millrace: { isError: true } },
    })
    expect(done?.content).toBe('print did it')
    expect(offered(model)[1]).toBe('clock,tool_search')
  })

  test('stay found in later runs of the thread', async () => {
    const { client, model } = clerk([[find('c1', 'print')], 'Found.', [use('c2', 'print')], 'Printed.'])
    await client.say('Can you print?')
    const { events } = await client.say('Then print.')
    expect(resultsIn(events)).toEqual(['c2: print did it'])
    expect(offered(model)[2]).toBe('clock,tool_search,print')
  })

  test('stay found when a run goes on after a question, also when the search is no longer among the messages', async () => {
    const { client, model } = clerk([
      [find('c1', 'select:book,weather')],
      [use('c2', 'book', { room: 1 })],
      [use('c3', 'weather')],
      'Booked.',
    ])
    const asked = await client.say('Book.')
    const found = { 'millrace:found-tools:clerk': ['book', 'weather'] }
    expect(client.checkpoint).toMatchObject({ values: found })
    const messages = client.messages.filter((one) => !JSON.stringify(one).includes('"c1"'))
    expect(messages).toHaveLength(client.messages.length - 2)
    const { outcome, events } = await client.send({ messages, resume: toResume({ [idOf(asked)]: true }) })
    expect(outcome).toMatchObject({ type: 'completed', text: 'Booked.' })
    expect(resultsIn(events)).toEqual(['c2: resolved', 'c3: weather did it'])
    expect(offered(model)[2]).toBe('clock,tool_search,weather,book')
  })

  test('of one run are not those of another', async () => {
    const { agent, model } = clerk(({ messages }) =>
      messages.length === 1 && messages[0]?.content === 'Find.' ? [find('c1', 'print')] : 'Ok.',
    )
    await Promise.all([createClient(agent).say('Find.'), createClient(agent).say('Hello.')])
    expect(offered(model).sort()).toEqual([
      'clock,tool_search',
      'clock,tool_search',
      'clock,tool_search,print',
    ])
  })

  test('of an agent are not those of one below it', async () => {
    const search = toolSearch({ tools })
    const inner = scriptedModel([[find('i1', 'print')], 'Found it.'])
    const helper = defineAgent({ name: 'helper', description: 'Helps.', model: inner, middlewares: [search] })
    const outer = scriptedModel([[use('c1', 'helper', { request: 'Find.' })], 'Ok.', 'Still.'])
    const boss = defineAgent({
      name: 'boss',
      model: outer,
      tools: [agentTool(helper)],
      middlewares: [search],
    })
    const client = createClient(boss)
    await client.say('Go.')
    await client.say('Again.')
    expect(offered(inner)).toEqual(['tool_search', 'tool_search,print'])
    expect(offered(outer)).toEqual(['helper,tool_search', 'helper,tool_search', 'helper,tool_search'])
  })
})

describe('a search', () => {
  const answers = async (query: string, more = {}, options = {}) => {
    const { client } = clerk([[find('c1', query, more)], 'Ok.'], options)
    const { events } = await client.say('Find.')
    const content = ofType(events, 'TOOL_CALL_RESULT')[0]?.content
    const { tools: found, note } = JSON.parse(content as string) as {
      tools: { name: string }[]
      note: string
    }
    return { names: found.map(({ name }) => name), note }
  }

  test('gives as many as it is asked for', async () => {
    expect(await answers('a')).toMatchObject({ names: ['weather', 'book', 'print'] })
    expect(await answers('a', { max_results: 1 })).toMatchObject({ names: ['weather'] })
    expect(await answers('a', {}, { maxResults: 2 })).toMatchObject({ names: ['weather', 'book'] })
  })

  test('by name gives all, and says which are not there', async () => {
    expect(await answers('select:print,fly,book', { max_results: 1 })).toEqual({
      names: ['print', 'book'],
      note: 'There is no tool fly. You can call these tools now.',
    })
  })

  test('that finds nothing says so', async () => {
    expect(await answers('fly')).toEqual({ names: [], note: 'Nothing was found. Try other words.' })
  })

  test('cuts long descriptions', async () => {
    const { client } = clerk([[find('c1', 'select:long')], 'Ok.'], {
      tools: [toolOf('long', 'x'.repeat(300))],
    })
    const { events } = await client.say('Find.')
    expect(resultsIn(events)[0]).toContain(`"${'x'.repeat(200)}..."`)
  })

  test.each([{ query: '' }, {}, { query: 'a', max_results: 0 }, { query: 'a', max_results: 51 }])(
    'is refused with %o',
    async (args) => {
      const { client } = clerk([[use('c1', 'tool_search', args)], 'Ok.'])
      const { events } = await client.say('Find.')
      expect(resultsIn(events)[0]).toMatch(/The arguments of tool 'tool_search' do not fit/)
    },
  )
})

describe('sources', () => {
  const source = (...own: Tool[]) => ({ tools: () => Promise.resolve(own) })

  test('are searched too', async () => {
    const { client, model } = clerk([[find('c1', 'print')], 'Ok.'], { tools: [weather, source(print)] })
    await client.say('Find.')
    expect(offered(model)).toEqual(['clock,tool_search', 'clock,tool_search,print'])
  })

  test('whose tool is gone do without it', async () => {
    const own = [print]
    const { client, model } = clerk([[find('c1', 'print')], 'Ok.', 'Ok.'], {
      tools: [{ tools: () => Promise.resolve(own) }],
    })
    await client.say('Find.')
    own.length = 0
    const { outcome } = await client.say('Print.')
    expect(outcome.type).toBe('completed')
    expect(offered(model)[2]).toBe('clock,tool_search')
  })

  test('that lack a tool which is always on are reported', async () => {
    const reports: string[] = []
    const { client } = clerk(['Ok.'], { tools: [source(print)], alwaysOn: ['fax'] })
    await client.say('Hello.', { onProblem: (problem) => reports.push(problem) })
    expect(reports.join()).toContain("no source has the tool 'fax'")
  })
})

test('tools that are always on are never hidden', async () => {
  const { client, model } = clerk([[use('c1', 'print')], 'Ok.'], { alwaysOn: ['print'] })
  expect(resultsIn((await client.say('Print.')).events)).toEqual(['c1: print did it'])
  expect(offered(model)[0]).toBe('clock,print,tool_search')
})

test.each([{ alwaysOn: ['fax'] }, { maxResults: 0 }, { maxResults: 51 }])(
  'the options %o are refused',
  (options) => {
    expect(() => toolSearch({ tools, ...options })).toThrow(
      expect.objectContaining({ code: 'INVALID_AGENT' }),
    )
  },
)

describe('a search', () => {
  const tools = [
    { name: 'get_weather', description: 'The weather in a city, now.' },
    { name: 'weatherHistory', description: 'Past temperatures.' },
    { name: 'book-room', description: 'Books a hotel room in a city.' },
    { name: 'cancel_booking', description: 'Cancels what was booked.' },
    { name: 'translate', description: 'Übersetzt Text. 翻訳する。' },
  ]

  const ranked = (query: string) => rankTools(tools, query).map(({ name }) => name)

  describe('a search', () => {
    test.each([
      ['weather', ['get_weather', 'weatherHistory']],
      ['history of weather', ['weatherHistory', 'get_weather']],
      ['book room', ['book-room', 'cancel_booking']],
      ['+city', ['get_weather', 'book-room']],
      ['+city hotel', ['book-room', 'get_weather']],
      ['+city +hotel', ['book-room']],
      ['+nothing weather', []],
      ['get_weather', ['get_weather']],
      ['WEATHER, "History"', ['weatherHistory', 'get_weather']],
      ['übersetzt', ['translate']],
      ['翻訳', ['translate']],
      ['nothing', []],
      ['   ', []],
      ['+', []],
    ])('for %o gives %o', (query, names) => {
      expect(ranked(query)).toEqual(names)
    })

    test('gives what fits equally well in the order of the tools', () => {
      const same = ['c', 'a', 'b'].map((name) => ({ name, description: 'Prints.' }))
      expect(rankTools(same, 'prints').map(({ name }) => name)).toEqual(['c', 'a', 'b'])
    })
  })

  test.each([
    ['select:a,b', ['a', 'b']],
    ['Select: a, b a ,', ['a', 'b']],
    ['select:', []],
    ['select a', undefined],
    ['a select:b', undefined],
  ])('the query %o selects %o', (query, names) => {
    expect(selectedNames(query)).toEqual(names)
  })
})

test('a query of any length takes little time', () => {
  const tools = [{ name: 'print', description: 'Prints.' }]
  expect(endsSoon(() => rankTools(tools, `print x${'('.repeat(300_000)}x`))).toEqual(tools)
})
