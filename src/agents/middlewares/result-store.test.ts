import { expect, test } from 'vitest'
import { memoryResultStore } from './result-store.js'

test('gives back what was put, and nothing for other keys', async () => {
  const store = memoryResultStore()
  await store.put('a', 'text')
  expect(await store.get('a')).toBe('text')
  expect(await store.get('b')).toBeUndefined()
})

test('drops the oldest when there is no room', async () => {
  const store = memoryResultStore({ maxChars: 10 })
  await store.put('a', '1234')
  await store.put('b', '1234')
  await store.put('c', '12')
  expect(await store.get('a')).toBe('1234')
  await store.put('d', '1')
  expect(await store.get('a')).toBeUndefined()
  expect(await store.get('b')).toBe('1234')
  await store.put('e', '12345')
  expect(await store.get('b')).toBeUndefined()
  expect(await store.get('c')).toBe('12')
})

test('keeps the newest even when it alone has no room', async () => {
  const store = memoryResultStore({ maxChars: 3 })
  await store.put('a', '12')
  await store.put('b', '12345')
  expect(await store.get('a')).toBeUndefined()
  expect(await store.get('b')).toBe('12345')
})

test('a key that is put again counts once', async () => {
  const store = memoryResultStore({ maxChars: 10 })
  await store.put('a', '1234')
  await store.put('a', '5678')
  await store.put('b', '123456')
  expect(await store.get('a')).toBe('5678')
})

test('refuses a size that is none', () => {
  expect(() => memoryResultStore({ maxChars: -1 })).toThrow(
    expect.objectContaining({ code: 'INVALID_AGENT' }),
  )
})
