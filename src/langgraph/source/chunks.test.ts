import { expect, test } from 'vitest'
import { createChunkReader } from './chunks.js'

test('The state of the graph itself is read, that of graphs inside is not', () => {
  const read = createChunkReader()
  expect(read([[], 'values', { a: 1 }])).toEqual({ type: 'values', values: { a: 1 } })
  expect(read([['sub:1'], 'values', { a: 2 }])).toBeUndefined()
})

test('A question is told once, with the innermost place where it was asked', () => {
  const read = createChunkReader()
  const asked = { __interrupt__: [{ id: 'q1', value: 'who?' }] }
  expect(read([['a:1', 'b:2'], 'values', asked])).toBeUndefined()
  expect(read([['a:1'], 'values', asked])).toBeUndefined()
  expect(read([[], 'values', asked])).toEqual({
    type: 'interrupts',
    interrupts: [{ id: 'q1', value: 'who?', ns: ['a:1', 'b:2'] }],
  })
})

test('A question without an id has no place but the graph itself', () => {
  const read = createChunkReader()
  read([['a:1'], 'values', { __interrupt__: [{ value: 1 }] }])
  expect(read([[], 'values', { __interrupt__: [{ value: 1 }, 'bare'] }])).toEqual({
    type: 'interrupts',
    interrupts: [
      { id: undefined, value: 1, ns: [] },
      { id: undefined, value: 'bare', ns: [] },
    ],
  })
})

test.each([
  ['text', 'stream'],
  [['values', {}], 'stream'],
  [[[], 'tasks', {}], 'stream:tasks'],
  [[[], 'values', 7], 'stream:values'],
])('%j is unknown', (chunk, name) => {
  expect(createChunkReader()(chunk)).toEqual({ type: 'unknown', name })
})
