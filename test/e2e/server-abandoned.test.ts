import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import { interruptsIn, textIn } from '../support/adk/serve-adk.js'
import { fetchServer, inputOf as fetchInput } from '../support/fetch-server.js'
import { aborted, deferred, settled } from '../support/run-agent.js'
import { clientVersions, serveAgents } from '../support/serve-agents.js'
import { ask, inputOf, listed, serving, temporaryFolder, user } from './support-server.js'
import {
  abandon,
  endlessAgent,
  hasLeft,
  lastRunOf,
  passTime,
  patientClock,
  startEndless,
} from './support-stop.js'
import { openStream, says } from './support-stream.js'

/** Runs whose client has hung up: who may go on for how long. Time is the test's. */

const connection = { body: { threadId: 'thread-1', protocolVersion: '1.0' } }
const reconnects = { 'Millrace-Reconnects': 'true' }

describe.each(clientVersions)('a run that nobody follows: $version', ({ Client }) => {
  it('is cancelled when its time is over, and not before', async () => {
    const one = endlessAgent()
    const { served, clock } = await abandon(one, { Client })
    await clock.advance(14_999)
    expect(await lastRunOf(served)).toBe('running')
    await clock.advance(1)
    await one.stopped
    await vi.waitFor(async () => expect(await lastRunOf(served)).toBe('cancelled'))
  })

  it('goes on for a client that reconnects, and its thread stays busy', async () => {
    const { served, clock, talk } = await abandon(endlessAgent(), { Client, headers: reconnects })
    await clock.advance(120_000)
    expect(await lastRunOf(served)).toBe('running')
    await expect(talk.say('Hello.')).rejects.toThrow('409')
  })

  it('goes on for a page that is back in time, and has its time again when that leaves', async () => {
    const one = endlessAgent()
    const { served, clock } = await abandon(one, { Client })
    await clock.advance(14_000)
    const page = await openStream(`${served.url}/connect`, connection)
    await page.until(says('One '))
    await clock.advance(60_000)
    expect(await lastRunOf(served)).toBe('running')
    page.drop()
    await vi.waitFor(async () =>
      expect((await served.ask('GET /metrics')).text).toMatch(/streams_closed.*reason="client".* 2$/mu),
    )
    await clock.advance(14_000)
    expect(await lastRunOf(served)).toBe('running')
    await clock.advance(1_000)
    await one.stopped
  })
})

describe('who is followed', () => {
  it('does not yield: the next message is refused', async () => {
    const { served, running, talk } = await startEndless(endlessAgent())
    const other = served.talk()
    await expect(other.say('Hello.')).rejects.toThrow('409')
    talk.client.abortRun()
    await running
  })

  it('by another page does not yield, nor end, when the one that began it leaves', async () => {
    const { served, running, talk, clock } = await startEndless(endlessAgent())
    const page = await openStream(`${served.url}/connect`, connection)
    await page.until(says('One '))
    talk.client.abortRun()
    await running
    await hasLeft(served)
    await clock.advance(60_000)
    expect(await lastRunOf(served)).toBe('running')
    await expect(talk.say('Hello.')).rejects.toThrow('409')
  })
})

describe('a run that nobody follows', () => {
  it('yields neither to a change of the state nor to the same thread id of another', async () => {
    const one = endlessAgent()
    const { served } = await abandon(one, {
      identify: (request) => ({ user: request.headers.get('x-user') ?? 'ann' }),
    })
    const patch = [{ op: 'add', path: '/mine', value: true }]
    expect(await served.ask('PATCH /state/thread-1', { body: patch })).toMatchObject({ status: 409 })
    const bob = served.talk({ headers: { 'x-user': 'bob' } })
    expect(textIn(await bob.say('Hello.'))).toBe('Fine.')
    expect(await lastRunOf(served)).toBe('running')
  })

  it('gives the lock of the application back to the one it yields to', async () => {
    let isLocked = false
    const lock = () => {
      if (isLocked) throw new Error('Locked.')
      isLocked = true
      return () => void (isLocked = false)
    }
    const { talk } = await abandon(endlessAgent(), { hooks: { lock } })
    expect(textIn(await talk.say('Hello.'))).toBe('Fine.')
    expect(isLocked).toBe(false)
  })

  it('ends by itself in the time that it has', async () => {
    const [begun, letGo] = [deferred(), deferred()]
    const wait = () => {
      begun.resolve()
      return letGo.promise
    }
    const model = scriptedModel((_, index) => (index === 0 ? ['One ', { wait }, 'two.'] : 'Fine.'))
    const agent = defineAgent({ name: 'speaker', model })
    const one = { agent, begun: begun.promise, stopped: Promise.resolve(), letGo: () => letGo.resolve() }
    const { served, clock, talk } = await abandon(one)
    letGo.resolve()
    await vi.waitFor(async () => expect(await lastRunOf(served)).toBe('completed'))
    await clock.advance(60_000)
    expect(await lastRunOf(served)).toBe('completed')
    expect(textIn(await talk.say('Hello.'))).toBe('Fine.')
  })

  it('keeps the question that it raises meanwhile', async () => {
    const [begun, letGo] = [deferred(), deferred()]
    const model = scriptedModel((_, index) =>
      index === 0 ? ['One ', { toolCall: { id: 'c1', name: 'book' } }] : 'Fine.',
    )
    const book = defineTool({
      ...{ name: 'book', description: 'Books.' },
      async execute(_args, ctx) {
        begun.resolve()
        await letGo.promise
        return (await ctx.interrupt({ message: 'Book?' })).status
      },
    })
    const agent = defineAgent({ name: 'clerk', model, tools: [book] })
    const one = { agent, begun: begun.promise, stopped: Promise.resolve(), letGo: () => letGo.resolve() }
    const { served, clock, talk } = await abandon(one)
    letGo.resolve()
    await vi.waitFor(async () => expect(await lastRunOf(served)).toBe('interrupted'))
    await clock.advance(60_000)
    const [question] = interruptsIn(await talk.say('Well?'))
    expect(question).toMatchObject({ message: 'Book?' })
  })

  it('leaves a question open whose answer it had not used, when it yields', async () => {
    const [begun, stopped] = [deferred(), deferred()]
    const model = scriptedModel((_, index) =>
      index === 0 ? [{ toolCall: { id: 'c1', name: 'book' } }] : 'Fine.',
    )
    const book = defineTool({
      ...{ name: 'book', description: 'Books.' },
      async execute(_args, ctx) {
        await ctx.interrupt({ message: 'Book?' })
        begun.resolve()
        await aborted(ctx.signal)
        stopped.resolve()
        ctx.signal.throwIfAborted()
        return 'booked'
      },
    })
    const clock = patientClock()
    const served = await serveAgents({
      agents: [defineAgent({ name: 'clerk', model, tools: [book] })],
      clock,
    })
    const talk = served.talk()
    const [question] = interruptsIn(await talk.say('Book.'))
    const resume = [{ interruptId: question?.id ?? '', status: 'resolved' as const, payload: true }]
    const running = talk.send({ resume })
    await begun.promise
    talk.client.abortRun()
    await running
    const messages = [...talk.client.messages, user('u2', 'Well?')]
    const next = await served.stream('/run', { body: inputOf({ runId: 'next', messages }) })
    const [again] = interruptsIn(next.events)
    await stopped.promise
    expect(again?.id).toBe(question?.id)
  })

  it('is one whose client takes nothing, once the server has dropped that client', async () => {
    const [begun, stopped] = [deferred(), deferred()]
    const wait = async (signal: AbortSignal) => {
      begun.resolve()
      await aborted(signal)
      stopped.resolve()
    }
    const model = scriptedModel(() => ['x'.repeat(8 * 1024 * 1024), { wait }])
    const clock = patientClock()
    const served = await serveAgents({ agents: [defineAgent({ name: 'speaker', model })], clock })
    const body = inputOf({ messages: [user('u1', 'Speak.')] })
    await openStream(`${served.url}/run`, { body, isPaused: true })
    await begun.promise
    await settled()
    // Only a stream that waits for its client is dropped: however long the socket takes to be full.
    while (!/reason="stalled".* 1$/mu.test((await served.ask('GET /metrics')).text))
      await clock.advance(30_000)
    await clock.advance(15_000)
    await stopped.promise
  })

  it('is never one that waited for its thread in vain', async () => {
    const one = endlessAgent()
    const { served, talk, running } = await startEndless(one, { whenBusy: 'wait' })
    const second = await openStream(`${served.url}/run`, {
      body: inputOf({ runId: 'second', messages: [user('u2', 'Hello.')] }),
    })
    second.drop()
    await hasLeft(served)
    await served.ask('POST /cancel', { body: { threadId: 'thread-1' } })
    await running
    expect(linesOfRuns((await served.ask('GET /thread/list')).body)).toEqual(['cancelled'])
    expect(talk.streams).toHaveLength(1)
  })

  it('yields to a message that waits already when its client leaves', async () => {
    const one = endlessAgent()
    const { served, talk, running } = await startEndless(one, { whenBusy: 'wait' })
    const other = served.talk()
    const waiting = other.say('Hello.')
    await vi.waitFor(() => expect(other.streams).toHaveLength(1))
    talk.client.abortRun()
    await running
    await one.stopped
    expect(textIn(await waiting)).toBe('Fine.')
  })

  it('is cancelled also where clients cannot reconnect, whatever they say', async () => {
    const one = endlessAgent()
    const { clock, talk } = await abandon(one, { headers: reconnects, routes: { connect: false } })
    await clock.advance(15_000)
    await one.stopped
    expect(textIn(await talk.say('Hello.'))).toBe('Fine.')
  })

  it('finishes when the server closes: a connection that ends then is no Stop', async () => {
    const [begun, letGo] = [deferred(), deferred()]
    const wait = () => {
      begun.resolve()
      return letGo.promise
    }
    const model = scriptedModel(() => ['One ', { wait }, 'two.'])
    const store = join(temporaryFolder(), 'threads.db')
    const clock = patientClock()
    const agents = [defineAgent({ name: 'speaker', model })] as const
    const first = await serving({ agents, clock, store: await createSqliteStore({ path: store }) })
    const stream = await openStream(`${first.url}/run`, {
      body: inputOf({ messages: [user('u1', 'Speak.')] }),
    })
    await begun.promise
    stream.drop()
    await vi.waitFor(async () =>
      expect(await (await fetch(`${first.url}/metrics`)).text()).toMatch(/reason="client".* 1$/mu),
    )
    const closing = first.close({ graceMs: 60_000 })
    await clock.advance(20_000)
    letGo.resolve()
    while (!(await hasSettled(closing))) await clock.advance(50)
    const second = await serving({ agents, store: await createSqliteStore({ path: store }) })
    expect(await listed(second.url)).toMatchObject({ lastRun: { status: 'completed' } })
  })
})

describe('as configured', () => {
  it('a run continues', async () => {
    const { served, clock } = await abandon(endlessAgent(), { onDisconnect: 'continue' })
    await clock.advance(120_000)
    expect(await lastRunOf(served)).toBe('running')
  })

  it('a run is cancelled at once, also for a client that reconnects', async () => {
    const one = endlessAgent()
    const { served } = await abandon(one, { onDisconnect: 'cancel', headers: reconnects })
    await one.stopped
    await vi.waitFor(async () => expect(await lastRunOf(served)).toBe('cancelled'))
  })

  it('a run has the time that `abandonedMs` says', async () => {
    const one = endlessAgent()
    const { served, clock } = await abandon(one, { limits: { abandonedMs: 60_000 } })
    await clock.advance(59_000)
    expect(await lastRunOf(served)).toBe('running')
    await clock.advance(1_000)
    await one.stopped
  })

  it('pages of other origins may say that they reconnect', async () => {
    const cors = { origins: ['https://app.example.com'] }
    const { url } = await serving({ agents: [endlessAgent().agent], cors })
    const { headers } = await fetch(`${url}/run`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,millrace-reconnects',
      },
    })
    expect(headers.get('access-control-allow-headers')?.toLowerCase()).toContain('millrace-reconnects')
  })
})

describe('without a socket, on the fetch handler', () => {
  async function startWithout(signal: AbortSignal) {
    const one = endlessAgent()
    const served = fetchServer({ agents: [one.agent] })
    const stream = await served.open('/run', { body: fetchInput({ runId: 'first' }), signal })
    await stream.until('TEXT_MESSAGE_CONTENT')
    return { one, served }
  }

  it('a request that is aborted is a client that hangs up', async () => {
    const client = new AbortController()
    const { one, served } = await startWithout(client.signal)
    client.abort()
    await served.clock.advance(15_000)
    await one.stopped
  })

  it('a body that is cancelled is one too', async () => {
    const one = endlessAgent()
    const { server, clock } = fetchServer({ agents: [one.agent] })
    const request = new Request('http://localhost/run', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fetchInput()),
    })
    const response = await server.fetch(request)
    await one.begun
    await response.body?.cancel()
    await clock.advance(15_000)
    await one.stopped
  })

  it('the next message is answered, also when it is read before the hang-up', async () => {
    const client = new AbortController()
    const one = endlessAgent()
    let count = 0
    const served = fetchServer({
      agents: [one.agent],
      identify() {
        // The second request is being read when the connection of the first ends.
        if (++count === 2) served.clock.schedule(50, () => client.abort())
        return { user: 'ann' }
      },
    })
    const stream = await served.open('/run', { body: fetchInput(), signal: client.signal })
    await stream.until('TEXT_MESSAGE_CONTENT')
    const answer = served.run()
    await served.clock.advance(100)
    const events = await answer
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  })
})

describe('two processes on one store', () => {
  async function serveTwo() {
    const path = join(temporaryFolder(), 'threads.db')
    const clock = patientClock()
    const one = endlessAgent()
    const serveOne = async () => {
      const store = await createSqliteStore({ path, clock })
      return serving({ agents: [one.agent], store, clock })
    }
    const [there, here] = [await serveOne(), await serveOne()]
    const body = inputOf({ messages: [user('u1', 'Count.')] })
    const stream = await openStream(`${there.url}/run`, { body })
    await stream.until(says('One '))
    return { one, clock, there, here, stream }
  }

  const next = { body: inputOf({ runId: 'next', messages: [user('u1', 'Count.'), user('u2', 'Hello.')] }) }
  const closedBy = async (url: string): Promise<void> =>
    vi.waitFor(async () =>
      expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/reason="client".* 1$/mu),
    )

  it('a message at the other is refused until the run has had its time, then answered', async () => {
    const { one, clock, there, here, stream } = await serveTwo()
    stream.drop()
    await closedBy(there.url)
    expect(await ask(`${here.url}/run`, next)).toMatchObject({ status: 409 })
    await clock.advance(15_000)
    await one.stopped
    await vi.waitFor(async () => expect(await listed(here.url)).toMatchObject({ status: 'idle' }))
    const answer = await openStream(`${here.url}/run`, next)
    await answer.until(says('Fine.'))
  })

  it('a page that comes back to the other keeps the run alive, as long as it stays', async () => {
    const { one, clock, there, here, stream } = await serveTwo()
    stream.drop()
    await closedBy(there.url)
    // The log has its first events after a moment.
    await clock.advance(200)
    const page = await openStream(`${here.url}/connect`, connection)
    await page.until(says('One '))
    for (let n = 0; n < 12; n++) {
      await clock.advance(5_000)
      expect(await listed(there.url)).toMatchObject({ status: 'running' })
    }
    expect(await ask(`${there.url}/run`, next)).toMatchObject({ status: 409 })
    page.drop()
    await closedBy(here.url)
    // The mark goes as soon as the store has taken it away, and the time begins again.
    await passTime(clock, one.stopped)
  })
})

function linesOfRuns(body: unknown): (string | undefined)[] {
  return (body as { threads: { lastRun?: { status: string } }[] }).threads.map(
    ({ lastRun }) => lastRun?.status,
  )
}

async function hasSettled(work: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  return (await Promise.race([work, settled().then(() => pending)])) !== pending
}
