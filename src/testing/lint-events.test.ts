import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { brokenStreams } from '../../test/fixtures/broken-streams/all.js'
import { finished, input, run, snapshot, started, text } from '../../test/fixtures/broken-streams/parts.js'
import { correctStreams } from '../../test/fixtures/correct-streams.js'
import { goldenStreams } from '../../test/fixtures/golden-streams.js'
import { assertValidStream, lintEvents } from './lint-events.js'
import { lintRules } from './rules/rule-names.js'

describe('a stream with one mistake', () => {
  test.each(brokenStreams)('breaks $rule alone: $name', ({ rule, events, index, input }) => {
    const violations = lintEvents(events, { input })
    expect(violations).toEqual([{ rule, index, message: expect.stringMatching(/^\S.*$/) as string }])
  })

  test('is known for every rule about events', () => {
    const broken = new Set<string>(brokenStreams.map(({ rule }) => rule))
    const rules = Object.entries(lintRules).filter(([, { scope }]) => scope !== 'endpoint')
    expect(rules.map(([rule]) => rule).filter((rule) => !broken.has(rule))).toEqual([])
  })
})

describe('a correct stream has no violation', () => {
  test.each(goldenStreams)('$name', ({ events, input }) => {
    expect(lintEvents(events, { input })).toEqual([])
  })

  test.each(correctStreams)('$name', ({ events, name: _name, ...options }) => {
    expect(lintEvents(events, options)).toEqual([])
  })
})

describe('after a mistake', () => {
  test('the rest of the stream is judged as if it had not happened', () => {
    const events = [
      { type: 'RUN_STARTED' },
      { type: 'TEXT_MESSAGE_START', messageId: 'm' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'hi' },
      { type: 'STEP_FINISHED', stepName: 'never started' },
      finished,
      ...run({ type: 'STATE_DELTA', delta: [{ op: 'remove', path: '/nothing' }] }),
    ]
    const found = lintEvents(events).map(({ rule, index }) => [rule, index])
    expect(found).toEqual([
      ['client-schema', 0],
      ['client-schema', 2],
      ['client-verify', 4],
      ['client-verify', 5],
      ['state-delta', 7],
    ])
  })

  test('the same complaint of the client is not repeated', () => {
    const unknown = { type: 'WEATHER' }
    expect(lintEvents(run(unknown, unknown, unknown)).map(({ index }) => index)).toEqual([1])
  })

  test('chunks go on where they were', () => {
    const more = { type: 'TEXT_MESSAGE_CHUNK', role: 'user', delta: 'more' }
    const malformed = { type: 'CUSTOM', name: 'x' }
    const first = { ...more, messageId: 'm1', role: 'assistant' }
    const events = run(first, { ...more, messageId: 'm2' }, more, more, malformed, more)
    expect(lintEvents(events).map(({ rule, index }) => [rule, index])).toEqual([['client-schema', 5]])
  })

  test('a snapshot that drops an open message makes its next text a warning', () => {
    const [start, content, end] = text('m')
    const found = lintEvents(run(start, snapshot(), content, end)).map(({ rule, index }) => [rule, index])
    expect(found).toEqual([
      ['snapshot-ids', 2],
      ['client-warning', 3],
      ['client-warning', 4],
    ])
  })

  test('a start that comes late is not blamed for the missing one', () => {
    const events = [{ type: 'CUSTOM', name: 'x', value: 1 }, ...run(...text('m'))]
    expect(lintEvents(events, { input: input() }).map(({ rule, index }) => [rule, index])).toEqual([
      ['client-verify', 0],
    ])
  })

  test('no more than a hundred violations are returned', () => {
    expect(lintEvents(Array.from({ length: 300 }, () => null))).toHaveLength(100)
  })

  test('linting stops after a hundred rejected events, also when they are all alike', () => {
    const orphan = { type: 'TEXT_MESSAGE_END', messageId: 'm' }
    let read = 0
    const events = (function* () {
      yield started
      while (read < 1000) {
        read++
        yield orphan
      }
    })()
    expect(lintEvents(events).map(({ rule, index }) => [rule, index])).toEqual([['client-verify', 1]])
    expect(read).toBe(100)
  })
})

test('an input that is not a RunAgentInput throws', () => {
  expect(() => lintEvents([], { input: { threadId: 't' } })).toThrow(
    expect.objectContaining({ code: 'INVALID_INPUT', message: expect.stringContaining('runId') as string }),
  )
})

test('the console stays quiet and the environment cannot hide a warning', () => {
  const warn = vi.spyOn(console, 'warn')
  const spied = console.warn
  vi.stubEnv('SUPPRESS_TRANSFORMATION_WARNINGS', 'true')
  try {
    expect(lintEvents(run({ type: 'WEATHER' })).map(({ rule }) => rule)).toEqual(['client-warning'])
    expect(warn).not.toHaveBeenCalled()
    expect(console.warn).toBe(spied)
    expect(process.env.SUPPRESS_TRANSFORMATION_WARNINGS).toBe('true')
  } finally {
    vi.unstubAllEnvs()
    warn.mockRestore()
  }
})

test('no value makes the linter throw', () => {
  const types = goldenStreams.flatMap(({ events }) => events.map(({ type }) => type))
  const fields = goldenStreams.flatMap(({ events }) => events.flatMap((event) => Object.keys(event)))
  const likeAnEvent = fc
    .tuple(fc.constantFrom(...types), fc.dictionary(fc.constantFrom(...fields), fc.anything()))
    .map(([type, rest]) => ({ ...rest, type }))
  const broken = fc.constantFrom(...brokenStreams.flatMap(({ events }) => events))
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.anything(), likeAnEvent, broken), { maxLength: 20 }), (events) => {
      for (const { index } of lintEvents(events)) expect(index ?? -1).toBeLessThan(events.length)
    }),
  )
})

describe('assertValidStream', () => {
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
})
