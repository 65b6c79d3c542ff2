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
  const lines = fc.array(line, { minLength: 1 })
  // As a model writes: long stretches that begin alike.
  const stretch = fc.tuple(line, fc.nat(100)).map(([one, times]) => Array<string>(times + 1).fill(one))
  const stretches = fc.array(stretch, { minLength: 1, maxLength: 5 }).map((all) => all.flat())
  fc.assert(
    fc.property(fc.oneof(lines, stretches), (given) => {
      expect(fromLogText(toLogText(given))).toEqual(given)
    }),
  )
})

it('writes of deltas that follow each other little more than what they say', () => {
  const lines = Array.from({ length: 1000 }, (_, n) => delta('message-1', `word ${n} `))
  expect(toLogText(lines).length).toBeLessThan(lines.join('\n').length / 4)
})

it('writes the beginning of a line again where another message has come between', () => {
  const lines = Array.from({ length: 70 }, (_, n) => delta(n === 40 ? 'b' : 'a', String(n)))
  const whole = toLogText(lines)
    .split('\n')
    .flatMap((line, n) => (line.startsWith('+') ? [] : [n]))
  expect(whole).toEqual([0, 40, 41])
})
