import { createEvent, type Event } from '@google/adk'
import { beforeEach, expect, test } from 'vitest'
import { RecentSessions } from './recent-sessions.js'

const key = { appName: 'app', userId: 'ann', sessionId: 's' }
let sessions: RecentSessions

const event = (id: string, fields: Partial<Event> = {}): Event => ({
  ...createEvent({ author: 'user', invocationId: 'i', content: { role: 'user', parts: [{ text: id }] } }),
  id,
  ...fields,
})

/** Appends an event to the session as the service has it. */
async function append(added: Event): Promise<void> {
  const session = await sessions.getSession(key)
  if (session) await sessions.appendEvent({ session, event: added })
}

beforeEach(async () => {
  sessions = new RecentSessions({ memoryService: undefined })
  await sessions.createSession({ ...key, state: { list: [1] } })
})

test('hands out events without a copy, in a list of its own', async () => {
  const first = event('e1')
  await append(first)
  const one = await sessions.getSession(key)
  await append(event('e2'))
  expect(one?.events).toEqual([first])
  expect((await sessions.getSession(key))?.events[0]).toBe(first)
})

test('hands out a copy of the state', async () => {
  await append(
    event('e1', { actions: { ...event('').actions, stateDelta: { 'user:name': 'Ann', more: {} } } }),
  )
  const session = await sessions.getSession(key)
  expect(session?.state).toEqual({ list: [1], more: {}, 'user:name': 'Ann' })
  const list = session?.state.list as number[]
  list.push(2)
  expect((await sessions.getSession(key))?.state.list).toEqual([1])
  await sessions.createSession({ ...key, sessionId: 'other' })
  expect((await sessions.getSession({ ...key, sessionId: 'other' }))?.state).toEqual({ 'user:name': 'Ann' })
})

test('keeps no value for one run alone, and no partial event', async () => {
  await append(event('e1', { actions: { ...event('').actions, stateDelta: { 'temp:a': 1, b: 2 } } }))
  await append(event('e2', { partial: true }))
  const session = await sessions.getSession(key)
  expect(session?.events.map(({ id, actions }) => [id, { ...actions.stateDelta }])).toEqual([
    ['e1', { b: 2 }],
  ])
  expect(session?.state).toEqual({ list: [1], b: 2 })
})

test('replaces an event that comes again with its id', async () => {
  await append(event('e1'))
  await append(event('e2'))
  const again = event('e1', { author: 'agent' })
  await append(again)
  expect((await sessions.getSession(key))?.events.map(({ id, author }) => [id, author])).toEqual([
    ['e1', 'agent'],
    ['e2', 'user'],
  ])
})

test('hands out the latest events alone to those who ask for them', async () => {
  for (const timestamp of [10, 20, 30]) await append(event(`e${timestamp}`, { timestamp }))
  const read = async (config: object) =>
    (await sessions.getSession({ ...key, config }))?.events.map(({ timestamp }) => timestamp)
  expect(await read({ numRecentEvents: 2 })).toEqual([20, 30])
  expect(await read({ afterTimestamp: 20 })).toEqual([20, 30])
  expect(await read({ numRecentEvents: 2, afterTimestamp: 30 })).toEqual([30])
})

test('knows nothing of a session that was deleted', async () => {
  await append(event('e1'))
  await sessions.deleteSession(key)
  expect(await sessions.getSession(key)).toBeUndefined()
  await sessions.createSession(key)
  expect((await sessions.getSession(key))?.events).toEqual([])
})
