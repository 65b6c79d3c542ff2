import { HttpAgent } from '@ag-ui/client'
import express from 'express'
import { Agent as Connections, request as httpRequest, type IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { defineAgent, type Agent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { createServer, type ServerOptions } from '../../src/server/index.js'
import { createListener } from '../../src/server/node.js'
import { assertValidStream } from '../../src/testing/index.js'
import { deferred } from '../support/run-agent.js'
import { gatedAgent } from './support-gated.js'
import { listen, mounts, prefix, type Mount } from './support-mounts.js'
import { ask, historyOf, inputOf, listed, user } from './support-server.js'
import { openStream, says, textIn } from './support-stream.js'

const silent = Object.fromEntries(
  ['debug', 'info', 'warn', 'error'].map((level) => [level, () => undefined]),
) as never

/** Starts an application with the server in it. Returns the URL of the server. */
async function embed(mount: Mount, options: ServerOptions): Promise<string> {
  const base = mount.stripsPrefix ? {} : { basePath: prefix }
  const server = createServer({ log: silent, ...base, ...options })
  onTestFinished(() => server.close({ graceMs: 0 }))
  return (await mount.start(server)) + prefix
}

const talker = (): Agent => defineAgent({ name: 'talker', model: scriptedModel(() => 'Fine.') })
const input = inputOf({ messages: [user('u1', 'Hi.')] })

describe.each(mounts)('$name', (mount) => {
  it('streams while the run goes on', async () => {
    const speaker = gatedAgent(['One. ', 'Two. ', 'Three.'])
    const url = await embed(mount, { agents: [speaker.agent] })
    // As browsers do: middleware that compresses must leave the stream alone.
    const headers = { 'accept-encoding': 'gzip' }
    const stream = await openStream(`${url}/agents/speaker/run`, { body: input, headers })
    speaker.say(0)
    // It would wait for ever where something holds the events back.
    await stream.until(says('One.'))
    expect(textIn(stream.events)).toBe('One. ')
    speaker.sayAll()
    await stream.whole()
    assertValidStream(stream.events, { input })
    expect(textIn(stream.events)).toBe('One. Two. Three.')
    expect((await historyOf(url)).at(-1)).toMatchObject({ role: 'assistant', content: 'One. Two. Three.' })
  })

  it('notices a client that hangs up', async () => {
    const stopped = deferred()
    const waiting: Agent = {
      name: 'waiting',
      description: 'Waits.',
      async *run({ signal }) {
        yield { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', delta: 'Well' }
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        stopped.resolve()
        return { type: 'cancelled' }
      },
    }
    const url = await embed(mount, { agents: [waiting], onDisconnect: 'cancel' })
    const stream = await openStream(`${url}/run`, { body: input })
    await stream.until(says('Well'))
    assertValidStream(stream.events, { input, complete: false })
    stream.drop()
    await stopped.promise
  })

  it('cancels a run, and the stream says so', async () => {
    const speaker = gatedAgent(['One. ', 'Two.'])
    const url = await embed(mount, { agents: [speaker.agent] })
    const stream = await openStream(`${url}/run`, { body: input })
    speaker.say(0)
    await stream.until(says('One.'))
    const { body } = await ask(`${url}/cancel`, { body: { threadId: 'thread-1' } })
    expect(body).toEqual({ status: 'cancelled', runId: 'run-1' })
    await stream.whole()
    assertValidStream(stream.events, { input })
    expect(await listed(url)).toMatchObject({ lastRun: { runId: 'run-1', status: 'cancelled' } })
  })

  it('serves the AG-UI client, and every method', async () => {
    const url = await embed(mount, { agents: [talker()] })
    const client = new HttpAgent({ url: `${url}/run`, threadId: 'thread-1' })
    for (const text of ['Hi.', 'How are you?']) {
      client.addMessage({ id: text, role: 'user', content: text })
      await client.runAgent()
    }
    expect(client.messages.map(({ content }) => content)).toEqual(['Hi.', 'Fine.', 'How are you?', 'Fine.'])
    const patch = [{ op: 'add', path: '/city', value: 'Oslo — 奥斯陆' }]
    expect(await ask(`${url}/state/thread-1`, { method: 'PATCH', body: patch })).toMatchObject({
      status: 200,
    })
    expect((await ask(`${url}/state_snapshot/thread-1`)).body).toMatchObject({
      snapshot: { city: 'Oslo — 奥斯陆' },
    })
    const head = await fetch(`${url}/agents`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await fetch(`${url}/run`, { method: 'OPTIONS' })).status).toBe(405)
    expect((await fetch(`${url}/thread/thread-1`, { method: 'DELETE' })).status).toBe(200)
    expect((await ask(`${url}/state_snapshot/thread-1`)).status).toBe(404)
  })

  it('takes the bodies of CopilotKit, of DELETE too, and does without them where it may', async () => {
    const url = await embed(mount, { agents: [talker()], copilotKit: true })
    const kit = `${url}/copilotkit`
    await (await openStream(`${url}/run`, { body: input })).whole()
    const stop = await fetch(`${kit}/agent/default/stop/thread-1`, { method: 'POST' })
    expect([stop.status, await stop.json()]).toEqual([200, { stopped: false }])
    const body = { agentId: 'default', name: 'Oslo' }
    expect((await ask(`${kit}/threads/thread-1`, { method: 'PATCH', body })).status).toBe(200)
    expect(await listed(url)).toMatchObject({ title: 'Oslo' })
    expect(await ask(`${kit}/threads/thread-1`, { method: 'DELETE', body })).toEqual({
      status: 200,
      body: { threadId: 'thread-1', deleted: true },
    })
    expect((await ask(`${url}/state_snapshot/thread-1`)).status).toBe(404)
  })

  it('keeps the headers of the application, on streams and refusals', async () => {
    const url = await embed(mount, { agents: [talker()], cors: { origins: ['http://page.example'] } })
    const headers = { 'content-type': 'application/json', origin: 'http://page.example' }
    const body = JSON.stringify(input)
    for (const [address, status] of [
      [`${url}/run`, 200],
      [`${url}/agents/nobody/run`, 404],
    ] as const) {
      const response = await fetch(address, { method: 'POST', headers, body })
      await response.text()
      expect(response.status).toBe(status)
      expect(response.headers.get('x-application')).toBe('mine')
      expect(response.headers.get('access-control-allow-origin')).toBe('http://page.example')
    }
  })

  it('keeps connections alive from run to run', async () => {
    const url = await embed(mount, { agents: [talker()] })
    const agent = new Connections({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const ports: (number | undefined)[] = []
    for (const id of ['1', '2', '3']) {
      const body = inputOf({ runId: `run-${id}`, threadId: `thread-${id}`, messages: [user('u1', 'Hi.')] })
      const { status, text, port } = await post(`${url}/run`, { agent, body })
      expect([status, text.includes('Fine.')]).toEqual([200, true])
      ports.push(port)
    }
    expect(new Set(ports).size).toBe(1)
  })

  it('refuses what is no JSON, too large or too deep, and serves on', async () => {
    const url = await embed(mount, { agents: [talker()], limits: { bodyBytes: 50_000 } })
    const send = (body: string, type = 'application/json') =>
      fetch(`${url}/run`, { method: 'POST', headers: { 'content-type': type }, body })
    expect((await send('{')).status).toBe(400)
    expect((await send(JSON.stringify({ ...input, extra: 'x'.repeat(60_000) }))).status).toBe(413)
    expect((await send(`{"state":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)).status).toBe(400)
    expect((await send(JSON.stringify(input), 'text/plain')).status).toBe(415)
    expect(await (await send(JSON.stringify(input))).text()).toContain('Fine.')
  })
})

interface Posting {
  readonly agent: Connections
  readonly body: unknown
}

async function post(url: string, { agent, body }: Posting) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const made = httpRequest(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } })
    made.once('error', reject)
    made.once('response', resolve)
    made.end(JSON.stringify(body))
  })
  // Looked at first: a socket that is free again is taken from its response.
  const port = response.socket.localPort
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk)
  return { status: response.statusCode, text, port }
}

describe('a listener whose body somebody has read', () => {
  const embedAfter = async (read: (request: IncomingMessage) => unknown) => {
    const server = createServer({ agents: [talker()], log: silent })
    onTestFinished(() => server.close({ graceMs: 0 }))
    const listener = createListener(server)
    return listen((request, response) => {
      request.resume().once('end', () => {
        Object.assign(request, { body: read(request) })
        listener(request, response)
      })
    })
  }
  const circular: Record<string, unknown> = {}
  circular.self = circular

  it.each([
    ['nothing is left of it', () => undefined, 500, 'INTERNAL_ERROR', 'before body parsers'],
    ['it is no JSON any more', () => circular, 400, 'INVALID_INPUT', 'no JSON'],
    ['it is an empty text', () => '', 400, 'INVALID_JSON', 'empty'],
  ])('says what to do when %s', async (_, read, status, code, message) => {
    const url = await embedAfter(read)
    expect(await ask(`${url}/run`, { body: input })).toEqual({
      status,
      body: { error: { code, message: expect.stringContaining(message) as string } },
    })
  })

  it('takes what the application made of it', async () => {
    const url = await embedAfter(() => inputOf({ threadId: 'mine', messages: [user('u1', 'Hi.')] }))
    const stream = await openStream(`${url}/run`, { body: input })
    await stream.whole()
    assertValidStream(stream.events)
    expect(await listed(url, 'mine')).toMatchObject({ messageCount: 2 })
  })

  it('was compressed, and is taken as it is now', async () => {
    const server = createServer({ agents: [talker()], log: silent })
    onTestFinished(() => server.close({ graceMs: 0 }))
    const url = await listen(express().use(express.json(), createListener(server)))
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const response = await fetch(`${url}/run`, {
      method: 'POST',
      headers,
      body: gzipSync(JSON.stringify(input)),
    })
    expect(await response.text()).toContain('Fine.')
  })

  it('is refused with a word when a Web handler has read it', async () => {
    const server = createServer({ agents: [talker()], log: silent })
    onTestFinished(() => server.close({ graceMs: 0 }))
    const headers = { 'content-type': 'application/json', host: 'localhost' }
    const request = new Request('http://localhost/run', {
      method: 'POST',
      headers,
      body: JSON.stringify(input),
    })
    await request.text()
    const response = await server.fetch(request)
    expect([response.status, await response.text()]).toEqual([500, expect.stringContaining('read a clone')])
  })
})
