import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { AgUiEvent } from '../../protocol/index.js'
import { RecentEvents } from './recent-events.js'

const plain = fc.record({
  type: fc.constantFrom('TEXT_MESSAGE_CONTENT' as const, 'REASONING_MESSAGE_CONTENT' as const),
  messageId: fc.constantFrom('m1', 'm2', '"\\\u2028'),
  delta: fc.string({ unit: 'binary' }),
})

it('writes the same JSON as JSON.stringify, whatever the order of messages', () => {
  fc.assert(
    fc.property(fc.array(plain), (events) => {
      const recent = new RecentEvents(0)
      const plainEvents = events.map(({ type, messageId, delta }) => ({ type, messageId, delta }))
      for (const event of plainEvents) recent.push(event)
      expect(recent.lines(0, recent.next)).toEqual(plainEvents.map((event) => JSON.stringify(event)))
    }),
  )
})

it.each<AgUiEvent>([
  { type: 'TEXT_MESSAGE_END', messageId: 'm' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x', subagentRunId: 's' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x', metadata: { a: 1 } },
  { messageId: 'm', type: 'TEXT_MESSAGE_CONTENT', delta: 'x' },
])('writes %j with all its members, in their order', (event) => {
  const recent = new RecentEvents(0)
  recent.push({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'w' })
  recent.push(event)
  expect(recent.lines(1, 2)).toEqual([JSON.stringify(event)])
})
