import { expect, it } from 'vitest'
import { manualClock } from '../../src/core/clock.js'
import type { StreamOptions } from '../../src/server/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { createMemoryStore } from '../../src/threads/memory/store.js'
import { gatedAgent } from './support-gated.js'
import { historyOf, inputOf, serving, user } from './support-server.js'
import { openStream, runWhole, says, textIn } from './support-stream.js'

/** A process that shows two words and dies at once, as far as the store can tell: its clock stands still. */
async function loseAfterTwoWords(stream: StreamOptions = {}) {
  const storeClock = manualClock()
  const store = createMemoryStore({ clock: storeClock })
  const speaker = gatedAgent(['one ', 'two ', 'three'])
  const dead = await serving({
    ...{ agents: [speaker.agent], store, stream },
    // With the log first, it waits for a timer.
    ...(stream.logFirst === true ? {} : { clock: manualClock() }),
  })
  const body = inputOf({ messages: [user('u1', 'Speak.')] })
  const seen = await openStream(`${dead.url}/run`, { body })
  for (const word of [0, 1]) speaker.say(word)
  await seen.until(says('two '))
  await storeClock.advance(60_000)
  const { url } = await serving({ agents: [gatedAgent([]).agent], store })
  const { lastId = '' } = seen
  const headers = { 'last-event-id': lastId }
  const rest = await openStream(`${url}/connect`, {
    ...{ body: { threadId: 'thread-1', protocolVersion: '1.0' }, headers },
  })
  await rest.whole()
  assertValidStream([...seen.events, ...rest.events], { input: body })
  const shown = textIn(seen.events)
  // The first process wakes up and finds its thread taken over: nothing of that counts.
  speaker.sayAll()
  await seen.over()
  return { shown, rest, url }
}

it('a client that saw what was never logged gets the thread as it is', async () => {
  const { rest, url } = await loseAfterTwoWords()
  expect(rest.events).toMatchObject([
    { type: 'CUSTOM', name: 'millrace.lost' },
    { type: 'MESSAGES_SNAPSHOT', messages: await historyOf(url) },
    { type: 'STATE_SNAPSHOT' },
    { type: 'RUN_ERROR', code: 'RUN_LOST' },
  ])
  expect(await historyOf(url)).toEqual([user('u1', 'Speak.')])
})

it('with the log first, nothing that was seen is lost', async () => {
  const { shown, rest, url } = await loseAfterTwoWords({ logFirst: true })
  expect(shown).toBe('one two ')
  expect(rest.events.map(({ type }) => type)).toEqual(['TEXT_MESSAGE_END', 'RUN_ERROR'])
  expect(await historyOf(url)).toMatchObject([{ id: 'u1' }, { content: 'one two ' }])
})

it('with the log first, a stream is the same', async () => {
  const speaker = gatedAgent(['one ', 'two ', 'three'])
  const { url } = await serving({ agents: [speaker.agent], stream: { logFirst: true } })
  speaker.sayAll()
  const events = await runWhole(url, inputOf({ messages: [user('u1', 'Speak.')] }))
  expect(textIn(events)).toBe('one two three')
})
