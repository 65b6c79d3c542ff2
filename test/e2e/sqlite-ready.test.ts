import { appendFileSync, rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import { ask, inputOf, serving, temporaryFolder, user } from './support-server.js'
import { runWhole } from './support-stream.js'

const failing = {
  status: 503,
  body: { status: 'failing', error: { code: 'STORE_ERROR', message: 'The thread store cannot be used.' } },
}

it.each([
  ['is gone', (path: string) => rmSync(path)],
  ['has bad pages', spoil],
])('a server whose SQLite file %s is not ready, and alive', async (_, harm) => {
  const path = join(temporaryFolder(), 'threads.db')
  const store = await createSqliteStore({ path })
  const model = scriptedModel(['Fine.'])
  const { url } = await serving({ agents: [defineAgent({ name: 'talker', model })], store })
  await runWhole(url, inputOf({ messages: [user('u1', 'Hello.')] }))
  await store.compact()
  expect(await ask(`${url}/readyz`)).toMatchObject({ status: 200 })
  harm(path)
  expect(await ask(`${url}/readyz`)).toEqual(failing)
  expect(await ask(`${url}/healthz`)).toMatchObject({ status: 200 })
})

/** Leaves the header, and no page as it was. */
function spoil(path: string): void {
  truncateSync(path, 4096)
  appendFileSync(path, Buffer.alloc(100 * 4096, 0x5a))
}
