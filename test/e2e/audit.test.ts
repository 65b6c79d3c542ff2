import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { AuditEvent, Hooks, ServerOptions } from '../../src/server/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { gatedAgent } from './support-gated.js'
import { ask, inputOf, serving, user } from './support-server.js'
import { openStream } from './support-stream.js'

const secret = 'sk-4711'
const headers = { authorization: 'ann' }

/** Asks before it pays. */
function payer() {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({}),
    async execute(_, { interrupt }) {
      const responseSchema = z.object({ approved: z.boolean() })
      await interrupt({ reason: 'confirmation', message: `Pay ${secret}?`, responseSchema })
      return secret
    },
  })
  const model = scriptedModel(({ messages }) =>
    messages.at(-1)?.role === 'user' ? [{ toolCall: { name: 'pay', args: {} } }] : `Paid ${secret}.`,
  )
  return defineAgent({ name: 'payer', model, tools: [pay] })
}

interface Line {
  readonly level: string
  readonly facts: object
  readonly message: string
}

async function audited(options: Partial<ServerOptions> = {}) {
  const events: AuditEvent[] = []
  const lines: Line[] = []
  const level = (name: string) => (facts: object, message: string) => {
    lines.push({ level: name, facts, message })
  }
  const made = await serving({
    agents: [payer()],
    identify: (request) => {
      const name = request.headers.get('authorization')
      if (name === 'broken') throw new Error(`no directory for ${secret}`)
      return name === null ? undefined : { user: name, app: 'desk' }
    },
    hooks: { audit: (event) => void events.push(event) },
    log: { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') },
    ...options,
  })
  return { url: made.url, made, events, lines }
}

async function run(url: string, fields: object) {
  const body = inputOf(fields)
  const stream = await openStream(`${url}/run`, { body, headers })
  await stream.whole()
  assertValidStream(stream.events, { input: body })
  return stream.events
}

const asks = { messages: [user('u1', `Pay ${secret}.`)], state: { note: secret } }
const key = { app: 'desk', user: 'ann', agent: 'payer', thread: 'thread-1' }
const common = { at: expect.any(Number) as number, address: '127.0.0.1' }

/** Starts a run that asks, and gives the id of its interrupt. */
async function startAsking(url: string): Promise<string> {
  const last = (await run(url, asks)).at(-1)
  if (last?.type !== 'RUN_FINISHED' || last.outcome?.type !== 'interrupt') throw new Error('It does not ask.')
  const [interrupt] = last.outcome.interrupts
  return interrupt?.id ?? ''
}

function answerTo(interruptId: string, payload: unknown) {
  return { ...asks, runId: 'run-2', resume: [{ interruptId, status: 'resolved', payload }] }
}

describe('the audit', () => {
  it('has who deleted, patched and answered what, from where, and how it went', async () => {
    const { url, events, lines } = await audited()
    const interruptId = await startAsking(url)
    expect(events).toEqual([])
    await run(url, answerTo(interruptId, { approved: true, note: secret }))
    const patch = [{ op: 'add', path: '/seen', value: secret }]
    await ask(`${url}/state/thread-1`, { method: 'PATCH', body: patch, headers })
    await ask(`${url}/thread/thread-1`, { method: 'DELETE', headers })
    await ask(`${url}/thread/thread-1`, { method: 'DELETE', headers })
    const answers = [{ interruptId, status: 'resolved' }]
    expect(events).toEqual([
      { action: 'resume', ...key, runId: 'run-2', answers, outcome: 'done', ...common },
      { action: 'patch', ...key, outcome: 'done', ...common },
      { action: 'delete', ...key, outcome: 'done', ...common },
      { action: 'delete', ...key, outcome: 'refused', code: 'THREAD_NOT_FOUND', ...common },
    ])
    const logged = lines.filter(({ message }) => message === 'audit')
    expect(logged.map(({ facts }) => facts)).toEqual(events)
    expect(logged.map(({ level }) => level)).toEqual(['info', 'info', 'info', 'warn'])
    expect(JSON.stringify([events, lines])).not.toContain(secret)
  })

  it('has who renamed and put away what, on all routes, without the title', async () => {
    const { url, events, lines } = await audited({ copilotKit: true })
    await run(url, asks)
    const label = (path: string, body: object, method = 'PATCH') => ask(url + path, { method, body, headers })
    await label('/thread/thread-1', { title: secret })
    await label('/thread/none', { archived: true })
    await label('/copilotkit/threads/thread-1', { agentId: 'default', name: secret })
    await label('/copilotkit/threads/thread-1/archive', { agentId: 'payer' }, 'POST')
    await ask(`${url}/thread/thread-1`, {
      ...{ method: 'PATCH', body: { title: 'Mine' } },
      headers: { authorization: 'bob' },
    })
    const done = { action: 'label', ...key, outcome: 'done', ...common }
    const refused = { ...done, outcome: 'refused', code: 'THREAD_NOT_FOUND' }
    expect(events).toEqual([
      ...[done, { ...refused, thread: 'none' }, done, done],
      { ...refused, user: 'bob' },
    ])
    expect(JSON.stringify([events, lines])).not.toContain(secret)
  })

  it('has answers that are refused, by the server or by the agent that asked', async () => {
    const { url, events } = await audited()
    const interruptId = await startAsking(url)
    await run(url, answerTo('none', { approved: true }))
    await run(url, answerTo(interruptId, { approved: secret }))
    const outcomes = events.map((event) => [event.action, event.outcome, event.code])
    expect(outcomes).toEqual([
      ['resume', 'refused', 'INVALID_RESUME'],
      ['resume', 'done', undefined],
      ['resume', 'refused', 'INVALID_RESUME'],
    ])
    expect(JSON.stringify(events)).not.toContain(secret)
  })

  it('has who cancelled which run', async () => {
    const speaker = gatedAgent(['One', ' two'])
    const { agent } = speaker
    const { url, events } = await audited({ agents: [agent] })
    const stream = await openStream(`${url}/run`, { body: inputOf(asks), headers })
    speaker.say(0)
    await stream.until(({ type }) => type === 'TEXT_MESSAGE_CONTENT')
    await ask(`${url}/cancel`, { body: { threadId: 'thread-1', runId: 'other' }, headers })
    await ask(`${url}/cancel`, { body: { threadId: 'thread-1' }, headers })
    await stream.over()
    const where = { ...key, agent: agent.name, ...common }
    expect(events).toEqual([
      { action: 'cancel', ...where, runId: 'other', outcome: 'refused', code: 'RUN_NOT_FOUND' },
      { action: 'cancel', ...where, outcome: 'done' },
    ])
  })

  it('has who could not be identified, and where', async () => {
    const { url, events, lines } = await audited()
    await ask(`${url}/agents/payer/thread/list`)
    await ask(`${url}/agents`, { headers: { authorization: 'broken' } })
    await ask(`${url}/agents`, { headers })
    expect(events).toEqual([
      {
        ...{ action: 'identify', method: 'GET', route: '/agents/:agent/thread/list' },
        ...{ outcome: 'refused', code: 'UNAUTHENTICATED', ...common },
      },
      {
        ...{ action: 'identify', method: 'GET', route: '/agents' },
        ...{ outcome: 'failed', code: 'INTERNAL_ERROR', ...common },
      },
    ])
    expect(JSON.stringify([events, lines])).not.toContain(secret)
  })

  it.each<readonly [string, NonNullable<Hooks['audit']>]>([
    [
      'throws',
      () => {
        throw new Error(secret)
      },
    ],
    ['rejects', () => Promise.reject(new Error(secret))],
    ['never answers', () => new Promise(() => undefined)],
  ])('that %s changes nothing for the request, and is reported', async (_, audit) => {
    const { url, made, lines } = await audited({ hooks: { audit }, limits: { hookTimeoutMs: 1 } })
    await run(url, asks)
    expect(await ask(`${url}/thread/thread-1`, { method: 'DELETE', headers })).toMatchObject({ status: 200 })
    expect(await ask(`${url}/agents`)).toMatchObject({ status: 401 })
    await made.close({ graceMs: 1000 })
    const reports = lines.filter(({ message }) => message === 'an audit event was not taken')
    expect(reports.map(({ facts }) => facts)).toMatchObject([
      { action: 'delete', ...key, err: { code: 'HOOK_ERROR' } },
      { action: 'identify', err: { code: 'HOOK_ERROR' } },
    ])
    expect(JSON.stringify(lines)).not.toContain(secret)
  })

  it('takes its time: closing the server waits for it', async () => {
    const taken: string[] = []
    const { url, made } = await audited({
      hooks: {
        async audit({ action }) {
          await new Promise((resolve) => setImmediate(resolve))
          taken.push(action)
        },
      },
    })
    await ask(`${url}/agents`)
    await made.close()
    expect(taken).toEqual(['identify'])
  })

  it('is in the log of a server without the hook', async () => {
    const { url, lines } = await audited({ hooks: {}, agents: [payer()] })
    await ask(`${url}/thread/none`, { method: 'DELETE', headers })
    expect(lines).toMatchObject([
      { level: 'warn', message: 'audit', facts: { action: 'delete', ...key, thread: 'none' } },
    ])
  })
})
