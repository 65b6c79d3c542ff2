import { join } from 'node:path'
import { expect, it } from 'vitest'
import { assertValidStream } from '../../src/testing/index.js'
import { servingChildren, startingChildren } from './support-child.js'
import {
  type StoredMessage,
  ask,
  historyOf,
  inputOf,
  listed,
  temporaryFolder,
  user,
} from './support-server.js'
import { openStream, runWhole, says, textIn } from './support-stream.js'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'

const start = servingChildren()
const thread = { threadId: 'thread-1', protocolVersion: '1.0' }
const choose = { name: 'choose', description: 'Chooses.', parameters: { type: 'object' } }

async function reconnect(url: string, lastId: string | undefined) {
  const headers = lastId === undefined ? {} : { 'last-event-id': lastId }
  const stream = await openStream(`${url}/connect`, { body: thread, headers })
  await stream.whole()
  return stream
}

function expectUnique(messages: readonly StoredMessage[]): void {
  expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
}

const success = { type: 'RUN_FINISHED', outcome: { type: 'success' } }
const lost = { type: 'RUN_ERROR', code: 'RUN_LOST' }

it('a run that was killed in mid-stream is ended by the next process, and the thread goes on', async () => {
  const path = join(temporaryFolder(), 'threads.db')
  const first = await start(path)
  await runWhole(first.url, inputOf({ runId: 'run-0', messages: [user('u0', 'hello')] }))
  const committed = await historyOf(first.url)
  const body = inputOf({ messages: [...committed, user('u1', 'hang')] })
  const stream = await openStream(`${first.url}/run`, { body })
  await stream.until(says('words'))
  first.signal('SIGKILL')
  await Promise.all([first.ended, stream.over()])
  await expect(stream.whole()).rejects.toThrow('The connection broke')

  const second = await start(path)
  const rest = await reconnect(second.url, stream.lastId)
  const joined = [...stream.events, ...rest.events]
  assertValidStream(joined, { input: body })
  expect(joined.at(-1)).toMatchObject(lost)
  expect(await listed(second.url)).toMatchObject({
    status: 'idle',
    lastRun: { runId: 'run-1', status: 'lost' },
  })
  const stored = await historyOf(second.url)
  expect(stored.slice(0, 3)).toEqual([...committed, user('u1', 'hang')])
  // What was not in the log yet may be gone, but nothing is there that was not said.
  expect(textIn(stream.events).startsWith(stored[3]?.content ?? '')).toBe(true)
  expectUnique(stored)

  const next = inputOf({ runId: 'run-2', messages: [...stored, user('u2', 'still there?')] })
  const events = await runWhole(second.url, next)
  expect(events.at(-1)).toMatchObject(success)
  expect(textIn(events)).toBe('You said: still there?')
})

it('all that was in the log of a lost run is in the history', async () => {
  const path = join(temporaryFolder(), 'threads.db')
  const first = await start(path)
  const body = inputOf({ messages: [user('u1', 'ask')], tools: [choose] })
  const stream = await openStream(`${first.url}/run`, { body })
  // A call for the client is shown when it is safe, and all before it is safe with it.
  await stream.until(({ type }) => type === 'TOOL_CALL_END')
  first.signal('SIGKILL')
  await Promise.all([first.ended, stream.over()])

  const second = await start(path)
  const rest = await reconnect(second.url, stream.lastId)
  assertValidStream([...stream.events, ...rest.events], { input: body })
  expect(rest.events).toMatchObject([lost])
  expect(await reconnect(second.url, rest.lastId)).toMatchObject({ status: 200, events: [] })
  expect(await listed(second.url)).toMatchObject({
    status: 'waiting-for-tools',
    lastRun: { runId: 'run-1', status: 'lost' },
  })
  const stored = await historyOf(second.url)
  expect(stored).toMatchObject([
    { id: 'u1' },
    { role: 'assistant', content: 'Choose. ', toolCalls: [{ id: 'ask-1' }] },
  ])
  expect(stored[1]?.toolCalls?.[0]?.function.arguments).toBe('{"of":"two"}')

  const result = { id: 'r1', role: 'tool', toolCallId: 'ask-1', content: 'the left one' }
  const next = inputOf({ runId: 'run-2', messages: [...stored, result], tools: [choose] })
  const events = await runWhole(second.url, next)
  expect(events.at(-1)).toMatchObject(success)
  expect(textIn(events)).toBe('You have chosen the left one.')
  expect(await historyOf(second.url)).toMatchObject([...stored, result, { role: 'assistant' }])
  expect(await listed(second.url)).toMatchObject({ status: 'idle' })
})

it('many clients that come at once after a restart all see the same', async () => {
  const path = join(temporaryFolder(), 'threads.db')
  const first = await start(path)
  const body = inputOf({ messages: [user('u1', 'hang')] })
  const stream = await openStream(`${first.url}/run`, { body })
  await stream.until(says('words'))
  first.signal('SIGKILL')
  await Promise.all([first.ended, stream.over()])

  const { url } = await start(path)
  const looks = await Promise.all(
    Array.from({ length: 8 }, async () => ({
      history: await historyOf(url),
      status: (await listed(url))?.lastRun?.status,
    })),
  )
  expect(new Set(looks.map((look) => JSON.stringify(look))).size).toBe(1)
  expect(looks[0]).toMatchObject({ status: 'lost' })
  expect(looks[0]?.history[0]).toEqual(user('u1', 'hang'))
})

it('a message is taken at once after a restart', async () => {
  const path = join(temporaryFolder(), 'threads.db')
  const first = await start(path)
  const stream = await openStream(`${first.url}/run`, { body: inputOf({ messages: [user('u1', 'hang')] }) })
  await stream.until(says('words'))
  first.signal('SIGKILL')
  await Promise.all([first.ended, stream.over()])

  const { url } = await start(path)
  const body = inputOf({ runId: 'run-2', messages: [user('u1', 'hang'), user('u2', 'hello')] })
  const events = await runWhole(url, body)
  expect(textIn(events)).toBe('You said: hello')
})

/** The same numbers in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

it('wherever a process is killed, what was committed is whole and the thread goes on', async () => {
  const path = join(temporaryFolder(), 'threads.db')
  const random = seeded(20_261)
  let child = await start(path)
  let committed: readonly StoredMessage[] = []
  const ends: string[] = []
  for (let round = 0; round < 10; round++) {
    const body = inputOf({
      ...{ runId: `run-${round}`, messages: [...committed, user(`u${round}`, 'count')] },
      state: await stateOf(child.url, committed.length > 0),
    })
    const stream = await openStream(`${child.url}/run`, { body })
    const moment = 1 + random(54)
    await stream.until(() => stream.received.length >= moment)
    child.signal('SIGKILL')
    await Promise.all([child.ended, stream.over()])

    child = await start(path)
    const rest = await reconnect(child.url, stream.lastId)
    const joined = [...stream.events, ...rest.events]
    assertValidStream(joined, { input: body })
    const isLost = joined.at(-1)?.type === 'RUN_ERROR'
    ends.push(isLost ? 'lost' : 'completed')
    expect(joined.at(-1)).toMatchObject(isLost ? lost : success)
    const stored = await historyOf(child.url)
    expect(stored.slice(0, committed.length + 1)).toEqual([...committed, user(`u${round}`, 'count')])
    expectUnique(stored)
    for (const said of stored.slice(committed.length + 1).filter(({ role }) => role === 'assistant'))
      expect(textIn(joined)).toContain(said.content ?? '')
    expect((await listed(child.url))?.lastRun).toEqual({ runId: `run-${round}`, status: ends.at(-1) })

    const next = inputOf({
      ...{ runId: `run-${round}-after`, messages: [...stored, user(`v${round}`, 'go on')] },
      state: await stateOf(child.url, true),
    })
    expect(textIn(await runWhole(child.url, next))).toBe('You said: go on')
    committed = await historyOf(child.url)
    expect(committed.slice(0, stored.length)).toEqual(stored)
    expectUnique(committed)
  }
  // The last events may come together, and then the run is over.
  expect(ends.filter((end) => end === 'lost').length).toBeGreaterThan(5)
}, 60_000)

async function stateOf(url: string, isKnown: boolean): Promise<unknown> {
  if (!isKnown) return {}
  const { body } = await ask(`${url}/state_snapshot/thread-1`)
  return (body as { readonly snapshot: unknown }).snapshot
}

const startInterrupting = startingChildren('serve-interrupting.mjs')

function interruptIdIn(events: readonly AgUiEvent[]): string {
  const last = events.at(-1)
  const [interrupt] =
    last?.type === 'RUN_FINISHED' && last.outcome?.type === 'interrupt' ? last.outcome.interrupts : []
  if (!interrupt) throw new Error('There is no interrupt.')
  return interrupt.id
}

const yes = (interruptId: string) => [{ interruptId, status: 'resolved', payload: 'yes' }]

/** Runs until an interrupt, answers it, and kills the process while the run resumes. */
async function killWhileResuming(mode: 'hang' | 'hang-in-tool') {
  const folder = temporaryFolder()
  const [path, file] = [join(folder, 'threads.db'), join(folder, 'sent.txt')]
  const first = await startInterrupting(path, file, mode)
  const interrupted = await runWhole(first.url, inputOf({ runId: 'run-0', messages: [user('u1', 'mail')] }))
  const id = interruptIdIn(interrupted)
  const before = await historyOf(first.url)
  const body = inputOf({ messages: before, resume: yes(id) })
  const stream = await openStream(`${first.url}/run`, { body })
  await stream.until(mode === 'hang' ? says('Now') : ({ type }) => type === 'RUN_STARTED')
  // Time for the log.
  await pause(500)
  first.signal('SIGKILL')
  await Promise.all([first.ended, stream.over()])
  const sent = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
  return { path, id, before, sent, url: (await startInterrupting(path, file, 'go')).url }
}

async function stateIn(path: string): Promise<unknown> {
  const store = await createSqliteStore({ path })
  const key = { app: 'default', user: 'local', agent: 'mailer', thread: 'thread-1' }
  const thread = await store.threads.load(key)
  await store.close()
  return thread?.state
}

it('an interrupt whose tool was done when the process was killed is not raised again', async () => {
  const { path, url, id, sent } = await killWhileResuming('hang')
  const stored = await historyOf(url)
  expect(stored.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  expect(await listed(url)).toMatchObject({ status: 'idle', lastRun: { status: 'lost' } })
  // Private state is as new as the visible one.
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

it('an interrupt whose tool was at work when the process was killed is not raised again', async () => {
  const { path, url, id, before, sent } = await killWhileResuming('hang-in-tool')
  const stored = await historyOf(url)
  const lost = { role: 'tool', toolCallId: 'mail-1', content: expect.stringContaining('is lost') as string }
  expect(stored).toMatchObject([...before, lost])
  expect(await listed(url)).toMatchObject({ status: 'idle', lastRun: { status: 'lost' } })
  // What the tool had shown is not undone.
  expect(await stateIn(path)).toEqual({ sent: 1, 'user:ids': ['yes'] })
  // The answer once more lets the agent go on, and the tool does not run again.
  const state = { sent: 1 }
  const events = await runWhole(url, inputOf({ runId: 'run-2', messages: stored, state, resume: yes(id) }))
  expect(textIn(events)).toBe('All done.')
  expect(sent()).toEqual([])
}, 30_000)
