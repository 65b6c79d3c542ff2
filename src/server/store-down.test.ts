import { describe, expect, it, test } from 'vitest'
import {
  failingStore,
  plainError,
  storeError,
  storeSecret,
  type StoreOperation,
} from '../../test/support/failing-store.js'
import {
  expectRefusal,
  fetchServer,
  inputOf,
  textOf,
  typesOf,
  user,
  type FetchServer,
  type FetchServerOptions,
} from '../../test/support/fetch-server.js'
import { aborted, deferred } from '../../test/support/run-agent.js'
import { defineAgent, type Agent } from '../agents/index.js'
import { manualClock } from '../core/clock.js'
import { scriptedModel, type Script } from '../models/index.js'
import type { AgUiEvent } from '../protocol/index.js'
import { createMemoryStore } from '../threads/memory/store.js'

const key = { app: 'default', user: 'local', agent: 'talker', thread: 'thread-1' }

function talker(script: Script = () => 'Fine.'): Agent {
  return defineAgent({ name: 'talker', model: scriptedModel(script), retry: { attempts: 1 } })
}

/** The first run stops after its first word until it is let go; the others say `Fine.` */
function gated(gate: Promise<unknown>): Agent {
  return talker((_, index) =>
    index === 0 ? ['One', { wait: (signal) => Promise.race([gate, aborted(signal)]) }, ' two.'] : 'Fine.',
  )
}

type Rest = Omit<FetchServerOptions, 'agents' | 'store' | 'clock'>

/** Serves an agent on a store that fails when it is told to. */
function served(agent: Agent = talker(), options: Rest = {}) {
  const clock = manualClock(1_700_000_000_000)
  const failing = failingStore(createMemoryStore({ clock }))
  const made = fetchServer({ agents: [agent], ...options, store: failing.store, clock })
  return { ...failing, made, clock }
}

/** The statuses of the thread's latest run, as the list has it. */
async function lastStatus(made: FetchServer): Promise<unknown> {
  const { body } = await made.ask('GET /thread/list')
  const { threads } = body as {
    readonly threads: readonly { readonly lastRun?: { readonly status: string } }[]
  }
  return threads[0]?.lastRun?.status
}

function expectNothingLeaked(...shown: unknown[]): void {
  expect(JSON.stringify(shown)).not.toContain(storeSecret)
  expect(JSON.stringify(shown)).not.toContain('hunter2')
}

const kinds = [
  ['STORE_ERROR', storeError, 503, 'STORE_ERROR'],
  ['a plain error', plainError, 500, 'INTERNAL_ERROR'],
] as const

describe.each(kinds)('a store that fails with %s', (_, makeError, status, code) => {
  const early: readonly StoreOperation[] = ['leases.acquire', 'threads.load', 'threads.begin']

  test.each(early)('at %s refuses a run before the stream, and nothing has changed', async (operation) => {
    const { made, fail, repair, store } = served()
    fail(operation, makeError())
    const refused = await made.ask('POST /run', { body: inputOf() })
    expectRefusal(refused, status, code)
    if (status === 503) expect(refused.headers.get('retry-after')).toBe('1')
    expectNothingLeaked(refused.text)
    repair()
    expect(await store.threads.load(key)).toBeUndefined()
    expect(await store.leases.isHeld(key)).toBe(false)
    expect(textOf(await made.run())).toBe('Fine.')
  })

  test('at threads.list refuses a list, and a new thread when their number is limited', async () => {
    const { made, fail, repair } = served(talker(), { threads: { maxPerUser: 2 } })
    fail('threads.list', makeError())
    expectRefusal(await made.ask('GET /thread/list'), status, code)
    expectRefusal(await made.ask('POST /run', { body: inputOf() }), status, code)
    repair()
    expect(textOf(await made.run())).toBe('Fine.')
  })

  const reads = [
    ['threads.load', 'GET /message_snapshot/thread-1'],
    ['threads.loadHead', 'GET /state_snapshot/thread-1'],
  ] as const

  test.each(reads)('at %s refuses %s', async (operation, route) => {
    const { made, fail, repair } = served()
    await made.run()
    fail(operation, makeError())
    const refused = await made.ask(route)
    expectRefusal(refused, status, code)
    expectNothingLeaked(refused.text)
    repair()
    expect((await made.ask(route)).status).toBe(200)
  })

  test.each(['threads.loadHead', 'leases.acquire', 'threads.commit'] as const)(
    'at %s refuses a patch, and leaves the state and the thread free',
    async (operation) => {
      const { made, fail, repair, store } = served()
      await made.run({ state: { count: 1 } })
      fail(operation, makeError())
      const patch = { body: [{ op: 'replace', path: '/count', value: 2 }] }
      expectRefusal(await made.ask('PATCH /state/thread-1', patch), status, code)
      repair()
      const { body } = await made.ask('GET /state_snapshot/thread-1')
      expect(body).toMatchObject({ snapshot: { count: 1 } })
      expect(await store.leases.isHeld(key)).toBe(false)
      expect((await made.ask('PATCH /state/thread-1', patch)).status).toBe(200)
    },
  )

  test.each(['threads.load', 'leases.acquire', 'threads.remove'] as const)(
    'at %s refuses a removal, and leaves the thread',
    async (operation) => {
      const { made, fail, repair } = served()
      await made.run()
      fail(operation, makeError())
      expectRefusal(await made.ask('DELETE /thread/thread-1'), status, code)
      repair()
      expect(await made.history()).toHaveLength(2)
      expect((await made.ask('DELETE /thread/thread-1')).status).toBe(200)
    },
  )

  test('at threads.load refuses connect and cancel', async () => {
    const { made, fail } = served()
    await made.run()
    fail('threads.load', makeError())
    for (const route of ['POST /connect', 'POST /cancel'])
      expectRefusal(await made.ask(route, { body: { threadId: 'thread-1' } }), status, code)
  })

  test('at log.read ends the stream of a reconnecting client with an error, and the next try works', async () => {
    const { made, fail, repair } = served()
    const first = await made.open('/run', { body: inputOf() })
    await first.ended
    const how = { body: { threadId: 'thread-1' }, headers: { 'last-event-id': first.ids[1] ?? '' } }
    fail('log.read', makeError())
    const broken = await (await made.open('/connect', how)).ended
    expect(typesOf(broken)).toEqual(['RUN_ERROR'])
    expect(broken[0]).toMatchObject({ code })
    expectNothingLeaked(broken)
    repair()
    const again = await (await made.open('/connect', how)).ended
    expect(typesOf(again)).toEqual(typesOf(first.events.slice(2)))
  })

  test('at threads.commit fails the run, which is lost, and the thread can be used', async () => {
    const { made, fail, repair, store } = served()
    fail('threads.commit', makeError())
    const events = await made.run({ messages: [user('u1', 'Hello.')] })
    expect(textOf(events)).toBe('Fine.')
    expect(events.at(-1)).toMatchObject({
      type: 'RUN_ERROR',
      code: status === 503 ? 'STORE_ERROR' : 'BACKGROUND_EXECUTION_ERROR',
    })
    expectNothingLeaked(events)
    expect(await made.metric('runs_ended_total')).toEqual({ 'agent="talker",status="failed"': 1 })
    expect(await made.metric('runs_running')).toEqual({ 'agent="talker"': 0 })
    expect(await store.leases.isHeld(key)).toBe(false)
    repair()
    // What was asked is kept; the answer went with the commit.
    expect(await made.history()).toEqual([user('u1', 'Hello.')])
    expect(await lastStatus(made)).toBe('lost')
    expect(textOf(await made.run({ messages: [user('u1', 'Hello.'), user('u2', 'Again.')] }))).toBe('Fine.')
    expect((await made.history()).map(({ role }) => role)).toEqual(['user', 'user', 'assistant'])
    expect(await lastStatus(made)).toBe('completed')
  })

  test('at threads.commit for as long as it lasts refuses the runs that follow', async () => {
    const { made, fail, repair } = served()
    fail('threads.commit', makeError())
    await made.run()
    // The lost run cannot be ended either.
    expectRefusal(await made.ask('POST /run', { body: inputOf() }), status, code)
    expectRefusal(await made.ask('GET /message_snapshot/thread-1'), status, code)
    repair()
    expect(textOf(await made.run())).toBe('Fine.')
  })

  test('at threads.commit keeps in the log what was flushed, and the lost run has it', async () => {
    const gate = deferred()
    const { made, fail, repair, clock } = served(gated(gate.promise))
    const stream = await made.open('/run', { body: inputOf() })
    await stream.until('TEXT_MESSAGE_CONTENT')
    await clock.advance(100)
    fail('threads.commit', makeError())
    gate.resolve()
    expect((await stream.ended).at(-1)?.type).toBe('RUN_ERROR')
    repair()
    expect((await made.history()).at(-1)).toMatchObject({ role: 'assistant', content: 'One' })
  })

  test('at leases.release ends the run well; its thread was freed by the commit', async () => {
    const { made, fail, repair } = served()
    fail('leases.release', makeError())
    expect((await made.run()).at(-1)?.type).toBe('RUN_FINISHED')
    repair()
    expect(await made.history()).toHaveLength(2)
    expect(textOf(await made.run())).toBe('Fine.')
  })

  test('at the commit and leases.release: the thread is free when the lease has run out', async () => {
    const { made, fail, repair, clock } = served(talker(), { limits: { leaseMs: 3000 } })
    fail('threads.commit', makeError())
    fail('leases.release', makeError())
    expect((await made.run()).at(-1)?.type).toBe('RUN_ERROR')
    repair()
    expectRefusal(await made.ask('POST /run', { body: inputOf() }), 409, 'THREAD_IS_LOCKED')
    await clock.advance(3000)
    expect(textOf(await made.run())).toBe('Fine.')
  })

  test('at check is not ready', async () => {
    const { made, fail, repair } = served()
    fail('check', makeError())
    const { status: answered, text } = await made.ask('GET /readyz')
    expect(answered).toBe(503)
    expectNothingLeaked(text)
    expect((await made.ask('GET /healthz')).status).toBe(200)
    repair()
    expect((await made.ask('GET /readyz')).status).toBe(200)
  })

  test('at the start is served from as soon as it works', async () => {
    const clock = manualClock(1_700_000_000_000)
    const { store, fail, repair } = failingStore(createMemoryStore({ clock }))
    fail('threads.unfinished', makeError())
    const made = fetchServer({ agents: [talker()], store, clock })
    await clock.advance(0)
    expect(made.logged.map(({ level }) => level)).toEqual(['error'])
    repair()
    expect(textOf(await made.run())).toBe('Fine.')
  })
})

describe('a log that cannot be written', () => {
  const ids = (received: readonly (string | undefined)[]): (number | undefined)[] =>
    received.map((id) => (id === undefined ? undefined : Number(id.slice(id.lastIndexOf(':') + 1))))

  it('loses nothing for subscribers, and is complete in the end', async () => {
    const gate = deferred()
    const { made, fail, repair, clock, calls } = served(gated(gate.promise))
    fail('log.append', storeError())
    const body = inputOf()
    const first = await made.open('/run', { body })
    await first.until('TEXT_MESSAGE_CONTENT')
    await clock.advance(200)
    expect(calls).toContain('log.append')
    expect(await made.metric('store_failures_total')).toEqual({ '': 1 })
    const late = await made.open('/connect', { body: { threadId: 'thread-1' } })
    await late.until('TEXT_MESSAGE_CONTENT')
    repair()
    gate.resolve()
    expect(textOf(await first.ended)).toBe('One two.')
    expect(textOf(await late.ended)).toBe('One two.')
    await expectWholeLog(made, body.runId, first.events)
    expect(ids(first.ids)).toEqual(first.events.map((_, index) => index))
  })

  it('is complete in the end also when it works again only with the commit', async () => {
    const { made, fail } = served()
    fail('log.append', storeError())
    const body = inputOf()
    const stream = await made.open('/run', { body })
    expect((await stream.ended).at(-1)?.type).toBe('RUN_FINISHED')
    await expectWholeLog(made, body.runId, stream.events)
  })

  it('is tried again with what comes next', async () => {
    const [one, two] = [deferred(), deferred()]
    const script = ['A', { wait: one.promise }, 'B', { wait: two.promise }, 'C']
    const { made, fail, clock, store } = served(talker([script]))
    fail('log.append', storeError(), 1)
    const body = inputOf()
    const stream = await made.open('/run', { body })
    await stream.until('TEXT_MESSAGE_CONTENT')
    await clock.advance(100)
    const logged = async () =>
      (await store.log.read(key, { runId: String(body.runId), after: -1 }, 100)).length
    expect(await logged()).toBe(0)
    one.resolve()
    await clock.advance(100)
    expect(await logged()).toBe(stream.events.length)
    two.resolve()
    expect(textOf(await stream.ended)).toBe('ABC')
  })

  it('stops a run that hands a tool call to its client: the call must not be forgotten', async () => {
    const tools = [{ name: 'pick', description: 'Picks.', parameters: {} }]
    const { made, fail, repair } = served(talker([[{ toolCall: { name: 'pick' } }], 'Fine.']))
    fail('log.append', storeError())
    const events = await made.run({ tools })
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'STORE_ERROR' })
    expectNothingLeaked(events)
    repair()
    expect(await lastStatus(made)).toBe('failed')
    expect(textOf(await made.run({ tools }))).toBe('Fine.')
  })

  async function expectWholeLog(
    made: FetchServer,
    runId: unknown,
    sent: readonly AgUiEvent[],
  ): Promise<void> {
    const entries = await made.store.log.read(key, { runId: String(runId), after: -1 }, 1000)
    expect(entries.map(({ json }) => JSON.parse(json) as unknown)).toEqual(sent)
    expect(entries.map(({ seq }) => seq)).toEqual(sent.map((_, index) => index))
  }
})

describe('a lease', () => {
  const limits = { leaseMs: 3000 }

  /** A run at work, and the means to give its thread to somebody else. */
  async function working(agent: Agent) {
    const made = served(agent, { limits })
    const stream = await made.made.open('/run', { body: inputOf() })
    await stream.until('TEXT_MESSAGE_CONTENT')
    const takeOver = async () => {
      const lease = made.leases.at(-1)
      if (lease) await made.store.leases.release(lease)
      return made.store.leases.acquire(key, { owner: 'another process', ttlMs: 60_000 })
    }
    return { ...made, stream, takeOver }
  }

  it('that another process takes over stops the run, which commits nothing', async () => {
    const { made, stream, takeOver, clock, store } = await working(gated(new Promise(() => undefined)))
    const other = await takeOver()
    const before = await store.threads.load(key)
    await clock.advance(1000)
    const events = await stream.ended
    expect(events.at(-1)).toEqual({
      type: 'RUN_ERROR',
      code: 'LEASE_LOST',
      message: 'The thread was taken over by another process.',
    })
    expect(await store.threads.load(key)).toEqual(before)
    expect(await store.leases.isHeld(key)).toBe(true)
    if (other) await store.leases.release(other)
    expect(textOf(await made.run())).toBe('Fine.')
  })

  it('that is lost when the run ends makes the run fail', async () => {
    const gate = deferred()
    const { made, stream, takeOver, store } = await working(gated(gate.promise))
    await takeOver()
    const before = await store.threads.load(key)
    gate.resolve()
    expect((await stream.ended).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'LEASE_LOST' })
    expect(await store.threads.load(key)).toEqual(before)
    expect(await made.metric('runs_ended_total')).toEqual({ 'agent="talker",status="failed"': 1 })
  })

  it('that cannot be renewed for a while is kept', async () => {
    const gate = deferred()
    const { stream, clock, fail, repair, calls } = await working(gated(gate.promise))
    fail('leases.renew', plainError())
    await clock.advance(2500)
    expect(calls.filter((call) => call === 'leases.renew')).toHaveLength(2)
    repair()
    await clock.advance(20_000)
    gate.resolve()
    expect(textOf(await stream.ended)).toBe('One two.')
    expect(stream.events.at(-1)?.type).toBe('RUN_FINISHED')
  })

  it('that cannot be renewed until it has run out stops the run', async () => {
    const { made, stream, clock, fail, repair } = await working(gated(new Promise(() => undefined)))
    fail('leases.renew', storeError())
    await clock.advance(2999)
    expect(stream.events.at(-1)?.type).toBe('TEXT_MESSAGE_CONTENT')
    await clock.advance(1)
    expect((await stream.ended).at(-1)).toMatchObject({ code: 'LEASE_LOST' })
    repair()
    expect(textOf(await made.run())).toBe('Fine.')
  })
})
