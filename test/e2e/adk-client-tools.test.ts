import { FunctionTool, LlmAgent, type LlmAgentConfig } from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { clientTools, fromAdk } from '../../src/adk/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import {
  requestLines,
  callId,
  callsIn,
  clientTool,
  dataIn,
  historyOf,
  serveAdk,
  textIn,
  type ServeAdkOptions,
} from '../support/adk/serve-adk.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import { ofType } from '../support/run-agent.js'
import { clientVersions } from '../support/serve-agents.js'
import { inputOf, user } from './support-server.js'

const looked: string[] = []
const look = new FunctionTool({
  name: 'look',
  description: 'Looks something up.',
  parameters: z.object({ what: z.string() }),
  execute: ({ what }) => {
    looked.push(what)
    return { found: what }
  },
})
const tools = [clientTool('pick'), clientTool('draw')]
const both = callsTool({ name: 'pick', args: { n: 1 } }, { name: 'draw', args: { n: 2 } })

async function serveTools(
  steps: readonly LlmStep[],
  { config = {}, ...rest }: Partial<ServeAdkOptions> & { config?: Partial<LlmAgentConfig> } = {},
) {
  looked.length = 0
  const llm = new ScriptedLlm(steps)
  const make = () => fromAdk(new LlmAgent({ name: 'helper', model: llm, tools: [look], ...config }))
  return { llm, served: await serveAdk({ make, ...rest }) }
}

const answeredBoth = [
  'user: Go',
  'model: pick({"n":1}) | draw({"n":2})',
  'user: pick -> {"result":"red"} | draw -> {"result":"done"}',
]

describe.each(clientVersions)('with the client $version', ({ Client }) => {
  it('parallel calls are answered together', async () => {
    const { llm, served } = await serveTools([both, says('Nice.')])
    const talk = served.talk({ Client })
    const events = await talk.say('Go', { tools })
    expect(callsIn(events).map(({ name }) => name)).toEqual(['pick', 'draw'])
    const results = { [callId(events, 'pick')]: 'red', [callId(events, 'draw')]: 'done' }
    expect(textIn(await talk.answer(results, { tools }))).toBe('Nice.')
    expect(requestLines(llm.calls[1])).toEqual(answeredBoth)
    expect(await historyOf(served)).toEqual(talk.client.messages)
  })

  it('#1935: parallel calls are answered one by one: the model is asked when all are there', async () => {
    const { llm, served } = await serveTools([both, says('Nice.')])
    const talk = served.talk({ Client })
    const events = await talk.say('Go', { tools })
    // In the other order.
    const held = await talk.answer({ [callId(events, 'draw')]: 'done' }, { tools })
    expect(held.at(-1)?.type).toBe('RUN_FINISHED')
    expect([textIn(held), llm.calls.length]).toEqual(['', 1])
    expect(textIn(await talk.answer({ [callId(events, 'pick')]: 'red' }, { tools }))).toBe('Nice.')
    expect(requestLines(llm.calls[1])).toEqual(answeredBoth)
  })
})

it('a result that comes after another message is told to the model, once', async () => {
  const { llm, served } = await serveTools([
    callsTool({ name: 'pick' }),
    says('Then not.'),
    says('Ah, red.'),
    says('Bye.'),
  ])
  const talk = served.talk()
  const id = callId(await talk.say('Go', { tools }), 'pick')
  expect(textIn(await talk.say('Never mind', { tools }))).toBe('Then not.')
  // Each call has an answer, also the one that nobody gave.
  expect(requestLines(llm.calls[1]).slice(0, 2)).toEqual(['user: Go', 'model: pick({})'])
  expect(requestLines(llm.calls[1])[2]).toMatch(/^user: pick -> \{/)
  expect(requestLines(llm.calls[1]).at(-1)).toMatch(/Never mind$/)
  await talk.answer({ [id]: 'red' }, { tools })
  const told = JSON.stringify(llm.calls[2])
  expect(told.match(/red/g)).toHaveLength(1)
  await talk.say('Bye', { tools })
  expect(JSON.stringify(llm.calls[3]).match(/"[^"]*red[^"]*"/g)).toHaveLength(2)
  expect(JSON.stringify(llm.calls[3])).toContain('Ah, red.')
})

it('a result that comes twice counts once', async () => {
  const { llm, served } = await serveTools([callsTool({ name: 'pick' }), says('Red.'), says('Bye.')])
  const talk = served.talk()
  const id = callId(await talk.say('Go', { tools }), 'pick')
  await talk.answer({ [id]: 'red' }, { tools })
  const again = await talk.answer({ [id]: 'blue' }, { tools })
  expect([textIn(again), llm.calls.length]).toEqual(['', 2])
  await talk.say('Bye', { tools })
  expect(JSON.stringify(llm.calls[2])).not.toContain('blue')
  expect(requestLines(llm.calls[2])).toEqual([
    'user: Go',
    'model: pick({})',
    'user: pick -> {"result":"red"}',
    'model: Red.',
    'user: Bye',
  ])
})

it('a call that is never answered is in nobody’s way, over several turns', async () => {
  const { llm, served } = await serveTools([both, says('All right.'), says('Yes.'), says('Bye.')])
  const talk = served.talk()
  await talk.say('Go', { tools })
  for (const word of ['Forget it', 'Still here?', 'Bye']) await talk.say(word, { tools })
  const contents = llm.calls[3] ?? []
  const calls = contents.flatMap(({ parts = [] }) => parts.filter(({ functionCall }) => functionCall))
  const results = contents.flatMap(({ parts = [] }) =>
    parts.filter(({ functionResponse }) => functionResponse),
  )
  expect([calls.length, results.length]).toEqual([2, 2])
  expect(textIn(talk.streams.at(-1)?.events ?? [])).toBe('Bye.')
})

it('a call beside one of a backend tool waits until that has run, and its result is not lost', async () => {
  const { llm, served } = await serveTools([
    callsTool({ name: 'look', args: { what: 'x' } }, { name: 'pick' }, { name: 'look', args: { what: 'y' } }),
    says('Good.'),
  ])
  const talk = served.talk()
  const events = await talk.say('Go', { tools })
  expect(looked).toEqual(['x', 'y'])
  expect(ofType(events, 'TOOL_CALL_RESULT').map(({ content }) => content)).toEqual([
    '{"found":"x"}',
    '{"found":"y"}',
  ])
  expect(llm.calls).toHaveLength(1)
  expect(textIn(await talk.answer({ [callId(events, 'pick')]: '{"color":"red"}' }, { tools }))).toBe('Good.')
  expect(requestLines(llm.calls[1])).toEqual([
    'user: Go',
    'model: look({"what":"x"}) | pick({}) | look({"what":"y"})',
    'user: look -> {"found":"x"} | pick -> {"color":"red"} | look -> {"found":"y"}',
  ])
  expect(looked).toEqual(['x', 'y'])
})

it('tools have a prefix for the model, a filter, and their own names for the client', async () => {
  const { llm, served } = await serveTools([callsTool({ name: 'ui_pick', args: { n: 1 } }), says('Good.')], {
    config: { tools: [look, clientTools({ prefix: 'ui_', filter: ['pick'] })] },
  })
  const talk = served.talk()
  const events = await talk.say('Go', { tools })
  expect(Object.keys(llm.requests[0]?.toolsDict ?? {}).toSorted()).toEqual(['look', 'ui_pick'])
  expect(callsIn(events)).toMatchObject([{ name: 'pick' }])
  expect(JSON.stringify(talk.client.messages)).not.toContain('ui_')
  await talk.answer({ [callId(events, 'pick')]: 'red' }, { tools })
  expect(requestLines(llm.calls[1])).toEqual([
    'user: Go',
    'model: ui_pick({"n":1})',
    'user: ui_pick -> {"result":"red"}',
  ])
  expect(JSON.stringify(await historyOf(served))).not.toContain('ui_')
})

it('after a restart the prefixed name is the model’s again', async () => {
  const { llm, served } = await serveTools([callsTool({ name: 'ui_pick', args: { n: 1 } }), says('Good.')], {
    config: { tools: [clientTools({ prefix: 'ui_' })] },
    store: 'sqlite',
  })
  const talk = served.talk()
  const id = callId(await talk.say('Go', { tools }), 'pick')
  const next = (await served.restart()).talk()
  next.client.setMessages(talk.client.messages)
  await next.answer({ [id]: 'red' }, { tools })
  expect(requestLines(llm.calls[1])).toEqual([
    'user: Go',
    'model: ui_pick({"n":1})',
    'user: ui_pick -> {"result":"red"}',
  ])
})

it('a tool of the client stands back behind one of the agent with the same name', async () => {
  const { llm, served } = await serveTools([callsTool({ name: 'look', args: { what: 'x' } }), says('Good.')])
  const body = inputOf({
    messages: [user('u1', 'Go')],
    tools: [clientTool('look'), clientTool('pick')],
  })
  const { text } = await served.ask('POST /run', { body })
  const events = dataIn(text)
  // Without the client's tools: the linter takes a call to one of their names for the client's.
  assertValidStream(events)
  expect(textIn(events)).toBe('Good.')
  expect([looked, llm.calls.length]).toEqual([['x'], 2])
  expect(Object.keys(llm.requests[0]?.toolsDict ?? {}).toSorted()).toEqual(['look', 'pick'])
  expect(served.logged.some((line) => line.startsWith('warn'))).toBe(true)
})

it('an answer goes on after a restart, threads in SQLite and sessions in memory', async () => {
  const steps = [
    callsTool({ name: 'look', args: { what: 'x' } }),
    callsTool({ name: 'pick' }, { name: 'draw' }),
    says('Good.'),
    says('Bye.'),
  ]
  const { llm, served } = await serveTools(steps, { store: 'sqlite' })
  const talk = served.talk()
  const events = await talk.say('Go', { tools })
  const second = await served.restart()
  const next = second.talk()
  next.client.setMessages(talk.client.messages)
  // One before the next restart, one after it.
  await next.answer({ [callId(events, 'draw')]: 'done' }, { tools })
  expect(llm.calls).toHaveLength(2)
  const third = (await second.restart()).talk()
  third.client.setMessages(next.client.messages)
  expect(textIn(await third.answer({ [callId(events, 'pick')]: 'red' }, { tools }))).toBe('Good.')
  expect(looked).toEqual(['x'])
  expect(requestLines(llm.calls[2])).toEqual([
    'user: Go',
    'model: look({"what":"x"})',
    'user: look -> {"found":"x"}',
    'model: pick({}) | draw({})',
    'user: pick -> {"result":"red"} | draw -> {"result":"done"}',
  ])
  await third.say('Bye', { tools })
  expect(requestLines(llm.calls[3]).slice(5)).toEqual(['model: Good.', 'user: Bye'])
})
