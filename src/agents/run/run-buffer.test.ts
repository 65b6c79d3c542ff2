import { expect, test } from 'vitest'
import { settled } from '../../../test/support/run-agent.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { createRunBuffer } from './run-buffer.js'

const event = (value: number): AgUiEvent => ({ type: 'CUSTOM', name: 'n', value })

function build(capacity = 2) {
  const log: string[] = []
  const buffer = createRunBuffer({ capacity, onAbandoned: () => log.push('abandoned') })
  const push = (value: number) =>
    void Promise.resolve(buffer.push(event(value))).then(() => log.push(`pushed ${value}`))
  return { buffer, log, push }
}

test('takes as many events as it holds, then lets the run wait for the reader', async () => {
  const { buffer, log, push } = build()
  for (const value of [1, 2, 3]) push(value)
  await settled()
  expect(log).toEqual(['pushed 1', 'pushed 2'])
  const reader = buffer.read()
  expect(await reader.next()).toEqual({ done: false, value: event(1) })
  await settled()
  expect(log).toEqual(['pushed 1', 'pushed 2', 'pushed 3'])
})

test('drops what it cannot hold once only the result is wanted, and says so in the end', async () => {
  const { buffer, log, push } = build()
  for (const value of [1, 2, 3]) push(value)
  buffer.wantResult()
  await settled()
  expect(log).toEqual(['pushed 1', 'pushed 2', 'pushed 3'])
  buffer.close()
  const reader = buffer.read()
  expect([(await reader.next()).value, (await reader.next()).value]).toEqual([event(1), event(2)])
  await expect(reader.next()).rejects.toMatchObject({ code: 'RUN_CLOSED' })
  expect(log).not.toContain('abandoned')
})

test('drops nothing for a reader who comes after the result was wanted, but in time', async () => {
  const { buffer, push } = build()
  for (const value of [1, 2]) push(value)
  buffer.wantResult()
  const reader = buffer.read()
  for (const value of [3, 4]) push(value)
  buffer.close()
  const values: unknown[] = []
  for await (const one of reader) values.push(one.type === 'CUSTOM' && one.value)
  expect(values).toEqual([1, 2, 3, 4])
})

test('tells when the reader leaves, once and not after the end', async () => {
  const { buffer, log, push } = build()
  const reader = buffer.read()
  const pending = reader.next()
  await reader.return(undefined)
  expect(await pending).toEqual({ done: true, value: undefined })
  push(1)
  await settled()
  expect(log).toEqual(['abandoned', 'pushed 1'])

  const other = build()
  other.buffer.close()
  const second = other.buffer.read()
  expect(await second.next()).toEqual({ done: true, value: undefined })
  await second.return(undefined)
  expect(other.log).toEqual([])
})

test('lets a run that waits for room go on when the reader leaves', async () => {
  const { buffer, log, push } = build(1)
  const reader = buffer.read()
  for (const value of [1, 2, 3]) push(value)
  await reader.next()
  await reader.return(undefined)
  await settled()
  expect(log.sort()).toEqual(['abandoned', 'pushed 1', 'pushed 2', 'pushed 3'])
})
