import { describe, expect, test } from 'vitest'
import { fetchServer, inputOf, textOf, typesOf, user } from '../../test/support/fetch-server.js'
import { failingStore, storeError } from '../../test/support/failing-store.js'
import { deferred, settled } from '../../test/support/run-agent.js'
import { hold, keyOf, runOf } from '../../test/support/store-contract/rig.js'
import type { Agent } from '../agents/index.js'
import { manualClock } from '../core/clock.js'
import { assertValidStream } from '../testing/index.js'
import { createMemoryStore } from '../threads/memory/store.js'
import type { Store } from '../threads/contract.js'

const key = keyOf('thread-1', { app: 'default', user: 'local', agent: 'speaker' })
const thread = { threadId: 'thread-1', protocolVersion: '1.0' }

/** Says `a`, waits, and says `b`. The runs after the first do not wait. */
function speaker(gate: Promise<void> = Promise.resolve()): Agent {
  let runs = 0
  return {
    name: 'speaker',
    description: '',
    async *run({ services }) {
      const messageId = services.newId('message')
      const isFirst = runs++ === 0
      yield { type: 'TEXT_MESSAGE_CHUNK', messageId, delta: 'a' }
      if (isFirst) await gate
      yield { type: 'TEXT_MESSAGE_CHUNK', messageId, delta: 'b' }
      return { type: 'done' }
    },
  }
}

/** A store that works as one behind a network does: every answer takes a while. */
function distant(inner: Store): Store {
  const slow = <T extends object>(methods: T): T =>
    new Proxy(methods, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return async (...args: unknown[]): Promise<unknown> => {
          await settled()
          const result: unknown = await Reflect.apply(method, target, args)
          await settled()
          return result
        }
      },
    })
  return { ...inner, threads: slow(inner.threads), log: slow(inner.log), leases: slow(inner.leases) }
}

describe('a client that answers as soon as it sees the terminal event', () => {
  test.each(['near', 'distant'])('finds the thread free, on a %s store', async (kind) => {
    const clock = manualClock()
    const near = createMemoryStore({ clock })
    const served = fetchServer({ agents: [speaker()], clock, store: kind === 'near' ? near : distant(near) })
    for (let turn = 0; turn < 5; turn++) {
      const stream = await served.open('/run', { body: inputOf() })
      await stream.until('RUN_FINISHED')
      const next = await served.open('/run', { body: inputOf() })
      expect(textOf(await next.ended)).toBe('ab')
    }
  })
})

describe('two requests for one thread at once', () => {
  test('one runs, the other is refused', async () => {
    const served = fetchServer({ agents: [speaker()] })
    const asked = await Promise.all([1, 2, 3].map(() => served.ask('POST /run', { body: inputOf() })))
    expect(asked.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  })

  test('run one after the other where the server waits', async () => {
    const clock = manualClock()
    const served = fetchServer({ agents: [speaker()], clock, whenBusy: 'wait' })
    const asked = [1, 2, 3].map(() => served.run())
    await clock.advance(1_000)
    for (const events of await Promise.all(asked)) expect(textOf(events)).toBe('ab')
    expect((await served.history()).filter(({ role }) => role === 'user')).toHaveLength(3)
  })
})

describe('a client that connects while the run ends', () => {
  test.each(['near', 'distant'])('sees the terminal event, on a %s store', async (kind) => {
    for (let delay = 0; delay < 25; delay++) {
      const clock = manualClock()
      const near = createMemoryStore({ clock })
      const gate = deferred()
      const store = kind === 'near' ? near : distant(near)
      const served = fetchServer({ agents: [speaker(gate.promise)], clock, store })
      const running = await served.open('/run', { body: inputOf() })
      await running.until('TEXT_MESSAGE_CONTENT')
      gate.resolve()
      for (let n = 0; n < delay; n++) await (kind === 'near' ? Promise.resolve() : settled())
      const connected = await served.open('/connect', { body: thread })
      const [all, seen] = await Promise.all([running.ended, connected.ended])
      expect(all.at(-1)?.type).toBe('RUN_FINISHED')
      expect(typesOf(seen).at(-1)).toBe('RUN_FINISHED')
      expect(JSON.stringify(seen)).toContain('b')
    }
  })
})

describe('a run that was lost', () => {
  async function lose(store: Store): Promise<void> {
    const lease = await hold(store, key, 'dead')
    const start = { keep: 0, append: [user('u1', 'Hello.')], state: {}, clientTools: [], catchUp: 0 }
    await store.threads.begin(lease, runOf('run-lost', { start }))
    const started = JSON.stringify({
      ...{ type: 'RUN_STARTED', threadId: 'thread-1', runId: 'run-lost', protocolVersion: '1.0' },
    })
    await store.log.append(lease, { runId: 'run-lost', firstSeq: 0, lines: [started] })
    await store.leases.release(lease)
  }

  test('is ended for its subscriber once its lease has run out', async () => {
    const clock = manualClock()
    const store = createMemoryStore({ clock })
    await lose(store)
    await store.leases.acquire(key, { owner: 'dead', ttlMs: 10_000 })
    const served = fetchServer({ agents: [speaker()], clock, store })
    const stream = await served.open('/connect', { body: thread })
    await stream.until('RUN_STARTED')
    await clock.advance(9_000)
    expect(stream.events.at(-1)?.type).not.toBe('RUN_ERROR')
    await clock.advance(20_000)
    expect((await stream.ended).at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'RUN_LOST' })
  })

  test('is recovered once, however many requests come together', async () => {
    const clock = manualClock()
    const store = createMemoryStore({ clock })
    await lose(store)
    const served = fetchServer({ agents: [speaker()], clock, store: distant(store) })
    const looks = ['GET /message_snapshot/thread-1', 'GET /state_snapshot/thread-1']
    const [ran, ...looked] = await Promise.all([
      served.run({ messages: [user('u2', 'Again.')] }),
      ...looks.map((route) => served.ask(route)),
      served.ask('POST /connect', { body: thread }),
    ])
    expect(textOf(ran)).toBe('ab')
    expect(looked.map(({ status }) => status)).toEqual([200, 200, 200])
  })
})

describe('a store that fails', () => {
  test('at the commit costs the run, and not the thread', async () => {
    const clock = manualClock()
    const failing = failingStore(createMemoryStore({ clock }))
    const served = fetchServer({ agents: [speaker()], clock, store: failing.store })
    failing.fail('threads.commit', storeError(), 1)
    expect((await served.run()).at(-1)?.type).toBe('RUN_ERROR')
    expect(textOf(await served.run())).toBe('ab')
    expect((await served.history()).filter(({ role }) => role === 'user')).toHaveLength(2)
    expect(await failing.store.leases.isHeld(key)).toBe(false)
  })

  test('in a slow commit, the log is not written to besides', async () => {
    const clock = manualClock()
    const inner = createMemoryStore({ clock })
    const gate = deferred()
    const appended: number[] = []
    const store: Store = {
      ...inner,
      log: {
        ...inner.log,
        append: (lease, batch) => (appended.push(batch.firstSeq), inner.log.append(lease, batch)),
      },
      threads: {
        ...inner.threads,
        async commit(lease, change) {
          await gate.promise
          return inner.threads.commit(lease, change)
        },
      },
    }
    const served = fetchServer({ agents: [speaker()], clock, store })
    const stream = await served.open('/run', { body: inputOf() })
    await stream.until('STATE_SNAPSHOT')
    await clock.advance(1_000)
    gate.resolve()
    expect((await stream.ended).at(-1)?.type).toBe('RUN_FINISHED')
    expect(appended).toEqual([])
    assertValidStream(stream.events)
  })
})

describe('a server that shuts down while a request is becoming a run', () => {
  test('does not start the run', async () => {
    const gate = deferred()
    const hooks = { lock: () => gate.promise.then(() => undefined) }
    const served = fetchServer({ agents: [speaker()], hooks })
    const asked = served.ask('POST /run', { body: inputOf() })
    await settled()
    const closed = served.server.close({ graceMs: 0 })
    gate.resolve()
    expect((await asked).status).toBe(503)
    await closed
  })
})

describe('a client that disconnects before its stream has begun', () => {
  test('cancels its run if the server is set to do so', async () => {
    const [gate, never] = [deferred(), deferred()]
    const hooks = { lock: () => gate.promise.then(() => undefined) }
    const served = fetchServer({ agents: [speaker(never.promise)], hooks, onDisconnect: 'cancel' })
    const leaving = new AbortController()
    const asked = served.ask('POST /run', { body: inputOf(), signal: leaving.signal })
    await settled()
    leaving.abort()
    gate.resolve()
    await expect(asked).rejects.toThrow('aborted')
    await served.clock.advance(2_000)
    expect(await served.metric('runs_ended_total')).toEqual({ 'agent="speaker",status="cancelled"': 1 })
  })
})
