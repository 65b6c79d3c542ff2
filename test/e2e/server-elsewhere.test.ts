import { expect, it } from 'vitest'
import { createMemoryStore } from '../../src/threads/memory/store.js'
import { gatedAgent } from './support-gated.js'
import { ask, historyOf, inputOf, serving, user } from './support-server.js'
import { openStream, says } from './support-stream.js'

const messages = [user('u1', 'Speak.')]

/** Two servers on one store, and a first run at work on the first of them. */
async function firstRunElsewhere() {
  const store = createMemoryStore()
  const speaker = gatedAgent(['one ', 'two '])
  const state = { private: ['secret'] }
  const there = await serving({ agents: [speaker.agent], store, state })
  const here = await serving({ agents: [speaker.agent], store, state })
  const body = inputOf({ messages, state: { list: ['milk'] } })
  const stream = await openStream(`${there.url}/run`, { body })
  speaker.say(0)
  await stream.until(says('one '))
  return { there, here, stream, speaker }
}

it('the history and the state of a first run are the same wherever it is at work', async () => {
  const { there, here, stream, speaker } = await firstRunElsewhere()
  for (const { url } of [there, here]) {
    expect(await historyOf(url)).toEqual(messages)
    expect((await ask(`${url}/state_snapshot/thread-1`)).body).toMatchObject({ snapshot: { list: ['milk'] } })
  }
  speaker.sayAll()
  await stream.whole()
  expect(await historyOf(here.url)).toMatchObject([{ id: 'u1' }, { content: 'one two ' }])
})

it('the state cannot be changed during a first run, wherever it is at work', async () => {
  const { there, here, stream, speaker } = await firstRunElsewhere()
  const patch = { method: 'PATCH', body: [{ op: 'add', path: '/mine', value: true }] }
  for (const { url } of [there, here])
    expect(await ask(`${url}/state/thread-1`, patch)).toMatchObject({
      status: 409,
      body: { error: { code: 'THREAD_IS_LOCKED' } },
    })
  speaker.sayAll()
  await stream.whole()
  expect(await ask(`${here.url}/state/thread-1`, patch)).toMatchObject({ status: 200 })
})
