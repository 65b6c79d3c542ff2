import { describe, expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { createFold, type AgUiEvent } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { gatedAgent } from './support-gated.js'
import { ask, historyOf, inputOf, listed, serving, stores, user } from './support-server.js'
import { type RawStream, numbersOf, openStream, says, textIn } from './support-stream.js'

const messages = [user('u1', 'Speak.')]
const input = inputOf({ messages })
const thread = { threadId: 'thread-1', protocolVersion: '1.0' }

function connect(url: string, lastId?: string, isPaused = false): Promise<RawStream> {
  const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
  return openStream(`${url}/connect`, { body: thread, headers, isPaused })
}

/** The first so many numbers. */
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

describe.each(stores)('with the store in %s', (_name, makeStore) => {
  const words = ['one ', 'two ', 'three ', 'four ']

  it.each([
    ['at the first word', 0],
    ['between two words', 1],
    ['before the last word', 2],
    ['at the last word', 3],
  ])('a client that loses its socket %s misses nothing and gets nothing twice', async (_when, place) => {
    const speaker = gatedAgent(words)
    const { url } = await serving({ agents: [speaker.agent], store: await makeStore() })
    const first = await openStream(`${url}/run`, { body: input })
    speaker.say(place)
    await first.until(says(words[place] ?? ''))
    first.drop()
    await first.over()
    const seen = [...first.received]

    const second = await connect(url, first.lastId)
    speaker.sayAll()
    const all = [...seen, ...(await second.whole())]
    expect(numbersOf(all)).toEqual(upTo(all.length))
    const events = all.map(({ event }) => event)
    assertValidStream(events, { input })
    expect(textIn(events)).toBe(words.join(''))
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  })

  it('a client that comes back after each event has the same in the end', async () => {
    const speaker = gatedAgent(words)
    const { url } = await serving({ agents: [speaker.agent], store: await makeStore() })
    const first = await openStream(`${url}/run`, { body: input })
    speaker.sayAll()
    const whole = await first.whole()
    assertValidStream(first.events, { input })
    for (const [place, { id }] of whole.entries()) {
      const again = await connect(url, id)
      expect(again.status).toBe(200)
      expect(await again.whole()).toEqual(whole.slice(place + 1))
    }
  })

  it('a run that takes a draft back is the same for a client that comes back after each event', async () => {
    const busy = { error: { status: 503, message: 'busy' } }
    const model = scriptedModel([['Half', busy], 'Whole.'])
    const agent = defineAgent({ name: 'helper', model, retry: { initialDelayMs: 0 } })
    const { url } = await serving({ agents: [agent], store: await makeStore() })
    const first = await openStream(`${url}/run`, { body: input })
    const whole = await first.whole()
    assertValidStream(first.events, { input })
    expect(first.events.filter(({ type }) => type === 'MESSAGES_SNAPSHOT')).toHaveLength(1)
    for (const [place, { id }] of whole.entries())
      expect(await (await connect(url, id)).whole()).toEqual(whole.slice(place + 1))
    const fold = createFold({ messages })
    for (const event of first.events) fold.apply(event)
    expect(await historyOf(url)).toEqual(fold.messages)
    expect(fold.messages.map(({ content }) => content)).toEqual(['Speak.', 'Whole.'])
  })

  it('a client whose socket broke before the first event gets the whole run once', async () => {
    const speaker = gatedAgent(words)
    const { url } = await serving({ agents: [speaker.agent], store: await makeStore() })
    const first = await openStream(`${url}/run`, { body: input, isPaused: true })
    first.drop()
    await first.over()
    expect(first.received).toEqual([])

    const second = await connect(url)
    speaker.say(1)
    await second.until(says('two'))
    const third = await connect(url)
    await third.until(says('two'))
    speaker.sayAll()
    for (const stream of [second, third]) {
      const received = await stream.whole()
      assertValidStream(stream.events)
      expect(textIn(stream.events)).toBe(words.join(''))
      expect(stream.events.map(({ type }) => type).slice(0, 3)).toEqual([
        'RUN_STARTED',
        'MESSAGES_SNAPSHOT',
        'STATE_SNAPSHOT',
      ])
      expect(stream.events[1]).toMatchObject({ messages })
      const numbered = received.filter(({ id }) => id !== undefined)
      expect(numbersOf(numbered)).toEqual(upTo(numbered.length))
    }
    expect(third.events).toEqual(second.events)
  })

  it('a late client that comes back after each event has the snapshots too', async () => {
    const speaker = gatedAgent(words)
    const { url } = await serving({ agents: [speaker.agent], store: await makeStore() })
    const starter = await openStream(`${url}/run`, { body: input })
    await starter.until(({ type }) => type === 'RUN_STARTED')
    const late = await connect(url)
    speaker.sayAll()
    const whole = await late.whole()
    assertValidStream(late.events)
    for (const [place, { id }] of whole.entries())
      if (id !== undefined) expect(await (await connect(url, id)).whole()).toEqual(whole.slice(place + 1))
  })

  it('the history that a late client is given is the one the run began with', async () => {
    const speaker = gatedAgent(words)
    const store = await makeStore()
    const { url } = await serving({ agents: [speaker.agent], store })
    speaker.sayAll()
    await (await openStream(`${url}/run`, { body: input })).whole()
    const gated = gatedAgent(['later '])
    const other = await serving({ agents: [gated.agent], store })
    const known = await historyOf(url)
    const body = inputOf({ runId: 'run-2', messages: [...known, user('u2', 'More.')] })
    const running = await openStream(`${other.url}/run`, { body })
    await running.until(({ type }) => type === 'RUN_STARTED')
    const late = await connect(other.url)
    gated.sayAll()
    await late.whole()
    assertValidStream(late.events)
    expect(late.events[1]).toMatchObject({ messages: [...known, user('u2', 'More.')] })
    expect(textIn(late.events)).toBe('later ')
  })

  it('an event of an older run brings the whole thread', async () => {
    const speaker = gatedAgent(words)
    const { url } = await serving({ agents: [speaker.agent], store: await makeStore() })
    speaker.sayAll()
    const first = await openStream(`${url}/run`, { body: input })
    await first.whole()
    const known = await historyOf(url)
    const body = inputOf({ runId: 'run-2', messages: [...known, user('u2', 'More.')] })
    await (await openStream(`${url}/run`, { body })).whole()

    const late = await connect(url, first.received[3]?.id)
    await late.whole()
    assertValidStream(late.events)
    expect(late.events.map(({ type }) => type)).toEqual([
      'RUN_STARTED',
      'MESSAGES_SNAPSHOT',
      'STATE_SNAPSHOT',
      'RUN_FINISHED',
    ])
    expect(late.events[1]).toMatchObject({ messages: await historyOf(url) })
  })

  const line = `${'x'.repeat(8 * 1024)} `
  const many = 1500

  it('a client that does not read holds back neither the run nor others, and gets everything later', async () => {
    const lines = Array.from({ length: many }, (_, n) => `${n} ${line}`)
    const model = scriptedModel([lines])
    const agent = defineAgent({ name: 'speaker', model })
    const limits = { bufferBytes: 32 * 1024 }
    const { url } = await serving({ agents: [agent], store: await makeStore(), limits })
    const slow = await openStream(`${url}/run`, { body: input, isPaused: true })
    const late = await connect(url, undefined, true)
    const quick = await connect(url)
    await quick.whole()
    assertValidStream(quick.events)
    expect(textIn(quick.events) === lines.join('')).toBe(true)
    expect(await listed(url)).toMatchObject({ lastRun: { status: 'completed' } })

    expect(slow.received).toEqual([])
    slow.resume()
    const received = await slow.whole()
    expect(numbersOf(received)).toEqual(upTo(received.length))
    assertValidStream(slow.events, { input })
    expect(textIn(slow.events) === lines.join('')).toBe(true)
    late.resume()
    await late.whole()
    expect(isSame(late.events, quick.events)).toBe(true)
  })

  it('a client that takes nothing for too long is dropped, and comes back', async () => {
    const lines = Array.from({ length: many }, (_, n) => `${n} ${line}`)
    const agent = defineAgent({ name: 'speaker', model: scriptedModel([lines]) })
    const limits = { bufferBytes: 32 * 1024, stallMs: 50 }
    const { url } = await serving({ agents: [agent], store: await makeStore(), limits })
    const stalled = await openStream(`${url}/run`, { body: input, isPaused: true })
    await droppedStreams(url)
    stalled.resume()
    await stalled.over()
    await expect(stalled.whole()).rejects.toThrow('The connection broke')
    const all = [...stalled.received]
    expect(all.length).toBeLessThan(many)
    // On a busy machine it is dropped again, and comes back again.
    let { lastId } = stalled
    while (all.at(-1)?.event.type !== 'RUN_FINISHED') {
      const again = await connect(url, lastId)
      await again.over()
      all.push(...again.received)
      lastId = again.lastId ?? lastId
    }
    expect(numbersOf(all)).toEqual(upTo(all.length))
    const events = all.map(({ event }) => event)
    assertValidStream(events, { input })
    expect(textIn(events) === lines.join('')).toBe(true)
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  })
})

/** Texts this long are not compared by the test library: it would print them. */
function isSame(a: readonly AgUiEvent[], b: readonly AgUiEvent[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Resolves when the server has dropped a stream. */
async function droppedStreams(url: string): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text()
    if (/reason="stalled"\S* [1-9]/.test(text)) return
  }
}

it('a silent stream is kept alive, for its client and for other subscribers', async () => {
  const speaker = gatedAgent(['at last'])
  const { url } = await serving({ agents: [speaker.agent], limits: { heartbeatMs: 20 } })
  const first = await openStream(`${url}/run`, { body: input })
  const second = await connect(url)
  await Promise.all([first.untilComments(3), second.untilComments(3)])
  speaker.sayAll()
  await Promise.all([first.whole(), second.whole()])
  assertValidStream(first.events, { input })
  assertValidStream(second.events)
  expect(textIn(first.events)).toBe('at last')
})

it('a thread that nobody knows cannot be connected to', async () => {
  const { url } = await serving({ agents: [gatedAgent([]).agent] })
  expect(await ask(`${url}/connect`, { body: thread })).toMatchObject({
    status: 404,
    body: { error: { code: 'THREAD_NOT_FOUND' } },
  })
  const headers = { 'last-event-id': 'run-1:3' }
  expect(await ask(`${url}/connect`, { body: thread, headers })).toMatchObject({ status: 404 })
})

it('what is no event id is refused, and a run id that nobody knows gets the thread as it is', async () => {
  const speaker = gatedAgent(['one'])
  const { url } = await serving({ agents: [speaker.agent] })
  speaker.sayAll()
  await (await openStream(`${url}/run`, { body: input })).whole()
  const headers = { 'last-event-id': 'run-1:x' }
  expect(await ask(`${url}/connect`, { body: thread, headers })).toMatchObject({
    status: 400,
    body: { error: { code: 'INVALID_INPUT' } },
  })
  const events = await (await openStream(`${url}/connect`, { body: { ...thread, runId: 'run-0' } })).whole()
  expect(events.map(({ event }) => event.type)).toEqual([
    'RUN_STARTED',
    'MESSAGES_SNAPSHOT',
    'STATE_SNAPSHOT',
    'RUN_FINISHED',
  ])
})

describe.each(stores)('an event id that a run has not come to, with the store in %s', (_name, makeStore) => {
  it('brings the whole thread and the rest while the run is at work', async () => {
    const speaker = gatedAgent(['one ', 'two '])
    const { url } = await serving({ agents: [speaker.agent], store: await makeStore() })
    const first = await openStream(`${url}/run`, { body: input })
    speaker.say(0)
    await first.until(says('one '))
    const late = await connect(url, 'run-1:50')
    await late.until(says('one '))
    speaker.sayAll()
    await late.whole()
    assertValidStream(late.events)
    expect(late.events[1]).toMatchObject({ type: 'MESSAGES_SNAPSHOT', messages })
    expect(textIn(late.events)).toBe('one two ')
    expect(late.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  })

  it('brings the whole thread when the run is over, and the last event brings nothing more', async () => {
    const speaker = gatedAgent(['one '])
    const { url } = await serving({ agents: [speaker.agent], store: await makeStore() })
    speaker.sayAll()
    const first = await openStream(`${url}/run`, { body: input })
    const count = (await first.whole()).length
    for (const seq of [count, count + 50]) {
      const late = await connect(url, `run-1:${seq}`)
      await late.whole()
      assertValidStream(late.events)
      expect(late.events[1]).toMatchObject({ messages: await historyOf(url) })
    }
    expect(await (await connect(url, `run-1:${count - 1}`)).whole()).toEqual([])
  })

  it('brings the whole thread in the end when the run is at work in another process', async () => {
    const store = await makeStore()
    const speaker = gatedAgent(['one '])
    const there = await serving({ agents: [speaker.agent], store })
    const here = await serving({ agents: [speaker.agent], store })
    const first = await openStream(`${there.url}/run`, { body: input })
    await first.until(({ type }) => type === 'RUN_STARTED')
    const late = await connect(here.url, 'run-1:50')
    speaker.sayAll()
    await Promise.all([first.whole(), late.whole()])
    assertValidStream(late.events)
    expect(late.events[1]).toMatchObject({ messages: await historyOf(there.url) })
  })
})
