import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { createFold } from '../../src/protocol/index.js'
import type { AuditEvent, ServerOptions } from '../../src/server/index.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import { as, identify, runFile, runTo } from './support-console.js'
import { ask, inputOf, serving, temporaryFolder, user } from './support-server.js'
import { openStream, says } from './support-stream.js'

const weather = defineTool({
  name: 'weather',
  description: 'The weather in a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => `Rain in ${city}.`,
})

function helper(): ReturnType<typeof defineAgent> {
  const model = scriptedModel((_, index) =>
    index % 2 === 0 ? [{ toolCall: { name: 'weather', args: { city: 'Oslo' } } }] : 'It rains.',
  )
  return defineAgent({
    name: 'helper',
    instructions: 'Secret words.',
    model,
    tools: [weather],
    settings: { temperature: 0.5 },
  })
}

function served(options: Partial<ServerOptions> = {}): ReturnType<typeof serving> {
  return serving({ agents: [helper()], console: true, ...options })
}

async function runsOf(url: string, headers: Record<string, string>, query = ''): Promise<object[]> {
  const { status, body } = await ask(`${url}/console/api/runs${query}`, { headers })
  expect(status).toBe(200)
  return (body as { runs: object[] }).runs
}

describe('the run file', () => {
  it('has what came, when it came, what was asked for and what the model was asked', async () => {
    const { url } = await served()
    const events = await runTo(url, { agent: 'helper' })
    const file = await runFile(url, 'helper/t/r')
    expect(file).toMatchObject({ format: 'millrace-run', version: 1, status: 'completed', user: 'local' })
    expect(file.events.map(({ event }) => event)).toEqual(events)
    expect(file.events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
    expect(file.events.every(({ at = 0 }) => at >= file.startedAt && at <= (file.endedAt ?? 0))).toBe(true)
    expect(file.input?.messages).toMatchObject([{ content: 'Go.' }])
    expect(file.start.messages.map(({ id }) => id)).toEqual(['u-r'])
    expect(file.requests).toHaveLength(2)
    expect(file.requests[0]).toMatchObject({
      agent: 'helper',
      model: 'scripted/scripted',
      instructions: 'Secret words.',
      messages: [{ role: 'user', content: 'Go.' }],
      tools: [{ name: 'weather' }],
      settings: { temperature: 0.5 },
      endedAt: expect.any(Number) as number,
    })
    expect(file.requests[1]?.messages).toHaveLength(3)
  })

  it('folds from its start to what the thread holds', async () => {
    const { url } = await served()
    await runTo(url, { agent: 'helper', runId: 'r1' })
    await runTo(url, { agent: 'helper', runId: 'r2' })
    const file = await runFile(url, 'helper/t/r2')
    const fold = createFold({ messages: [...file.start.messages] as never, state: file.start.state })
    for (const { event } of file.events) fold.apply(event)
    const { body } = await ask(`${url}/agents/helper/message_snapshot/t`)
    expect(fold.messages.map(({ id }) => id)).toEqual(
      (body as { messages: { id: string }[] }).messages.map(({ id }) => id),
    )
  })

  it('is there for earlier runs of a thread, while the process remembers them', async () => {
    const { url } = await served()
    const first = await runTo(url, { agent: 'helper', runId: 'r1' })
    await runTo(url, { agent: 'helper', runId: 'r2' })
    expect((await runFile(url, 'helper/t/r1')).events.map(({ event }) => event)).toEqual(first)
  })

  it('comes from the log after a restart, for the latest run of a thread', async () => {
    const path = join(temporaryFolder(), 'threads.db')
    const before = await served({ store: await createSqliteStore({ path }) })
    await runTo(before.url, { agent: 'helper', runId: 'r1' })
    const events = await runTo(before.url, { agent: 'helper', runId: 'r2' })
    const whole = await runFile(before.url, 'helper/t/r2')
    await before.close()
    const { url } = await served({ store: await createSqliteStore({ path }) })
    const file = await runFile(url, 'helper/t/r2')
    expect(file.events.map(({ event }) => event)).toEqual(events)
    expect(file.status).toBe('completed')
    expect(file.start.messages.map(({ id }) => id)).toEqual(whole.start.messages.map(({ id }) => id))
    expect(file.requests).toEqual([])
    expect((await ask(`${url}/console/api/runs/helper/t/r1`)).status).toBe(404)
  })

  it('is there while the run is live: what there is so far', async () => {
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    const agent = defineAgent({ name: 'slow', model: scriptedModel([['One. ', { wait: gate }, 'Two.']]) })
    const { url } = await served({ agents: [agent] })
    const body = inputOf({ threadId: 't', runId: 'r', messages: [user('u', 'Go.')] })
    const stream = await openStream(`${url}/run`, { body })
    await stream.until(says('One.'))
    expect(await runsOf(url, {})).toMatchObject([{ runId: 'r', status: 'running' }])
    const file = await runFile(url, 'slow/t/r')
    expect(file.status).toBe('running')
    expect(file.endedAt).toBeUndefined()
    expect(file.events.map(({ event }) => event.type)).toContain('TEXT_MESSAGE_CONTENT')
    expect(file.events.map(({ event }) => event.type)).not.toContain('RUN_FINISHED')
    open()
    await stream.whole()
  })

  it('shows what hooks have changed, and cuts files and images to a note', async () => {
    const agent = defineAgent({ name: 'talker', model: scriptedModel(() => 'My card is 4111.') })
    const { url } = await served({
      agents: [agent],
      hooks: {
        inputChange: (input) => ({ ...input, context: [{ description: 'day', value: 'Monday' }] }),
        event: (event) =>
          event.type === 'TEXT_MESSAGE_CHUNK' && event.delta !== undefined
            ? { ...event, delta: event.delta.replace('4111', '****') }
            : event,
        outputChange: (event) => (event.type === 'RUN_STARTED' ? { ...event, timestamp: 1 } : event),
      },
    })
    const data = 'iVBORw0KGgo'.repeat(500)
    const content = [
      { type: 'text', text: 'Look.' },
      { type: 'image', source: { type: 'data', value: data, mimeType: 'image/png' } },
    ]
    await runTo(url, { agent: 'talker', fields: { messages: [{ id: 'u', role: 'user', content }] } })
    const file = await runFile(url, 'talker/t/r')
    const changesOf = (hook: string) => file.changes.filter((change) => change.hook === hook)
    expect(changesOf('inputChange')).toMatchObject([
      { before: { context: [] }, after: { context: [{ value: 'Monday' }] } },
    ])
    expect(changesOf('event')).toMatchObject([
      { before: { delta: 'My card is 4111.' }, after: { delta: 'My card is ****.' } },
    ])
    expect(changesOf('outputChange')).toMatchObject([
      { seq: 0, before: { type: 'RUN_STARTED' }, after: { type: 'RUN_STARTED', timestamp: 1 } },
    ])
    const text = JSON.stringify([file.input, file.requests, file.changes])
    expect(text).not.toContain('iVBOR')
    expect(text).toContain('[cut: 5500 characters')
  })

  it('of a run that is too large to remember comes from the log, and says when that is gone', async () => {
    const words = 'many words '.repeat(90_000)
    const model = scriptedModel((_, index) =>
      index === 0 ? Array.from({ length: 9 }, () => words) : 'Short.',
    )
    const { url } = await served({ agents: [defineAgent({ name: 'talker', model })] })
    const events = await runTo(url, { agent: 'talker', runId: 'r1' })
    const file = await runFile(url, 'talker/t/r1')
    expect(file.events.map(({ event }) => event)).toEqual(events)
    expect(file.events.every(({ at = 0 }) => at > 0)).toBe(true)
    expect(file.isCut).toBeUndefined()
    await runTo(url, { agent: 'talker', runId: 'r2' })
    expect(await runFile(url, 'talker/t/r1')).toMatchObject({ status: 'completed', events: [], isCut: true })
  })

  it('tells of a model that failed', async () => {
    const model = scriptedModel(() => [{ error: { status: 400, message: 'no' } }])
    const { url } = await served({ agents: [defineAgent({ name: 'broken', model })] })
    await runTo(url, { agent: 'broken' })
    const file = await runFile(url, 'broken/t/r')
    expect(file.status).toBe('failed')
    expect(file.requests).toMatchObject([{ error: { code: 'MODEL_ERROR' } }])
    expect(await runsOf(url, {})).toMatchObject([{ status: 'failed', error: { code: 'MODEL_ERROR' } }])
  })

  it.each(['helper/t/none', 'helper/none/r', 'nobody/t/r'])('is not there for %s', async (path) => {
    const { url } = await served()
    await runTo(url, { agent: 'helper' })
    expect((await ask(`${url}/console/api/runs/${path}`)).status).toBe(404)
  })
})

describe('users', () => {
  it('see their own runs, and neither what models were asked nor what hooks have changed', async () => {
    const { url } = await served({
      identify,
      hooks: { event: (event) => ({ ...event, timestamp: 1 }) },
    })
    await runTo(url, { agent: 'helper', headers: as('ann') })
    await runTo(url, { agent: 'helper', threadId: 't2', headers: as('bob') })
    expect(await runsOf(url, as('ann'))).toMatchObject([{ user: 'ann', threadId: 't', title: 'Go.' }])
    expect(await runsOf(url, as('ann'), '?user=bob')).toEqual([])
    const file = await runFile(url, 'helper/t/r', as('ann'))
    expect(file.events.length).toBeGreaterThan(5)
    expect([file.requests, file.changes]).toEqual([[], []])
    expect(JSON.stringify(file)).not.toContain('Secret')
    const { status, body } = await ask(`${url}/console/api/runs/helper/t/r`, { headers: as('bob') })
    expect(status).toBe(404)
    expect(body).toMatchObject({ error: { code: 'RUN_NOT_FOUND' } })
  })

  it('need to be known for every route of the console', async () => {
    const { url } = await served({ identify, console: { toolCalls: true } })
    for (const path of ['session', 'runs', 'runs/follow', 'runs/helper/t/r'])
      expect((await ask(`${url}/console/api/${path}`)).status).toBe(401)
    expect((await ask(`${url}/console/api/tools/helper/weather`, { body: {} })).status).toBe(401)
  })
})

describe('an operator', () => {
  it('sees the runs of all users of the app, and of no other app', async () => {
    const { url } = await served({ identify })
    await runTo(url, { agent: 'helper', runId: 'r1', headers: as('ann') })
    await runTo(url, { agent: 'helper', runId: 'r2', headers: as('bob') })
    expect(await runsOf(url, as('olga'))).toMatchObject([{ user: 'bob' }, { user: 'ann' }])
    expect(await runsOf(url, as('olga'), '?user=ann&status=completed&agent=helper')).toHaveLength(1)
    expect(await runsOf(url, as('olga'), '?status=failed')).toEqual([])
    expect(await runsOf(url, as('olga'), '?limit=1')).toHaveLength(1)
    expect(await runsOf(url, as('olga', 'ann'))).toMatchObject([{ user: 'ann' }])
    expect(await runsOf(url, as('eve'))).toEqual([])
    const file = await runFile(url, 'helper/t/r1', as('olga', 'ann'))
    expect(file.user).toBe('ann')
    expect(file.requests).toHaveLength(2)
    const elsewhere = await ask(`${url}/console/api/runs/helper/t/r1`, { headers: as('eve', 'ann') })
    expect(elsewhere.status).toBe(404)
  })

  it('reads the threads of another user and cancels runs, and is audited by name', async () => {
    const audited: AuditEvent[] = []
    const { url } = await served({ identify, hooks: { audit: (event) => void audited.push(event) } })
    await runTo(url, { agent: 'helper', headers: as('ann') })
    const threads = await ask(`${url}/agents/helper/thread/list`, { headers: as('olga', 'ann') })
    expect(threads.body).toMatchObject({ threads: [{ threadId: 't' }] })
    const messages = await ask(`${url}/agents/helper/message_snapshot/t`, { headers: as('olga', 'ann') })
    expect(messages.status).toBe(200)
    const stream = await openStream(`${url}/agents/helper/connect`, {
      body: { threadId: 't' },
      headers: as('olga', 'ann'),
    })
    expect(stream.status).toBe(200)
    await stream.whole()
    const cancelled = await ask(`${url}/agents/helper/cancel`, {
      body: { threadId: 't' },
      headers: as('olga', 'ann'),
    })
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'idle' } })
    const own = audited.filter(({ action }) => action === 'act-as')
    expect(own).toHaveLength(4)
    expect(own[0]).toMatchObject({ user: 'olga', asUser: 'ann', method: 'GET', outcome: 'done' })
  })

  it.each([
    ['POST', '/agents/helper/run', inputOf({})],
    ['POST', '/', inputOf({})],
    ['PATCH', '/agents/helper/state/t', []],
    ['PATCH', '/agents/helper/thread/t', { title: 'x' }],
    ['DELETE', '/agents/helper/thread/t', undefined],
    ['POST', '/console/api/tools/helper/weather', { arguments: {} }],
  ])('may not send %s %s for another user', async (method, path, body) => {
    const audited: AuditEvent[] = []
    const { url } = await served({
      ...{ identify, console: { toolCalls: true } },
      hooks: { audit: (event) => void audited.push(event) },
    })
    await runTo(url, { agent: 'helper', headers: as('ann') })
    const refused = await ask(url + path, { method, body, headers: as('olga', 'ann') })
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } })
    expect(audited).toMatchObject([{ action: 'act-as', user: 'olga', outcome: 'refused', code: 'FORBIDDEN' }])
    expect((await ask(`${url}/agents/helper/message_snapshot/t`, { headers: as('ann') })).status).toBe(200)
  })

  it('is the only one who may act as another user', async () => {
    const { url } = await served({ identify })
    await runTo(url, { agent: 'helper', headers: as('ann') })
    for (const path of [
      '/agents/helper/thread/list',
      '/agents/helper/message_snapshot/t',
      '/console/api/runs',
    ])
      expect((await ask(url + path, { headers: as('bob', 'ann') })).status).toBe(403)
    expect((await ask(`${url}/console/api/runs`, { headers: as('bob', 'bob') })).status).toBe(403)
  })
})

describe('a page that follows the runs', () => {
  it('is told of the beginning and the end of those that its user may see', async () => {
    const { url } = await served({ identify })
    const follow = async (headers: Record<string, string>) => {
      const gone = new AbortController()
      const response = await fetch(`${url}/console/api/runs/follow`, { headers, signal: gone.signal })
      expect(response.headers.get('content-type')).toContain('text/event-stream')
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      return {
        close: () => gone.abort(),
        async until(fits: (runs: Record<string, unknown>[]) => boolean) {
          for (;;) {
            const runs = [...text.matchAll(/^data: (.*)$/gm)].map(
              ([, json = '']) => JSON.parse(json) as Record<string, unknown>,
            )
            if (fits(runs)) return runs
            text += (await reader?.read())?.value ?? ''
          }
        },
      }
    }
    const [ann, olga] = [await follow(as('ann')), await follow(as('olga'))]
    await runTo(url, { agent: 'helper', runId: 'r1', headers: as('bob') })
    await runTo(url, { agent: 'helper', runId: 'r2', headers: as('ann') })
    const isOver = (runs: Record<string, unknown>[]) =>
      runs.some(({ runId, status }) => runId === 'r2' && status === 'completed')
    const seen = await ann.until(isOver)
    expect(seen.map(({ user: name, status }) => [name, status])).toEqual([
      ['ann', 'running'],
      ['ann', 'completed'],
    ])
    expect(seen.at(-1)).toMatchObject({
      events: expect.any(Number) as number,
      endedAt: expect.any(Number) as number,
    })
    expect(new Set((await olga.until(isOver)).map(({ user: name }) => name))).toEqual(new Set(['ann', 'bob']))
    ann.close()
    olga.close()
  })

  it('has one of the streams of its user, and gives it back', async () => {
    const { url } = await served({ limits: { streamsPerUser: 1 } })
    const gone = new AbortController()
    const path = `${url}/console/api/runs/follow`
    expect((await fetch(path, { signal: gone.signal })).status).toBe(200)
    expect((await fetch(path)).status).toBe(429)
    gone.abort()
    await expect.poll(async () => (await fetch(path, { signal: AbortSignal.timeout(1000) })).status).toBe(200)
  })
})

describe('without a console', () => {
  it('there are no such routes', async () => {
    const { url } = await served({ console: false })
    expect((await ask(`${url}/console/api/session`)).status).toBe(404)
  })
})
