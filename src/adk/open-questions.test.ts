import { createEvent, type Event } from '@google/adk'
import { expect, it } from 'vitest'
import type { Part } from './adk-types.js'
import { openEnds } from './open-questions.js'

const says = (text: string): Event =>
  createEvent({ author: 'user', invocationId: text, content: { role: 'user', parts: [{ text }] } })
const waits = (...parts: Part[]): Event =>
  createEvent({
    author: 'helper',
    invocationId: 'i',
    content: { role: 'model', parts },
    longRunningToolIds: parts.flatMap(({ functionCall }) => functionCall?.id ?? []),
  })
const answers = (...ids: string[]): Event =>
  createEvent({
    author: 'user',
    invocationId: 'j',
    content: {
      role: 'user',
      parts: ids.map((id) => ({ functionResponse: { id, name: 'x', response: {} } })),
    },
  })
const pick = { functionCall: { id: 'c1', name: 'pick', args: {} } }
const confirm = {
  functionCall: {
    id: 'q1',
    name: 'adk_request_confirmation',
    args: { originalFunctionCall: { id: 'c2', name: 'remove', args: {} }, toolConfirmation: {} },
  },
}

const open = (events: readonly Event[]) => {
  const { questions, callIds } = openEnds(events)
  return [questions.map(({ functionCallId }) => functionCallId), callIds]
}

it('a session waits for answers and for results that nobody has given', () => {
  const asked = [says('Go'), waits(pick), waits(confirm)]
  expect(open(asked)).toEqual([['q1'], ['c1']])
  expect(open([...asked, answers('c1')])).toEqual([['q1'], []])
  expect(open([...asked, answers('c1', 'q1')])).toEqual([[], []])
})

it('a session waits for nothing when the user has gone on', () => {
  expect(open([says('Go'), waits(pick), waits(confirm), says('Never mind')])).toEqual([[], []])
})
