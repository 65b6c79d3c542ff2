import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, test, vi } from 'vitest'
import {
  expectRefusal,
  fetchServer,
  inputOf,
  textOf,
  typesOf,
  type FetchServer,
  type FetchServerOptions,
} from '../../test/support/fetch-server.js'
import { aborted, deferred, resultsIn } from '../../test/support/run-agent.js'
import { defineAgent, defineTool, type Agent } from '../agents/index.js'
import { scriptedModel, type Script } from '../models/index.js'
import type * as Protocol from '../protocol/index.js'
import { protobufMediaType } from '../protocol/index.js'
import type { Store, ThreadKey } from '../threads/contract.js'
import type { RemovalReason } from './contract.js'

// As it is when a process makes the first one: the library is read from a disk.
vi.mock('../protocol/index.js', async (load) => {
  const protocol = await load<typeof Protocol>()
  const createProtobufEncoder = () => nextTurn().then(() => protocol.createProtobufEncoder())
  return { ...protocol, createProtobufEncoder }
})

type Rest = Omit<FetchServerOptions, 'agents'>

function talker(script: Script = () => 'Fine.'): Agent {
  return defineAgent({ name: 'talker', model: scriptedModel(script), retry: { attempts: 1 } })
}

/** The first run says something and goes on until it is stopped or let go; the others say `Fine.` */
function holding(gate = new Promise<unknown>(() => undefined)): Agent {
  return talker((_, index) =>
    index === 0 ? ['Wait', { wait: (signal) => Promise.race([gate, aborted(signal)]) }, ' over.'] : 'Fine.',
  )
}

/** A server on which the first run of thread-1 is at work. */
async function busy(options: Rest, gate?: Promise<unknown>) {
  const made = fetchServer({ agents: [holding(gate)], ...options })
  const first = await made.open('/run', { body: inputOf() })
  await first.until('TEXT_MESSAGE_CONTENT')
  return { made, first }
}

async function cancel(made: FetchServer, threadId = 'thread-1'): Promise<void> {
  expect((await made.ask('POST /cancel', { body: { threadId } })).body).toMatchObject({ status: 'cancelled' })
}

const identify = (request: Request) => ({ user: request.headers.get('x-user') ?? 'ann' })

describe('limits.runs', () => {
  it('refuses one more, says when to try again, and takes it when the first is over', async () => {
    const gate = deferred()
    const { made, first } = await busy({ limits: { runs: 1 } }, gate.promise)
    const refused = await made.ask('POST /run', { body: inputOf({ threadId: 'thread-2' }) })
    expectRefusal(refused, 429, 'TOO_MANY_RUNS')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await made.ask('GET /message_snapshot/thread-2')).status).toBe(404)
    gate.resolve()
    await first.ended
    expect(textOf(await made.run({ threadId: 'thread-2' }))).toBe('Fine.')
  })

  it('counts the runs of all users', async () => {
    const { made } = await busy({ limits: { runs: 1 }, identify })
    const headers = { 'x-user': 'ben' }
    expectRefusal(await made.ask('POST /run', { body: inputOf(), headers }), 429, 'TOO_MANY_RUNS')
  })

  it('counts no request that was refused', async () => {
    const made = fetchServer({ agents: [talker()], limits: { runs: 1 } })
    for (let times = 0; times < 3; times++) {
      const refused = await made.run({ resume: [{ interruptId: 'none', status: 'resolved' }] })
      expect(refused.at(-1)).toMatchObject({ code: 'INVALID_RESUME' })
    }
    expect(textOf(await made.run())).toBe('Fine.')
  })
})

describe('limits.runsPerUser', () => {
  it('refuses one more of the same user, not of another', async () => {
    const { made } = await busy({ limits: { runsPerUser: 1 }, identify })
    const second = { body: inputOf({ threadId: 'thread-2' }) }
    expectRefusal(await made.ask('POST /run', second), 429, 'TOO_MANY_RUNS')
    expect(textOf(await made.run({}, { headers: { 'x-user': 'ben' } }))).toBe('Fine.')
    await cancel(made)
    expect(textOf(await made.run({ threadId: 'thread-2' }))).toBe('Fine.')
  })
})

describe('a run that replaces its predecessor', () => {
  const whenBusy = 'cancel-previous'

  it.each([{ runsPerUser: 1 }, { runs: 1 }])('counts as one with it: %o', async (limits) => {
    const { made, first } = await busy({ limits, whenBusy })
    expect(textOf(await made.run({ runId: 'run-2' }))).toBe('Fine.')
    await first.ended
    expect(textOf(await made.run({ runId: 'run-3', threadId: 'thread-2' }))).toBe('Fine.')
  })

  it('counts as one with it, also while it lets the first come to a safe point', async () => {
    const gate = deferred()
    const { made, first } = await busy({ limits: { runsPerUser: 1 }, whenBusy: 'preempt' }, gate.promise)
    const second = made.run({ runId: 'run-2' })
    gate.resolve()
    await first.ended
    expect(textOf(await second)).toBe('Fine.')
  })

  it('counts when another waits already, and on another thread', async () => {
    const lock = deferred()
    let locked = 0
    const hooks = {
      lock: async () => {
        if (locked++ > 0) await lock.promise
        return () => undefined
      },
    }
    const { made } = await busy({ limits: { runsPerUser: 1 }, whenBusy, hooks })
    const second = await made.open('/run', { body: inputOf({ runId: 'run-2' }) })
    expectRefusal(await made.ask('POST /run', { body: inputOf({ runId: 'run-3' }) }), 429, 'TOO_MANY_RUNS')
    const other = { body: inputOf({ runId: 'run-4', threadId: 'thread-2' }) }
    expectRefusal(await made.ask('POST /run', other), 429, 'TOO_MANY_RUNS')
    lock.resolve()
    await second.ended
  })
})

it('a run that waits is refused beyond the limit as ever: it replaces nothing', async () => {
  const { made } = await busy({ limits: { runsPerUser: 1 }, whenBusy: 'wait' })
  expectRefusal(await made.ask('POST /run', { body: inputOf({ runId: 'run-2' }) }), 429, 'TOO_MANY_RUNS')
})

it('the input of a run that waits counts among the bytes in flight until it starts', async () => {
  const gate = deferred()
  const limits = { bytesInFlightPerUser: 60_000 }
  const { made, first } = await busy({ limits, whenBusy: 'wait', identify }, gate.promise)
  const large = (runId: string, length = 40_000) => {
    const messages = [{ id: runId, role: 'user', content: 'x'.repeat(length) }]
    return { body: inputOf({ runId, messages }) }
  }
  const waiting = await made.open('/run', large('run-2'))
  expectRefusal(await made.ask('POST /run', large('run-3')), 429, 'TOO_MANY_BYTES')
  // Other users, and small requests, are taken.
  const ben = await made.open('/run', { ...large('run-4'), headers: { 'x-user': 'ben' } })
  await ben.ended
  gate.resolve()
  await first.ended
  await waiting.ended
  const last = await made.open('/run', large('run-5'))
  await last.ended
})

describe('a run stops counting', () => {
  const limits = { runs: 1, runTimeoutMs: 60_000 }
  const next = { threadId: 'thread-2' }

  test('when the run is cancelled', async () => {
    const { made, first } = await busy({ limits })
    await cancel(made)
    await first.ended
    expect(textOf(await made.run(next))).toBe('Fine.')
  })

  test('when it has failed', async () => {
    const made = fetchServer({ agents: [talker([[{ error: { status: 401 } }], 'Fine.'])], limits })
    expect((await made.run()).at(-1)?.type).toBe('RUN_ERROR')
    expect(textOf(await made.run(next))).toBe('Fine.')
  })

  test('when its time is over', async () => {
    const { made, first } = await busy({ limits })
    await made.clock.advance(60_000)
    expect((await first.ended).at(-1)).toMatchObject({ code: 'EXECUTION_TIMEOUT' })
    expect(textOf(await made.run(next))).toBe('Fine.')
  })

  test('when it waits for a person', async () => {
    const ask = defineTool({
      name: 'ask',
      description: 'Asks.',
      execute: (_, ctx) => ctx.interrupt({ message: 'Sure?' }),
    })
    const model = scriptedModel([[{ toolCall: { name: 'ask' } }], 'Fine.'])
    const made = fetchServer({ agents: [defineAgent({ name: 'talker', model, tools: [ask] })], limits })
    expect((await made.run()).at(-1)).toMatchObject({ outcome: { type: 'interrupt' } })
    expect(textOf(await made.run(next))).toBe('Fine.')
  })

  test('when it waits for the tools of a client', async () => {
    const tools = [{ name: 'pick', description: 'Picks.', parameters: {} }]
    const made = fetchServer({ agents: [talker([[{ toolCall: { name: 'pick' } }], 'Fine.'])], limits })
    expect(typesOf(await made.run({ tools }))).toContain('TOOL_CALL_END')
    expect(textOf(await made.run(next))).toBe('Fine.')
  })

  test('when its client disconnects and takes it along', async () => {
    const gone = new AbortController()
    const made = fetchServer({ agents: [holding()], limits, onDisconnect: 'cancel' })
    const first = await made.open('/run', { body: inputOf(), signal: gone.signal })
    await first.until('TEXT_MESSAGE_CONTENT')
    gone.abort()
    await vi.waitFor(async () => {
      await made.clock.advance(0)
      expect(await made.metric('runs_running')).toEqual({ 'agent="talker"': 0 })
    })
    expect(textOf(await made.run(next))).toBe('Fine.')
  })
})

describe('a second run on a busy thread', () => {
  test('is refused by default, and the first goes on', async () => {
    const gate = deferred()
    const { made, first } = await busy({}, gate.promise)
    const second = made.ask('POST /run', { body: inputOf() })
    // The client of the first might be about to hang up.
    await made.clock.advance(100)
    expectRefusal(await second, 409, 'THREAD_IS_LOCKED')
    gate.resolve()
    expect(textOf(await first.ended)).toBe('Wait over.')
  })

  describe('with wait', () => {
    const options = { whenBusy: 'wait', limits: { waitMs: 1000 } } as const

    test('starts when the first has ended', async () => {
      const gate = deferred()
      const { made, first } = await busy(options, gate.promise)
      const second = await made.open('/run', { body: inputOf() })
      await made.clock.advance(999)
      expect(second.events).toEqual([])
      gate.resolve()
      expect(textOf(await first.ended)).toBe('Wait over.')
      expect(textOf(await second.ended)).toBe('Fine.')
      expect(await made.history()).toHaveLength(4)
      expect(await made.metric('lease_wait_seconds_sum')).toEqual({ 'outcome="acquired"': 0.999 })
    })

    test('is refused in the stream when that takes too long', async () => {
      const { made } = await busy(options)
      const second = await made.open('/run', { body: inputOf() })
      await made.clock.advance(1000)
      const events = await second.ended
      expect(events).toEqual([expect.objectContaining({ type: 'RUN_ERROR', code: 'THREAD_IS_LOCKED' })])
      expect(await made.metric('lease_wait_seconds_count')).toMatchObject({ 'outcome="timeout"': 1 })
    })

    test('is given up when its client disconnects', async () => {
      const gone = new AbortController()
      const gate = deferred()
      const { made, first } = await busy(options, gate.promise)
      await made.open('/run', { body: inputOf(), signal: gone.signal })
      gone.abort()
      await made.clock.advance(0)
      gate.resolve()
      await first.ended
      await made.clock.advance(5000)
      expect(await made.history()).toHaveLength(2)
      expect(await made.metric('runs_started_total')).toEqual({ 'agent="talker"': 1 })
    })

    test('starts when another process has released the thread', async () => {
      const made = fetchServer({ agents: [talker()], ...options })
      const lease = await hold(made.store)
      const second = made.run()
      await made.clock.advance(500)
      await made.store.leases.release(lease)
      await made.clock.advance(100)
      expect(textOf(await second)).toBe('Fine.')
    })

    test('is refused when another process keeps the thread', async () => {
      const made = fetchServer({ agents: [talker()], ...options })
      await hold(made.store)
      const second = made.ask('POST /run', { body: inputOf() })
      await made.clock.advance(1000)
      expectRefusal(await second, 409, 'THREAD_IS_LOCKED')
    })

    test('many start one after the other', async () => {
      const gate = deferred()
      const { made, first } = await busy(options, gate.promise)
      const bodies = [inputOf(), inputOf(), inputOf()]
      const others = await Promise.all(bodies.map((body) => made.open('/run', { body })))
      gate.resolve()
      await first.ended
      // While one of them has the thread and is not yet known to be at work, the others look again after a while.
      await made.clock.advance(300)
      for (const other of others) expect(textOf(await other.ended)).toBe('Fine.')
      expect(await made.history()).toHaveLength(8)
    })

    test('a hook that refuses at once does so in the stream, in any format', async () => {
      let isBusy = false
      const hooks = {
        inputRecord: () => {
          if (isBusy) throw new Error('no more')
        },
      }
      const { made } = await busy({ ...options, hooks })
      isBusy = true
      const unhandled: unknown[] = []
      const note = (error: unknown) => void unhandled.push(error)
      process.on('unhandledRejection', note)
      onTestFinished(() => void process.off('unhandledRejection', note))
      const headers = { accept: protobufMediaType }
      const refused = await made.ask('POST /run', { body: inputOf(), headers })
      expect(refused.status).toBe(200)
      expect(refused.text).toContain('HOOK_ERROR')
      // It would end the process.
      expect(unhandled).toEqual([])
    })
  })

  describe('with cancel-previous', () => {
    const options = { whenBusy: 'cancel-previous', limits: { waitMs: 1000 } } as const

    test('gets the thread at once, and the first ends as cancelled', async () => {
      const { made, first } = await busy(options)
      const second = await made.open('/run', { body: inputOf() })
      expect(textOf(await second.ended)).toBe('Fine.')
      expect((await first.ended).at(-1)).toMatchObject({ outcome: { type: 'cancelled' } })
      expect((await made.history()).map(({ role }) => role)).toEqual([
        ...['user', 'assistant', 'user', 'assistant'],
      ])
    })

    test('waits no longer than for any busy thread of another process', async () => {
      const made = fetchServer({ agents: [talker()], ...options })
      await hold(made.store)
      const second = made.ask('POST /run', { body: inputOf() })
      await made.clock.advance(1000)
      expectRefusal(await second, 409, 'THREAD_IS_LOCKED')
    })
  })

  async function hold(store: Store) {
    const key: ThreadKey = { app: 'default', user: 'local', agent: 'talker', thread: 'thread-1' }
    const lease = await store.leases.acquire(key, { owner: 'another process', ttlMs: 60_000 })
    if (!lease) throw new Error('The thread is held already.')
    return lease
  }
})

describe('limits of time', () => {
  test('a run that is silent ends with its time, and not before', async () => {
    const { made, first } = await busy({ limits: { runTimeoutMs: 1000 } })
    await made.clock.advance(999)
    expect(first.events.at(-1)?.type).toBe('TEXT_MESSAGE_CONTENT')
    await made.clock.advance(1)
    expect((await first.ended).at(-1)).toEqual({
      ...{ type: 'RUN_ERROR', code: 'EXECUTION_TIMEOUT', message: 'The run took longer than 1000 ms.' },
    })
    expect(textOf(await made.run())).toBe('Fine.')
  })

  test('a run that is over leaves no timer behind', async () => {
    const made = fetchServer({ agents: [talker()] })
    await made.run()
    await made.clock.advance(100)
    expect(made.clock.pending).toBe(0)
  })

  test('a tool without a limit of its own has that of the server', async () => {
    const slow = defineTool({
      name: 'slow',
      description: 'Never ends.',
      execute: (_, ctx) => aborted(ctx.signal),
    })
    const model = scriptedModel([[{ toolCall: { name: 'slow' } }], 'It did not work.'])
    const agent = defineAgent({ name: 'talker', model, tools: [slow] })
    const made = fetchServer({ agents: [agent], limits: { toolTimeoutMs: 500 } })
    const stream = await made.open('/run', { body: inputOf() })
    await stream.until('TOOL_CALL_END')
    await made.clock.advance(499)
    expect(typesOf(stream.events)).not.toContain('TOOL_CALL_RESULT')
    await made.clock.advance(1)
    const events = await stream.ended
    expect(resultsIn(events)).toEqual([expect.stringContaining('500 ms')])
    expect(textOf(events)).toBe('It did not work.')
  })
})

describe('unused threads', () => {
  const minute = 60_000

  /** Serves, with a list of what was removed and why. */
  function kept(rules: FetchServerOptions['threads'], agent = talker()) {
    const removed: [thread: string, reason: RemovalReason][] = []
    const threads = {
      ...rules,
      onThreadRemoved: ({ key }: { readonly key: ThreadKey }, reason: RemovalReason) =>
        void removed.push([key.thread, reason]),
    }
    return { removed, made: fetchServer({ agents: [agent], threads, identify }) }
  }

  async function listed(made: FetchServer, headers = {}): Promise<string[]> {
    const { body } = await made.ask('GET /thread/list', { headers })
    const { threads } = body as { readonly threads: readonly { readonly threadId: string }[] }
    return threads.map(({ threadId }) => threadId)
  }

  /** One run on each thread, a minute apart. */
  async function runOn(made: FetchServer, ...threads: readonly string[]): Promise<void> {
    for (const threadId of threads) {
      await made.run({ threadId })
      await made.clock.advance(minute)
    }
  }

  test('one more than maxPerUser removes the one unused for longest', async () => {
    const { made, removed } = kept({ maxPerUser: 2 })
    await runOn(made, 'a', 'b', 'a', 'c')
    expect(removed).toEqual([['b', 'too-many']])
    expect(await listed(made)).toEqual(['c', 'a'])
    const headers = { 'x-user': 'ben' }
    await made.run({ threadId: 'd' }, { headers })
    expect(await listed(made)).toHaveLength(2)
  })

  test('a run on a stored thread removes none', async () => {
    const { made, removed } = kept({ maxPerUser: 2 })
    await runOn(made, 'a', 'b', 'a', 'b')
    expect(removed).toEqual([])
  })

  test('are removed when their time is over', async () => {
    const { made, removed } = kept({ idleTimeoutMs: 10 * minute, sweepEveryMs: minute })
    await made.run({ threadId: 'a' })
    await made.clock.advance(5 * minute)
    await made.run({ threadId: 'b' })
    await made.clock.advance(6 * minute)
    expect(removed).toEqual([['a', 'idle']])
    expect(await listed(made)).toEqual(['b'])
    expect((await made.ask('GET /message_snapshot/a')).status).toBe(404)
  })

  test('stay while a run is at work on them', async () => {
    const { made, removed } = kept({ idleTimeoutMs: minute, sweepEveryMs: minute }, holding())
    const stream = await made.open('/run', { body: inputOf() })
    await stream.until('TEXT_MESSAGE_CONTENT')
    await made.clock.advance(5 * minute)
    expect(removed).toEqual([])
    await cancel(made)
    await stream.ended
  })

  test('onThreadRemoved gets a thread before it is deleted', async () => {
    const { made, removed } = kept({})
    await made.run({ threadId: 'a' })
    const { status, body } = await made.ask('DELETE /thread/a')
    expect({ status, body }).toEqual({ status: 200, body: { status: 'deleted' } })
    expect(removed).toEqual([['a', 'request']])
    expectRefusal(await made.ask('DELETE /thread/a'), 404, 'THREAD_NOT_FOUND')
  })

  test('a thread stays when onThreadRemoved throws', async () => {
    const threads = { onThreadRemoved: () => Promise.reject(new Error('the archive is full of hunter2')) }
    const made = fetchServer({ agents: [talker()], threads })
    await made.run()
    const refused = await made.ask('DELETE /thread/thread-1')
    expectRefusal(refused, 500, 'HOOK_ERROR')
    expect(refused.text).not.toContain('hunter2')
    expect(await made.history()).toHaveLength(2)
    expect(textOf(await made.run())).toBe('Fine.')
  })

  test('a thread at work is not deleted', async () => {
    const { made } = await busy({})
    expectRefusal(await made.ask('DELETE /thread/thread-1'), 409, 'THREAD_IS_LOCKED')
    await cancel(made)
    expect((await made.ask('DELETE /thread/thread-1')).status).toBe(200)
  })
})
