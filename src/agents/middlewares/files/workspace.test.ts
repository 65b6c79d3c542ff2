import { describe, expect, test } from 'vitest'
import { deferred, settled } from '../../../../test/support/run-agent.js'
import { createRunInOrder, formatPage, takePage } from './workspace.js'

const all = ['a', 'b', 'c', 'd']

describe('a page', () => {
  test.each([
    ['of all', { offset: 0, limit: 9, maxChars: 99 }, { lines: all, next: undefined }],
    ['that just fits', { offset: 0, limit: 4, maxChars: 99 }, { lines: all, next: undefined }],
    ['of the first', { offset: 0, limit: 2, maxChars: 99 }, { lines: ['a', 'b'], next: 2 }],
    ['of the next', { offset: 2, limit: 1, maxChars: 99 }, { lines: ['c'], next: 3 }],
    ['of what has room', { offset: 1, limit: 9, maxChars: 4 }, { lines: ['b', 'c'], next: 3 }],
    ['of one at least', { offset: 0, limit: 9, maxChars: 0 }, { lines: ['a'], next: 1 }],
    ['behind the end', { offset: 9, limit: 9, maxChars: 99 }, { lines: [], next: undefined }],
  ])('%s', async (_, options, expected) => {
    expect(await takePage(all, options)).toEqual(expected)
  })

  test('takes no more than it needs from its source, and ends it', async () => {
    const log: string[] = []
    function* source() {
      try {
        for (const one of all) {
          log.push(one)
          yield one
        }
      } finally {
        log.push('end')
      }
    }
    await takePage(source(), { offset: 0, limit: 1, maxChars: 99 })
    expect(log).toEqual(['a', 'b', 'end'])
  })

  test('says how to go on, or that there is nothing', () => {
    expect(formatPage({ lines: ['a', 'b'], next: 2 }, 'Nothing.')).toBe(
      'a\nb\n[There are more. Go on with offset 2.]',
    )
    expect(formatPage({ lines: ['a'], next: undefined }, 'Nothing.')).toBe('a')
    expect(formatPage({ lines: [], next: undefined }, 'Nothing.')).toBe('Nothing.')
  })
})

test('work of one key waits for its turn, also behind work that failed', async () => {
  const runInOrder = createRunInOrder()
  const log: string[] = []
  const gate = deferred()
  const first = runInOrder('a', async () => {
    log.push('first')
    await gate.promise
    throw new Error('first failed')
  })
  const second = runInOrder('a', () => Promise.resolve(log.push('second')))
  const other = runInOrder('b', () => Promise.resolve(log.push('other')))
  await other
  await settled()
  expect(log).toEqual(['first', 'other'])
  gate.resolve()
  await expect(first).rejects.toThrow('first failed')
  await second
  expect(log).toEqual(['first', 'other', 'second'])
})
