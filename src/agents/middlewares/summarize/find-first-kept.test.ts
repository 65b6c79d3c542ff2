import type { Message } from '@ag-ui/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findFirstKept } from './find-first-kept.js'

/** `u` user, `t` text of the assistant, `r` reasoning, `A` a call of a, `a` its result. */
function conversation(letters: string): Message[] {
  return Array.from(letters, (letter, position): Message => {
    const id = `m${position}`
    if (letter === 'u') return { id, role: 'user', content: '' }
    if (letter === 't') return { id, role: 'assistant', content: '' }
    if (letter === 'r') return { id, role: 'reasoning', content: '' }
    if (letter >= 'a') return { id, role: 'tool', toolCallId: letter, content: '' }
    const call = { name: letter, arguments: '' }
    return {
      id,
      role: 'assistant',
      toolCalls: [{ id: letter.toLowerCase(), type: 'function', function: call }],
    }
  })
}

/** Where the kept part begins, shown by a bar. Every message counts one token. */
function cut(letters: string, keepTokens: number, from = 0): string {
  const position = findFirstKept(conversation(letters), { from, keepTokens, estimate: () => 1 })
  return `${letters.slice(0, position)}|${letters.slice(position)}`
}

describe('the kept part', () => {
  test.each([
    ['is as much as fits', 'ututut', 2, 'utut|ut'],
    ['leaves out a single message', 'ututut', 5, 'u|tutut'],
    ['is all when all fits', 'ututut', 6, '|ututut'],
    ['is the last message when nothing fits', 'utu', 0, 'ut|u'],
    ['begins behind results rather than with them', 'uAaAau', 2, 'uAaAa|u'],
    ['begins with a call', 'uAaAau', 3, 'uAa|Aau'],
    ['never parts parallel calls from their results', 'uABabt', 3, 'uABab|t'],
    ['never parts a call from a result that came late', 'uAuat', 3, 'uAua|t'],
    ['is a call with its results when nothing smaller can stand alone', 'utAaaa', 1, 'ut|Aaaa'],
    ['keeps reasoning with the answer', 'utrtu', 2, 'utrt|u'],
    ['begins with reasoning', 'utrtu', 3, 'ut|rtu'],
    ['may follow reasoning that led nowhere', 'utru', 1, 'utr|u'],
    ['may follow results without a call', 'uzzu', 1, 'uzz|u'],
    ['never begins with a result without a call', 'uzzu', 2, 'uzz|u'],
  ])('%s: %s, %d', (_, letters, keepTokens, expected) => {
    expect(cut(letters, keepTokens)).toBe(expected)
  })

  test('is all when there is nothing else it could be', () => {
    expect(cut('Aaaa', 1)).toBe('|Aaaa')
    expect(cut('u', 0)).toBe('|u')
    expect(cut('', 0)).toBe('|')
  })

  test('never begins before it may', () => {
    expect(cut('utut', 3, 2)).toBe('ut|ut')
    expect(cut('ututut', 1, 2)).toBe('ututu|t')
    expect(cut('utAa', 0, 2)).toBe('ut|Aa')
  })
})

test('in any conversation, the kept part begins validly and holds no more than asked unless it must', () => {
  const letters = fc.string({
    unit: fc.constantFrom('u', 't', 'r', 'A', 'B', 'a', 'b'),
    minLength: 1,
    maxLength: 15,
  })
  fc.assert(
    fc.property(letters, fc.nat(10), fc.nat(5), (text, keepTokens, start) => {
      const from = Math.min(start, text.length)
      const messages = conversation(text)
      const position = findFirstKept(messages, { from, keepTokens, estimate: () => 1 })
      expect(position).toBeGreaterThanOrEqual(from)
      if (position === from) return
      expect(messages.slice(0, position).filter((_, index) => hasLaterResult(text, index, position))).toEqual(
        [],
      )
      expect(messages[position]?.role).not.toBe('tool')
      if (text.length - position <= keepTokens) return
      const smaller = Array.from({ length: text.length - position - 1 }, (_, index) => position + 1 + index)
      expect(smaller.filter((later) => canBegin(text, later))).toEqual([])
    }),
  )
})

/** Whether the call at this place has its result at or behind `position`. The last call before a result is its own. */
function hasLaterResult(text: string, index: number, position: number): boolean {
  const letter = text[index] ?? ''
  if (letter !== 'A' && letter !== 'B') return false
  const again = text.indexOf(letter, index + 1)
  const results = text.slice(index + 1, again === -1 ? undefined : again)
  return (
    results.lastIndexOf(letter.toLowerCase()) + index + 1 >= position &&
    results.includes(letter.toLowerCase())
  )
}

function canBegin(text: string, position: number): boolean {
  const letter = text[position] ?? ''
  if (letter === 'a' || letter === 'b') return false
  if (text[position - 1] === 'r' && /[tAB]/.test(letter)) return false
  return !Array.from(text.slice(0, position), (_, index) => hasLaterResult(text, index, position)).includes(
    true,
  )
}
