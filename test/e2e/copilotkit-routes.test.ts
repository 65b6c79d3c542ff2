import type { Message } from '@ag-ui/core'
import { InMemorySessionService, LlmAgent } from '@google/adk'
import { AIMessage } from '@langchain/core/messages'
import { MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { manualClock } from '../../src/core/clock.js'
import { defineAgent, defineTool } from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel, type ModelRequest } from '../../src/models/index.js'
import { createServer, type ServerOptions } from '../../src/server/index.js'
import { says as saysLlm, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { deferred } from '../support/run-agent.js'
import { serveAgents } from '../support/serve-agents.js'
import { ask, inputOf, serving, stores, user } from './support-server.js'
import { endlessAgent, hasLeft, lastRunOf, passTime, patientClock } from './support-stop.js'
import { openStream, says, type RawStream } from './support-stream.js'

/** The events of a stream, which is valid. */
async function wholeOf(stream: RawStream) {
  return (await stream.whole()).map(({ event }) => event)
}

const suggestion = { suggestions: [{ title: 'Oslo', message: 'Tell me of Oslo.' }] }

/** Two agents behind CopilotKit's routes. `Wait.` lasts until it is let go; `Spy.` calls a tool of the server. */
async function serveKit(options: Partial<ServerOptions> = {}) {
  const letGo = deferred()
  const requests: ModelRequest[] = []
  let spied = 0
  const spy = defineTool({
    name: 'spy',
    description: 'Looks.',
    input: z.object({}),
    execute: () => `looked ${++spied} times`,
  })
  const model = scriptedModel((request) => {
    requests.push(request)
    const { toolChoice } = request
    if (typeof toolChoice === 'object') return [{ toolCall: { name: toolChoice.toolName, args: suggestion } }]
    const last = request.messages.at(-1)
    if (last?.role === 'tool') return 'Looked.'
    if (last?.content === 'Spy.') return [{ toolCall: { name: 'spy', args: {} } }]
    return last?.content === 'Wait.' ? ['One', { wait: () => letGo.promise }, ' two'] : 'Hello.'
  })
  const agents = [
    defineAgent({ name: 'talker', model, tools: [spy], description: 'Talks.' }),
    defineAgent({ name: 'other', model }),
  ] as const
  const { url } = await serving({
    ...{ agents, copilotKit: true },
    identify: (request) => ({ user: request.headers.get('x-user') ?? 'ana' }),
    ...options,
  })
  const kit = `${url}/copilotkit`
  const inputOf = (threadId: string, content: string, fields: object = {}) => ({
    ...{
      threadId,
      runId: `run-${threadId}`,
      messages: [user('u1', content)],
      tools: [],
      context: [],
      state: {},
    },
    forwardedProps: {},
    ...fields,
  })
  const start = (threadId: string, content: string, fields: object = {}) =>
    openStream(`${kit}/agent/talker/run`, { body: inputOf(threadId, content, fields) })
  const run = async (threadId: string, content = 'Hi.', fields: object = {}) =>
    (await start(threadId, content, fields)).whole()
  const list = async (query = '?agentId=talker', headers = {}) =>
    (await ask(`${kit}/threads${query}`, { headers })).body as ThreadList
  return { url, kit, letGo, requests, inputOf, start, run, list, spied: () => spied }
}

interface ThreadList {
  readonly threads: readonly Record<string, unknown>[]
  readonly nextCursor: string | null
}

const suggestTool = { name: 'copilotkitSuggest', description: 'Suggests.', parameters: { type: 'object' } }
const wanted = {
  tools: [suggestTool],
  forwardedProps: { toolChoice: { type: 'function', function: { name: 'copilotkitSuggest' } } },
}

describe('the information of the runtime', () => {
  it('names the agents, the first also as `default`, and what the routes can do', async () => {
    const { kit } = await serveKit()
    const { status, body } = await ask(`${kit}/info`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      mode: 'sse',
      suggestions: true,
      telemetryDisabled: true,
      threadEndpoints: { list: true, inspect: true, mutations: true, realtimeMetadata: false },
      agents: {
        talker: { name: 'talker', description: 'Talks.' },
        other: {},
        default: { description: 'Talks.' },
      },
    })
  })

  it('has what was left out, and that is not found', async () => {
    const { kit } = await serveKit({ routes: { history: false, delete: false } })
    const { body } = await ask(`${kit}/info`)
    expect(body).toMatchObject({ threadEndpoints: { list: false, inspect: false, mutations: false } })
    expect((await ask(`${kit}/threads?agentId=talker`)).status).toBe(404)
    const path = '/threads?agentId=talker'
    const single = { method: 'resource/request', params: { path, httpMethod: 'GET' } }
    expect((await ask(kit, { body: single })).status).toBe(404)
  })

  it('is not served unless it is asked for, and stands where it is wanted', async () => {
    const { url, kit } = await serveKit({ copilotKit: false })
    expect((await ask(`${kit}/info`)).status).toBe(404)
    expect((await ask(`${url}/copilotkit`, { body: { method: 'info' } })).status).toBe(404)
    const moved = await serveKit({ basePath: '/ai', copilotKit: { basePath: '/api/copilotkit' } })
    expect((await ask(`${moved.url}/ai/api/copilotkit/info`)).status).toBe(200)
    await expect(serveKit({ copilotKit: { basePath: '' } })).rejects.toThrow('copilotKit.basePath')
  })

  it('asks who the user is, as every route does', async () => {
    const { kit, inputOf } = await serveKit({ identify: () => undefined })
    const requests: [string, { method?: string; body?: unknown }?][] = [
      [`${kit}/info`],
      [`${kit}/threads?agentId=talker`],
      [`${kit}/threads/t/messages`],
      [`${kit}/agent/talker/run`, { body: inputOf('t', 'Hi.') }],
      [`${kit}/agent/talker/connect`, { body: inputOf('t', 'Hi.') }],
      [`${kit}/agent/talker/suggest`, { body: inputOf('t', 'Hi.') }],
      [`${kit}/agent/talker/stop/t`, { body: {} }],
      [`${kit}/threads/t`, { method: 'PATCH', body: { agentId: 'talker', name: 'x' } }],
      [`${kit}/threads/t`, { method: 'DELETE', body: { agentId: 'talker' } }],
      [`${kit}/threads/t/archive`, { body: { agentId: 'talker' } }],
      [kit, { body: { method: 'info' } }],
    ]
    for (const [url, request] of requests) expect([url, (await ask(url, request)).status]).toEqual([url, 401])
  })
})

describe.each(stores)('threads over the routes of CopilotKit, stored in %s', (_name, open) => {
  it('are listed as records, renamed, archived, taken back and deleted', async () => {
    const { kit, run, list } = await serveKit({ store: await open() })
    await run('t1')
    const agentId = 'talker'
    const [record] = (await list()).threads
    expect(record).toMatchObject({ id: 't1', agentId, createdById: 'ana', name: 'Hi.', archived: false })
    expect(new Date(String(record?.updatedAt)).getTime()).toBeGreaterThan(0)
    const update = (body: object) => ask(`${kit}/threads/t1`, { method: 'PATCH', body: { agentId, ...body } })
    expect(await update({ name: 'Oslo' })).toMatchObject({ status: 200, body: { id: 't1', name: 'Oslo' } })
    expect(await update({ name: '' })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/^name: /) as string } },
    })
    expect((await list()).threads).toMatchObject([{ name: 'Oslo' }])
    expect(await ask(`${kit}/threads/t1/archive`, { body: { agentId } })).toMatchObject({
      status: 200,
      body: { id: 't1', archived: true },
    })
    expect((await list()).threads).toEqual([])
    expect((await list(`?agentId=talker&includeArchived=true`)).threads).toMatchObject([
      { name: 'Oslo', archived: true },
    ])
    expect((await update({ archived: false })).status).toBe(200)
    expect((await list()).threads).toHaveLength(1)
    expect((await ask(`${kit}/threads/t1`, { method: 'DELETE', body: { agentId } })).status).toBe(200)
    expect(await list()).toEqual({ threads: [], nextCursor: null })
  })

  it('are read by their user alone, without the name of their agent', async () => {
    const { kit, run, list } = await serveKit({ store: await open(), state: { private: ['secret'] } })
    await run('t1', 'Spy.', { state: { city: 'Oslo' } })
    const read = (part: string, headers = {}) => ask(`${kit}/threads/t1/${part}`, { headers })
    const { messages } = (await read('messages')).body as {
      readonly messages: readonly Record<string, unknown>[]
    }
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(messages[1]).toMatchObject({ toolCalls: [{ name: 'spy', args: '{}' }] })
    expect((await read('state')).body).toEqual({ state: { city: 'Oslo' } })
    const { events } = (await read('events')).body as {
      readonly events: readonly { readonly type: string }[]
    }
    expect([events.at(0)?.type, events.at(-1)?.type]).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
    const bo = { 'x-user': 'bo' }
    for (const part of ['messages', 'events', 'state']) expect((await read(part, bo)).status).toBe(404)
    expect((await list('?agentId=talker', bo)).threads).toEqual([])
    const body = { agentId: 'talker' }
    const renamed = await ask(`${kit}/threads/t1`, {
      method: 'PATCH',
      body: { ...body, name: 'x' },
      headers: bo,
    })
    expect(renamed.status).toBe(404)
    expect((await ask(`${kit}/threads/t1/archive`, { body, headers: bo })).status).toBe(404)
    expect((await ask(`${kit}/threads/t1`, { method: 'DELETE', body, headers: bo })).status).toBe(404)
    expect((await list()).threads).toMatchObject([{ name: 'Spy.', archived: false }])
  })

  it('are the same threads that all other routes have, in pages', async () => {
    const { url, run, list } = await serveKit({ store: await open() })
    for (const thread of ['t1', 't2', 't3']) await run(thread)
    const { nextCursor, threads } = await list('?agentId=default&limit=2')
    const rest = await list(`?agentId=default&limit=2&cursor=${encodeURIComponent(nextCursor ?? '')}`)
    const ids = [...threads, ...rest.threads].map(({ id }) => id)
    expect(ids.toSorted()).toEqual(['t1', 't2', 't3'])
    expect(threads[0]).toMatchObject({ agentId: 'default' })
    const { body } = await ask(`${url}/thread/list`)
    expect((body as { threads: { threadId: string }[] }).threads.map(({ threadId }) => threadId)).toEqual(ids)
  })
})

describe('a connection over the routes of CopilotKit', () => {
  it('to a thread that does not exist is an empty stream, also for another user', async () => {
    const { kit, run } = await serveKit()
    await run('t1')
    for (const [thread, who] of [
      ['never', 'ana'],
      ['t1', 'bo'],
    ]) {
      const response = await fetch(`${kit}/agent/talker/connect`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-user': who ?? '' },
        body: JSON.stringify({ threadId: thread, runId: 'r' }),
      })
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
      expect(await response.text()).toBe('')
    }
  })

  it('has the thread, and the rest of a run that is live', async () => {
    const { kit, start, letGo } = await serveKit()
    const stream = await start('t1', 'Wait.')
    await stream.until(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
    const second = await openStream(`${kit}/agent/talker/connect`, { body: { threadId: 't1', runId: 'r' } })
    await second.until(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
    letGo.resolve()
    const events = await wholeOf(second)
    expect(events.map(({ type }) => type)).toContain('MESSAGES_SNAPSHOT')
    expect(events.at(-1)?.type).toBe('RUN_FINISHED')
    await stream.whole()
  })
})

describe('a run that its page has left', () => {
  it.each([
    ['over its own route', (input: object) => ['/agent/speaker/run', input] as const],
    [
      'over the single route',
      (body: object) => ['', { method: 'agent/run', params: { agentId: 'speaker' }, body }] as const,
    ],
  ])('continues until it is stopped, %s', async (_name, toRequest) => {
    const one = endlessAgent()
    const clock = patientClock()
    const served = await serveAgents({ agents: [one.agent], clock, copilotKit: true })
    const [path, body] = toRequest(inputOf({ messages: [user('u1', 'Count.')] }))
    const page = await openStream(`${served.url}/copilotkit${path}`, { body })
    await page.until(says('One '))
    page.drop()
    await hasLeft(served)
    await clock.advance(120_000)
    expect(await lastRunOf(served)).toBe('running')
    const stop = served.ask('POST /copilotkit/agent/speaker/stop/thread-1', { body: {} })
    await one.stopped
    expect((await passTime(clock, stop)).body).toEqual({ stopped: true })
    expect(await lastRunOf(served)).toBe('cancelled')
  })

  it('is stopped by hanging up where it was decided so, or where nobody can come back', async () => {
    for (const options of [{ onDisconnect: 'cancel' }, { routes: { connect: false } }] as const) {
      const one = endlessAgent()
      const clock = patientClock()
      const served = await serveAgents({ agents: [one.agent], clock, copilotKit: true, ...options })
      const body = inputOf({ messages: [user('u1', 'Count.')] })
      const page = await openStream(`${served.url}/copilotkit/agent/speaker/run`, { body })
      await page.until(says('One '))
      page.drop()
      await hasLeft(served)
      await clock.advance(20_000)
      await one.stopped
    }
  })
})

describe('stop over the routes of CopilotKit', () => {
  it.each([
    ['without a body', undefined],
    ['with the id of the run', { runId: 'run-t1' }],
  ])('%s stops the run of the thread', async (_name, body) => {
    const { kit, start } = await serveKit()
    const stream = await start('t1', 'Wait.')
    await stream.until(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
    const response = await fetch(`${kit}/agent/talker/stop/t1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    expect(await response.json()).toEqual({ stopped: true })
    const events = await wholeOf(stream)
    expect(events.at(-1)?.type).toMatch(/RUN_FINISHED|RUN_ERROR/)
  })

  it('says so when there is nothing to stop', async () => {
    const { kit, run } = await serveKit()
    await run('t1')
    for (const [thread, body] of [
      ['never', {}],
      ['t1', {}],
      ['t1', { runId: 'another' }],
    ] as const)
      expect(await ask(`${kit}/agent/talker/stop/${thread}`, { body })).toEqual({
        status: 200,
        body: { stopped: false },
      })
  })

  it('does not stop the run of another user', async () => {
    const { kit, start, letGo } = await serveKit()
    const stream = await start('t1', 'Wait.')
    await stream.until(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
    const answer = await ask(`${kit}/agent/talker/stop/t1`, { body: {}, headers: { 'x-user': 'bo' } })
    expect(answer.body).toEqual({ stopped: false })
    letGo.resolve()
    expect((await wholeOf(stream)).at(-1)?.type).toBe('RUN_FINISHED')
  })
})

describe('requests that cannot be meant', () => {
  const bodies = [null, [], 'x', 1, {}, { agentId: 3 }, { agentId: 'nobody' }]
  it.each([
    ['POST', '/agent/talker/run'],
    ['POST', '/agent/talker/connect'],
    ['POST', '/agent/talker/suggest'],
    ['POST', '/agent/nobody/run'],
    ['POST', '/agent/nobody/stop/t1'],
    ['PATCH', '/threads/t1'],
    ['PATCH', '/threads/..%2f'],
    ['DELETE', '/threads/t1'],
    ['POST', '/threads/t1/archive'],
    ['POST', ''],
  ])('are refused, and change nothing: %s %s', async (method, path) => {
    const { kit, run, list } = await serveKit()
    await run('t1')
    const before = await list()
    for (const body of bodies) {
      const { status } = await ask(`${kit}${path}`, { method, body })
      expect([body, status]).toEqual([body, expect.toSatisfy((code: number) => code >= 400 && code < 500)])
    }
    expect(await list()).toEqual(before)
  })

  it.each([[{}], [{ name: '' }], [{ name: [] }], [{ name: 'x'.repeat(300) }], [{ archived: 'yes' }]])(
    'are refused as labels: %j',
    async (labels) => {
      const { kit, run } = await serveKit()
      await run('t1')
      const body = { agentId: 'talker', ...labels }
      expect((await ask(`${kit}/threads/t1`, { method: 'PATCH', body })).status).toBe(400)
    },
  )

  it.each([
    ['limit=0', 400],
    ['limit=x', 400],
    ['cursor=x', 400],
    ['agentId=nobody', 404],
  ])('are refused in a list: %s', async (query, status) => {
    const { kit } = await serveKit()
    expect((await ask(`${kit}/threads?${query}`)).status).toBe(status)
  })
})

describe('suggestions', () => {
  const history: Message[] = [user('u1', 'Hi.'), { id: 'a1', role: 'assistant', content: 'Hello.' }]
  const input = (id: string) => ({
    ...{ threadId: id, runId: `run-${id}`, context: [], state: {}, ...wanted },
    messages: [...history, user(id, 'Suggest what the user could say next.')],
  })
  const argumentsIn = (events: readonly object[]) =>
    events.map((event) => ('delta' in event ? String(event.delta) : '')).join('')

  it('come from the tool that the page wants to be called, and leave no thread behind', async () => {
    const { kit, list, requests, run } = await serveKit()
    await run('t1')
    const stream = await openStream(`${kit}/agent/talker/suggest`, { body: input('s1') })
    const events = await wholeOf(stream)
    expect(JSON.parse(argumentsIn(events))).toEqual(suggestion)
    expect(requests.at(-1)?.toolChoice).toEqual({ toolName: 'copilotkitSuggest' })
    expect(requests.at(-1)?.messages).toHaveLength(3)
    expect((await list('?agentId=talker&includeArchived=true')).threads.map(({ id }) => id)).toEqual(['t1'])
  })

  it('force only tools of the page: one of the server is not called because a client wants it', async () => {
    const { run, requests, spied } = await serveKit()
    await run('t1', 'Hi.', {
      forwardedProps: { toolChoice: { type: 'function', function: { name: 'spy' } } },
    })
    expect(requests.at(-1)?.toolChoice).toBeUndefined()
    expect(spied()).toBe(0)
  })

  it('are not in the list while they are made, and count as runs of the user', async () => {
    const { kit, list, inputOf, letGo } = await serveKit({ limits: { runsPerUser: 1 } })
    const stream = await openStream(`${kit}/agent/talker/suggest`, { body: inputOf('s1', 'Wait.') })
    await stream.until(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
    expect((await list()).threads).toEqual([])
    const second = await ask(`${kit}/agent/talker/run`, { body: inputOf('t1', 'Hi.') })
    expect(second).toMatchObject({ status: 429, body: { error: { code: 'TOO_MANY_RUNS' } } })
    letGo.resolve()
    expect((await wholeOf(stream)).at(-1)?.type).toBe('RUN_FINISHED')
  })

  it('never touch a thread that has the id of the request', async () => {
    const { url, kit, run } = await serveKit()
    await run('t1')
    const before = await ask(`${url}/message_snapshot/t1`)
    await (await openStream(`${kit}/agent/talker/suggest`, { body: input('t1') })).whole()
    expect(await ask(`${url}/message_snapshot/t1`)).toEqual(before)
  })

  it('leave nothing in the session service of ADK and in the checkpointer of a graph', async () => {
    const sessionService = new InMemorySessionService()
    const llm = new ScriptedLlm([saysLlm('Oslo.')])
    const checkpointer = new MemorySaver()
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('answer', () => ({ messages: [new AIMessage('Oslo.')] }))
      .addEdge(START, 'answer')
      .compile({ checkpointer })
    const { kit, list } = await serveKit({
      agents: [
        fromAdk(new LlmAgent({ name: 'adk', model: llm }), { sessionService }),
        fromLangGraph(graph, { name: 'graph' }),
      ],
    })
    for (const agent of ['adk', 'graph']) {
      const events = await wholeOf(await openStream(`${kit}/agent/${agent}/suggest`, { body: input('s1') }))
      expect(argumentsIn(events)).toBe('Oslo.')
      expect((await list(`?agentId=${agent}`)).threads).toEqual([])
    }
    const sessions = () => sessionService.listSessions({ appName: 'adk', userId: 'ana' })
    await expect.poll(async () => (await sessions()).sessions).toEqual([])
    await expect.poll(() => Object.keys(checkpointer.storage)).toEqual([])
  })

  it('are forgotten by the runtime of the agent, and end when their page leaves', async () => {
    const forgotten: string[] = []
    const gate = deferred()
    const stopped = deferred()
    const model = scriptedModel(({ signal }) => {
      signal.addEventListener('abort', () => stopped.resolve())
      return ['One', { wait: () => gate.promise }]
    })
    const agent = {
      ...defineAgent({ name: 'talker', model }),
      memory: {
        read: () => Promise.resolve(undefined),
        writeState: () => Promise.resolve(),
        forget: ({ threadId }: { readonly threadId: string }) =>
          Promise.resolve(void forgotten.push(threadId)),
      },
    }
    const { kit } = await serveKit({ agents: [agent] })
    const stream = await openStream(`${kit}/agent/talker/suggest`, { body: input('s1') })
    await stream.until(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
    stream.drop()
    await stopped.promise
    gate.resolve()
    await expect.poll(() => forgotten).toHaveLength(1)
    expect(forgotten).not.toContain('s1')
  })
})

describe('the single route', () => {
  it.each(['', '/'])('does what the other routes do: %j', async (slash) => {
    const { kit, inputOf } = await serveKit()
    const url = `${kit}${slash}`
    const call = (body: object) => ask(url, { body })
    const params = { agentId: 'talker' }
    expect((await call({ method: 'info' })).body).toMatchObject({ singleRoute: { resourceOperations: true } })
    const run = await openStream(url, { body: { method: 'agent/run', params, body: inputOf('t1', 'Hi.') } })
    expect((await wholeOf(run)).at(-1)?.type).toBe('RUN_FINISHED')
    const body = { threadId: 't1', runId: 'r' }
    const connected = await openStream(url, { body: { method: 'agent/connect', params, body } })
    expect((await wholeOf(connected)).map(({ type }) => type)).toContain('MESSAGES_SNAPSHOT')
    const stop = { method: 'agent/stop', params: { ...params, threadId: 't1' } }
    expect((await call(stop)).body).toEqual({ stopped: false })
    const resource = (path: string, httpMethod: string, of?: object) =>
      call({ method: 'resource/request', params: { path, httpMethod }, ...(of && { body: of }) })
    expect((await resource('/threads/t1', 'PATCH', { ...params, name: 'Oslo' })).status).toBe(200)
    expect((await resource('/threads?agentId=talker', 'GET')).body).toMatchObject({
      threads: [{ name: 'Oslo' }],
    })
    expect((await resource('/threads/t1', 'DELETE', params)).status).toBe(200)
    expect((await resource('/threads?agentId=talker', 'GET')).body).toMatchObject({ threads: [] })
  })

  it('takes suggestions for what they are, though they come as runs', async () => {
    const { kit, list, inputOf } = await serveKit()
    const call = {
      method: 'agent/run',
      params: { agentId: 'talker' },
      body: inputOf('s1', 'Suggest.', wanted),
    }
    expect((await wholeOf(await openStream(kit, { body: call }))).at(-1)?.type).toBe('RUN_FINISHED')
    expect((await list()).threads).toEqual([])
  })

  it.each([
    [{}, 400],
    [{ method: 'transcribe' }, 400],
    [{ method: 'agent/run', body: {} }, 400],
    [{ method: 'agent/run', params: { agentId: 'nobody' }, body: {} }, 404],
    [{ method: 'resource/request', params: { path: '/info', httpMethod: 'GET' } }, 404],
    [{ method: 'resource/request', params: { path: '//evil.example/threads', httpMethod: 'GET' } }, 404],
    [{ method: 'resource/request', params: { path: '/threads/%E0%A4%A', httpMethod: 'PATCH' } }, 400],
    [{ method: 'resource/request', params: { path: '/threads/t/what', httpMethod: 'GET' } }, 404],
  ])('refuses what it cannot do: %j', async (body, status) => {
    const { kit } = await serveKit()
    expect((await ask(kit, { body })).status).toBe(status)
  })
})

describe('debug events', () => {
  it('are off unless they are asked for', async () => {
    const { kit } = await serveKit()
    expect((await ask(`${kit}/cpk-debug-events`)).status).toBe(404)
  })

  it('count as streams of their user, until they are closed', async () => {
    const { kit } = await serveKit({ copilotKit: { debugEvents: true }, limits: { streamsPerUser: 1 } })
    const first = await readFrames((await fetch(`${kit}/cpk-debug-events`)).body)
    const second = await ask(`${kit}/cpk-debug-events`)
    expect(second).toMatchObject({ status: 429, body: { error: { code: 'TOO_MANY_STREAMS' } } })
    await first.close()
    await expect
      .poll(async () => {
        const response = await fetch(`${kit}/cpk-debug-events`)
        await response.body?.cancel()
        return response.status
      })
      .toBe(200)
  })

  it('end for an inspector that reads nothing, as all streams do', async () => {
    const clock = manualClock(1_700_000_000_000)
    const { agent } = endlessAgent()
    const server = createServer({
      ...{ agents: [agent], clock, copilotKit: { debugEvents: true } },
      limits: { streamsPerUser: 1, heartbeatMs: 1_000, stallMs: 10_000 },
    })
    const open = () => server.fetch(new Request('http://localhost/copilotkit/cpk-debug-events'))
    const first = await open()
    expect((await open()).status).toBe(429)
    await clock.advance(10_900)
    expect((await open()).status).toBe(429)
    await clock.advance(200)
    const second = await open()
    expect(second.status).toBe(200)
    await expect(first.text()).rejects.toThrow('reads nothing')
    await second.body?.cancel()
    expect(clock.pending).toBe(0)
    await server.close({ graceMs: 0 })
  })

  it('end when the server closes, and do not keep it open', async () => {
    const { agent } = endlessAgent()
    const made = await serving({
      ...{ agents: [agent], copilotKit: { debugEvents: true } },
      limits: { heartbeatMs: Infinity },
    })
    const response = await fetch(`${made.url}/copilotkit/cpk-debug-events`)
    const [text] = await Promise.all([response.text(), made.close({ graceMs: 0 })])
    expect(text).toBe(': keep-alive\n\n')
  })

  it('keep no run alive whose client has hung up', async () => {
    const { agent, begun, stopped } = endlessAgent()
    const served = await serveAgents({ agents: [agent], copilotKit: { debugEvents: true } })
    const { url } = served
    const inspector = await readFrames((await fetch(`${url}/copilotkit/cpk-debug-events`)).body)
    const stream = await openStream(`${url}/run`, { body: inputOf({ messages: [user('u1', 'Hi.')] }) })
    await begun
    await inspector.until((text) => text.includes('RUN_STARTED'))
    stream.drop()
    await hasLeft(served)
    const next = inputOf({ runId: 'run-2', messages: [user('u2', 'Hello?')] })
    await (await openStream(`${url}/run`, { body: next })).whole()
    await stopped
    await inspector.close()
  })

  it('take no stream of a user who asks only for their head', async () => {
    const { kit, run } = await serveKit({ copilotKit: { debugEvents: true }, limits: { streamsPerUser: 1 } })
    for (let n = 0; n < 3; n++)
      expect((await fetch(`${kit}/cpk-debug-events`, { method: 'HEAD' })).status).toBe(200)
    expect((await run('thread-1')).at(-1)?.event).toMatchObject({ type: 'RUN_FINISHED' })
  })

  it('have the events of the runs of their user, and of nobody else', async () => {
    const { kit, run, start, letGo } = await serveKit({ copilotKit: { debugEvents: true } })
    const early = await start('early', 'Wait.')
    await early.until(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
    const read = async (who: string) => {
      const response = await fetch(`${kit}/cpk-debug-events`, { headers: { 'x-user': who } })
      return readFrames(response.body)
    }
    const ana = await read('ana')
    const bo = await read('bo')
    await run('t1')
    letGo.resolve()
    await early.whole()
    await ana.until((text) => text.split('RUN_FINISHED').length > 2)
    const events = ana.frames().map((frame) => JSON.parse(frame) as Record<string, unknown>)
    const ofRun = events.filter(({ threadId }) => threadId === 't1')
    expect(ofRun[0]).toMatchObject({ agentId: 'talker', runId: 'run-t1', event: { type: 'RUN_STARTED' } })
    expect(ofRun.at(-1)).toMatchObject({ event: { type: 'RUN_FINISHED' } })
    const ofEarly = events.filter(({ threadId }) => threadId === 'early')
    expect(ofEarly.some(({ event }) => (event as { delta?: string }).delta === ' two')).toBe(true)
    expect(bo.frames()).toEqual([])
    await ana.close()
    await bo.close()
  })
})

/** Reads the frames of an SSE stream that has no end. */
async function readFrames(body: ReadableStream<Uint8Array> | null) {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const readMore = async () => {
    const { value } = (await reader?.read()) ?? {}
    text += decoder.decode(value)
  }
  // The first heartbeat says that it is connected.
  await readMore()
  return {
    frames: () => text.split('\n\n').flatMap((frame) => (frame.startsWith('data: ') ? [frame.slice(6)] : [])),
    async until(isThere: (text: string) => boolean) {
      while (!isThere(text)) await readMore()
    },
    close: () => reader?.cancel(),
  }
}
