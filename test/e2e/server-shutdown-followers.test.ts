import { join } from 'node:path'
import { expect, it } from 'vitest'
import { assertValidStream } from '../../src/testing/index.js'
import { createMemoryStore } from '../../src/threads/memory/store.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import type { Store } from '../../src/threads/contract.js'
import { gatedAgent } from './support-gated.js'
import { inputOf, serving, temporaryFolder, user } from './support-server.js'
import { openStream, says, textIn } from './support-stream.js'

const closing = { type: 'RUN_ERROR', code: 'SERVER_CLOSING' }
const speak = inputOf({ messages: [user('u1', 'Speak.')] })

const nothing = () => undefined

const stores: readonly (readonly [name: string, make: () => Promise<readonly [Store, Store]>])[] = [
  [
    'SQLite',
    async () => {
      const path = join(temporaryFolder(), 'threads.db')
      return [await createSqliteStore({ path }), await createSqliteStore({ path })]
    },
  ],
  [
    'memory',
    () => {
      const store = createMemoryStore()
      return Promise.resolve([store, store])
    },
  ],
]

it.each(stores)(
  'who follows a run of another server is told that this one closes (%s)',
  async (_name, make) => {
    const [mine, theirs] = await make()
    const speaker = gatedAgent(['one ', 'two ', 'three'])
    const other = await serving({ agents: [speaker.agent], store: theirs })
    const errors: unknown[] = []
    const log = { debug: nothing, info: nothing, warn: nothing, error: (facts: object) => errors.push(facts) }
    const made = await serving({ agents: [speaker.agent], store: mine, log })
    const run = await openStream(`${other.url}/run`, { body: speak })
    speaker.say(0)
    await run.until(says('one'))
    const body = { threadId: 'thread-1', protocolVersion: '1.0' }
    const follower = await openStream(`${made.url}/connect`, { body })
    await follower.until(says('one'))

    await made.close({ graceMs: 0 })
    await follower.whole()
    assertValidStream(follower.events, { input: speak })
    expect(follower.events.at(-1)).toMatchObject(closing)
    expect(errors).toEqual([])

    // It goes on where the run is, after the last it has seen.
    const headers = { 'last-event-id': follower.lastId ?? '' }
    const again = await openStream(`${other.url}/connect`, { body, headers })
    speaker.sayAll()
    await Promise.all([run.whole(), again.whole()])
    expect(textIn(again.events)).toBe('two three')
    expect(again.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  },
)
