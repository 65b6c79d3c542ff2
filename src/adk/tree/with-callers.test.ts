import { createEvent, type Event } from '@google/adk'
import { expect, it } from 'vitest'
import type { Part } from '../adk-types.js'
import { withCallers } from './with-callers.js'

const event = (author: string, parts: Part[], branch?: string): Event =>
  createEvent({
    author,
    content: { role: author === 'user' ? 'user' : 'model', parts },
    ...(branch ? { branch } : {}),
  })
const call = (id: string): Part => ({ functionCall: { id, name: 'pick', args: {} } })
const result = (id: string, name = 'pick'): Part => ({ functionResponse: { id, name, response: {} } })

const shown = (events: readonly Event[]) =>
  events.map(({ author, branch, content }) => [
    author,
    branch,
    content?.parts?.map(
      ({ text, functionCall, functionResponse }) => text ?? functionCall?.id ?? functionResponse?.id,
    ),
  ])

it('results that a client gave are those of the agents that called, words stay the user’s', () => {
  const events = [
    event('a', [call('c1')], 'lanes.a'),
    event('b', [call('c2')], 'lanes.b'),
    event('user', [result('c2'), result('c1'), { text: 'There.' }]),
  ]
  expect(shown(withCallers(events)).slice(2)).toEqual([
    ['b', 'lanes.b', ['c2']],
    ['a', 'lanes.a', ['c1']],
    ['user', undefined, ['There.']],
  ])
  expect(shown(events).at(-1)).toEqual(['user', undefined, ['c2', 'c1', 'There.']])
})

it('answers to questions of ADK, and results of calls that nobody made, stay as they are', () => {
  const events = [
    event('a', [{ functionCall: { id: 'q1', name: 'adk_request_confirmation', args: {} } }]),
    event('user', [result('q1', 'adk_request_confirmation'), result('c9')]),
    event('user', [{ text: 'Hi.' }]),
  ]
  expect(withCallers(events)).toEqual(events)
})
