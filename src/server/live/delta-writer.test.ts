import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { AgUiEvent } from '../../protocol/index.js'
import { DeltaWriter } from './delta-writer.js'

const plain = fc.record({
  type: fc.constantFrom('TEXT_MESSAGE_CONTENT' as const, 'REASONING_MESSAGE_CONTENT' as const),
  messageId: fc.constantFrom('m1', 'm2', '"\\\u2028'),
  delta: fc.string({ unit: 'binary' }),
})

it('writes the same JSON as JSON.stringify, whatever the order of messages', () => {
  fc.assert(
    fc.property(fc.array(plain), (events) => {
      const writer = new DeltaWriter()
      for (const { type, messageId, delta } of events) {
        const event = { type, messageId, delta }
        expect(writer.write(event)).toBe(JSON.stringify(event))
      }
    }),
  )
})

it.each<AgUiEvent>([
  { type: 'TEXT_MESSAGE_END', messageId: 'm' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x', subagentRunId: 's' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x', metadata: { a: 1 } },
  { messageId: 'm', type: 'TEXT_MESSAGE_CONTENT', delta: 'x' },
])('leaves %j to others', (event) => {
  expect(new DeltaWriter().write(event)).toBeUndefined()
})
