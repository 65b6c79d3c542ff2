import express from 'express'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HttpAgent } from '@ag-ui/client'
import { defineAgent, defineTool, type Agent } from '../../src/index.js'
import { scriptedModel, type Script } from '../../src/models/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { createServer, type OptionalRoute, type Server } from '../../src/server/index.js'
import { createListener } from '../../src/server/node.js'
import { deferred } from '../support/run-agent.js'
import { clientVersions, serveAgents, type ServedAgents } from '../support/serve-agents.js'
import { inputOf } from './support-server.js'

function talker(script: Script = () => 'Fine.'): Agent {
  return defineAgent({ name: 'talker', model: scriptedModel(script) })
}

const json = { 'content-type': 'application/json' }
const messages = [{ id: 'u1', role: 'user', content: 'Hi.' }]

describe('routes', () => {
  const addresses: readonly (readonly [OptionalRoute, readonly string[]])[] = [
    ['connect', ['POST /connect']],
    ['cancel', ['POST /cancel']],
    ['history', ['GET /thread/list', 'GET /message_snapshot/thread-1', 'GET /state_snapshot/thread-1']],
    ['patch', ['PATCH /state/thread-1']],
    ['delete', ['DELETE /thread/thread-1']],
    ['metrics', ['GET /metrics']],
  ]
  const all = addresses.flatMap(([, routes]) => routes)

  it.each(addresses)('that are left out are not found, and all others are: %s', async (name, left) => {
    const served = await serveAgents({ agents: [talker()], routes: { [name]: false } })
    await served.talk().say('Hi.')
    for (const route of all) {
      const body = route.startsWith('PATCH')
        ? []
        : route.startsWith('POST')
          ? { threadId: 'thread-1' }
          : undefined
      const { status } = await served.ask(route, { ...(body && { body }) })
      // Addresses of threads that can still be renamed, or deleted.
      const refusal = route.includes(' /thread/') ? 405 : 404
      expect([route, status]).toEqual([route, left.includes(route) ? refusal : 200])
      if (route === 'GET /metrics') continue
      const prefixed = await served.ask(route.replace(' ', ' /agents/talker'), { ...(body && { body }) })
      // The thread may be gone by then.
      if (left.includes(route)) expect([route, prefixed.status]).toEqual([route, refusal])
    }
  })

  it('are no capability when they are left out', async () => {
    const served = await serveAgents({ agents: [talker()], routes: { connect: false } })
    const { body } = await served.ask('GET /capabilities')
    expect(body).toMatchObject({ transport: { resumable: false } })
  })

  it('that do not exist are named when the server is made', () => {
    const routes = { list: false } as object
    expect(() => createServer({ agents: [talker()], routes })).toThrow(/routes\.list.*history/)
  })
})

describe('the state of a thread, for code of the application', () => {
  const name = { user: 'local', thread: 'thread-1' }
  const serveKept = async (agent: Agent = talker()) => {
    const server = createServer({ agents: [agent], state: { private: ['score'] }, log: silent })
    return { server, url: await listen(createListener(server)) }
  }

  it('is read with its private keys, changed, and seen by the client with its next run', async () => {
    const { server, url } = await serveKept()
    const client = new HttpAgent({ url, threadId: 'thread-1' })
    client.setState({ city: 'Oslo' })
    client.addMessage({ id: 'u1', role: 'user', content: 'Hi.' })
    await client.runAgent()
    expect(await server.state.read(name)).toEqual({ city: 'Oslo' })
    const changed = { city: 'Bergen', score: 5, 'user:name': 'Ann' }
    expect(await server.state.update(name, (state) => ({ ...(state as object), ...changed }))).toEqual(
      changed,
    )
    expect(await server.state.read(name)).toEqual(changed)
    client.addMessage({ id: 'u2', role: 'user', content: 'Hi again.' })
    await client.runAgent()
    expect(client.state).toEqual({ city: 'Bergen' })
    expect(await server.state.clear(name)).toEqual({ 'user:name': 'Ann' })
    expect(await server.state.clear(name, { keep: [] })).toEqual({})
    await server.close({ graceMs: 0 })
  })

  it('waits for the run that is live, and loses nothing of it', async () => {
    const [begun, gate] = [deferred(), deferred()]
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      async execute(_, ctx) {
        begun.resolve()
        await gate.promise
        ctx.setState({ done: true })
        return 'waited'
      },
    })
    const script: Script = [[{ toolCall: { name: 'wait', args: {} } }], 'Done.']
    const { server, url } = await serveKept(
      defineAgent({ name: 'talker', model: scriptedModel(script), tools: [wait] }),
    )
    const client = new HttpAgent({ url, threadId: 'thread-1' })
    client.addMessage({ id: 'u1', role: 'user', content: 'Hi.' })
    const running = client.runAgent()
    await begun.promise
    const updating = server.state.update(name, (state) => ({ ...(state as object), seen: true }))
    gate.resolve()
    await running
    expect(await updating).toEqual({ done: true, seen: true })
    await server.close({ graceMs: 0 })
  })

  it('is refused for what does not exist or cannot be stored', async () => {
    const { server, url } = await serveKept()
    await expect(server.state.read(name)).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' })
    await expect(server.state.clear(name)).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' })
    await expect(server.state.read({ ...name, agent: 'x' })).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
    })
    const client = new HttpAgent({ url, threadId: 'thread-1' })
    client.addMessage({ id: 'u1', role: 'user', content: 'Hi.' })
    await client.runAgent()
    await expect(server.state.update(name, () => ({ later: Promise.resolve(1) }))).rejects.toMatchObject({
      code: 'ENCODING_ERROR',
    })
    await expect(server.state.read({ ...name, user: 'eve' })).rejects.toMatchObject({
      code: 'THREAD_NOT_FOUND',
    })
    expect(await server.state.read(name)).toEqual({})
    await server.close({ graceMs: 0 })
  })
})

describe('timestamps', () => {
  it('are on every event of a run, of a connection and of a request that runs nothing', async () => {
    const clock = { now: () => 1_700_000_000_000, schedule: () => () => undefined }
    const served = await serveAgents({ agents: [talker()], stream: { timestamps: true }, clock })
    const run = await read(served, '/run')
    const again = await read(served, '/run')
    const connected = await read(served, '/connect')
    for (const events of [run, again, connected]) {
      expect(events.length).toBeGreaterThan(1)
      for (const { timestamp } of events) expect(timestamp).toBe(1_700_000_000_000)
    }
  })

  it('are the same when a client connects again, and are not there by default', async () => {
    const served = await serveAgents({ agents: [talker()], stream: { timestamps: true } })
    const events = await read(served, '/run')
    expect(events[0]).toHaveProperty('timestamp')
    const response = await fetch(`${served.url}/connect`, {
      ...{ method: 'POST', headers: { ...json, 'last-event-id': 'run-1:0' } },
      body: JSON.stringify(inputOf({})),
    })
    const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
    expect(lines.map((line) => JSON.parse(line.slice(6)) as unknown)).toEqual(events.slice(1))
    const plain = await serveAgents({ agents: [talker()] })
    const [first] = await read(plain, '/run')
    expect(first).not.toHaveProperty('timestamp')
  })
})

describe.each(clientVersions)('event lines with the client $version', ({ Client }) => {
  it('name the type of each event, and the client reads the stream all the same', async () => {
    const served = await serveAgents({ agents: [talker()], stream: { eventLines: true } })
    const talk = served.talk({ Client })
    const events = await talk.say('Hi.')
    expect(talk.client.messages.at(-1)).toMatchObject({ content: 'Fine.' })
    expect(events.at(-1)?.type).toBe('RUN_FINISHED')
    for (const route of ['run', 'connect']) {
      const body = JSON.stringify(
        inputOf({ messages, runId: 'run-9', threadId: route === 'run' ? 'other' : 'thread-1' }),
      )
      const response = await fetch(`${served.url}/${route}`, { method: 'POST', headers: json, body })
      const frames = (await response.text()).trim().split('\n\n')
      expect(frames.length).toBeGreaterThan(2)
      for (const frame of frames) {
        const name = /^event: (.+)$/m.exec(frame)?.[1]
        const data = JSON.parse(/^data: (.+)$/m.exec(frame)?.[1] ?? '') as { type: string }
        expect(name).toBe(data.type)
      }
    }
  })
})

describe('a listener for an HTTP server of your own', () => {
  const runVia = async (url: string) => {
    const client = new HttpAgent({ url, threadId: 'thread-1' })
    client.addMessage({ id: 'u1', role: 'user', content: 'Hi.' })
    await client.runAgent()
    return client.messages.at(-1)
  }

  it.each([
    ['node:http', (server: Server): RequestListener => createListener(server), '/run'],
    ['Express', (server: Server) => express().use('/ai', createListener(server)), '/ai/run'],
  ])('serves runs and refusals under %s', async (_, make, path) => {
    const server = createServer({ agents: [talker()], log: silent })
    const url = await listen(make(server))
    expect(await runVia(url + path)).toMatchObject({ role: 'assistant', content: 'Fine.' })
    const refused = await fetch(`${url}${path}`, { method: 'POST', headers: json, body: '{' })
    expect(refused.status).toBe(400)
    await server.close({ graceMs: 0 })
  })

  it('serves under a basePath beside other routes of the application', async () => {
    const server = createServer({ agents: [talker()], basePath: '/ai', log: silent })
    const listener = createListener(server)
    const url = await listen((request, response) => {
      if (request.url?.startsWith('/ai/') === true) listener(request, response)
      else response.end('the application')
    })
    expect(await (await fetch(url)).text()).toBe('the application')
    expect(await runVia(`${url}/ai/agents/talker/run`)).toMatchObject({ content: 'Fine.' })
    await server.close({ graceMs: 0 })
  })
})

it('pending calls say since when they wait', async () => {
  const pending: unknown[] = []
  const clock = { now: () => 5_000, schedule: () => () => undefined }
  const served = await serveAgents({
    agents: [talker([[{ toolCall: { name: 'pick', args: {} } }], 'Thanks.'])],
    clock,
    hooks: {
      inputChange(input, { thread }) {
        pending.push(...thread.pendingToolCalls)
        return input
      },
    },
  })
  const tools = [{ name: 'pick', description: 'Picks.', parameters: { type: 'object' } }]
  const { events, ended } = await served.stream('/run', { body: inputOf({ messages, tools }) })
  await ended
  const [call] = events.flatMap((event) => (event.type === 'TOOL_CALL_START' ? [event] : []))
  const result = { id: 't1', role: 'tool', toolCallId: call?.toolCallId, content: 'red' }
  const body = inputOf({ runId: 'run-2', messages: [...messages, result], tools })
  await (
    await served.stream('/run', { body })
  ).ended
  expect(pending).toEqual([{ id: call?.toolCallId, name: 'pick', timestamp: 5_000 }])
})

/** Reads a stream about the thread to its end. */
async function read(served: ServedAgents, route: string): Promise<readonly AgUiEvent[]> {
  const { events, ended } = await served.stream(route, { body: inputOf({ messages }) })
  await ended
  return events
}

const silent = Object.fromEntries(
  ['debug', 'info', 'warn', 'error'].map((level) => [level, () => undefined]),
) as never

async function listen(listener: RequestListener): Promise<string> {
  const http = createHttpServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => http.once('listening', resolve))
  onTestFinished(() => {
    http.close().closeAllConnections()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}
