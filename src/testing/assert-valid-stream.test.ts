import { expect, test } from 'vitest'
import { input, run, text } from '../../test/fixtures/broken-streams/parts.js'
import { assertValidStream } from './assert-valid-stream.js'

test('a correct stream passes, also one that can be read only once', () => {
  expect(() => {
    assertValidStream(run(...text('m')).values(), { input: input() })
  }).not.toThrow()
})

test('every violation is a line with the event at fault', () => {
  expect(() => {
    assertValidStream(run(7, { type: 'CUSTOM', name: 'x' }).slice(0, 3))
  }).toThrow(
    expect.objectContaining({
      code: 'INVALID_EVENT',
      message: [
        'The stream breaks AG-UI 1.0:',
        '  [event-object] not an object with a type: 7 (event 1: 7)',
        '  [client-schema] CUSTOM is malformed: value: Invalid input (event 2: {"type":"CUSTOM","name":"x"})',
        '  [terminal-missing] the stream ends without RUN_FINISHED or RUN_ERROR',
      ].join('\n'),
    }),
  )
})

test('an event that has no JSON, or very much of it, is still shown in a line', () => {
  const cycle: Record<string, unknown> = { type: 'CUSTOM' }
  cycle.name = cycle
  expect(() => {
    assertValidStream(run(cycle, { type: 'CUSTOM', name: 'x'.repeat(1000) }))
  }).toThrow(/\(event 1: \[object Object\]\)\n.*\(event 2: .{301}\)$/)
})
