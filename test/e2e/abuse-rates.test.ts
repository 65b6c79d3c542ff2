import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.js'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel, type Script } from '../../src/models/index.js'
import type { ServerOptions } from '../../src/server/index.js'
import { recordingFetch } from '../support/record-streams.js'
import { aborted, deferred, ofType, resultsIn } from '../support/run-agent.js'
import { linesOf, serveAgents, type ServedAgents } from '../support/serve-agents.js'
import { connectRaw, headOf } from './support-sockets.js'

/** Its timers run, and nobody gets a rate back. */
const clock = { ...systemClock, now: () => 1_000_000_000_000 }

/** A rate that lets five through at once. */
const fiveAtOnce = 30

type Options = Omit<Partial<ServerOptions>, 'store' | 'agents'>

/** Serves users by the name in `x-user`. */
function serveUsers(options: Options, script: Script = () => 'Fine.'): Promise<ServedAgents> {
  return serveAgents({
    agents: [defineAgent({ name: 'talker', model: scriptedModel(script) })],
    identify: ({ headers }) => {
      const user = headers.get('x-user')
      return user === null ? undefined : { user }
    },
    ...options,
  })
}

const as = (user: string): Readonly<Record<string, string>> => ({ 'x-user': user })

async function expectService(served: ServedAgents, user = 'neutral'): Promise<void> {
  const talk = served.talk({ threadId: 'own', headers: as(user) })
  await talk.say('How are you?')
  expect(linesOf(talk.client.messages).slice(-2)).toEqual(['user: How are you?', 'assistant: Fine.'])
}

interface Refusal {
  readonly status: number
  readonly retryAfter: string | null
  readonly code: string | undefined
}

async function statusOf(served: ServedAgents, path: string, headers = {}): Promise<Refusal> {
  const response = await fetch(served.url + path, { headers })
  const { error } = (await response.json()) as { readonly error?: { readonly code: string } }
  return { status: response.status, retryAfter: response.headers.get('retry-after'), code: error?.code }
}

async function statusesOf(count: number, ask: () => Promise<Refusal>): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: count }, ask))
  return answers.map(({ status }) => status).toSorted((a, b) => a - b)
}

function bodyOf(threadId: string, content = 'Hi.'): string {
  const messages = [{ id: 'question', role: 'user', content }]
  const fields = { threadId, runId: `run-of-${threadId}`, protocolVersion: '1.0' }
  return JSON.stringify({ ...fields, messages, tools: [], context: [], state: {} })
}

/** Starts a run and leaves its stream open until the signal aborts. */
async function hoard(served: ServedAgents, threadId: string, signal: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream', ...as('hoarder') }
  const init = { method: 'POST', headers, body: bodyOf(threadId), signal }
  return recordingFetch([])(`${served.url}/run`, init)
}

describe('requests', () => {
  it('of one user are limited, and others are served', async () => {
    const served = await serveUsers({ clock, limits: { requestsPerUser: fiveAtOnce } })
    const ask = () => statusOf(served, '/thread/list', as('busy'))
    expect(await statusesOf(12, ask)).toEqual([...Array<number>(5).fill(200), ...Array<number>(7).fill(429)])
    expect(await ask()).toEqual({ status: 429, retryAfter: '2', code: 'RATE_LIMITED' })
    expect((await statusOf(served, '/agents', as('busy'))).status).toBe(429)
    await expectService(served)
  })

  it('that are refused wait for their answer, and nobody else does', async () => {
    const late: (() => void)[] = []
    const slow = {
      ...clock,
      schedule(ms: number, callback: () => void) {
        if (ms !== 250) return clock.schedule(ms, callback)
        late.push(callback)
        return () => undefined
      },
    }
    const served = await serveUsers({ clock: slow, limits: { requestsPerUser: fiveAtOnce } })
    const ask = () => statusOf(served, '/thread/list', as('busy'))
    await statusesOf(5, ask)
    const answered: number[] = []
    const refusals = [ask(), ask()].map((refusal) => refusal.then(({ status }) => answered.push(status)))
    await expectService(served)
    await expect.poll(() => late.length).toBe(2)
    expect(answered).toEqual([])
    for (const answer of late) answer()
    await Promise.all(refusals)
    expect(answered).toEqual([429, 429])
  })

  it('that reconnect in a storm are refused before their bodies are read', async () => {
    const served = await serveUsers({ clock, limits: { requestsPerUser: fiveAtOnce } })
    await expectService(served, 'stormy')
    const statuses: (string | undefined)[] = []
    for (let n = 0; n < 8; n++) {
      const connection = await connectRaw(served.url)
      // It never sends the body, so only a refusal can come.
      connection.send(headOf('POST /connect', { length: 20, headers: as('stormy') }))
      if (n >= 4) statuses.push((await connection.answered).split(' ')[1])
    }
    expect(statuses).toEqual(['429', '429', '429', '429'])
    await expectService(served)
  })

  it('with large bodies count for as many as they are large', async () => {
    const served = await serveUsers({ clock, limits: { requestsPerUser: fiveAtOnce } })
    const send = (headers: object, body: string | ReadableStream) =>
      fetch(`${served.url}/cancel`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
        duplex: 'half',
      })
    const large = JSON.stringify({ threadId: 'none', more: 'x'.repeat(700_000) })
    expect((await send(as('declared'), large)).status).toBe(404)
    const refused = await send(as('declared'), '{"threadId":"none"}')
    // Twelve requests in place of one: it has to wait for seven.
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '14'])
    expect((await send(as('chunked'), new Blob([large]).stream())).status).toBe(404)
    expect((await send(as('chunked'), '{"threadId":"none"}')).status).toBe(429)
  })

  it('from one address are limited, on paths that do not exist too, but not probes', async () => {
    const served = await serveUsers({ clock, limits: { requestsPerAddress: fiveAtOnce } })
    const nowhere = () => statusOf(served, '/nowhere')
    expect(await statusesOf(8, nowhere)).toEqual([404, 404, 404, 404, 404, 429, 429, 429])
    expect(await nowhere()).toMatchObject({ status: 429, code: 'RATE_LIMITED' })
    for (const path of ['/healthz', '/readyz']) expect((await statusOf(served, path)).status).toBe(200)
    const other = await connectRaw(served.url, '127.0.0.2')
    other.send(headOf('GET /agents', { headers: as('neutral') }))
    expect(await other.answered).toContain('200 OK')
  })

  it('are not counted for an address that their own headers claim', async () => {
    const served = await serveUsers({ clock, limits: { requestsPerAddress: fiveAtOnce } })
    let n = 0
    const forged = () =>
      statusOf(served, '/agents', { ...as('forger'), 'x-forwarded-for': `198.51.100.${n++}` })
    expect(await statusesOf(7, forged)).toEqual([200, 200, 200, 200, 200, 429, 429])
  })

  it('are counted for the address that the own proxy saw', async () => {
    const served = await serveUsers({ clock, trustProxy: 1, limits: { requestsPerAddress: fiveAtOnce } })
    let n = 0
    const through = (address: string) => () =>
      statusOf(served, '/agents', { ...as('ann'), 'x-forwarded-for': `6.6.6.${n++}, ${address}` })
    expect(await statusesOf(7, through('198.51.100.7'))).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect(await statusesOf(5, through('198.51.100.8'))).toEqual([200, 200, 200, 200, 200])
  })
})

describe('identify', () => {
  it('is not asked for an address that has failed too often', async () => {
    let asked = 0
    const served = await serveUsers({
      clock,
      limits: { failedIdentifications: fiveAtOnce },
      identify({ headers }) {
        asked++
        return headers.get('x-user') === 'neutral' ? { user: 'neutral' } : undefined
      },
    })
    const guess = () => statusOf(served, '/thread/list', as(`guess-${asked}`))
    for (let n = 0; n < 5; n++) expect(await guess()).toMatchObject({ status: 401 })
    // Also with the right name: a guesser must not learn which is right.
    const refused = await statusOf(served, '/thread/list', as('neutral'))
    expect(refused).toEqual({ status: 429, retryAfter: '2', code: 'RATE_LIMITED' })
    expect(asked).toBe(5)
    const other = await connectRaw(served.url, '127.0.0.2')
    other.send(headOf('GET /thread/list', { headers: as('neutral') }))
    expect(await other.answered).toContain('200 OK')
  })

  it('that takes too long is given up, and what it says later is ignored', async () => {
    const late = deferred<{ user: string }>()
    const asked: string[] = []
    const served = await serveUsers({
      limits: { identifyTimeoutMs: 100 },
      identify({ headers }) {
        const user = headers.get('x-user') ?? ''
        asked.push(user)
        return user === 'slow' ? late.promise : Promise.resolve({ user })
      },
    })
    const refused = await served.ask('POST /run', { headers: as('slow'), body: JSON.parse(bodyOf('late')) })
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'IDENTIFY_TIMEOUT' } } })
    await expectService(served)
    late.resolve({ user: 'slow' })
    await expectService(served)
    const threads = await served.ask('GET /thread/list', { headers: as('slow') })
    expect(threads).toMatchObject({ status: 200, body: { threads: [] } })
    expect(asked.filter((user) => user === 'slow')).toHaveLength(2)
  })
})

describe('streams', () => {
  const endless: Script = ({ messages }, index) =>
    JSON.stringify(messages).includes('How are you?') ? 'Fine.' : [`${index}`, { wait: aborted }]

  it('of one user are limited, those of runs and of connections', async () => {
    const served = await serveUsers({ limits: { streamsPerUser: 2 } }, endless)
    const [first, second] = [new AbortController(), new AbortController()]
    expect((await hoard(served, 'one', first.signal)).status).toBe(200)
    expect((await hoard(served, 'two', second.signal)).status).toBe(200)
    for (const path of ['/run', '/connect']) {
      const more = await connectRaw(served.url)
      // It never sends the body: it is refused before.
      more.send(headOf(`POST ${path}`, { length: 20, headers: as('hoarder') }))
      const text = await more.answered
      expect(text).toMatch(/^HTTP\/1\.1 429 .*retry-after: 1.*"TOO_MANY_STREAMS"/is)
    }
    await expectService(served)
    const { status } = await served.ask('GET /thread/list', { headers: as('hoarder') })
    expect(status).toBe(200)
    first.abort()
    const third = new AbortController()
    let next = await hoard(served, 'three', third.signal)
    // The server sees the end after the client does.
    while (next.status === 429) next = await hoard(served, 'three', third.signal)
    expect(next.status).toBe(200)
    for (const open of [second, third]) open.abort()
  })

  it('that are refused for another reason give their place back', async () => {
    const served = await serveUsers({ limits: { streamsPerUser: 1 } })
    for (let n = 0; n < 3; n++) {
      const { status } = await served.ask('POST /connect', {
        headers: as('neutral'),
        body: { threadId: 'none' },
      })
      expect(status).toBe(404)
      expect((await served.ask('POST /run', { headers: as('neutral'), body: {} })).status).toBe(400)
    }
    await expectService(served)
    await expectService(served, 'other')
  })

  it('that wait for a busy thread count, and keep nobody else out', async () => {
    const served = await serveUsers({ whenBusy: 'wait', limits: { streamsPerUser: 4 } }, endless)
    const controller = new AbortController()
    const waiting = [0, 1, 2, 3].map(() => hoard(served, 'same', controller.signal))
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200)
    const refused = await hoard(served, 'same', controller.signal)
    expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining('TOO_MANY_STREAMS')])
    await expectService(served)
    controller.abort()
  })
})

describe('bodies', () => {
  const limits = { bytesInFlightPerUser: 300_000, bytesInFlight: 500_000 }
  const large = (user: string) => headOf('POST /run', { length: 250_000, headers: as(user) })

  it('of one user that are read at once are limited', async () => {
    const served = await serveUsers({ limits })
    const [first, second] = [await connectRaw(served.url), await connectRaw(served.url)]
    for (const connection of [first, second]) connection.send(large('hoarder') + ' '.repeat(200_000))
    const refused = await Promise.race([first.answered, second.answered])
    expect(refused).toMatch(/^HTTP\/1\.1 429 .*retry-after: 1.*"TOO_MANY_BYTES"/is)
    await expectService(served)
    expect([first.isOpen, second.isOpen]).toContain(true)
    for (const connection of [first, second]) connection.destroy()
  })

  it('that are only announced keep nobody out', async () => {
    const served = await serveUsers({ limits })
    const announced = await Promise.all(Array.from({ length: 20 }, () => connectRaw(served.url)))
    for (const connection of announced) connection.send(large('hoarder'))
    await expectService(served, 'hoarder')
    await expectService(served)
    const body = bodyOf('large', 'x'.repeat(250_000))
    const response = await hoardBody(served, body)
    expect(response.status).toBe(200)
    for (const connection of announced) connection.destroy()
  })

  it('that have been read count no more', async () => {
    const served = await serveUsers({ limits })
    for (let n = 0; n < 4; n++)
      expect((await hoardBody(served, bodyOf(`large-${n}`, 'x'.repeat(250_000)))).status).toBe(200)
    for (let n = 0; n < 4; n++) {
      const broken = await connectRaw(served.url)
      broken.send(large('hoarder') + ' '.repeat(200_000))
      broken.destroy()
    }
    expect((await hoardBody(served, bodyOf('large-last', 'x'.repeat(250_000)))).status).toBe(200)
  })

  /** Sends it until it is taken: what a connection held is given back after the client has closed it. */
  async function hoardBody(served: ServedAgents, body: string): Promise<Response> {
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream', ...as('hoarder') }
    for (;;) {
      const response = await recordingFetch([])(`${served.url}/run`, { method: 'POST', headers, body })
      await response.text()
      if (response.status !== 429) return response
    }
  }
})

describe('values', () => {
  const unlucky = { type: 'string', pattern: '^(a+)+$', format: 'url' }
  const backtracking = `${'a'.repeat(50_000)}!`

  it.each([
    ['nested far too deep', '['.repeat(1_000_000), 400, 'INVALID_INPUT'],
    ['of too many values', `[${'{},'.repeat(500_000)}{}]`, 413, 'PAYLOAD_TOO_LARGE'],
  ])('%s are refused', async (_, body, status, code) => {
    const served = await serveUsers({})
    const headers = { 'content-type': 'application/json', ...as('nester') }
    const response = await fetch(`${served.url}/run`, { method: 'POST', headers, body })
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error: { code } })
    await expectService(served)
  })

  it('that make a pattern backtrack stop nobody, as arguments of a tool and as an answer', async () => {
    const find = defineTool({
      name: 'find',
      description: 'Finds it.',
      parameters: { type: 'object', properties: { name: unlucky } },
      execute: () => 'Found.',
    })
    const ask = defineTool({
      name: 'ask',
      description: 'Asks for it.',
      execute: (_, ctx) => ctx.interrupt({ reason: 'input', message: 'Which?', responseSchema: unlucky }),
    })
    const model = scriptedModel(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role !== 'user') return 'Fine.'
      if (last.content === 'Ask.') return [{ toolCall: { name: 'ask' } }]
      return [{ toolCall: { name: 'find', args: { name: backtracking } } }]
    })
    const agent = defineAgent({ name: 'finder', model, tools: [find, ask] })
    const served = await serveAgents({ agents: [agent] })
    const talk = served.talk()
    expect(resultsIn(await talk.say('Find.'))[0]).toContain('name')
    const asked = await talk.say('Ask.')
    const [terminal] = ofType(asked, 'RUN_FINISHED')
    const [interrupt] = terminal?.outcome?.type === 'interrupt' ? terminal.outcome.interrupts : []
    const resume = [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: backtracking }]
    const refused = await served.ask('POST /run', {
      body: { ...(JSON.parse(bodyOf('thread-1')) as object), messages: talk.client.messages, resume },
    })
    expect(refused.text).toContain('INVALID_RESUME')
  })
})
