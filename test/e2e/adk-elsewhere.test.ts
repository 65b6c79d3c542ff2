import {
  FunctionTool,
  InMemoryMemoryService,
  InMemorySessionService,
  LlmAgent,
  Runner,
  StreamingMode,
  type Event,
  type Session,
} from '@google/adk'
import type { Message } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { asked, callId, clientTool, historyOf, stateOf, textIn } from '../support/adk/serve-adk.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import { linesOf, serveAgents } from '../support/serve-agents.js'
import { newClient, oldClient } from './support-clients.js'

const runs: string[] = []
const tools = [
  new FunctionTool({
    name: 'look',
    description: 'Looks.',
    parameters: z.object({ what: z.string() }),
    execute: ({ what }, context) => {
      runs.push(what)
      context?.state.set('last', what)
      context?.state.set('user:secret', 'of the user')
      return { found: what }
    },
  }),
]

const identify = (request: Request) => ({ user: request.headers.get('x-user') ?? 'nobody' })
const ann = { 'x-user': 'ann' }

/** Serves an agent whose sessions were, and may be, written by others. */
async function serveShared(steps: readonly LlmStep[]) {
  runs.length = 0
  const llm = new ScriptedLlm(steps)
  const root = new LlmAgent({ name: 'helper', model: llm, tools })
  const sessionService = new InMemorySessionService()
  const memoryService = new InMemoryMemoryService()
  const key = { appName: 'helper', userId: 'ann', sessionId: 'made-elsewhere' }
  const runner = new Runner({ appName: 'helper', agent: root, sessionService })
  const agent = fromAdk(root, { sessionService, memoryService })
  const served = await serveAgents({ agents: [agent], identify })
  return {
    ...{ llm, served, sessionService, memoryService, key, root },
    session: () => sessionService.getSession(key),
    /** As any program would talk to the agent. */
    sayElsewhere: async (text: string): Promise<void> => {
      if (!(await sessionService.getSession(key))) await sessionService.createSession(key)
      const newMessage = { role: 'user', parts: [{ text }] }
      const runConfig = { streamingMode: StreamingMode.SSE }
      const events: Event[] = []
      for await (const event of runner.runAsync({ ...key, newMessage, runConfig })) events.push(event)
    },
  }
}

const looks = callsTool({ name: 'look', args: { what: 'x' } })
const talkElsewhere = [
  'user: Look',
  'model: look({"what":"x"})',
  'user: look -> {"found":"x"}',
  'model: Found.',
]

describe('a session that a Runner of ADK has written', () => {
  it('is a thread like any other: it is read', async () => {
    const { served, sayElsewhere } = await serveShared([looks, says('Fo', 'und.')])
    await sayElsewhere('Look')
    const lines = ['user: Look', 'assistant: look({"what":"x"})', 'tool: {"found":"x"}', 'assistant: Found.']
    const messages = await historyOf(served, 'made-elsewhere', ann)
    expect(linesOf(messages)).toEqual(lines)
    // The same at every reading.
    expect(await historyOf(served, 'made-elsewhere', ann)).toEqual(messages)
    expect(await stateOf(served, 'made-elsewhere', ann)).toEqual({ last: 'x' })
    for (const makeClient of [newClient, oldClient]) {
      const client = makeClient({ url: served.url, threadId: 'made-elsewhere', headers: ann })
      await client.connectAgent()
      expect(client.messages).toEqual(messages)
      expect(client.state).toEqual({ last: 'x' })
    }
  })

  it('is gone on with by a client that has read it, and by the Runner again', async () => {
    const { llm, served, session, sayElsewhere } = await serveShared([
      looks,
      says('Found.'),
      says('Yes.'),
      says('Here.'),
      says('Back.'),
    ])
    await sayElsewhere('Look')
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    talk.client.setMessages(await historyOf(served, 'made-elsewhere', ann))
    expect(textIn(await talk.say('Sure?'))).toBe('Yes.')
    expect(asked(llm.calls[2])).toEqual([...talkElsewhere, 'user: Sure?'])
    expect(talk.client.state).toEqual({ last: 'x' })
    expect(runs).toEqual(['x'])
    // Nothing was written twice.
    expect((await session())?.events.filter(({ author }) => author === 'user')).toHaveLength(2)
    // Whoever has the session goes on with all of it.
    await sayElsewhere('And here?')
    expect(asked(llm.calls[3])).toEqual([...talkElsewhere, 'user: Sure?', 'model: Yes.', 'user: And here?'])
  })

  it('is gone on with by a client that knows nothing of it', async () => {
    const { llm, served, sayElsewhere } = await serveShared([looks, says('Found.'), says('Yes.')])
    await sayElsewhere('Look')
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    expect(textIn(await talk.say('Sure?'))).toBe('Yes.')
    expect(asked(llm.calls[2])).toEqual([...talkElsewhere, 'user: Sure?'])
    expect(talk.client.messages).toEqual(await historyOf(served, 'made-elsewhere', ann))
    expect(linesOf(talk.client.messages)[0]).toBe('user: Look')
    expect(talk.client.state).toEqual({ last: 'x' })
  })

  it('is edited by a client: what came after is out of the conversation', async () => {
    const { llm, served, sayElsewhere } = await serveShared([
      looks,
      says('Found.'),
      says('Second.'),
      says('Other.'),
    ])
    await sayElsewhere('Look')
    await sayElsewhere('Again')
    const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
    const messages = await historyOf(served, 'made-elsewhere', ann)
    talk.client.setMessages([...messages.slice(0, 4), { ...messages[4], content: 'Anew' } as Message])
    expect(textIn(await talk.send())).toBe('Other.')
    expect(asked(llm.calls[3])).toEqual([...talkElsewhere, 'user: Anew'])
  })

  it('has a state that can be patched', async () => {
    const { served, session, sayElsewhere } = await serveShared([looks, says('Found.')])
    await sayElsewhere('Look')
    const body = [{ op: 'add', path: '/theme', value: 'dark' }]
    expect((await served.ask('PATCH /state/made-elsewhere', { body, headers: ann })).status).toBe(200)
    expect((await session())?.state).toMatchObject({ theme: 'dark', last: 'x', 'user:secret': 'of the user' })
    expect(await stateOf(served, 'made-elsewhere', ann)).toEqual({ theme: 'dark', last: 'x' })
  })

  it('is removed with the thread, after it was added to the memory of the user', async () => {
    const { served, session, memoryService, sayElsewhere } = await serveShared([looks, says('Found.')])
    await sayElsewhere('Look')
    const order: string[] = []
    const add = memoryService.addSessionToMemory.bind(memoryService)
    memoryService.addSessionToMemory = async (given: Session) => {
      order.push(`added ${given.id}, ${(await session()) ? 'still there' : 'gone'}`)
      return add(given)
    }
    expect((await served.ask('DELETE /thread/made-elsewhere', { headers: ann })).status).toBe(200)
    expect(order).toEqual(['added made-elsewhere, still there'])
    expect(await session()).toBeUndefined()
    expect((await served.ask('GET /message_snapshot/made-elsewhere', { headers: ann })).status).toBe(404)
    const found = await memoryService.searchMemory({ appName: 'helper', userId: 'ann', query: 'Found' })
    expect(JSON.stringify(found)).toContain('Found.')
  })

  it('is not there for another user', async () => {
    const { served, session, sayElsewhere } = await serveShared([looks, says('Found.')])
    await sayElsewhere('Look')
    const headers = { 'x-user': 'bob' }
    const routes = [
      ['GET /message_snapshot/made-elsewhere', undefined],
      ['GET /state_snapshot/made-elsewhere', undefined],
      ['PATCH /state/made-elsewhere', [{ op: 'add', path: '/x', value: 1 }]],
      ['DELETE /thread/made-elsewhere', undefined],
      ['POST /connect', { threadId: 'made-elsewhere' }],
    ] as const
    for (const [route, body] of routes) {
      const { status, text } = await served.ask(route, { headers, body })
      expect([route, status, text.includes('Found')]).toEqual([route, 404, false])
    }
    expect((await session())?.events).toHaveLength(4)
  })
})

it('a thread of ours is removed with its session, and can be begun anew', async () => {
  const { llm, served, session } = await serveShared([says('One.'), says('Two.')])
  const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
  await talk.say('First')
  expect(await session()).toBeDefined()
  await served.ask('DELETE /thread/made-elsewhere', { headers: ann })
  expect(await session()).toBeUndefined()
  const next = served.talk({ threadId: 'made-elsewhere', headers: ann })
  await next.say('Second')
  expect(asked(llm.calls[1])).toEqual(['user: Second'])
})

it('messages of a session of ours have the ids that clients know, when the thread itself is lost', async () => {
  const { served, root, sessionService } = await serveShared([
    looks,
    callsTool({ name: 'pick' }),
    says('Done.'),
    says('Still here.'),
  ])
  const talk = served.talk({ threadId: 'made-elsewhere', headers: ann })
  const offered = { tools: [clientTool('pick')] }
  const first = await talk.say('Look', offered)
  await talk.answer({ [callId(first, 'pick')]: 'red' }, offered)
  const other = await serveAgents({ agents: [fromAdk(root, { sessionService })], identify })
  const messages = await historyOf(other, 'made-elsewhere', ann)
  expect(linesOf(messages)).toEqual(linesOf(talk.client.messages))
  expect(messages.map(({ id }) => id)).toEqual(talk.client.messages.map(({ id }) => id))
  // A client that has all of it gets nothing twice.
  const next = other.talk({ threadId: 'made-elsewhere', headers: ann })
  next.client.setMessages(talk.client.messages)
  await next.say('Still there?', offered)
  expect(linesOf(next.client.messages)).toEqual([
    ...linesOf(talk.client.messages),
    'user: Still there?',
    'assistant: Still here.',
  ])
})
