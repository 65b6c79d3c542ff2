import { expect, it } from 'vitest'
import { settled } from '../../../test/support/run-agent.js'
import { createLine } from './line.js'

const never = new AbortController().signal

async function all(events: AsyncIterable<unknown>): Promise<unknown[]> {
  const read: unknown[] = []
  for await (const event of events) read.push(event)
  return read
}

it('gives all in order, and then ends as it was ended', async () => {
  const line = createLine({ signal: never })
  for (const event of [1, 2, 3]) line.put(event)
  line.close()
  line.put(4)
  expect(await all(line.events)).toEqual([1, 2, 3])

  const failing = createLine({ signal: never })
  failing.put(1)
  failing.fail(new Error('torn'))
  expect((await failing.events.next()).value).toBe(1)
  await expect(failing.events.next()).rejects.toThrow('torn')
})

it('has room again when half of what is comfortable is left', async () => {
  const line = createLine({ signal: never, comfortable: 4 })
  for (const event of [1, 2, 3]) line.put(event)
  expect(line.room()).toBeUndefined()
  line.put(4)
  let hasRoom = false
  void line.room()?.then(() => (hasRoom = true))
  await line.events.next()
  await settled()
  expect(hasRoom).toBe(false)
  await line.events.next()
  await settled()
  expect(hasRoom).toBe(true)
  expect(line.room()).toBeUndefined()
})

it('fails when more is put in than it may keep', async () => {
  const line = createLine({ signal: never, limit: 2 })
  for (const event of [1, 2, 3]) line.put(event)
  await expect(all(line.events)).rejects.toThrow('More than 2 events of the agent wait to be read.')
})

it('gives nothing more when it is aborted, and lets go whoever waits', async () => {
  const controller = new AbortController()
  const line = createLine({ signal: controller.signal, comfortable: 1 })
  for (const event of [1, 2, 3]) line.put(event)
  await line.events.next()
  const room = line.room()
  expect(room).toBeInstanceOf(Promise)
  controller.abort(new Error('enough'))
  await room
  await expect(line.events.next()).rejects.toThrow('enough')

  const waiting = createLine({ signal: controller.signal })
  await expect(waiting.events.next()).rejects.toThrow('enough')
})

it('lets go whoever waits when the reader leaves', async () => {
  const line = createLine({ signal: never, comfortable: 1 })
  for (const event of [1, 2, 3]) line.put(event)
  await line.events.next()
  const room = line.room()
  await line.events.return()
  await room
  line.put(4)
  expect(line.room()).toBeUndefined()
})
