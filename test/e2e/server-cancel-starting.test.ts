import { expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { Hooks } from '../../src/server/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { aborted, deferred } from '../support/run-agent.js'
import { gatedAgent } from './support-gated.js'
import { ask, historyOf, inputOf, serving, user } from './support-server.js'
import { openStream, says } from './support-stream.js'

const thread = { threadId: 'thread-1' }
const never = new Promise<never>(() => undefined)
const input = inputOf({ messages: [user('u1', 'Speak.')] })

/** A server with a hook that holds up every request until it is let go. */
async function withSlowHook(inputChange: NonNullable<Hooks['inputChange']>) {
  const model = scriptedModel(() => 'Done.')
  const hooks = { inputChange }
  const { url } = await serving({ agents: [defineAgent({ name: 'speaker', model })], hooks })
  return { url, model }
}

it.each([
  ['by its id', { ...thread, runId: 'run-1' }],
  ['by its thread', thread],
])('a run that a hook holds up for ever is cancelled %s, and nothing of it stays', async (_how, body) => {
  const called = deferred()
  const { url, model } = await withSlowHook(() => {
    called.resolve()
    return never
  })
  const starting = openStream(`${url}/run`, { body: input })
  await called.promise
  expect(await ask(`${url}/cancel`, { body })).toEqual({
    status: 200,
    body: { status: 'cancelled', runId: 'run-1' },
  })
  const stream = await starting
  await stream.whole()
  assertValidStream(stream.events, { input })
  expect(stream.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
  expect(model.requests).toEqual([])
  expect(await ask(`${url}/message_snapshot/thread-1`)).toMatchObject({ status: 404 })
})

it.each(['inputRecord', 'lock', 'inputChange'] as const)(
  'a server whose hook %s never comes to an end closes after its grace time',
  async (name) => {
    const called = deferred()
    const hook = (): Promise<never> => {
      called.resolve()
      return never
    }
    const agents = [defineAgent({ name: 'speaker', model: scriptedModel(['Done.']) })] as const
    const served = await serving({ agents, hooks: { [name]: hook } })
    const answer = ask(`${served.url}/run`, { body: input })
    await called.promise
    await served.close({ graceMs: 20 })
    expect(await answer).toMatchObject({ status: 503, body: { error: { code: 'SERVER_CLOSING' } } })
  },
)

it('a hook that listens learns that the run is cancelled', async () => {
  const called = deferred()
  const { url, model } = await withSlowHook(async (given, { signal }) => {
    called.resolve()
    await aborted(signal)
    return given
  })
  const starting = openStream(`${url}/run`, { body: input })
  await called.promise
  expect(await ask(`${url}/cancel`, { body: thread })).toMatchObject({ body: { status: 'cancelled' } })
  await (await starting).whole()
  expect(model.requests).toEqual([])
})

/** One run at work, and another that waits for it. */
async function oneWaiting() {
  const speaker = gatedAgent(['one ', 'two'])
  const { url } = await serving({ agents: [speaker.agent], whenBusy: 'wait' })
  const first = await openStream(`${url}/run`, { body: input })
  speaker.say(0)
  await first.until(says('one'))
  const messages = [user('u1', 'Speak.'), user('u2', 'And then?')]
  const second = await openStream(`${url}/run`, { body: inputOf({ runId: 'run-2', messages }) })
  return { url, speaker, first, second }
}

it('a run that waits for its thread is cancelled, and the one at work goes on', async () => {
  const { url, speaker, first, second } = await oneWaiting()
  const answer = await ask(`${url}/cancel`, { body: { ...thread, runId: 'run-2' } })
  expect(answer).toEqual({ status: 200, body: { status: 'cancelled', runId: 'run-2' } })
  await second.whole()
  expect(second.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
  expect(await ask(`${url}/cancel`, { body: { ...thread, runId: 'run-3' } })).toMatchObject({ status: 404 })
  speaker.sayAll()
  await first.whole()
  assertValidStream(first.events, { input })
  expect(first.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  expect(await historyOf(url)).toMatchObject([{ id: 'u1' }, { content: 'one two' }])
})

it('without a run id the one at work is cancelled, and the next one starts', async () => {
  const { url, first, second } = await oneWaiting()
  expect(await ask(`${url}/cancel`, { body: thread })).toMatchObject({ body: { runId: 'run-1' } })
  await Promise.all([first.whole(), second.whole()])
  expect(first.events.at(-1)).toMatchObject({ outcome: { type: 'cancelled' } })
  expect(second.events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
})

it('nobody cancels the run of another user', async () => {
  const [called, letGo] = [deferred(), deferred()]
  const model = scriptedModel(['Done.'])
  const { url } = await serving({
    agents: [defineAgent({ name: 'speaker', model })],
    identify: (request) => ({ user: request.headers.get('x-user') ?? 'nobody' }),
    hooks: {
      async inputChange(given) {
        called.resolve()
        await letGo.promise
        return given
      },
    },
  })
  const starting = openStream(`${url}/run`, { body: input, headers: { 'x-user': 'ann' } })
  await called.promise
  const foreign = await ask(`${url}/cancel`, { body: thread, headers: { 'x-user': 'bob' } })
  expect(foreign).toMatchObject({ status: 404, body: { error: { code: 'THREAD_NOT_FOUND' } } })
  letGo.resolve()
  const stream = await starting
  await stream.whole()
  expect(stream.events.at(-1)).toMatchObject({ outcome: { type: 'success' } })
})
