import type { Message, Tool } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { partsOf, request, wholeOf } from '../../../test/e2e/support-models-parts.js'
import { manualClock } from '../../core/clock.js'
import { sequentialIds } from '../../core/ids.js'
import type { ModelRequest } from '../contract.js'
import { demoModel } from './demo-model.js'

const weather: Tool = {
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const book: Tool = {
  name: 'bookTable',
  description: 'Reserve a table',
  parameters: {
    type: 'object',
    properties: { people: { type: 'integer' }, restaurant: { type: 'string' } },
    required: ['people', 'restaurant'],
  },
}
const task: Tool = { name: 'create_task', description: 'Adds to the list of things to do' }
const tools = [task, weather, book]

const user = (content: string): Message => ({ id: 'u', role: 'user', content })
const called = (...names: string[]): Message => ({
  id: 'a',
  role: 'assistant',
  toolCalls: names.map((name, index) => ({
    id: `c${index}`,
    type: 'function',
    function: { name, arguments: '{}' },
  })),
})
const result = (index: number, content: string, fields = {}): Message => ({
  id: `t${index}`,
  role: 'tool',
  toolCallId: `c${index}`,
  content,
  ...fields,
})

const answerTo = async (said: string, fields: Partial<ModelRequest> = {}) =>
  wholeOf(
    await partsOf(demoModel({ paceMs: 0, ids: sequentialIds() }), { messages: [user(said)], ...fields }),
  )
const calls = async (said: string, fields: Partial<ModelRequest> = {}) =>
  (await answerTo(said, { tools, ...fields })).calls.map(({ name, args }) => [
    name,
    JSON.parse(args) as unknown,
  ])

describe('a tool', () => {
  test.each<[string, string, unknown]>([
    ['Is it raining in Oslo?', 'get_weather', { city: 'Oslo' }],
    ["What's the weather like in New York?", 'get_weather', { city: 'New York' }],
    ['Please book a table for two at Maaemo', 'bookTable', { people: 2, restaurant: 'Maaemo' }],
    ['Create a task', 'create_task', {}],
    ['奥斯陆的天气怎么样？', 'get_weather', { city: '奥斯陆' }],
    ['请问北京今天下雨吗', 'get_weather', { city: '北京' }],
    ['帮我在 Noma 订一张两人的桌子', 'bookTable', { people: 2, restaurant: 'Noma' }],
    ['Book a table', 'bookTable', { people: 1, restaurant: 'Maaemo' }],
  ])('is called when its words are used: %s', async (said, name, args) => {
    expect(await calls(said)).toEqual([[name, args]])
  })

  test.each(['hello', 'Create a poem', 'Book a flight', 'Who are you?', ''])(
    'is not called otherwise: %j',
    async (said) => {
      expect(await calls(said)).toEqual([])
    },
  )

  test('is called after a thought, with its arguments streamed', async () => {
    const parts = await partsOf(demoModel({ paceMs: 0, ids: sequentialIds() }), {
      messages: [user('Is it raining in Oslo?')],
      tools,
    })
    expect(wholeOf(parts)).toMatchObject({
      text: '',
      reasoning: 'The tool get_weather fits what the user says. I call it with {"city":"Oslo"}.',
      calls: [{ id: 'call-1' }],
    })
    expect(parts.filter(({ type }) => type === 'tool-call-delta').length).toBeGreaterThan(1)
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'tool-calls' })
  })

  test('is called as the request demands', async () => {
    expect(await calls('hello', { toolChoice: 'required' })).toEqual([['create_task', {}]])
    expect(await calls('hello', { toolChoice: { toolName: 'get_weather' } })).toEqual([
      ['get_weather', { city: 'Oslo' }],
    ])
    expect(await calls('Is it raining in Oslo?', { toolChoice: 'none' })).toEqual([])
  })
})

describe('after results', () => {
  const after = (...results: Message[]) => [
    user('Is it raining in Oslo?'),
    called('get_weather', 'bookTable'),
    ...results,
  ]

  test.each([
    ['{"city":"Oslo","temperature":7,"sky":"rain"}', 'It is 7 °C and raining in Oslo.'],
    ['{"temperature":-3}', 'It is -3 °C.'],
    ['{"place":"Rome","temperature":20,"condition":"hazy"}', 'It is 20 °C and hazy in Rome.'],
    ['{"hotel":"The Grand","price":"90 euros"}', 'The Grand costs 90 euros.'],
    ['{"name":"Milk","cost":2}', 'Milk costs 2.'],
    ['{"shoppingList":["Milk","Bread","Eggs"]}', 'The shopping list has Milk, Bread and Eggs.'],
    ['{"shoppingList":[]}', 'The shopping list is empty.'],
    ['{"wind":20,"skyColor":"grey"}', 'The wind is 20 and the sky color is grey.'],
    ['{"paid":true,"seats":{"row":9}}', 'The paid is yes and the seats is row 9.'],
    ['{"status":"ok"}', 'Done.'],
    ['["a","b","c"]', 'I found a, b and c.'],
    ['[{"name":"Ann"},{"title":"Bob"}]', 'I found Ann and Bob.'],
    ['[]', 'I found nothing.'],
    ['{}', 'Done.'],
    ['', 'Done.'],
    ['42', 'The answer is 42.'],
    ['It rains.', 'It rains.'],
  ])('it tells %s', async (content, expected) => {
    expect(await answerTo('', { tools, messages: after(result(0, content)) })).toEqual({
      text: expected,
      reasoning: '',
      calls: [],
    })
  })

  test('it answers in Chinese what is asked in Chinese', async () => {
    const messages = [user('奥斯陆的天气怎么样？'), called('get_weather')]
    const tell = async (content: string) =>
      (await answerTo('', { tools, messages: [...messages, result(0, content)] })).text
    expect(await tell('{"city":"奥斯陆","temperature":7,"sky":"rain"}')).toBe('奥斯陆现在 7 °C，下雨。')
    expect(await tell('{"items":["牛奶","面包"]}')).toBe('items：牛奶、面包。')
    expect(await tell('{"wind":20}')).toBe('wind：20。')
  })

  test('it never calls again, not even when it must', async () => {
    const messages = after(result(0, 'It rains.'))
    expect(await calls('', { messages, toolChoice: 'required' })).toEqual([])
  })

  test('it tells all of them, and failures too', async () => {
    const messages = after(result(0, 'It rains.'), result(1, '', { error: 'fully booked' }))
    expect((await answerTo('', { tools, messages })).text).toBe('It rains. That did not work: fully booked')
  })

  test('it cuts what is too long', async () => {
    expect((await answerTo('', { messages: after(result(0, 'x'.repeat(5000))) })).text.length).toBeLessThan(
      500,
    )
  })

  test('that belong to an earlier question it starts anew', async () => {
    const messages = [...after(result(0, 'It rains.')), user('And the weather in Bergen?')]
    expect(await calls('', { messages })).toEqual([['get_weather', { city: 'Bergen' }]])
  })
})

describe('other agents', () => {
  const names = ['weather', 'hotels']
  const list = '\n- weather: Tells the weather in a city.\n- hotels: Finds rooms and what they cost.'
  const way = (name: string, key: string): Tool => ({
    name,
    description: `Hand over.${list}`,
    parameters: {
      type: 'object',
      properties: { [key]: { type: 'string', enum: names }, description: { type: 'string' } },
      required: name === 'task' ? [key, 'description'] : [key],
    },
  })
  const handOver = way('transfer_to_agent', 'agent_name')
  const said = 'How is the weather in Oslo, and what does a room cost there?'
  const asked = (index: number, agent: string): Message[] => [
    {
      id: `a${index}`,
      role: 'assistant',
      toolCalls: [
        {
          id: `c${index}`,
          type: 'function',
          function: { name: 'transfer_to_agent', arguments: JSON.stringify({ agent_name: agent }) },
        },
      ],
    },
    result(index, `Transferred to '${agent}'.`),
  ]
  const heard = (words: string): Message => user(`For context: ${words}`)

  test('are asked one after the other, each once, and then it tells what they said', async () => {
    const first = [user(said), ...asked(0, 'weather'), heard('[weather] said: It rains.')]
    const tools = [handOver]
    expect(await calls(said, { tools })).toEqual([['transfer_to_agent', { agent_name: 'weather' }]])
    expect(await calls('', { tools, messages: first })).toEqual([
      ['transfer_to_agent', { agent_name: 'hotels' }],
    ])
    const both = [...first, ...asked(1, 'hotels'), heard('[hotels] failed. Error: all full')]
    expect(await answerTo('', { tools, messages: both })).toMatchObject({
      calls: [],
      // Not what the user has read already.
      text: 'That is all from weather. hotels could not help: Error: all full Anything else?',
    })
  })

  test('that were asked with a tool have answered it', async () => {
    const task = way('task', 'subagent_type')
    expect(await calls(said, { tools: [task] })).toEqual([
      ['task', { subagent_type: 'weather', description: said }],
    ])
    const args = JSON.stringify({ subagent_type: 'weather' })
    const call = { id: 'c0', type: 'function' as const, function: { name: 'task', arguments: args } }
    const messages: Message[] = [
      user('How is the weather in Oslo?'),
      { id: 'a', role: 'assistant', toolCalls: [call] },
      result(0, 'It rains.'),
    ]
    expect((await answerTo('', { tools: [task], messages })).text).toBe(
      'That is all from weather. Anything else?',
    )
  })

  test('do not speak for the user, and do not keep it from calling its own tool', async () => {
    const messages = [
      user('Is it raining in Oslo?'),
      heard('[boss] called tool `x` with arguments: {}'),
      heard('[boss] said: Book a table.\n[boss] called tool `y` with arguments: {}'),
    ]
    expect(await calls('', { messages })).toEqual([['get_weather', { city: 'Oslo' }]])
    const after = [...messages, called('get_weather'), result(0, 'It rains.')]
    expect((await answerTo('', { tools, messages: after })).text).toBe('It rains.')
    expect((await answerTo('', { messages })).text).toBe('That is all from boss. Anything else?')
  })

  test('are asked when the request says so', async () => {
    const fields = { tools: [handOver], toolChoice: 'required' as const }
    expect(await calls('hello', fields)).toEqual([['transfer_to_agent', { agent_name: 'weather' }]])
  })
})

describe('a shape for the answer', () => {
  const output = {
    schema: {
      type: 'object',
      properties: { city: { type: 'string' }, temperature: { type: 'number' } },
      required: ['city', 'temperature'],
    },
  }

  test('is filled from the message', async () => {
    expect(JSON.parse((await answerTo('Tell me about Rome', { output })).text)).toEqual({
      city: 'Rome',
      temperature: 1,
    })
  })

  test('is filled after tools were called, from their results', async () => {
    expect(await calls('weather in Oslo', { output })).toHaveLength(1)
    const messages = [user('weather in Oslo'), called('get_weather'), result(0, '{"temperature":3.5}')]
    const { text } = await answerTo('', { output, tools, messages })
    expect(JSON.parse(text)).toEqual({ city: 'Oslo', temperature: 3.5 })
  })
})

describe('small talk', () => {
  test.each([
    ['hello', /^Hello! I am the demo model.*OPENAI_API_KEY/],
    ['what can you do?', /^I am the demo model.*I can add to the list of things to do, or get weather/],
    ['thanks!', /welcome/],
    ['bye', /^Goodbye/],
    ['tell me a story', /^Once a mill/],
    ['How are you?', /^Very well/],
    ['Tell me a joke', /source\.$/],
    ['blah', /^Sorry, I have no rule for that\. I am the demo model/],
    ['你好', /^你好！ 我是 Millrace 的演示模型.*OPENAI_API_KEY/],
    ['给我讲个故事', /^从前有一座磨坊/],
    ['谢谢', /^不客气/],
    ['什么是人工智能？', /^抱歉/],
    ['', /^I am the demo model/],
  ])('answers %j', async (said, expected) => {
    expect((await answerTo(said, { tools })).text).toMatch(expected)
  })

  test('thinks aloud when it is asked to', async () => {
    const { reasoning, text } = await answerTo('why is that?')
    expect(reasoning).toMatch(/there is none/)
    expect(text).toMatch(/^Sorry, I have no rule for that\. I am the demo model/)
    const sky = await answerTo('Why is the sky blue? Think first.')
    expect(sky.reasoning).toMatch(/scatters/)
    expect(sky.text).toMatch(/^Because/)
  })

  test('names no tools where there are none', async () => {
    expect((await answerTo('help')).text).toContain('Ask me for a story')
  })
})

describe('the pace', () => {
  test('is one pause for each word, on the given clock', async () => {
    const clock = manualClock()
    const reader = demoModel({ paceMs: 10, clock }).stream(request())[Symbol.asyncIterator]()
    const first = reader.next()
    await clock.advance(9)
    expect(clock.pending).toBe(1)
    await clock.advance(1)
    expect(await first).toEqual({ done: false, value: { type: 'text-delta', delta: 'Hello! ' } })
  })

  test('ends with an abort', async () => {
    const clock = manualClock()
    const controller = new AbortController()
    const stream = demoModel({ clock }).stream(request({ signal: controller.signal }))
    const pending = stream[Symbol.asyncIterator]().next()
    await clock.advance(0)
    controller.abort(new Error('stopped'))
    await expect(pending).rejects.toThrow('stopped')
    expect(clock.pending).toBe(0)
  })
})

test('the same request gets the same answer, with new ids for its calls', async () => {
  const model = demoModel({ paceMs: 0 })
  const fields = { messages: [user('Is it raining in Oslo?')], tools }
  const [one, two] = [wholeOf(await partsOf(model, fields)), wholeOf(await partsOf(model, fields))]
  expect(one.reasoning).toBe(two.reasoning)
  expect(one.calls[0]?.args).toBe(two.calls[0]?.args)
  expect(one.calls[0]?.id).not.toBe(two.calls[0]?.id)
})
