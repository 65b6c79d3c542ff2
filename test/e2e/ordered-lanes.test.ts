import { describe, expect, it } from 'vitest'
import { parallel } from '../../src/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import type { ServerOptions } from '../../src/server/index.js'
import { toAgUi } from '../../src/remote/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { deferred } from '../support/run-agent.js'
import { gatedAgent } from './support-gated.js'
import { historyOf, inputOf, serving, stores, user } from './support-server.js'
import { openStream, says, type Received } from './support-stream.js'

const messages = [user('u1', 'Speak.')]
const newInput = inputOf({ messages })
const { protocolVersion: _, ...oldInput } = newInput

/** Two agents that speak at once, word by word: ann, bob, ann, bob ... */
function pair(count: number) {
  const words = (name: string) => Array.from({ length: count }, (_each, n) => `${name}${n} `)
  const ann = gatedAgent(words('ann'), 'ann')
  const bob = gatedAgent(words('bob'), 'bob')
  return { ann, bob, agent: parallel({ name: 'pair', agents: [ann.agent, bob.agent] }) }
}

/** What leaves the run, in its own order. */
function watchOutput() {
  const left: AgUiEvent[] = []
  const waiting = new Map<(event: AgUiEvent) => boolean, () => void>()
  const outputRecord = (event: AgUiEvent): void => {
    left.push(event)
    for (const [fits, resolve] of waiting) if (fits(event)) resolve()
  }
  const until = async (fits: (event: AgUiEvent) => boolean): Promise<void> => {
    const seen = deferred()
    waiting.set(fits, () => seen.resolve())
    if (!left.some(fits)) await seen.promise
  }
  return { hooks: { outputRecord }, left, until }
}

/** Runs both to the end, one word of each after the other. */
async function speak(options: Partial<ServerOptions>, body: Record<string, unknown>) {
  const { ann, bob, agent } = pair(4)
  const { hooks, left, until } = watchOutput()
  const { url } = await serving({ ...options, agents: [agent], hooks })
  const starter = await openStream(`${url}/run`, { body })
  const stream = await openStream(`${url}/connect`, { body })
  for (let n = 0; n < 4; n++) {
    ann.say(n)
    await until(says(`ann${n}`))
    bob.say(n)
    await until(says(`bob${n}`))
  }
  await starter.whole()
  assertValidStream(starter.events, { input: body })
  const received = await stream.whole()
  assertValidStream(stream.events)
  return { url, received, started: starter.received, left }
}

/** What a client shows that writes every delta to the text that was opened last, as several do. */
function shownByOneText(events: readonly AgUiEvent[]): string[] {
  const texts: string[] = []
  for (const event of events) {
    if (event.type === 'TEXT_MESSAGE_START') texts.push('')
    if (event.type === 'TEXT_MESSAGE_CONTENT') texts.push(`${texts.pop() ?? ''}${event.delta}`)
  }
  return texts
}

const eventsOf = (received: readonly Received[]) => received.map(({ event }) => event)
const whole = ['ann0 ann1 ann2 ann3 ', 'bob0 bob1 bob2 bob3 ']

describe('two agents that speak at once', () => {
  it.each([
    ['a client before 1.0', {}, oldInput],
    ['a client of 1.0, when the server says so', { stream: { lanes: 'one-by-one' } }, newInput],
  ] as const)('are heard one after the other by %s', async (_who, options, body) => {
    const { received, started, url } = await speak(options, body)
    expect(shownByOneText(eventsOf(received))).toEqual(whole)
    expect(shownByOneText(eventsOf(started))).toEqual(whole)
    const texts = (await historyOf(url)).map(({ content }) => content)
    expect(texts).toEqual(['Speak.', ...whole])
  })

  it.each([
    ['a client of 1.0', {}, newInput],
    ['a client before 1.0, when the server says so', { stream: { lanes: 'interleaved' } }, oldInput],
  ] as const)('are heard as they speak by %s', async (_who, options, body) => {
    const { received } = await speak(options, body)
    expect(shownByOneText(eventsOf(received))).not.toEqual(whole)
  })

  it('mix when more waits than is kept, and nothing is lost or sent twice', async () => {
    const { received, left } = await speak({ limits: { bufferBytes: 300 } }, oldInput)
    const said = (events: readonly AgUiEvent[], name: string) =>
      events.flatMap((event) =>
        event.type === 'TEXT_MESSAGE_CONTENT' && event.delta.startsWith(name) ? [event.delta] : [],
      )
    for (const name of ['ann', 'bob']) expect(said(eventsOf(received), name)).toEqual(said(left, name))
    expect(shownByOneText(eventsOf(received))).not.toEqual(whole)
  })
})

describe.each(stores)('a client before 1.0 that comes back, with the store in %s', (_name, makeStore) => {
  it('has the same after each event, with nothing lost or twice', async () => {
    const { received, url } = await speak({ store: await makeStore() }, oldInput)
    const numbered = received.flatMap(({ id }, place) => (id === undefined ? [] : [{ id, place }]))
    expect(numbered.some(({ id }) => id.includes('~'))).toBe(true)
    for (const { id, place } of numbered) {
      const headers = { 'last-event-id': id }
      const again = await openStream(`${url}/connect`, { body: oldInput, headers })
      expect(withoutNames(eventsOf(await again.whole()))).toEqual(
        withoutNames(eventsOf(received).slice(place + 1)),
      )
    }
  })

  it('has the same when it comes back while they speak', async () => {
    const { ann, bob, agent } = pair(3)
    const { hooks, until } = watchOutput()
    const { url } = await serving({ agents: [agent], store: await makeStore(), hooks })
    const first = await openStream(`${url}/run`, { body: oldInput })
    ann.say(0)
    await until(says('ann0'))
    bob.say(1)
    await until(says('bob1'))
    ann.say(1)
    await first.until(says('ann1'))
    first.drop()
    await first.over()
    const headers = { 'last-event-id': first.lastId ?? '' }
    const second = await openStream(`${url}/connect`, { body: oldInput, headers })
    bob.sayAll()
    await until(says('bob2'))
    ann.sayAll()
    const events = [...first.events, ...eventsOf(await second.whole())]
    assertValidStream(events)
    expect(shownByOneText(events)).toEqual(['ann0 ann1 ann2 ', 'bob0 bob1 bob2 '])
  })
})

it.each([
  ['0.0.59', true],
  ['1.0', false],
] as const)(
  'an agent of toAgUi for clients %s sends its lanes one by one: %s',
  async (clients, isOrdered) => {
    const { ann, bob, agent } = pair(2)
    const client = toAgUi(agent, { clients, initialMessages: messages })
    const events: AgUiEvent[] = []
    const started = deferred()
    const running = client.runAgent(
      {},
      {
        onEvent({ event }) {
          events.push(event as unknown as AgUiEvent)
          if (says('ann0')(event as unknown as AgUiEvent)) started.resolve()
        },
      },
    )
    ann.say(0)
    await started.promise
    bob.sayAll()
    await bob.hasSaidAll
    ann.sayAll()
    await running
    expect(shownByOneText(events)).toEqual(
      isOrdered ? ['ann0 ann1 ', 'bob0 bob1 '] : ['ann0 ', 'bob0 bob1 ann1 '],
    )
  },
)

/** A client that comes back in the middle is not told who began to speak before: the next snapshot names them. */
function withoutNames(events: readonly AgUiEvent[]): readonly unknown[] {
  return events.map((event) => ({ ...event, name: event.type === 'TEXT_MESSAGE_START' ? '' : undefined }))
}
