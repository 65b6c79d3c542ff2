import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { failingStore, storeError } from '../../../test/support/failing-store.js'
import {
  fetchServer,
  type FetchServer,
  type FetchServerOptions,
  inputOf,
  textOf,
  user,
} from '../../../test/support/fetch-server.js'
import { type RecordedSpans, recordSpans } from '../../../test/support/record-spans.js'
import { aborted } from '../../../test/support/run-agent.js'
import { type Agent, defineAgent, defineTool } from '../../agents/index.js'
import { manualClock } from '../../core/clock.js'
import { type Script, scriptedModel } from '../../models/index.js'
import { createMemoryStore } from '../../threads/memory/store.js'

/** Stands wherever a person, a model or a tool says something. */
const said = 'pineapple'
const token = 's3cr3t-t0ken'
const headers = { authorization: `Bearer ${token}`, cookie: `session=${token}` }
const asks = [user('u1', `I like ${said}.`)]

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks something up.',
  execute: (_, ctx) => {
    ctx.setState({ found: said })
    return `All about ${said}.`
  },
})
const confirm = defineTool({
  name: 'confirm',
  description: 'Asks.',
  execute: (_, ctx) => ctx.interrupt({ message: `Really ${said}?` }),
})
const broken = defineTool({
  name: 'broken',
  description: 'Fails.',
  execute: () => Promise.reject(new Error('It broke.')),
})

function talker(script: Script): Agent {
  const model = scriptedModel(script, { modelId: 'parrot' })
  return defineAgent({ name: 'talker', model, tools: [lookUp, confirm, broken], retry: { attempts: 1 } })
}

function call(name: string) {
  return [{ toolCall: { name, args: { about: said } } }]
}

describe('logs', () => {
  const servers: FetchServer[] = []

  function served(script: Script, options: Partial<FetchServerOptions> = {}): FetchServer {
    const made = fetchServer({ agents: [talker(script)], ...options })
    servers.push(made)
    return made
  }

  /** Every log of the test is looked through, errors with all that hangs on them. */
  afterEach(() => {
    const all = servers.splice(0)
    for (const made of all) {
      expect(made.logged).not.toEqual([])
      expect(made.logText()).not.toContain(said)
      expect(made.logText()).not.toContain(token)
    }
    expect(all).not.toEqual([])
  })

  test('of runs that end well name the run, not the content of messages', async () => {
    const made = served([call('look_up'), `It is ${said}.`])
    const context = [{ description: said, value: said }]
    const events = await made.run(
      { messages: asks, context, forwardedProps: { said }, state: { said } },
      { headers },
    )
    expect(textOf(events)).toContain(said)
    const facts = { app: 'default', user: 'local', agent: 'talker', thread: 'thread-1' }
    expect(made.logged).toMatchObject([
      { level: 'info', message: 'run started', facts },
      { level: 'info', message: 'run ended', facts: { ...facts, status: 'completed' } },
    ])
  })

  test('of runs that fail', async () => {
    const made = served([[said, { error: { status: 401, message: 'bad key' } }], call('broken'), 'Sorry.'])
    expect((await made.run({ messages: asks }, { headers })).at(-1)?.type).toBe('RUN_ERROR')
    await made.run({ messages: [...asks, user('u2', said)] }, { headers })
    expect(made.logged.map(({ message }) => message)).toContain('a run has failed')
  })

  test('of runs that are stopped, wait for a person, and are answered badly', async () => {
    const made = served([[said, { wait: aborted }], call('confirm')])
    const stream = await made.open('/run', { body: inputOf({ messages: asks }), headers })
    await stream.until('TEXT_MESSAGE_CONTENT')
    await made.ask('POST /cancel', { body: { threadId: 'thread-1' }, headers })
    await stream.ended
    await made.run({ messages: [...asks, user('u2', said)] }, { headers })
    const resume = [{ interruptId: 'none', status: 'resolved', payload: { said } }]
    expect((await made.run({ resume }, { headers })).at(-1)).toMatchObject({ code: 'INVALID_RESUME' })
  })

  test('of events that had to be repaired', async () => {
    const agent: Agent = {
      name: 'careless',
      description: '',
      // eslint-disable-next-line @typescript-eslint/require-await -- the events are there already
      async *run() {
        yield { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: said }
        yield { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: said }
        yield { type: 'TEXT_MESSAGE_END', messageId: 'm2' }
        return { type: 'done' }
      },
    }
    const made = served([], { agents: [agent] })
    await made.run({ messages: asks }, { headers })
    expect(made.logged.map(({ message }) => message)).toContain('a run was repaired')
  })

  test('of requests that are not right', async () => {
    const made = served(() => said, { limits: { bodyBytes: 2000, messages: 2, idLength: 20 } })
    const bodies: unknown[] = [
      `{"messages": [{"content": "${said}`,
      inputOf({ messages: [{ id: 'u1', role: 'user', content: { said } }] }),
      inputOf({ messages: [{ id: said.repeat(3), role: 'user', content: said }] }),
      inputOf({ messages: [1, 2, 3].map((id) => user(`u${id}`, said)) }),
      inputOf({ messages: [user('u1', said.repeat(1000))] }),
      inputOf({ extra: said, state: said, tools: said }),
    ]
    for (const body of bodies) {
      const { status } = await made.ask('POST /run', { body, headers })
      expect(status).toBeGreaterThanOrEqual(400)
    }
    // Something the protocol does not know is left out, with a warning.
    const odd = { ...user('u9', said), mood: said }
    await made.run({ messages: [odd], extra: said }, { headers })
    expect(made.logged.map(({ message }) => message)).toContain('a request was not quite right')
  })

  test('of patches that do not fit', async () => {
    const made = served(() => said)
    await made.run({ messages: asks, state: { said } }, { headers })
    for (const path of ['/none/deep', '/user:secret'])
      await made.ask('PATCH /state/thread-1', { body: [{ op: 'add', path, value: said }], headers })
  })

  test('of identities that are refused or faulty', async () => {
    const made = served(() => said, {
      identify: (request) => {
        if (request.headers.has('x-break')) throw new Error('The directory is down.')
        return undefined
      },
    })
    const body = inputOf({ messages: asks })
    expect((await made.ask('POST /run', { body, headers })).status).toBe(401)
    const failed = await made.ask('POST /run', { body, headers: { ...headers, 'x-break': '1' } })
    expect(failed.status).toBe(500)
    expect(failed.text).not.toContain('directory')
  })

  test('of a store that fails', async () => {
    const clock = manualClock()
    const { store, fail, repair } = failingStore(createMemoryStore({ clock }))
    const made = served(() => said, { store, clock })
    fail('threads.commit', storeError())
    fail('log.append', storeError())
    await made.run({ messages: asks }, { headers })
    await clock.advance(100)
    repair()
    await made.run({ messages: asks, threadId: 'thread-2' }, { headers })
    await made.ask('GET /message_snapshot/thread-1', { headers })
    expect(made.logged.map(({ level }) => level)).toContain('error')
  })

  test('of hooks that fail', async () => {
    const made = served(() => said, { hooks: { event: () => Promise.reject(new Error('It broke.')) } })
    await made.run({ messages: asks }, { headers })
    expect(made.logText()).toContain("The hook 'event' has failed.")
    expect(made.logText()).not.toContain('It broke.')
  })
})

describe('traces', () => {
  let spans: RecordedSpans
  beforeEach(() => void (spans = recordSpans()))
  afterEach(() => spans.stop())

  test('have the run with its models and tools below', async () => {
    const made = fetchServer({ agents: [talker([call('look_up'), 'Done.'])] })
    await made.run({ messages: asks, runId: 'run-traced' }, { headers })
    expect(spans.tree()).toBe(
      ['run talker', '  chat parrot', '  execute_tool look_up', '  chat parrot'].join('\n'),
    )
    expect(spans.one('run talker').attributes).toMatchObject({
      'millrace.run.id': 'run-traced',
      'millrace.thread.id': 'thread-1',
      'millrace.run.status': 'completed',
    })
    expect(spans.open).toBe(0)
    const written = JSON.stringify(
      spans.all.map(({ attributes, events, status }) => [attributes, events, status]),
    )
    expect(written).not.toContain(said)
    expect(written).not.toContain(token)
  })

  test('say that a run has failed, and why', async () => {
    const made = fetchServer({ agents: [talker([[{ error: { status: 401 } }]])] })
    await made.run()
    expect(spans.tree()).toContain('run talker !MODEL_ERROR')
    expect(spans.one('run talker').attributes).toMatchObject({ 'millrace.run.status': 'failed' })
  })

  test('say so of a run that a hook fails at its end', async () => {
    const made = fetchServer({
      agents: [talker(['Done.'])],
      hooks: { stateSnapshot: () => Promise.reject(new Error('It broke.')) },
    })
    await made.run()
    expect(spans.tree()).toContain('run talker !HOOK_ERROR')
  })

  test('say so of a run that could not be committed', async () => {
    const clock = manualClock()
    const { store, fail } = failingStore(createMemoryStore({ clock }))
    const made = fetchServer({ agents: [talker(['Done.'])], store, clock })
    fail('threads.commit', storeError())
    await made.run()
    expect(spans.tree()).toContain('run talker !STORE_ERROR')
    expect(spans.one('run talker').attributes).toMatchObject({ 'millrace.run.status': 'failed' })
  })

  test('have no run for a request that leads to none', async () => {
    const made = fetchServer({ agents: [talker(['Done.'])] })
    const body = inputOf()
    await made.run(body)
    await made.run(body)
    expect(spans.all.filter(({ name }) => name === 'run talker')).toHaveLength(1)
  })
})

describe('metrics', () => {
  const agent = 'agent="talker"'

  test('count runs, events, streams and waits', async () => {
    const made = fetchServer({
      agents: [talker(['One.', [{ error: { status: 401 } }], ['Two', { wait: aborted }]])],
    })
    const sent = [...(await made.run()), ...(await made.run())]
    const stream = await made.open('/run', { body: inputOf() })
    await stream.until('TEXT_MESSAGE_CONTENT')
    expect(await made.metric('runs_running')).toEqual({ [agent]: 1 })
    expect(await made.metric('streams_open')).toEqual({ '': 1 })
    const refused = made.ask('POST /run', { body: inputOf() })
    await made.clock.advance(2000)
    await refused
    await made.ask('POST /cancel', { body: { threadId: 'thread-1' } })
    sent.push(...(await stream.ended))
    await made.clock.advance(0)
    expect(await made.metric('runs_started_total')).toEqual({ [agent]: 3 })
    expect(await made.metric('runs_ended_total')).toEqual({
      [`${agent},status="completed"`]: 1,
      [`${agent},status="failed"`]: 1,
      [`${agent},status="cancelled"`]: 1,
    })
    expect(await made.metric('runs_running')).toEqual({ [agent]: 0 })
    expect(await made.metric('run_events_total')).toEqual({ [agent]: sent.length })
    expect(await made.metric('run_duration_seconds_sum')).toEqual({ [agent]: 2 })
    expect(await made.metric('run_first_event_seconds_count')).toEqual({ [agent]: 3 })
    expect(await made.metric('streams_open')).toEqual({ '': 0 })
    expect(await made.metric('streams_closed_total')).toEqual({ 'reason="end"': 3 })
    expect(await made.metric('lease_wait_seconds_count')).toEqual({
      'outcome="acquired"': 3,
      'outcome="refused"': 1,
    })
  })

  test('count a run for which there was nothing to do', async () => {
    const made = fetchServer({ agents: [talker(['One.'])] })
    const body = inputOf()
    await made.run(body)
    await made.run(body)
    expect(await made.metric('runs_ended_total')).toEqual({
      [`${agent},status="completed"`]: 1,
      [`${agent},status="nothing"`]: 1,
    })
    expect(await made.metric('runs_running')).toEqual({ [agent]: 0 })
  })

  test('count requests by the pattern of their route, never by their path', async () => {
    const made = fetchServer({ agents: [talker(['One.', 'Two.'])] })
    await made.run()
    await (
      await made.open('/agents/talker/run', { body: inputOf({ threadId: 'thread-2' }) })
    ).ended
    await made.ask('GET /message_snapshot/thread-1')
    await made.ask('GET /message_snapshot/none-of-ours')
    await made.ask('DELETE /thread/thread-2')
    await made.ask('POST /run', { body: '{' })
    await made.ask('GET /nowhere/at-all')
    await made.ask('PUT /run')
    await made.ask('GET /healthz')
    const requests = await made.metric('http_requests_total')
    expect(requests).toEqual({
      'route="/run",method="POST",status="200"': 1,
      'route="/agents/:agent/run",method="POST",status="200"': 1,
      'route="/message_snapshot/:thread",method="GET",status="200"': 1,
      'route="/message_snapshot/:thread",method="GET",status="404"': 1,
      'route="/thread/:thread",method="DELETE",status="200"': 1,
      'route="/run",method="POST",status="400"': 1,
      'route="other",method="GET",status="404"': 1,
      'route="other",method="PUT",status="405"': 1,
      'route="/healthz",method="GET",status="200"': 1,
    })
    expect((await made.ask('GET /metrics')).text).not.toMatch(/thread-\d|none-of-ours|nowhere/)
  })

  test('count failures of hooks, each call once', async () => {
    const made = fetchServer({
      agents: [talker(() => 'One.')],
      hooks: {
        lock: () => Promise.reject(new Error('It broke.')),
      },
    })
    await made.ask('POST /run', { body: inputOf() })
    await made.ask('POST /run', { body: inputOf() })
    expect(await made.metric('hook_failures_total')).toEqual({ 'hook="lock"': 2 })
  })

  test('count failures of the store', async () => {
    const clock = manualClock()
    const { store, fail } = failingStore(createMemoryStore({ clock }))
    const made = fetchServer({ agents: [talker(['One.'])], store, clock })
    fail('threads.commit', storeError())
    await made.run()
    expect(await made.metric('store_failures_total')).toEqual({ '': 1 })
  })
})
