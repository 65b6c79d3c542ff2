import { join } from 'node:path'
import { expect, it } from 'vitest'
import { manualClock } from '../../src/core/clock.js'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import { expectRefusal, fetchServer, inputOf as input } from '../support/fetch-server.js'
import { gatedAgent } from './support-gated.js'
import { holdFile } from './support-holder.js'
import { ask, historyOf, inputOf, serving, temporaryFolder, user } from './support-server.js'
import { openStream, runWhole, says, textIn } from './support-stream.js'

/** Counts how often the event loop comes around, and how long it once did not. */
function watchEventLoop() {
  const began = performance.now()
  let [turns, last, longest] = [0, began, 0]
  const waiting: { readonly count: number; readonly resolve: () => void }[] = []
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    turns++
    for (const { count, resolve } of waiting) if (turns >= count) resolve()
  }, 2)
  return {
    turns: (count: number) =>
      new Promise<void>((resolve) => {
        waiting.push({ count: turns + count, resolve })
      }),
    /** The share of the time that the longest gap took. */
    stop() {
      clearInterval(timer)
      return Math.max(longest, performance.now() - last) / (performance.now() - began)
    },
  }
}

it('while another process holds the file, everything goes on but its writes, and those follow', async () => {
  const path = join(temporaryFolder(), 'threads.db')
  const speaker = gatedAgent(['One ', 'two ', 'three.'])
  const store = await createSqliteStore({ path })
  const { url } = await serving({ agents: [speaker.agent], store, limits: { heartbeatMs: 20 } })
  const memory = await serving({ agents: [defineAgent({ name: 'talker', model: scriptedModel(['Fine.']) })] })
  const live = await openStream(`${url}/run`, { body: inputOf({ messages: [user('u1', 'Speak.')] }) })
  const other = inputOf({ threadId: 'thread-2', messages: [user('u2', 'Hello.')] })
  await runWhole(url, other)
  speaker.say(0)
  await live.until(says('One'))

  const letGo = await holdFile(path)
  const loop = watchEventLoop()
  let answered = 0
  const starting = [3, 4, 5].map(async (n) => {
    const body = inputOf({ threadId: `thread-${n}`, messages: [user('u3', 'Me too.')] })
    const events = await runWhole(url, body)
    answered++
    return events
  })
  const patching = ask(`${url}/state/thread-2`, {
    method: 'PATCH',
    body: [{ op: 'add', path: '/a', value: 1 }],
  })
  await loop.turns(20)
  speaker.sayAll()
  await live.until(says('three.'))
  await live.untilComments(live.comments.length + 3)
  expect((await historyOf(url, 'thread-2')).map(({ role }) => role)).toEqual(['user', 'assistant'])
  expect(await ask(`${url}/thread/list`)).toMatchObject({ status: 200 })
  expect(textIn(await runWhole(memory.url, inputOf({ messages: [user('u1', 'Hello.')] })))).toBe('Fine.')
  await loop.turns(100)
  expect(loop.stop()).toBeLessThan(0.5)
  // What is not stored is not said to be.
  expect(answered).toBe(0)
  expect(live.events.at(-1)).not.toMatchObject({ type: 'RUN_FINISHED' })

  await letGo()
  for (const events of await Promise.all(starting))
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  expect(await patching).toMatchObject({ status: 200 })
  await live.whole()
  expect(live.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  expect((await historyOf(url)).at(-1)).toMatchObject({ role: 'assistant', content: 'One two three.' })
  const key = { app: 'default', user: 'local', agent: 'speaker', thread: 'thread-1' }
  const logged = await store.log.read(key, { runId: 'run-1', after: -1 }, 100)
  expect(logged.map(({ json }) => JSON.parse(json) as unknown)).toEqual(live.events)
})

it('a request whose write has waited for too long is told to come again', async () => {
  const path = join(temporaryFolder(), 'threads.db')
  const clock = manualClock(1_700_000_000_000)
  const made = fetchServer({
    agents: [defineAgent({ name: 'talker', model: scriptedModel(['Fine.']) })],
    store: await createSqliteStore({ path, clock }),
    clock,
  })
  const letGo = await holdFile(path)
  const asking = made.ask('POST /run', { body: input() })
  await clock.advance(10_050)
  const refused = await asking
  expectRefusal(refused, 503, 'STORE_ERROR')
  expect(refused.text).toContain('Try again')
  expect(refused.headers.get('retry-after')).toBe('1')
  await letGo()
  expect((await made.run()).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
  expect(await made.history()).toHaveLength(2)
})
