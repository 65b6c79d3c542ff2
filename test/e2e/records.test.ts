import type { Message } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { begunTwice, faultsIn, type Records } from './support-records.js'

const call = { id: 'c1', type: 'function' as const, function: { name: 'look', arguments: '{}' } }
const user: Message = { id: 'u1', role: 'user', content: 'look' }
const caller: Message = { id: 'a1', role: 'assistant', toolCalls: [call] }
const result: Message = { id: 'r1', role: 'tool', toolCallId: 'c1', content: 'look done for k' }
const answer: Message = { id: 'a2', role: 'assistant', content: 'Here it is.' }
const thread = [user, caller, result, answer]
const lost = 'The result of this call is lost: its process has ended.'

function check(changes: Partial<{ [K in keyof Records]: unknown }>): string[] {
  const results = new Map([['c1', 'look done for k']])
  return faultsIn({ held: thread, stored: thread, results, hasSnapshot: false, ...changes } as Records)
}

describe('the check of the records of clients', () => {
  it('finds no fault with two equal sides', () => {
    expect(check({})).toEqual([])
    expect(check({ hasSnapshot: true })).toEqual([])
  })

  it('finds a result that was seen and is gone', () => {
    const without = [user, caller, answer]
    expect(check({ held: without, stored: without })).toEqual([
      expect.stringContaining('it is now undefined'),
    ])
  })

  it('finds a result that was seen and is another now', () => {
    const changed = [user, caller, { ...result, content: lost }, answer]
    expect(check({ held: changed, stored: changed })).toEqual([
      expect.stringContaining('it is now The result'),
    ])
  })

  it('takes the real result for one that was said to be lost, and nothing else', () => {
    const results = new Map([['c1', lost]])
    expect(check({ results })).toEqual([])
    const other = [user, caller, { ...result, content: 'something else' }, answer]
    expect(check({ results, held: other, stored: other })).toHaveLength(1)
  })

  it('finds a message that is there twice', () => {
    const twice = [...thread, answer]
    expect(check({ held: twice, stored: twice })).toEqual([expect.stringContaining('twice')])
  })

  it('finds a message that only one side has', () => {
    expect(check({ held: thread.slice(0, 3) })).toHaveLength(1)
    expect(check({ stored: thread.slice(0, 3) })).toHaveLength(1)
    expect(check({ stored: thread.slice(0, 3), hasSnapshot: true })).toHaveLength(1)
  })

  it('finds another order, unless a snapshot came', () => {
    const stored = [user, answer, caller, result]
    expect(check({ stored })).toHaveLength(1)
    expect(check({ stored, hasSnapshot: true })).toEqual([])
  })

  it('finds another name, but not one that the client was never told', () => {
    const named = (name: string) => thread.map((one) => (one === answer ? { ...answer, name } : one))
    expect(check({ stored: named('ann') })).toEqual([])
    expect(check({ held: named('ann'), stored: named('bob') })).toHaveLength(1)
    expect(check({ held: named('ann') })).toHaveLength(1)
  })
})

describe('the check of the records of tools', () => {
  it('finds a call that was begun twice, by whatever process', () => {
    expect(begunTwice(['begin c1 k1 100', 'begin c2 k1 100'])).toEqual([])
    expect(begunTwice(['begin c1 k1 100', 'begin c2 k2 100', 'begin c1 k1 200'])).toEqual(['c1'])
  })
})
