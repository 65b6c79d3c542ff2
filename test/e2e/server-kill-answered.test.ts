import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import { startingChildren } from './support-child.js'
import { historyOf, inputOf, listed, temporaryFolder, user } from './support-server.js'
import { openStream, runWhole, says, textIn } from './support-stream.js'

const start = startingChildren('serve-asking.mjs')

function questionOf(events: readonly AgUiEvent[]): string {
  const last = events.at(-1)
  const [asked] =
    last?.type === 'RUN_FINISHED' && last.outcome?.type === 'interrupt' ? last.outcome.interrupts : []
  if (!asked) throw new Error('Nothing was asked.')
  return asked.id
}

const yes = (interruptId: string) => [{ interruptId, status: 'resolved', payload: 'yes' }]

/** Asks, is answered, and is killed when the client has seen this, or soon after. */
async function killed(mode: 'hang' | 'hang-in-tool') {
  const folder = temporaryFolder()
  const [path, file] = [join(folder, 'threads.db'), join(folder, 'sent.txt')]
  const first = await start(path, file, mode)
  const asked = await runWhole(first.url, inputOf({ runId: 'run-0', messages: [user('u1', 'mail')] }))
  const id = questionOf(asked)
  const before = await historyOf(first.url)
  const body = inputOf({ messages: before, resume: yes(id) })
  const stream = await openStream(`${first.url}/run`, { body })
  await stream.until(mode === 'hang' ? says('Now') : ({ type }) => type === 'RUN_STARTED')
  // Time for the log.
  await pause(500)
  first.signal('SIGKILL')
  await Promise.all([first.ended, stream.over()])
  const sent = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
  return { path, id, before, sent, url: (await start(path, file, 'go')).url }
}

async function stateIn(path: string): Promise<unknown> {
  const store = await createSqliteStore({ path })
  const key = { app: 'default', user: 'local', agent: 'mailer', thread: 'thread-1' }
  const thread = await store.threads.load(key)
  await store.close()
  return thread?.state
}

it('a question whose tool was done when the process was killed is not asked again', async () => {
  const { path, url, id, sent } = await killed('hang')
  const stored = await historyOf(url)
  expect(stored.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  expect(await listed(url)).toMatchObject({ status: 'idle', lastRun: { status: 'lost' } })
  // What clients do not see is as new as what they see.
  expect(await stateIn(path)).toEqual({ sent: 1, 'user:ids': ['yes'] })

  const connected = await openStream(`${url}/connect`, {
    body: { threadId: 'thread-1', protocolVersion: '1.0' },
  })
  await connected.whole()
  expect(JSON.stringify(connected.events)).not.toContain('interrupt')

  // The same answer once more does nothing with the tool.
  await runWhole(url, inputOf({ runId: 'run-2', messages: stored, state: { sent: 1 }, resume: yes(id) }))
  expect(sent()).toEqual(['yes'])
  const messages = [...(await historyOf(url)), user('u2', 'hello')]
  const events = await runWhole(url, inputOf({ runId: 'run-3', messages, state: { sent: 1 } }))
  expect(textIn(events)).toBe('You said: hello')
  expect(sent()).toEqual(['yes'])
}, 30_000)

it('a question whose tool was at work when the process was killed can be answered again', async () => {
  const { path, url, id, before, sent } = await killed('hang-in-tool')
  expect(await historyOf(url)).toEqual(before)
  expect(await listed(url)).toMatchObject({ lastRun: { status: 'lost' } })
  expect(await stateIn(path)).toEqual({})
  expect(sent()).toEqual([])
  const events = await runWhole(url, inputOf({ runId: 'run-2', messages: before, resume: yes(id) }))
  expect(textIn(events)).toBe('All done.')
  expect(sent()).toEqual(['yes'])
  expect(await stateIn(path)).toEqual({ sent: 1, 'user:ids': ['yes'] })
}, 30_000)
