import {
  AgentTool,
  createEvent,
  FunctionNode,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  LongRunningFunctionTool,
  setLogger,
  START,
  Workflow,
  type Context,
  type Event,
} from '@google/adk'
import { beforeAll, describe, expect, test } from 'vitest'
import { callsTool, partial, says, ScriptedLlm, whole } from '../../../test/support/adk/scripted-llm.js'
import {
  Breaks,
  busy,
  codesOf,
  failsWith,
  key,
  play,
  sessionRig,
  textOf,
  throwingRig,
} from '../../../test/support/adk/session-rig.js'

beforeAll(() => setLogger(null))

const retried = ['RETRY_ATTEMPT', 'ok', 'ok']

/** A tool that counts how often it was carried out. */
function payTool() {
  const paid = { times: 0 }
  const execute = () => ({ receipt: ++paid.times })
  return { paid, tool: new FunctionTool({ name: 'pay', description: 'Pays.', execute }) }
}

/** A tool that leaves something behind which writes into the session later: when it is told to. */
function backgroundTool() {
  let write: (() => Promise<unknown>) | undefined
  const execute = (_: unknown, context?: Context) => {
    const { sessionService, session } = context?.invocationContext ?? {}
    const event = createEvent({ author: 'root', invocationId: 'e-late' })
    write = async () => session && sessionService?.appendEvent({ session, event })
    return { ok: true }
  }
  const tool = new FunctionTool({ name: 'work', description: 'Works.', execute })
  return { late: () => write?.(), tool }
}

describe('an attempt that fails', () => {
  test('by throwing is tried again like one that ends with an error event', async () => {
    const rig = await throwingRig(2)
    expect(codesOf(await play(rig))).toEqual(['RETRY_ATTEMPT', ...retried])
    expect((await rig.stored()).map(({ author }) => author)).toEqual(['user', 'root'])
  })

  test('for good by throwing ends with the event, and the error can be looked up', async () => {
    const rig = await throwingRig(9, { maxRetries: 1 })
    expect(codesOf(await play(rig))).toEqual(['RETRY_ATTEMPT', 'MAX_RETRIES_EXCEEDED'])
    expect(rig.session.info().lastError).toMatchObject({
      message: expect.stringContaining('kaput') as string,
    })
  })

  test('by throwing what is no error is tried again', async () => {
    const odd = async function* () {
      yield* says('Half')
      const odd: unknown = await Promise.resolve({ odd: true })
      throw odd
    }
    expect(codesOf(await play(await sessionRig([odd, says('Hi.')])))).toEqual(['ok', 'ok', ...retried])
  })

  test('after it has said something shows that it is tried again; what was said stays', async () => {
    const rig = await sessionRig([[partial('Half a '), ...busy], says('Whole.')])
    const events = await play(rig)
    expect(events.map(textOf)).toEqual([
      'Half a ',
      'Retry attempt 1/3 for agent execution',
      'Whole.',
      'Whole.',
    ])
    expect((await rig.stored()).map(textOf)).toEqual(['Hello', '', 'Whole.'])
  })

  test('in a workflow is one failure, although there is an event and an exception', async () => {
    let prepared = 0
    const prepare = new FunctionNode('prepare', () => ({ times: ++prepared }))
    const llm = new ScriptedLlm([busy, says('Done.')])
    const root = new Workflow({
      name: 'wf',
      edges: [[START, prepare, new LlmAgent({ name: 'writer', model: llm })]],
    })
    const rig = await sessionRig([], { root })
    expect(codesOf(await play(rig))).toEqual(['ok', ...retried])
    expect(llm.calls).toHaveLength(2)
    // The node before it has its result: it is not run again.
    expect(prepared).toBe(1)
    expect(new Set((await rig.stored()).map(({ invocationId }) => invocationId)).size).toBe(1)
  })

  test('is shown in full when a workflow gives up', async () => {
    const fail = new FunctionNode('fail', () => {
      throw new Error('kaput')
    })
    const rig = await sessionRig([], {
      root: new Workflow({ name: 'wf', edges: [[START, fail]] }),
      maxRetries: 1,
    })
    expect(codesOf(await play(rig))).toEqual(['RETRY_ATTEMPT', 'UNKNOWN_ERROR', 'MAX_RETRIES_EXCEEDED'])
  })

  test('after a tool has run goes on behind its result', async () => {
    const { paid, tool } = payTool()
    const rig = await sessionRig([callsTool({ name: 'pay' }), busy, says('Paid.')], { tools: [tool] })
    expect(codesOf(await play(rig))).toEqual(['ok', 'ok', ...retried])
    expect(paid.times).toBe(1)
    expect(rig.llm.calls.at(-1)?.map(({ role }) => role)).toEqual(['user', 'model', 'user'])
  })
})

describe('an error event', () => {
  test('that is not the end is shown in its place and is no failure', async () => {
    const { tool } = payTool()
    const rig = await sessionRig([callsTool({ name: 'nosuch' }), says('Sorry.')], { tools: [tool] })
    const events = await play(rig)
    expect(codesOf(events)).toEqual(['ok', 'UNKNOWN_ERROR', 'ok', 'ok'])
    expect(events.at(-1)).toMatchObject({ content: { parts: [{ text: 'Sorry.' }] } })
  })

  test.each(['MAX_TOKENS', 'SAFETY', 'STOP'])(
    'that is the answer of a model is passed on: %s',
    async (code) => {
      const rig = await sessionRig([[{ errorCode: code, partial: false }], says('too late')])
      expect(codesOf(await play(rig))).toEqual([code])
      expect(rig.llm.calls).toHaveLength(1)
    },
  )

  test('with content is an answer that was cut off', async () => {
    const rig = await sessionRig([[whole([{ text: 'Half' }], { errorCode: 'MAX_TOKENS' })], says('too late')])
    expect((await play(rig)).map(textOf)).toEqual(['Half'])
  })

  test('of a call that came out malformed is a failure that passes', async () => {
    const malformed = { errorCode: 'MALFORMED_FUNCTION_CALL', partial: false }
    expect(codesOf(await play(await sessionRig([[malformed], says('Hi.')])))).toEqual(retried)
  })
})

describe('there is no retry', () => {
  test.each([400, 401, 403, 404, 422])('of a refusal: %d', async (code) => {
    const rig = await sessionRig([[failsWith(code)], says('too late')])
    expect(codesOf(await play(rig))).toEqual([String(code)])
    expect(rig.states).toEqual(['ready', 'running', 'error', 'ready'])
  })

  test.each([408, 425, 429, 500, 529])('unless it is one that passes: %d', async (code) => {
    expect(codesOf(await play(await sessionRig([[failsWith(code)], says('Hi.')])))).toEqual(retried)
  })

  test('when there is no such session: the error is thrown on', async () => {
    const rig = await sessionRig([says('too late')], { sessionId: 'nosuch' })
    await expect(play(rig)).rejects.toThrow('Session not found: nosuch')
  })

  test('of an answer to a call that nobody made', async () => {
    const rig = await sessionRig([says('too late')])
    const functionResponse = { id: 'nosuch', name: 'pay', response: {} }
    await expect(play(rig, { parts: [{ functionResponse }] })).rejects.toThrow('No function call event found')
    expect(rig.llm.calls).toHaveLength(0)
  })

  test('after a tool has run whose result could not be stored', async () => {
    const { paid, tool } = payTool()
    class Full extends InMemorySessionService {
      override appendEvent(...[request]: Parameters<InMemorySessionService['appendEvent']>) {
        const isResult =
          request.event.content?.parts?.some(({ functionResponse }) => functionResponse) ?? false
        return isResult ? Promise.reject(new Error('disk full')) : super.appendEvent(request)
      }
    }
    const service = new Full()
    const rig = await sessionRig([callsTool({ name: 'pay' }), says('too late')], { tools: [tool], service })
    await expect(play(rig)).rejects.toThrow('disk full')
    expect(paid.times).toBe(1)
    expect(rig.llm.calls).toHaveLength(1)
    expect(rig.session.isReady()).toBe(true)
  })

  test('when a call was left without a result, whoever is asked', async () => {
    const isRetryable = () => true
    const rig = await sessionRig([callsTool({ name: 'nosuch' }), busy, says('too late')], { isRetryable })
    expect(codesOf(await play(rig))).toEqual(['ok', 'UNKNOWN_ERROR', '503'])
  })

  test('when the judge says no; it may also say yes, or leave it open', async () => {
    const judged: unknown[] = []
    const verdicts = [true, undefined, false]
    const isRetryable: NonNullable<Parameters<typeof sessionRig>[1]>['isRetryable'] = ({
      error,
      isThrown,
      events,
    }) => {
      judged.push([(error as Error).message, isThrown, codesOf(events)])
      return verdicts.shift()
    }
    const rig = await sessionRig([[failsWith(400)], busy, busy, says('too late')], { isRetryable })
    expect(codesOf(await play(rig))).toEqual(['RETRY_ATTEMPT', 'RETRY_ATTEMPT', '503'])
    expect(judged[0]).toEqual(['status 400', false, ['400']])
    expect(judged).toHaveLength(3)
  })
})

test('a call that waits does not stand in the way of a retry', async () => {
  const ask = new LongRunningFunctionTool({ name: 'ask', description: 'Asks.', execute: () => null })
  const { paid, tool } = payTool()
  const steps = [callsTool({ name: 'ask' }, { name: 'pay' }), busy, says('Hi.')]
  const rig = await sessionRig(steps, { tools: [ask, tool] })
  expect(codesOf(await play(rig))).toEqual(['ok', 'ok', ...retried])
  expect(paid.times).toBe(1)
})

describe('the message', () => {
  /** Fails the first append, before or after the event was stored. */
  class Flaky extends InMemorySessionService {
    #failed = false
    readonly when: 'before' | 'after'
    constructor(when: 'before' | 'after') {
      super()
      this.when = when
    }
    override async appendEvent(...[request]: Parameters<InMemorySessionService['appendEvent']>) {
      const fails = !this.#failed
      this.#failed = true
      if (fails && this.when === 'before') throw new Error('no connection')
      const event = await super.appendEvent(request)
      if (fails) throw new Error('no connection')
      return event
    }
  }

  test.each(['before', 'after'] as const)('is stored once when storing it failed: %s', async (when) => {
    const rig = await sessionRig([says('Hi.')], { service: new Flaky(when) })
    expect(codesOf(await play(rig))).toEqual(retried)
    expect((await rig.stored()).map(textOf)).toEqual(['Hello', 'Hi.'])
    expect(rig.llm.calls[0]).toHaveLength(1)
  })

  test('changes the state once', async () => {
    const rig = await sessionRig([busy, says('Hi.')])
    await play(rig, 'Hello', { stateDelta: { mood: 'good' } })
    const { state, events = [] } = (await rig.service.getSession(key)) ?? {}
    expect(state).toMatchObject({ mood: 'good' })
    expect(events.filter(({ actions }) => 'mood' in actions.stateDelta)).toHaveLength(1)
  })

  test('has its files saved once', async () => {
    const runConfig = { saveInputBlobsAsArtifacts: true }
    const rig = await sessionRig([busy, says('Hi.')], { runConfig })
    const inlineData = { data: 'AAAA', mimeType: 'image/png', displayName: 'p.png' }
    await play(rig, { parts: [{ inlineData }] })
    expect(await rig.artifactService.listVersions({ ...key, filename: 'p.png' })).toEqual([0])
    expect((await rig.stored()).filter(({ author }) => author === 'user')).toHaveLength(1)
  })

  test('of an agent used as a tool is its own, also in a retry', async () => {
    const helper = new LlmAgent({ name: 'helper', model: new ScriptedLlm([says('42')]) })
    const tools = [new AgentTool({ agent: helper })]
    const steps = [busy, callsTool({ name: 'helper', args: { request: 'Count.' } }), says('42.')]
    const rig = await sessionRig(steps, { tools })
    await play(rig)
    const inner = await rig.service.getSession({ ...key, appName: 'helper' })
    expect(inner?.events.map(textOf)).toEqual(['Count.', '42'])
    expect((await rig.stored()).filter(({ author }) => author === 'user')).toHaveLength(1)
  })
})

describe('who stops', () => {
  /** A model that writes on and on, and notes when it is closed. */
  function endless(closed: string[]) {
    return async function* () {
      try {
        for (;;) yield await Promise.resolve(partial('on '))
      } finally {
        closed.push('model')
      }
    }
  }

  test('reading an attempt ends it: the Runner is closed and the session ready', async () => {
    const closed: string[] = []
    const rig = await sessionRig([endless(closed), says('Hi.')])
    for await (const event of rig.session.runAsync('Hello')) if (textOf(event) === 'on ') break
    expect(closed).toEqual(['model'])
    expect(rig.states).toEqual(['ready', 'running', 'ready'])
    expect(rig.clock.pending).toBe(0)
    expect((await play(rig)).map(textOf)).toEqual(['Hi.', 'Hi.'])
  })

  test('reading during the pause ends it at once', async () => {
    const rig = await sessionRig([busy, says('too late')])
    const events = rig.session.runAsync('Hello')
    await events.next()
    const waiting = events.next()
    await rig.clock.advance(0)
    expect(rig.clock.pending).toBe(1)
    await events.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(rig.clock.pending).toBe(0)
    expect(rig.session.isReady()).toBe(true)
    expect(rig.llm.calls).toHaveLength(1)
  })

  test('before the first event has run nothing', async () => {
    const rig = await sessionRig([says('Hi.')])
    await rig.session.runAsync('Hello').return()
    expect(rig.llm.calls).toHaveLength(0)
    expect(rig.states).toEqual(['ready'])
  })

  test('with a signal ends the run without an error and without a retry', async () => {
    const rig = await sessionRig([endless([]), says('too late')])
    const stop = new AbortController()
    const events: Event[] = []
    for await (const event of rig.session.runAsync('Hello', { signal: stop.signal })) {
      events.push(event)
      stop.abort(new Error('enough'))
    }
    expect(codesOf(events)).toEqual(['ok'])
    expect(rig.states).toEqual(['ready', 'running', 'ready'])
    expect(rig.session.info()).not.toHaveProperty('lastError')
  })

  test('with a signal during the pause ends the run too', async () => {
    const rig = await sessionRig([busy, says('too late')])
    const stop = new AbortController()
    const reading = rig.session.run('Hello', { signal: stop.signal })
    await rig.clock.advance(500)
    stop.abort()
    expect(codesOf(await reading)).toEqual(['RETRY_ATTEMPT'])
    expect(rig.llm.calls).toHaveLength(1)
    expect(rig.clock.pending).toBe(0)
  })

  test('with a signal that was aborted before runs nothing', async () => {
    const rig = await sessionRig([says('Hi.')])
    expect(await rig.session.run('Hello', { signal: AbortSignal.abort() })).toEqual([])
    expect(await rig.stored()).toEqual([])
  })

  test('leaves nobody behind who can still write into the session', async () => {
    const { late, tool } = backgroundTool()
    const rig = await sessionRig([callsTool({ name: 'work' }), says('Hi.')], { tools: [tool] })
    for await (const event of rig.session.runAsync('Hello')) if (textOf(event) === 'Hi.') break
    const before = await rig.stored()
    await expect(late()).rejects.toMatchObject({ name: 'AbortError' })
    expect(await rig.stored()).toEqual(before)
  })

  test('only then: work in the background of a run that went well may write when it is over', async () => {
    const { late, tool } = backgroundTool()
    const rig = await sessionRig([callsTool({ name: 'work' }), says('Hi.')], { tools: [tool] })
    await play(rig)
    await late()
    expect((await rig.stored()).at(-1)).toMatchObject({ invocationId: 'e-late' })
  })

  test('a tool that never ends waits no longer than the grace time, and the tool cannot write later', async () => {
    let finish = (): void => undefined
    const execute = () => new Promise((resolve) => (finish = () => resolve({ late: true })))
    const tool = new FunctionTool({ name: 'hang', description: 'Hangs.', execute })
    const rig = await sessionRig([callsTool({ name: 'hang' }), says('Hi.')], { tools: [tool] })
    const events = rig.session.runAsync('Hello')
    await events.next()
    const pending = events.next()
    await rig.clock.advance(0)
    const closing = rig.session.cleanup()
    await rig.clock.advance(1000)
    await closing
    await pending.catch(() => undefined)
    expect(rig.session.info().state).toBe('closed')
    finish()
    await rig.clock.advance(0)
    expect(await rig.stored()).toHaveLength(2)
  })
})

test('a plugin that breaks is told apart from the retries of a model', async () => {
  const rig = await sessionRig([busy, says('Hi.')], { plugins: [new Breaks(1)] })
  expect(codesOf(await play(rig))).toEqual(['RETRY_ATTEMPT', ...retried])
})
