import { describe, expect, it } from 'vitest'
import { assertValidStream } from '../../src/testing/index.js'
import { gatedAgent } from './support-gated.js'
import { historyOf, inputOf, serving, stores, user } from './support-server.js'
import { openStream, says, textIn } from './support-stream.js'

const messages = [user('u1', 'Speak.')]
const input = inputOf({ messages })
const thread = { threadId: 'thread-1', protocolVersion: '1.0' }

const connect = (url: string, lastId: string) =>
  openStream(`${url}/connect`, { body: thread, headers: { 'last-event-id': lastId } })

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
