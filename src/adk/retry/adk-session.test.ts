import { LlmAgent, Runner, setLogger, type Event } from '@google/adk'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { partial, says, ScriptedLlm, type LlmStep } from '../../../test/support/adk/scripted-llm.js'
import {
  busy,
  codesOf,
  key,
  play,
  sessionRig,
  start,
  textOf,
  throwingRig,
  timed,
  type SessionRig,
} from '../../../test/support/adk/session-rig.js'

beforeAll(() => setLogger(null))

const isNative = (event: Event) => Symbol.for('google.adk.event') in event

// Each name begins with the number of the requirement of the design that it checks.
describe('an ADK session', () => {
  test('1: is a Runner with a user and a session; it retries 3 times unless told, and is given only the message', async () => {
    const { session, llm } = await sessionRig([says('Hi.')])
    expect(session.info()).toEqual({
      ...key,
      agent: 'root',
      state: 'ready',
      maxRetries: 3,
      attempt: 0,
    })
    await session.run('Hello')
    expect(llm.calls).toEqual([[{ role: 'user', parts: [{ text: 'Hello' }] }]])
  })

  test.each([
    ['maxRetries', -1],
    ['maxRetries', 1.5],
    ['delayMs', Number.NaN],
    ['factor', 0.5],
    ['maxDelayMs', Infinity],
    ['jitter', 2],
    ['userId', ''],
    ['sessionId', ''],
    ['appName', ''],
  ])('1: an option that makes no sense is named: %s %s', async (option, value) => {
    await expect(sessionRig([], { [option]: value })).rejects.toThrow(
      expect.objectContaining({ code: 'INVALID_AGENT', message: expect.stringContaining(option) as string }),
    )
  })

  test('1: finds the session under another app name when told', async () => {
    const { runner, service } = await sessionRig([])
    await service.createSession({ ...key, appName: 'other' })
    const llm = new ScriptedLlm([says('Hi.')])
    const other = Object.create(runner, {
      agent: { value: new LlmAgent({ name: 'b', model: llm }) },
    }) as Runner
    const { session } = await sessionRig([], { runner: other, appName: 'other' })
    expect((await session.run('Hello')).map(textOf)).toEqual(['Hi.', 'Hi.'])
    expect((await service.getSession({ ...key, appName: 'other' }))?.events).toHaveLength(2)
  })

  test('2: yields the events of the Runner itself, and wraps the message as content of the user', async () => {
    const bare = await sessionRig([says('Hel', 'lo')])
    const { userId, sessionId } = key
    const newMessage = { role: 'user', parts: [{ text: 'Hello' }] }
    const native: Event[] = []
    for await (const event of bare.runner.runAsync({ userId, sessionId, newMessage })) native.push(event)
    const rig = await sessionRig([says('Hel', 'lo')])
    const events = await rig.session.run('Hello')
    const shape = (event: Event) => ({ ...event, id: '', invocationId: '', timestamp: 0 })
    expect(events.map(shape)).toEqual(native.map(shape))
    expect(events.every(isNative)).toBe(true)
    const [asked, answer] = await rig.stored()
    expect(asked).toMatchObject({ author: 'user', content: newMessage })
    expect(answer?.id).toBe(events.at(-1)?.id)
  })

  test('2: takes content too, with all its parts, and leaves it as it is', async () => {
    const { session, llm } = await sessionRig([says('Hi.')])
    const content = Object.freeze({ parts: [{ text: 'Look:' }, { text: 'there' }] })
    await session.run(content)
    expect(llm.calls[0]).toEqual([{ role: 'user', parts: [{ text: 'Look:' }, { text: 'there' }] }])
  })

  test('3: run collects what runAsync yields, retries included', async () => {
    const rig = await sessionRig([busy, says('Hi.')], { delayMs: 0 })
    const running = rig.session.run('Hello')
    await rig.clock.advance(0)
    expect(codesOf(await running)).toEqual(['RETRY_ATTEMPT', 'ok', 'ok'])
  })

  test('4: the message of the user is stored exactly once over all attempts, and the model sees it once', async () => {
    const rig = await sessionRig([busy, busy, busy, says('Hi.')])
    const append = vi.spyOn(rig.service, 'appendEvent')
    await play(rig, 'Hello')
    expect(append.mock.calls.map(([{ event }]) => event.author)).toEqual([
      ...['user', 'root', 'root', 'root', 'root'],
    ])
    const users = (await rig.stored()).filter(({ author }) => author === 'user')
    expect(users.map(textOf)).toEqual(['Hello'])
    for (const contents of rig.llm.calls)
      expect(contents.map((content) => content.parts?.[0]?.text)).toEqual(['Hello'])
  })

  test('5: a failure is retried from what is in the session, without another message', async () => {
    const rig = await sessionRig([says('Hi.'), busy, says('Fine.')])
    await play(rig, 'Hello')
    await play(rig, 'How are you?')
    const roles = rig.llm.calls.at(-1)?.map(({ role, parts }) => `${role ?? ''}: ${parts?.[0]?.text ?? ''}`)
    expect(roles).toEqual(['user: Hello', 'model: Hi.', 'user: How are you?'])
  })

  test('6: there are at most maxRetries retries', async () => {
    const rig = await sessionRig([busy, busy, busy, says('too late')], { maxRetries: 2 })
    const events = await play(rig)
    expect(rig.llm.calls).toHaveLength(3)
    expect(codesOf(events)).toEqual(['RETRY_ATTEMPT', 'RETRY_ATTEMPT', '503', 'MAX_RETRIES_EXCEEDED'])
  })

  test('6: maxRetries 0 means no retry', async () => {
    const rig = await sessionRig([busy, says('too late')], { maxRetries: 0 })
    expect(codesOf(await play(rig))).toEqual(['503', 'MAX_RETRIES_EXCEEDED'])
    expect(rig.llm.calls).toHaveLength(1)
    expect(rig.states).toEqual(['ready', 'running', 'error', 'failed', 'ready'])
  })

  test('7: the pauses are 1, 2, 4 and 8 seconds', async () => {
    const times: number[] = []
    const now = () => rig.clock.now()
    const steps = [1, 2, 3, 4].map(() => timed(times, now, busy))
    const rig: SessionRig = await sessionRig([...steps, timed(times, now, says('Hi.'))], { maxRetries: 4 })
    await play(rig)
    expect(times).toEqual([0, 1, 3, 7, 15])
  })

  test('7: the pauses are as configured, and never longer than the longest', async () => {
    const times: number[] = []
    const now = () => rig.clock.now()
    const steps = [1, 2, 3].map(() => timed(times, now, busy))
    const pauses = { delayMs: 2000, factor: 3, maxDelayMs: 5000 }
    const rig: SessionRig = await sessionRig([...steps, timed(times, now, says('Hi.'))], pauses)
    await play(rig)
    expect(times).toEqual([0, 2, 7, 12])
  })

  test('7: chance takes away up to the share it may', async () => {
    const { session, clock } = await sessionRig([busy, says('Hi.')], { jitter: 0.5, random: () => 0.5 })
    const events = session.runAsync('Hello')
    await events.next()
    expect(session.info().nextRetryAt).toBe(clock.now() + 750)
    await events.return()
  })

  test('8: each retry is announced by one event of the agreed shape', async () => {
    const rig = await sessionRig([busy, busy, says('Hi.')])
    const events = await play(rig)
    const announced = events.filter(({ errorCode }) => errorCode === 'RETRY_ATTEMPT')
    expect(announced).toMatchObject(
      [1, 2].map((attempt) => ({
        author: 'system',
        content: { parts: [{ text: `Retry attempt ${attempt}/3 for agent execution` }] },
        errorMessage: `Retry attempt ${attempt}/3 for agent execution`,
        timestamp: start + (attempt - 1) * 1000,
      })),
    )
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
    expect((await rig.stored()).map(({ author }) => author)).toEqual(['user', 'root', 'root', 'root'])
  })

  test('9: after the last failure one event escalates, and the stream ends', async () => {
    const rig = await sessionRig([busy, busy, busy, busy])
    const last = (await play(rig)).at(-1)
    expect(last).toMatchObject({
      author: 'system',
      errorCode: 'MAX_RETRIES_EXCEEDED',
      errorMessage: 'Agent execution failed after 3 retry attempts',
      actions: { escalate: true },
      timestamp: start + 7000,
    })
    expect(last?.content).toBeUndefined()
    expect(rig.session.info().lastError).toMatchObject({ code: 'MODEL_ERROR', details: { status: 503 } })
  })

  test('10: the events of retries are native ones, with nothing of ours in them', async () => {
    const rig = await sessionRig([busy, busy], { maxRetries: 1 })
    const own = (await play(rig)).filter(({ author }) => author === 'system')
    expect(own.every(isNative)).toBe(true)
    const empty = {
      stateDelta: {},
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
    }
    expect(own.map(({ actions }) => actions)).toEqual([empty, { ...empty, escalate: true }])
    const standard = ['id', 'invocationId', 'author', 'actions', 'timestamp', 'longRunningToolIds', 'branch']
    for (const event of own)
      expect([...standard, 'content', 'errorCode', 'errorMessage']).toEqual(
        expect.arrayContaining(Object.keys(event)),
      )
  })

  test('11: a retry can be called off while it waits: the run ends with the failure it had', async () => {
    const rig = await sessionRig([busy, says('too late')])
    const { session, clock } = rig
    expect(session.cancelRetry()).toBe(false)
    const reading = session.run('Hello')
    await clock.advance(500)
    expect(session.info()).toMatchObject({ state: 'retrying', attempt: 1, nextRetryAt: start + 1000 })
    expect(session.cancelRetry()).toBe(true)
    expect(codesOf(await reading)).toEqual(['RETRY_ATTEMPT', '503'])
    expect(clock.pending).toBe(0)
    expect(session.cancelRetry()).toBe(false)
    expect(session.isReady()).toBe(true)
    expect(session.info()).not.toHaveProperty('nextRetryAt')
    expect(rig.llm.calls).toHaveLength(1)
  })

  test('11: who reads may call it off when it is announced', async () => {
    const { session } = await sessionRig([busy, says('too late')])
    const codes: unknown[] = []
    for await (const { errorCode } of session.runAsync('Hello')) {
      codes.push(errorCode)
      session.cancelRetry()
    }
    expect(codes).toEqual(['RETRY_ATTEMPT', '503'])
  })

  test('11: a run that was called off throws when its failure was thrown', async () => {
    const { session } = await throwingRig(1)
    const events = session.runAsync('Hello')
    await events.next()
    session.cancelRetry()
    await expect(events.next()).rejects.toThrow('kaput')
  })

  test('11: a new run starts with a clean counter, and so does one whose counter is reset', async () => {
    const rig = await sessionRig([busy, busy, busy, busy, says('Hi.'), busy, says('Hi.')], { maxRetries: 2 })
    const events = rig.session.runAsync('Hello')
    await events.next()
    rig.session.reset()
    expect(rig.session.info()).toMatchObject({ attempt: 0 })
    const rest: Event[] = []
    const reading = (async () => {
      for await (const event of events) rest.push(event)
    })()
    await rig.clock.advance(20_000)
    await reading
    expect(rest.map(({ errorMessage }) => errorMessage?.slice(0, 17))).toEqual([
      'Retry attempt 1/2',
      'Retry attempt 2/2',
      'status 503',
      'Agent execution f',
    ])
    expect(rig.session.info()).toMatchObject({ attempt: 2 })
    await play(rig)
    expect(rig.session.info()).toMatchObject({ attempt: 0 })
    expect(rig.session.info()).not.toHaveProperty('lastError')
    expect((await play(rig))[0]).toMatchObject({ errorMessage: 'Retry attempt 1/2 for agent execution' })
  })

  test('12: goes from ready to running and back', async () => {
    const { session, states } = await sessionRig([says('Hi.')])
    await session.run('Hello')
    expect(states).toEqual(['ready', 'running', 'ready'])
  })

  test('12: goes through error and retrying back to ready', async () => {
    const rig = await sessionRig([busy, busy, says('Hi.')])
    await play(rig)
    expect(rig.states).toEqual(['ready', 'running', 'error', 'retrying', 'retrying', 'ready'])
  })

  test('12: goes through the final failure back to ready', async () => {
    const rig = await sessionRig([busy, busy, says('Hi.')], { maxRetries: 1 })
    await play(rig)
    expect(rig.states).toEqual(['ready', 'running', 'error', 'retrying', 'failed', 'ready'])
    expect((await play(rig)).map(textOf)).toContain('Hi.')
  })

  test('12: is cleaned up from ready only: a run at work is ended first', async () => {
    const rig = await sessionRig([busy, says('too late')])
    const reading = rig.session.run('Hello')
    await rig.clock.advance(500)
    await rig.session.cleanup()
    expect(rig.states).toEqual(['ready', 'running', 'error', 'retrying', 'ready', 'cleaning', 'closed'])
    await reading
    expect(rig.clock.pending).toBe(0)
  })

  test('12: a second run is refused while one is at work, and does not disturb it', async () => {
    const rig = await sessionRig([busy, says('Hi.')])
    const reading = rig.session.run('Hello')
    await rig.clock.advance(500)
    await expect(rig.session.run('Me too')).rejects.toMatchObject({ code: 'THREAD_IS_LOCKED' })
    await rig.clock.advance(500)
    expect((await reading).map(textOf)).toContain('Hi.')
    expect((await rig.stored()).filter(({ author }) => author === 'user')).toHaveLength(1)
  })

  test('13: tells whether it is ready; cleaned up it is not, and runs nothing', async () => {
    const { session, runner } = await sessionRig([says('Hi.')])
    expect(session.isReady()).toBe(true)
    const events = session.runAsync('Hello')
    expect(session.isReady()).toBe(true)
    await events.next()
    expect(session.isReady()).toBe(false)
    await events.return()
    expect(session.isReady()).toBe(true)
    const cleanup = session.cleanup()
    expect(session.isReady()).toBe(false)
    expect(session.cleanup()).toBe(cleanup)
    await cleanup
    expect(session.info()).toMatchObject({ ...key, agent: 'root', state: 'closed' })
    await expect(session.run('Hello')).rejects.toMatchObject({ code: 'RUN_CLOSED' })
    expect(runner.agent.name).toBe('root')
  })

  test('14: two sessions of one Runner share nothing: one fails, the other does not notice', async () => {
    const { runner, service, agent } = await sessionRig([])
    const step: LlmStep = async function* ({ contents }) {
      const text = await Promise.resolve(contents[0]?.parts?.[0]?.text)
      if (text === 'fail') throw new Error('kaput')
      yield* says('Hi.')
    }
    agent.model = new ScriptedLlm(Array.from({ length: 8 }, () => step))
    await service.createSession({ ...key, sessionId: 's2' })
    const one = await sessionRig([], { runner })
    const two = await sessionRig([], { runner, sessionId: 's2' })
    const [failed, answered] = await Promise.all([play(one, 'fail'), play(two, 'Hello')])
    expect(codesOf(failed).at(-1)).toBe('MAX_RETRIES_EXCEEDED')
    expect(codesOf(answered)).toEqual(['ok', 'ok'])
    expect(two.session.info()).toMatchObject({ attempt: 0 })
    await one.session.cleanup()
    expect(two.session.isReady()).toBe(true)
    expect(Object.keys(runner)).toEqual(
      Object.keys(new Runner({ appName: 'app', agent, sessionService: service })),
    )
  })

  test('15: an exception leaves it usable', async () => {
    const rig = await throwingRig(5, { isRetryable: () => false })
    await expect(rig.session.run('Hello')).rejects.toThrow('kaput')
    expect(rig.states).toEqual(['ready', 'running', 'error', 'ready'])
    expect(rig.session.isReady()).toBe(true)
    await expect(rig.session.run('Hello')).rejects.toThrow('kaput')
  })

  test('15: is closed in a fixed order: the model, the run, the session', async () => {
    const order: string[] = []
    const step: LlmStep = async function* () {
      try {
        for (;;) yield await Promise.resolve(partial('on '))
      } finally {
        order.push('model closed')
      }
    }
    const onStateChange = (state: string) => order.push(state)
    const { session } = await sessionRig([step], { onStateChange })
    const events = session.runAsync('Hello')
    await events.next()
    await session.cleanup()
    expect(order).toEqual(['ready', 'running', 'model closed', 'ready', 'cleaning', 'closed'])
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  test('15: also an exception of the judge leaves it usable', async () => {
    const judge = () => {
      throw new Error('no judge')
    }
    const rig = await sessionRig([busy], { isRetryable: judge })
    await expect(rig.session.run('Hello')).rejects.toThrow('no judge')
    expect(rig.session.isReady()).toBe(true)
  })
})
