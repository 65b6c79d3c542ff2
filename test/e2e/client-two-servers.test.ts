import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import { clientOf, textsOf, until } from './support-client.js'
import { gatedAgent } from './support-gated.js'
import { historyOf, serving, temporaryFolder } from './support-server.js'

it('tabs stay in step when each has another server on the same file', async () => {
  const path = join(temporaryFolder(), 'threads.db')
  const { agent, say, sayAll } = gatedAgent(['Good ', 'morning.'])
  const servers = [0, 1].map(async () =>
    serving({ agents: [agent], store: await createSqliteStore({ path }) }),
  )
  const urls = (await Promise.all(servers)).map(({ url }) => url)
  const [one, two] = urls.map((url) => clientOf(url).thread('speaker', 't'))
  if (!one || !two) throw new Error('There are two tabs.')
  const stops = [one, two].map((thread) => thread.subscribe(() => undefined))
  await until(two, ({ status }) => status === 'idle')
  const done = one.send('Hello')
  say(0)
  await until(two, (snapshot) => textsOf(snapshot).includes('assistant: Good '))
  // Sent during the run of the other server: it waits for its end.
  const second = two.send('And you?')
  sayAll()
  expect(await done).toMatchObject({ status: 'completed' })
  expect(await second).toMatchObject({ status: 'completed' })
  const stored = await historyOf(urls[0] ?? '', 't')
  expect(stored).toHaveLength(4)
  for (const thread of [one, two])
    expect(
      (await until(thread, ({ messages, status }) => messages.length === 4 && status === 'idle')).messages,
    ).toEqual(stored)
  for (const stop of stops) stop()
})
