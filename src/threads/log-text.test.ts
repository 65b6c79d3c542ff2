import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromLogText, toLogText } from './log-text.js'

const delta = (messageId: string, text: string): string =>
  JSON.stringify({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta: text })

it('gives back any lines of JSON as they were', () => {
  const line = fc.oneof(
    fc
      .tuple(fc.constantFrom('a', 'b', '"delta":'), fc.string({ unit: 'binary' }))
      .map(([id, text]) => delta(id, text)),
    fc.json(),
    fc.constantFrom('{}', '{"delta":1}', '{"type":"STATE_DELTA","delta":[]}'),
  )
  fc.assert(
    fc.property(fc.array(line, { minLength: 1 }), (lines) => {
      expect(fromLogText(toLogText(lines))).toEqual(lines)
    }),
  )
})

it('writes of deltas that follow each other little more than what they say', () => {
  const lines = Array.from({ length: 1000 }, (_, n) => delta('message-1', `word ${n} `))
  expect(toLogText(lines).length).toBeLessThan(lines.join('\n').length / 4)
})
