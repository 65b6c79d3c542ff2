import { expect, it } from 'vitest'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { aborted, deferred } from '../support/run-agent.js'
import { clients, eventsTo, newClient, oldClient } from './support-clients.js'
import { gatedAgent } from './support-gated.js'
import { ask, historyOf, inputOf, listed, serving, user } from './support-server.js'
import { openStream, says } from './support-stream.js'
import { HttpAgent } from '@ag-ui/client'
import { createMemoryStore } from '../../src/threads/memory/store.js'

const thread = { threadId: 'thread-1' }
const input = inputOf({ messages: [user('u1', 'Speak.')] })

/** A model that says something and then nothing more until it is stopped; after that it answers. */
function talkative() {
  const stopped = deferred()
  const speaking = deferred()
  const model = scriptedModel((_request, index) => {
    if (index > 0) return 'I am here again.'
    const wait = async (signal: AbortSignal) => {
      speaking.resolve()
      await aborted(signal)
      stopped.resolve()
    }
    return ['What I have ', 'said so far.', { wait }]
  })
  return { agent: defineAgent({ name: 'speaker', model }), model, stopped, speaking }
}

for (const [version, makeClient] of clients) {
  it(`cancels a model in mid-stream, and the client ${version} learns it`, async () => {
    const { agent, model, stopped, speaking } = talkative()
    const { url } = await serving({ agents: [agent] })
    const client = makeClient({ url })
    const events = eventsTo(client)
    client.addMessage(user('u1', 'Speak.'))
    const running = client.runAgent({ runId: 'run-1' })
    await speaking.promise

    const answer = await ask(`${url}/cancel`, { body: thread })
    expect(answer).toEqual({ status: 200, body: { status: 'cancelled', runId: 'run-1' } })
    // No waiting: when the answer is there, it has stopped and is stored.
    expect(model.requests[0]?.signal.aborted).toBe(true)
    expect(await listed(url)).toMatchObject({
      status: 'idle',
      lastRun: { runId: 'run-1', status: 'cancelled' },
    })
    await stopped.promise
    await running
    expect(events.at(-1)).toMatchObject(
      makeClient === newClient
        ? { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } }
        : { type: 'RUN_ERROR', code: 'abort' },
    )
    const said = { role: 'assistant', content: 'What I have said so far.' }
    expect(client.messages).toMatchObject([{ id: 'u1' }, said])
    expect(await historyOf(url)).toMatchObject([{ id: 'u1' }, said])

    client.addMessage(user('u2', 'And now?'))
    await client.runAgent({ runId: 'run-2' })
    expect(client.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'I am here again.' })
    expect(await historyOf(url)).toEqual(client.messages)
  })
}

it('cancels a tool at work, and answers when the tool is done with what it does', async () => {
  const started = deferred()
  const mayEnd = deferred()
  const deeds: string[] = []
  const work = defineTool({
    name: 'work',
    description: 'Works until it is told to stop.',
    async execute(_args, { signal }) {
      started.resolve()
      await aborted(signal)
      deeds.push('told to stop')
      await mayEnd.promise
      deeds.push('cleaned up')
    },
  })
  const model = scriptedModel([['I work.', { toolCall: { id: 'work-1', name: 'work' } }], 'Fine.'])
  const { url } = await serving({ agents: [defineAgent({ name: 'worker', model, tools: [work] })] })
  const stream = await openStream(`${url}/run`, { body: input })
  await started.promise
  const cancelling = ask(`${url}/cancel`, { body: { ...thread, runId: 'run-1' } })
  await expect.poll(() => deeds).toEqual(['told to stop'])
  expect(stream.events.some(({ type }) => type === 'RUN_FINISHED')).toBe(false)
  mayEnd.resolve()
  expect(await cancelling).toEqual({ status: 200, body: { status: 'cancelled', runId: 'run-1' } })
  expect(deeds).toEqual(['told to stop', 'cleaned up'])
  await stream.whole()
  assertValidStream(stream.events, { input })
  expect(stream.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })

  // A call without a result is no obstacle for what comes next.
  const stored = await historyOf(url)
  expect(stored[1]).toMatchObject({ role: 'assistant', content: 'I work.', toolCalls: [{ id: 'work-1' }] })
  const next = inputOf({ runId: 'run-2', messages: [...stored, user('u2', 'Never mind.')] })
  const again = await openStream(`${url}/run`, { body: next })
  await again.whole()
  assertValidStream(again.events, { input: next })
  expect(again.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  const calls = model.requests[1]?.messages.filter(({ role }) => role === 'tool')
  expect(calls).toMatchObject([{ toolCallId: 'work-1' }])
})

it('does not wait for ever for a tool that does not listen', async () => {
  const started = deferred()
  const deaf = defineTool({
    name: 'deaf',
    description: 'Hears nothing.',
    execute() {
      started.resolve()
      return new Promise(() => undefined)
    },
  })
  const model = scriptedModel([[{ toolCall: { name: 'deaf' } }]])
  const { url } = await serving({ agents: [defineAgent({ name: 'worker', model, tools: [deaf] })] })
  const stream = await openStream(`${url}/run`, { body: input })
  await started.promise
  expect(await ask(`${url}/cancel`, { body: thread })).toMatchObject({ body: { status: 'cancelled' } })
  await stream.whole()
  assertValidStream(stream.events, { input })
  expect(stream.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } })
})

it('all subscribers of a run see that it was cancelled', async () => {
  const { agent, speaking } = talkative()
  const { url } = await serving({ agents: [agent] })
  const first = await openStream(`${url}/run`, { body: input })
  await speaking.promise
  const second = await openStream(`${url}/connect`, { body: { ...thread, protocolVersion: '1.0' } })
  const old = oldClient({ url })
  const events = eventsTo(old)
  const connected = old.connectAgent()
  await expect.poll(() => events.some(says('said so far.'))).toBe(true)
  const answers = await Promise.all([
    ask(`${url}/cancel`, { body: thread }),
    ask(`${url}/cancel`, { body: thread }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  await Promise.all([first.whole(), second.whole(), connected])
  assertValidStream(first.events, { input })
  assertValidStream(second.events)
  const end = { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } }
  expect(first.events.at(-1)).toMatchObject(end)
  expect(second.events.at(-1)).toMatchObject(end)
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'abort' })
})

it('there is nothing to cancel on an idle thread, and nothing at all on an unknown one', async () => {
  const speaker = gatedAgent(['one'])
  const { url } = await serving({ agents: [speaker.agent] })
  expect(await ask(`${url}/cancel`, { body: thread })).toMatchObject({
    status: 404,
    body: { error: { code: 'THREAD_NOT_FOUND' } },
  })
  speaker.sayAll()
  await (await openStream(`${url}/run`, { body: input })).whole()
  const before = await historyOf(url)
  expect(await ask(`${url}/cancel`, { body: thread })).toEqual({ status: 200, body: { status: 'idle' } })
  expect(await historyOf(url)).toEqual(before)
  expect(await listed(url)).toMatchObject({ lastRun: { status: 'completed' } })
})

it('a run of another id is not cancelled in its place', async () => {
  const speaker = gatedAgent(['one ', 'two'])
  const { url } = await serving({ agents: [speaker.agent] })
  const stream = await openStream(`${url}/run`, { body: input })
  speaker.say(0)
  await stream.until(says('one'))
  expect(await ask(`${url}/cancel`, { body: { ...thread, runId: 'run-0' } })).toMatchObject({
    status: 404,
    body: { error: { code: 'RUN_NOT_FOUND' } },
  })
  speaker.sayAll()
  await stream.whole()
  assertValidStream(stream.events, { input })
  expect(stream.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
})

it('nobody cancels the run of another user, or learns that there is one', async () => {
  const speaker = gatedAgent(['one ', 'two'])
  const { url } = await serving({
    agents: [speaker.agent],
    identify: (request) => ({ user: request.headers.get('x-user') ?? 'nobody' }),
  })
  const stream = await openStream(`${url}/run`, { body: input, headers: { 'x-user': 'ann' } })
  speaker.say(0)
  await stream.until(says('one'))
  const foreign = await ask(`${url}/cancel`, { body: thread, headers: { 'x-user': 'bob' } })
  const unknown = await ask(`${url}/cancel`, {
    body: { threadId: 'thread-0' },
    headers: { 'x-user': 'bob' },
  })
  expect(foreign).toMatchObject({ status: 404, body: { error: { code: 'THREAD_NOT_FOUND' } } })
  expect(JSON.stringify(foreign).replaceAll('thread-1', 'thread-0')).toBe(JSON.stringify(unknown))
  speaker.sayAll()
  await stream.whole()
  assertValidStream(stream.events, { input })
  expect(stream.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
})

it.each(['cancelled', 'failed'])(
  'a client that said yes can talk on when the run was %s after the tool was done',
  async (how) => {
    let sent = 0
    let speaking: () => void = () => undefined
    const isSpeaking = new Promise<void>((resolve) => {
      speaking = resolve
    })
    const mail = defineTool({
      name: 'mail',
      description: 'Sends a mail.',
      async execute(_args, { interrupt }) {
        await interrupt({ message: 'Send it?' })
        sent++
        return 'sent'
      },
    })
    const hang = (): Promise<void> => {
      speaking()
      return new Promise(() => undefined)
    }
    const model = scriptedModel(({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'tool')
        return ['Now', how === 'failed' ? { error: { status: 400 } } : { wait: hang }]
      return last?.content === 'mail' ? [{ toolCall: { id: 'c1', name: 'mail' } }] : 'Hello.'
    })
    const agent = defineAgent({ name: 'mailer', model, tools: [mail] })
    const { url } = await serving({ agents: [agent], store: createMemoryStore() })
    const client = new HttpAgent({
      ...{ url: `${url}/run`, threadId: 'thread-1', initialMessages: [user('u1', 'mail')] },
    })
    await client.runAgent()
    const [interrupt] = client.pendingInterrupts
    const resume = [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: true }]
    const answered = client.runAgent({ resume }).catch(() => undefined)
    if (how === 'cancelled') {
      await isSpeaking
      await ask(`${url}/cancel`, { body: { threadId: 'thread-1' } })
    }
    await answered
    expect(await listed(url)).toMatchObject({ status: 'idle', lastRun: { status: how } })
    client.addMessage(user('u2', 'hello'))
    // After an error this client wants its answer to be given once more. It is not taken again.
    await client.runAgent(how === 'failed' ? { resume } : {})
    expect(client.pendingInterrupts).toEqual([])
    expect((await historyOf(url)).at(-1)).toMatchObject({ role: 'assistant', content: 'Hello.' })
    expect(sent).toBe(1)
  },
)
