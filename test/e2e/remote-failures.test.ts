import { AbstractAgent, HttpAgent, type BaseEvent, type RunAgentInput } from '@ag-ui/client'
import { Observable } from 'rxjs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineAgent, run, withRetry, type Agent } from '../../src/index.js'
import { manualClock } from '../../src/core/clock.js'
import { MillraceError } from '../../src/core/errors.js'
import { fromAgUi } from '../../src/remote/index.js'
import { aborted, createClient, deferred, linted, ofType, play, settled } from '../support/run-agent.js'
import { clientVersions } from '../support/serve-agents.js'
import { scriptedModel } from '../../src/models/index.js'
import { deadAddress, serve } from './loopback.js'
import { handWritten, rawEndpoint, ScriptedAgUi, servedRemote, text, whole } from './support-remote.js'

/** What nobody handled would end a process. */
const stray: unknown[] = []
const note = (error: unknown): void => void stray.push(error)
beforeEach(() => {
  stray.length = 0
  process.on('unhandledRejection', note)
})
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(stray).toEqual([])
})

async function failureOf(agent: Agent): Promise<MillraceError> {
  const { outcome, events } = await createClient(agent).say('Hi.')
  if (outcome.type !== 'failed' || !(outcome.error instanceof MillraceError))
    throw new Error(`The run was ${outcome.type}.`)
  // What the other side says is not for clients.
  const { code } = outcome.error
  const texts = { AGENT_ERROR: 'The agent failed.', INVALID_EVENT: 'The agent produced an invalid event.' }
  expect(events.at(-1)).toEqual({ type: 'RUN_ERROR', code, message: texts[code as keyof typeof texts] })
  return outcome.error
}

const ids = ({ threadId, runId }: RunAgentInput) => ({ threadId, runId })
const started = (input: RunAgentInput) => ({ type: 'RUN_STARTED', ...ids(input) })

describe.each(clientVersions)('through the HttpAgent $version', ({ Client }) => {
  const remote = (url: string) => fromAgUi(new Client({ url }), { name: 'far' })

  it('nobody is there', async () => {
    const error = await failureOf(remote(await deadAddress()))
    expect(error.code).toBe('AGENT_ERROR')
    expect(error.message).toMatch(/^Agent 'far' could not be reached: fetch failed \(.*ECONNREFUSED/)
  })

  it.each([
    [404, 'text/plain', 'no such agent', 'no such agent'],
    [401, 'application/json', '{"code":"UNAUTHENTICATED"}', '{"code":"UNAUTHENTICATED"}'],
    [503, 'text/html', '<h1>Busy</h1>', '<h1>Busy</h1>'],
  ])('the run is refused with %i', async (status, contentType, body, answer) => {
    const url = await serve((_, response) => {
      response.writeHead(status, { 'content-type': contentType }).end(body)
    })
    const error = await failureOf(remote(url))
    expect(error.message).toBe(`Agent 'far' refused the run with HTTP ${status}: ${answer}`)
    expect(error.details).toEqual({ status, answer })
  })

  it('the answer is not a stream', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":"there"}')
    })
    expect((await failureOf(remote(url))).message).toBe(
      "Agent 'far' answered with 'application/json', not with a stream of events. Is its address right?",
    )
  })

  it('the stream ends before the run', async () => {
    const url = await rawEndpoint((input) => [started(input), ...text('m1', 'Hel')])
    expect((await failureOf(remote(url))).message).toBe(
      "Agent 'far' ended its stream without RUN_FINISHED or RUN_ERROR: what it said may be cut off.",
    )
  })

  it.each(['', 'data: {"type":"TEXT_MES'])('the connection breaks off, behind %j', async (tail) => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const frames = [{ type: 'RUN_STARTED', threadId: 't', runId: 'r' }, ...text('m1', 'Hel')]
      const sent = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')
      response.write(sent + tail, () => setImmediate(() => response.destroy()))
    })
    const { outcome, events } = await createClient(remote(url)).say('Hi.')
    expect(ofType(events, 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta)).toEqual(['Hel'])
    expect(String(outcome.type === 'failed' && outcome.error)).toMatch(
      /The connection to agent 'far' broke off before its run was over: terminated/,
    )
  })

  it.each([
    ['[DONE]', /^Agent 'far' sent what is not an AG-UI event: /],
    ['{"type":7}', /^Agent 'far' sent .* event: /],
    ['{"type":"TEXT_MESSAGE_START"}', /^Agent 'far' sent .* event: .*messageId/s],
    ['{"type":"STATE_DELTA","delta":[{"op":"add"}]}', /^Agent 'far' sent .* event: .*delta/s],
  ])('it sends %s', async (frame, message) => {
    const url = await rawEndpoint((input) => [started(input), frame, 'never read'])
    const error = await failureOf(remote(url))
    expect(error.code).toBe('INVALID_EVENT')
    expect(error.message).toMatch(message)
  })

  it('the run over there fails, and clients do not learn why', async () => {
    const failure = { type: 'RUN_ERROR', message: 'password is hunter2', code: 'DB_DOWN' }
    const url = await rawEndpoint((input) => [started(input), failure])
    const error = await failureOf(remote(url))
    expect(error.message).toBe("Agent 'far' failed: password is hunter2")
    expect(error.details).toEqual({ remoteCode: 'DB_DOWN', remoteMessage: 'password is hunter2' })
  })

  it('a server that does not hang up costs the grace time, not for ever', async () => {
    const gone = deferred()
    const url = await rawEndpoint(
      (input) => [started(input), { type: 'RUN_FINISHED', ...ids(input) }],
      'stay',
      () => gone.resolve(),
    )
    const clock = manualClock()
    const over = new AbortController()
    const playing = play(remote(url), 'Hi.', { clock, graceMs: 1000 }).finally(() => over.abort())
    // However long the sockets take: the time that is waited for is the clock's.
    while (!over.signal.aborted) await clock.advance(1000)
    expect((await playing).outcome.type).toBe('completed')
    await gone.promise
  })

  it.each(['cancel', 'continue', 'auto'] as const)(
    'cancelling stops the run over there, whatever its server does for one that hangs up: %s',
    async (onDisconnect) => {
      const stopped = deferred()
      const wait = async (signal: AbortSignal) => {
        await aborted(signal)
        stopped.resolve()
      }
      const model = scriptedModel([['One ', { wait }]])
      const speaker = defineAgent({ name: 'speaker', model })
      const limits = { abandonedMs: 1 }
      const options = { agents: [speaker], onDisconnect, limits } as const
      const { agent, streams, served } = await servedRemote(options, Client)
      const asked: (string | undefined)[] = []
      const front = agent({
        async cancel({ threadId, runId }) {
          asked.push(runId)
          if (onDisconnect === 'continue') await served.ask('POST /cancel', { body: { threadId } })
        },
      })
      const running = run(front, 'Count.')
      for await (const event of linted(running, 'Count.')) if (event.type === 'TEXT_MESSAGE_CONTENT') break
      expect((await running.result).type).toBe('cancelled')
      await stopped.promise
      expect(await streams[0]?.ended).toBe(false)
      expect(asked).toEqual([streams[0]?.input.runId])
    },
  )
})

describe('an agent in this process', () => {
  class Silent extends AbstractAgent {
    static stopped = 0
    override run(): Observable<BaseEvent> {
      return new Observable<BaseEvent>(() => undefined)
    }
    override abortRun(): void {
      Silent.stopped++
    }
  }

  it('that goes on for ever after it was stopped is left behind after the grace time', async () => {
    const clock = manualClock()
    const controller = new AbortController()
    const agent = fromAgUi(new Silent(), { name: 'silent' })
    const playing = play(agent, 'Hi.', { clock, graceMs: 1000, signal: controller.signal })
    await settled()
    controller.abort(new MillraceError('EXECUTION_TIMEOUT', 'Too slow.'))
    let isOver = false
    void playing.then(() => (isOver = true))
    await settled()
    expect(isOver).toBe(false)
    await clock.advance(1000)
    const { outcome } = await playing
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'EXECUTION_TIMEOUT' } })
    expect(Silent.stopped).toBeGreaterThan(0)
  })

  it('that throws is one that failed', async () => {
    const throwing = new ScriptedAgUi(() => {
      throw new Error('out of order')
    })
    const error = await failureOf(fromAgUi(throwing, { name: 'near' }))
    expect(error.message).toBe("Agent 'near' failed: out of order")
  })

  it('that was cancelled over there is cancelled', async () => {
    const cancelled = new ScriptedAgUi([
      { type: 'RUN_STARTED' },
      { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } },
    ])
    const { outcome } = await createClient(fromAgUi(cancelled, { name: 'near' })).say('Hi.')
    expect(outcome.type).toBe('cancelled')
  })

  it('can be tried again, unless it is the request that is wrong', async () => {
    const statuses = [503, 400]
    let asked = 0
    const http = new HttpAgent({
      url: 'http://nowhere.test',
      fetch: () => Promise.resolve(new Response('no', { status: statuses[asked++] ?? 500 })),
    })
    const agent = withRetry(fromAgUi(http, { name: 'far' }), { delayMs: 0 })
    const { outcome } = await createClient(agent).say('Hi.')
    expect(outcome).toMatchObject({ type: 'failed', error: { details: { status: 400 } } })
    expect(asked).toBe(2)
  })

  it('fails alone: the one above it can go on', async () => {
    const broken = fromAgUi(new ScriptedAgUi([{ type: 'RUN_STARTED' }, { type: 'TEXT_MESSAGE_END' }]), {
      name: 'near',
    })
    const root = handWritten('root', async function* (ctx) {
      try {
        yield* ctx.delegate(broken, { segment: 'a' })
      } catch (error) {
        yield { type: 'CUSTOM', name: 'caught', value: (error as Error).message }
      }
      return { type: 'done' }
    })
    const { outcome, events } = await createClient(root).say('Hi.')
    expect(outcome.type).toBe('completed')
    expect(ofType(events, 'SUBAGENT_ERROR')).toHaveLength(1)
    expect(ofType(events, 'CUSTOM')[0]?.value).toMatch(
      /Agent 'near' sent an invalid event: TEXT_MESSAGE_END\.messageId/,
    )
  })
})

it('the signal of a run that is over has no listeners left', async () => {
  const controller = new AbortController()
  const { signal } = controller
  let listeners = 0
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--
    remove(...args)
  }
  const agent = fromAgUi(new ScriptedAgUi(whole(...text('m1', 'Hello.'))), { name: 'near' })
  const root = handWritten('root', async function* (ctx) {
    return yield* ctx.delegate(agent, { segment: 'a', signal })
  })
  await createClient(root).say('Hi.')
  expect(listeners).toBe(0)
  controller.abort()
  await aborted(signal)
})
