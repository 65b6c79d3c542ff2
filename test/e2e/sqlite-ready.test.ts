import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
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

it('a thread that is deleted over HTTP is in no file after a compact, and nobody else can read the files', async () => {
  const folder = temporaryFolder()
  const store = await createSqliteStore({ path: join(folder, 'threads.db') })
  const model = scriptedModel(() => 'Fine.')
  const { url } = await serving({ agents: [defineAgent({ name: 'talker', model })], store })
  const files = () => readdirSync(folder).map((name) => join(folder, name))
  const holding = (text: string) => files().filter((file) => readFileSync(file).includes(text))
  const say = (threadId: string, text: string) =>
    runWhole(url, inputOf({ threadId, messages: [user('u1', text)], state: { note: text } }))
  await say('kept', 'a word that stays')
  await say('gone', 'a word that goes')
  expect(holding('a word that goes')).not.toEqual([])
  expect(await ask(`${url}/thread/gone`, { method: 'DELETE' })).toMatchObject({ status: 200 })
  await store.compact()
  await store.backup(join(folder, 'backup.db'))
  expect(holding('a word that goes')).toEqual([])
  expect(holding('a word that stays')).toContain(join(folder, 'backup.db'))
  expect(files().map((file) => [file.slice(folder.length + 1), statSync(file).mode & 0o777])).toEqual([
    ['backup.db', 0o600],
    ['threads.db', 0o600],
    ['threads.db-shm', 0o600],
    ['threads.db-wal', 0o600],
  ])
})

/** Leaves the header, and no page as it was. */
function spoil(path: string): void {
  truncateSync(path, 4096)
  appendFileSync(path, Buffer.alloc(100 * 4096, 0x5a))
}
