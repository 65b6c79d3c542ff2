import { createEvent, type Event } from '@google/adk'
import { expect, it } from 'vitest'
import type { Part } from '../adk-types.js'
import type { SessionPlan } from './plan-session.js'
import { createRepeatedInputs } from './repeated-inputs.js'

const event = (author: string, parts: Part[], branch?: string): Event =>
  createEvent({ author, content: { role: 'user', parts }, ...(branch ? { branch } : {}) })
const input = (text: string, branch?: string): Event => event('user', [{ text }], branch)
const result: Part = { functionResponse: { id: 'c1', name: 'pick', response: {} } }
const kept = [
  input('Go'),
  event('a', [{ text: 'A.' }]),
  input('A.'),
  event('b', [{ functionCall: { id: 'c1', name: 'pick', args: {} } }]),
]

function planned(news: Partial<SessionPlan['news']>, keep: readonly Event[] = kept): SessionPlan {
  const none = { content: undefined, messageIds: [], isDelivered: false, mark: {} }
  return { keep, cut: [], add: [], news: { ...none, ...news }, authors: [], notes: [] }
}

it('the input of a node that goes on with a result is no news, once', () => {
  const repeats = createRepeatedInputs(planned({ content: { role: 'user', parts: [result] } }))
  expect([repeats(input('Go')), repeats(input('A.', 'other')), repeats(input('A.'))]).toEqual([
    false,
    false,
    true,
  ])
  // The node is run anew in a later round.
  expect(repeats(input('A.'))).toBe(false)
})

it('a first node is given the result itself', () => {
  const repeats = createRepeatedInputs(planned({ content: { role: 'user', parts: [result] } }))
  expect(repeats(event('user', [result]))).toBe(true)
})

it('the input of a node that has failed in an attempt before is no news', () => {
  const keep = [
    input('Go'),
    event('a', [{ text: 'A.' }]),
    input('A.'),
    createEvent({ author: 'b', errorCode: '503' }),
  ]
  const repeats = createRepeatedInputs(planned({ isDelivered: true }, keep))
  expect([repeats(input('Go')), repeats(input('A.'))]).toEqual([false, true])
})

it('nothing is repeated in a run that begins', () => {
  const repeats = createRepeatedInputs(planned({ content: { role: 'user', parts: [{ text: 'Go' }] } }, []))
  expect(repeats(input('Go'))).toBe(false)
})
