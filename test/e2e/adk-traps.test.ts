/*
 * What went wrong in other bridges between ADK and AG-UI, one test for each symptom, named after the report of it.
 * Those that are not here have a test elsewhere under the same number: beside the source (#906, #968, #1003, #1168,
 * #1264, #1334, #1786; `additionalProperties` and `oneOf` in clean-schema.test.ts), or in a file of this folder (#769,
 * #870, #1080, #1323, #1331, #1444, #1571, #1601, #1669, #1719, #1839, #1892, #1935, #2206, #2356, a skipped run).
 *
 * What cannot occur:
 * - #1880, stale reads of a cached session: a run has the session to itself, by the lease of its thread, and reads it once.
 * - #1652/#1732/#1754, optimistic locks: DatabaseSessionService of `@google/adk` for TypeScript has none, and nothing but
 *   the events of ADK is written while a run is at work. That a database works is in adk-database-sessions.test.ts.
 * - #1347 as such: no endpoint puts JSON into a string. What clients get is looked at all the same.
 */
/* eslint-disable @typescript-eslint/no-deprecated -- composites are on their way out, and in use */
import {
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  LongRunningFunctionTool,
  SequentialAgent,
  START,
  StreamingMode,
  Workflow,
  type BaseAgent,
  type Event,
} from '@google/adk'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk, type AdkOptions } from '../../src/adk/index.js'
import {
  requestLines,
  callId,
  callsIn,
  clientTool,
  historyOf,
  interruptsIn,
  serveAdk,
  stateOf,
  textIn,
} from '../support/adk/serve-adk.js'
import {
  callsTool,
  partial,
  partialThought,
  says,
  ScriptedLlm,
  whole,
  type LlmStep,
} from '../support/adk/scripted-llm.js'
import { deferred, ofType } from '../support/run-agent.js'
import { linesOf, serveAgents, type ServeAgentsOptions } from '../support/serve-agents.js'
import { inputOf, user } from './support-server.js'

const tools = [clientTool('pick'), clientTool('draw')]
const sessionKey = { appName: 'helper', userId: 'local', sessionId: 'thread-1' }

function look(during: () => unknown = () => undefined) {
  return new FunctionTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({}),
    execute: async () => {
      await during()
      return { found: 'x' }
    },
  })
}

interface TrapOptions {
  readonly options?: AdkOptions
  readonly tools?: LlmAgent['tools']
  readonly server?: Partial<Omit<ServeAgentsOptions, 'agents'>>
  readonly rootOf?: (llm: ScriptedLlm) => BaseAgent | Workflow
}

/** An agent with sessions that outlive the server, served; and once more by a server that has no threads. */
async function trap(steps: readonly LlmStep[], given: TrapOptions = {}) {
  const llm = new ScriptedLlm(steps)
  const sessionService = new InMemorySessionService()
  const rootOf =
    given.rootOf ?? ((model) => new LlmAgent({ name: 'helper', model, tools: given.tools ?? [look()] }))
  const make = () => fromAdk(rootOf(llm), { sessionService, ...given.options })
  const served = await serveAdk({ make, ...given.server })
  return {
    llm,
    served,
    talk: served.talk(),
    events: async (): Promise<readonly Event[]> =>
      (await sessionService.getSession(sessionKey))?.events ?? [],
    elsewhere: () => serveAgents({ agents: [make()] }),
  }
}

const eventParts = (events: readonly Event[]) => events.flatMap(({ content }) => content?.parts ?? [])

it('#400 cumulative pieces: the message is not repeated after the stream', async () => {
  const pieces = ['Hel', 'Hello', 'Hello wor', 'Hello world'].map(partial)
  const { talk } = await trap([[...pieces, whole([{ text: 'Hello world' }])]])
  const events = await talk.say('Go')
  expect(textIn(events)).toBe('Hello world')
  expect(ofType(events, 'TEXT_MESSAGE_START')).toHaveLength(1)
})

it('#742 consolidated text: the whole answer is not appended once more', async () => {
  const { talk } = await trap([says('One ', 'two ', 'three')])
  const events = await talk.say('Go')
  expect([textIn(events), ofType(events, 'TEXT_MESSAGE_START').length]).toEqual(['One two three', 1])
})

it('an empty text: no delta is empty', async () => {
  const { talk } = await trap([
    [partial(''), partial(' '), partial('a'), partial(''), whole([{ text: ' a' }])],
  ])
  const events = await talk.say('Go')
  expect(ofType(events, 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta)).toEqual([' ', 'a'])
})

it('#437 no summary: the tool runs once, its result is shown, and its replay asks nobody', async () => {
  const quiet = new FunctionTool({
    name: 'quiet',
    description: 'Says all by itself.',
    parameters: z.object({}),
    execute: (_, context) => {
      if (context) context.actions.skipSummarization = true
      return { shown: true }
    },
  })
  const { llm, talk, events } = await trap([callsTool({ name: 'quiet' }), says('ok')], { tools: [quiet] })
  const first = await talk.say('Go')
  expect(ofType(first, 'TOOL_CALL_RESULT')).toMatchObject([{ content: '{"shown":true}' }])
  expect(first.at(-1)?.type).toBe('RUN_FINISHED')
  await talk.send()
  expect(llm.calls).toHaveLength(1)
  // Stored once, too.
  expect(eventParts(await events()).filter(({ functionResponse }) => functionResponse)).toHaveLength(1)
  await talk.say('Go on')
  expect(requestLines(llm.calls[1])).toEqual([
    'user: Go',
    'model: quiet({})',
    'user: quiet -> {"shown":true}',
    'user: Go on',
  ])
})

it('#765 a long-running tool that answers at once: its result is not missing', async () => {
  const tool = new LongRunningFunctionTool({
    name: 'order',
    description: 'Orders.',
    parameters: z.object({}),
    execute: () => ({ ticket: 7 }),
  })
  const { talk } = await trap([callsTool({ name: 'order' }), says('Ordered.')], { tools: [tool] })
  const events = await talk.say('Go')
  expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([{ content: '{"ticket":7}' }])
  expect(textIn(events)).toBe('Ordered.')
})

it('#905 the author is the name of an agent: its messages are in the history', async () => {
  const child = new ScriptedLlm([says('From the child.')])
  const { talk, elsewhere } = await trap(
    [callsTool({ name: 'transfer_to_agent', args: { agentName: 'child' } })],
    {
      rootOf: (model) =>
        new LlmAgent({ name: 'helper', model, subAgents: [new LlmAgent({ name: 'child', model: child })] }),
    },
  )
  await talk.say('Go')
  const messages = await historyOf(await elsewhere())
  expect(messages.at(-1)).toMatchObject({ role: 'assistant', name: 'child', content: 'From the child.' })
})

it('#957 no event without an invocation: databases refuse those', async () => {
  const { served, talk, events } = await trap([callsTool({ name: 'pick' }), says('One.'), says('Two.')])
  talk.client.setState({ a: 1 })
  const first = await talk.say('Go', { tools })
  await talk.answer({ [callId(first, 'pick')]: 'red' }, { tools })
  await served.ask('PATCH /state/thread-1', { body: [{ op: 'add', path: '/b', value: 2 }] })
  // Edited, so that something is cut off.
  talk.client.setMessages([user('u9', 'Anew')])
  await talk.send({ tools })
  const stored = await events()
  expect(stored.length).toBeGreaterThan(6)
  expect(stored.filter(({ invocationId }) => !invocationId)).toEqual([])
})

it('#1021 a server that has not seen the thread: it returns its messages', async () => {
  const { talk, elsewhere } = await trap([says('One.')])
  await talk.say('Go')
  expect(linesOf(await historyOf(await elsewhere()))).toEqual(['user: Go', 'assistant: One.'])
})

it('#1051/#1515 a message on another server: an open question is not wiped', async () => {
  const remove = new FunctionTool({
    name: 'remove',
    description: 'Removes.',
    parameters: z.object({}),
    requireConfirmation: true,
    execute: () => ({ removed: true }),
  })
  const { llm, talk, elsewhere } = await trap([callsTool({ name: 'remove' }), says('Gone.')], {
    tools: [remove],
  })
  const [question] = interruptsIn(await talk.say('Remove it'))
  const other = await elsewhere()
  const body = inputOf({ messages: [...talk.client.messages, user('u2', 'Hello?')] })
  expect(interruptsIn((await other.stream('/run', { body })).events)).toMatchObject([{ id: question?.id }])
  const resume = [{ interruptId: question?.id ?? '', status: 'resolved', payload: { confirmed: true } }]
  const { events } = await other.stream('/run', { body: { ...body, runId: 'run-2', resume } })
  expect([textIn(events), llm.calls.length]).toEqual(['Gone.', 2])
})

it('#1059 a call of a client’s tool in a stream: the turn of the agent is stored', async () => {
  const { talk, events } = await trap([
    [partial('Let me '), whole([{ text: 'Let me ' }, { functionCall: { name: 'pick', args: {} } }])],
  ])
  await talk.say('Go', { tools })
  const parts = eventParts(await events())
  expect(parts.filter(({ functionCall }) => functionCall)).toHaveLength(1)
  expect(parts.some(({ text }) => text === 'Let me ')).toBe(true)
})

it('#1074/#1075 a result is stored once, and the agent answers to it; in a workflow too', async () => {
  for (const rootOf of [
    (model: ScriptedLlm) => new LlmAgent({ name: 'helper', model }),
    (model: ScriptedLlm) =>
      new Workflow({ name: 'helper', edges: [[START, new LlmAgent({ name: 'node', model })]] }),
  ]) {
    const { llm, talk, events } = await trap([callsTool({ name: 'pick' }), says('Red.')], { rootOf })
    const first = await talk.say('Go', { tools })
    expect(textIn(await talk.answer({ [callId(first, 'pick')]: 'red' }, { tools }))).toBe('Red.')
    expect(eventParts(await events()).filter(({ functionResponse }) => functionResponse)).toHaveLength(1)
    expect(requestLines(llm.calls[1])).toEqual([
      'user: Go',
      'model: pick({})',
      'user: pick -> {"result":"red"}',
    ])
  }
})

it('#1110 thoughts: after a reload they are no answer', async () => {
  const thinking = [partialThought('Secretly.'), partial('Well.')]
  const end = whole([{ text: 'Secretly.', thought: true }, { text: 'Well.' }])
  const { talk, elsewhere } = await trap([[...thinking, end]])
  await talk.say('Go')
  const lines = linesOf(await historyOf(await elsewhere()))
  expect(lines).toEqual(['user: Go', 'reasoning: Secretly.', 'assistant: Well.'])
  expect(lines).toEqual(linesOf(talk.client.messages))
})

it('#1168 a client that sends the state back: the second round of tools works', async () => {
  const { talk, llm } = await trap([callsTool({ name: 'pick' }), callsTool({ name: 'pick' }), says('Done.')])
  const first = await talk.say('Go', { tools })
  talk.client.setState({ ...(talk.client.state as object), mine: 1 })
  const second = await talk.answer({ [callId(first, 'pick')]: 'red' }, { tools })
  expect(textIn(await talk.answer({ [callId(second, 'pick')]: 'blue' }, { tools }))).toBe('Done.')
  expect(requestLines(llm.calls[2]).filter((line) => line.startsWith('user: pick'))).toEqual([
    'user: pick -> {"result":"red"}',
    'user: pick -> {"result":"blue"}',
  ])
})

it('#1347 JSON in JSON: state and messages are no strings', async () => {
  const { served, talk } = await trap([says('One.')])
  talk.client.setState({ list: [1] })
  await talk.say('Go')
  expect(await stateOf(served)).toEqual({ list: [1] })
  expect(Array.isArray(await historyOf(served))).toBe(true)
})

it('#1390/#1860 an output schema: no raw JSON in the chat, and others are heard', async () => {
  const data = new ScriptedLlm([says('{"n":', '1}')])
  const { talk } = await trap([says('I am heard.')], {
    rootOf: (model) =>
      new SequentialAgent({
        name: 'helper',
        subAgents: [
          new LlmAgent({
            name: 'data',
            model: data,
            outputSchema: z.object({ n: z.number() }),
            outputKey: 'n',
          }),
          new LlmAgent({ name: 'voice', model }),
        ],
      }),
  })
  const events = await talk.say('Go')
  expect(textIn(events)).toBe('I am heard.')
  expect(talk.client.state).toMatchObject({ n: { n: 1 } })
})

it('#1405/#1771 an image: the model sees it, and it stays in the history', async () => {
  const { llm, talk, elsewhere } = await trap([says('A cat.'), says('Still a cat.')])
  const content = [
    { type: 'text' as const, text: 'What is it?' },
    { type: 'image' as const, source: { type: 'data' as const, value: 'aGVsbG8=', mimeType: 'image/png' } },
  ]
  talk.client.addMessage({ id: 'u1', role: 'user', content })
  await talk.send()
  const seen = { inlineData: { data: 'aGVsbG8=', mimeType: 'image/png' } }
  expect(llm.calls[0]?.[0]?.parts).toMatchObject([{ text: 'What is it?' }, seen])
  expect((await historyOf(await elsewhere()))[0]?.content).toMatchObject(content)
  await talk.say('Sure?')
  expect(llm.calls[1]?.[0]?.parts).toMatchObject([{ text: 'What is it?' }, seen])
})

it('#1484/#1514 a result and a message on another server: the model gets the result first', async () => {
  const { llm, talk, elsewhere } = await trap([callsTool({ name: 'pick' }), says('Red.')])
  const id = callId(await talk.say('Go', { tools }), 'pick')
  const next = (await elsewhere()).talk()
  next.client.setMessages(talk.client.messages)
  next.client.addMessage({ id: 't1', role: 'tool', toolCallId: id, content: 'red' })
  expect(textIn(await next.say('There you are', { tools }))).toBe('Red.')
  expect(requestLines(llm.calls[1]).join('\n')).toMatch(
    /pick\(\{\}\)\nuser: pick -> \{"result":"red"\}[^]*There you are$/,
  )
})

it('#1534 a result as all that is new: the agent says something', async () => {
  const { talk } = await trap([callsTool({ name: 'pick' }), says('Red it is.')], {
    options: { runConfig: { streamingMode: StreamingMode.NONE } },
  })
  const id = callId(await talk.say('Go', { tools }), 'pick')
  expect(textIn(await talk.answer({ [id]: 'red' }, { tools }))).toBe('Red it is.')
})

it('#1536 a client’s tool in the very first turn: the call is sent whole', async () => {
  const { talk } = await trap([callsTool({ name: 'pick', args: { n: 1 } })])
  const types = (await talk.say('Go', { tools })).map(({ type }) => type)
  expect(types.filter((type) => type.startsWith('TOOL_CALL'))).toEqual([
    'TOOL_CALL_START',
    'TOOL_CALL_ARGS',
    'TOOL_CALL_END',
  ])
})

it('#1581 a client that answers before the run is over: the result is not dropped', async () => {
  const mayEnd = deferred()
  const { served, talk } = await trap([callsTool({ name: 'pick' }, { name: 'look' }), says('Red.')], {
    tools: [look(() => mayEnd.promise)],
    server: { whenBusy: 'wait' },
  })
  const running = talk.say('Go', { tools })
  const call = () => callsIn(talk.streams[0]?.events ?? []).find(({ name }) => name === 'pick')
  // #1755: what follows a call is not held back.
  await expect.poll(() => call()).toBeDefined()
  const messages = [
    ...talk.client.messages,
    { id: 't1', role: 'tool', toolCallId: call()?.id ?? '', content: 'red' },
  ]
  const answering = served.stream('/run', { body: inputOf({ runId: 'run-2', messages, tools }) })
  mayEnd.resolve()
  await running
  expect(textIn((await answering).events)).toBe('Red.')
})

it('#1755 a tool at work beside a call: what came before is sent at once', async () => {
  const mayEnd = deferred()
  const { talk } = await trap(
    [
      [
        partial('Look. '),
        whole([
          { text: 'Look. ' },
          ...['pick', 'look'].map((name) => ({ functionCall: { name, args: {} } })),
        ]),
      ],
    ],
    { tools: [look(() => mayEnd.promise)] },
  )
  const running = talk.say('Go', { tools })
  await expect.poll(() => callsIn(talk.streams[0]?.events ?? []).length).toBe(2)
  expect(textIn(talk.streams[0]?.events ?? [])).toBe('Look. ')
  mayEnd.resolve()
  await running
})

it.each([StreamingMode.SSE, StreamingMode.NONE])(
  '#1645 reasoning is sent once, streaming mode %s',
  async (mode) => {
    const end = whole([{ text: 'Hm.', thought: true }, { text: 'Well.' }])
    const step =
      mode === StreamingMode.SSE ? [partialThought('H'), partialThought('m.'), partial('Well.'), end] : [end]
    const { talk } = await trap([step], { options: { runConfig: { streamingMode: mode } } })
    const events = await talk.say('Go')
    const thoughts = ofType(events, 'REASONING_MESSAGE_CONTENT').map(({ delta }) => delta)
    expect([thoughts.join(''), textIn(events)]).toEqual(['Hm.', 'Well.'])
    expect(ofType(events, 'REASONING_MESSAGE_START')).toHaveLength(1)
  },
)

it('#1646 a user in the body: it is nobody, whatever the route', async () => {
  const identify = (request: Request) => ({ user: request.headers.get('x-user') ?? 'nobody' })
  const { served } = await trap([says('To Ann.'), says('To Bob.')], { server: { identify } })
  await served.talk({ headers: { 'x-user': 'ann' } }).say('I am Ann')
  const forged = { userId: 'ann', user: 'ann', appName: 'helper', forwardedProps: { userId: 'ann' } }
  const headers = { 'x-user': 'bob' }
  const connecting = await served.ask('POST /connect', { headers, body: { threadId: 'thread-1', ...forged } })
  expect([connecting.status, connecting.text.includes('Ann')]).toEqual([404, false])
  const body = inputOf({ messages: [user('u1', 'I am Bob')], state: { userId: 'ann' }, ...forged })
  const { events } = await served.stream('/run', { headers, body })
  expect(textIn(events)).toBe('To Bob.')
  expect(JSON.stringify(events)).not.toContain('Ann')
})

it('#1682 the name in a response: it is that of the function', async () => {
  const { llm, talk, elsewhere } = await trap([callsTool({ name: 'pick' }), says('Red.')])
  const id = callId(await talk.say('Go', { tools }), 'pick')
  const next = (await elsewhere()).talk()
  next.client.setMessages(talk.client.messages)
  await next.answer({ [id]: 'red' }, { tools })
  const [response] = (llm.calls[1] ?? []).flatMap(({ parts = [] }) =>
    parts.flatMap(({ functionResponse }) => functionResponse ?? []),
  )
  expect(response?.name).toBe('pick')
})
