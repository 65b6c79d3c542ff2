import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { servingChildren } from './support-child.js'
import { ask, historyOf, inputOf, temporaryFolder, user } from './support-server.js'
import { runWhole } from './support-stream.js'

const start = servingChildren()
const root = join(import.meta.dirname, '..', '..')

/** Runs the script in a process of its own. */
async function threadsFile(...args: readonly string[]): Promise<{ code: unknown; said: string }> {
  if (!existsSync(join(root, 'dist'))) throw new Error('There is no dist. Run `npm run build` first.')
  const child = spawn(process.execPath, [join(root, 'scripts', 'threads-file.mjs'), ...args])
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [code] = (await once(child, 'close')) as [unknown]
  return { code, said }
}

it('threads that were backed up while a server writes are all there after a restore', async () => {
  const folder = temporaryFolder()
  const [path, backup] = [join(folder, 'threads.db'), join(folder, 'backup.db')]
  const first = await start(path)
  const say = (url: string, n: number) =>
    runWhole(url, inputOf({ threadId: `thread-${n}`, messages: [user('u1', `Hello ${n}.`)] }))
  for (let n = 0; n < 10; n++) await say(first.url, n)
  const backing = threadsFile('backup', path, backup)
  for (let n = 10; n < 30; n++) await say(first.url, n)
  expect(await backing).toEqual({ code: 0, said: 'Done.\n' })
  expect((await threadsFile('restore', backup, path)).said).toContain('Stop it first')
  first.signal('SIGKILL')
  await first.ended

  // As a disk does.
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  expect(await threadsFile('restore', backup, path)).toEqual({ code: 0, said: 'Done.\n' })
  const second = await start(path)
  for (let n = 0; n < 10; n++)
    expect((await historyOf(second.url, `thread-${n}`)).map(({ content }) => content)).toEqual([
      `Hello ${n}.`,
      `You said: Hello ${n}.`,
    ])
  expect(await ask(`${second.url}/readyz`)).toMatchObject({ status: 200 })
  await say(second.url, 99)
})

it('the script says what it can do, and what is wrong', async () => {
  for (const args of [[], ['backup'], ['backup', 'a'], ['toString', 'a', 'b']])
    expect(await threadsFile(...args)).toMatchObject({
      code: 1,
      said: expect.stringContaining('restore') as string,
    })
  const missing = join(temporaryFolder(), 'none.db')
  expect(await threadsFile('backup', missing, `${missing}.copy`)).toEqual({
    code: 1,
    said: `There is no file ${missing}.\n`,
  })
})
