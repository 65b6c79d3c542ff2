import { describe, expect, it, test } from 'vitest'
import { randomIds, sequentialIds, stableHash } from './ids.js'

describe('randomIds', () => {
  test('gives a different UUID at every call', () => {
    const ids = new Set(Array.from({ length: 100 }, () => randomIds()))
    expect(ids.size).toBe(100)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  test('puts the prefix first', () => {
    expect(randomIds('run')).toMatch(/^run-[0-9a-f]{8}-/)
  })
})

describe('sequentialIds', () => {
  test('counts apart for each prefix', () => {
    const ids = sequentialIds()
    expect([ids('run'), ids('message'), ids('run'), ids(), ids()]).toEqual([
      'run-1',
      'message-1',
      'run-2',
      'id-1',
      'id-2',
    ])
  })

  test('starts afresh for every source', () => {
    sequentialIds()('run')
    expect(sequentialIds()('run')).toBe('run-1')
  })
})

describe('stableHash', () => {
  it('gives the values of FNV-1a', () => {
    expect(stableHash('')).toBe('cbf29ce484222325')
    expect(stableHash('a')).toBe('af63dc4c8601ec8c')
    expect(stableHash('foobar')).toBe('85944171f73967e8')
  })
})
