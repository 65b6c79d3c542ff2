import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createFold, type AgUiEvent } from '../../src/protocol/index.js'
import { assertValidStream, lintEvents } from '../../src/testing/index.js'
import { compareRuns, unitOf } from '../src/inspector/model/compare-runs.js'
import { toCurl, toVitest } from '../src/inspector/model/copy-as.js'
import { changedPaths } from '../src/inspector/model/json.js'
import { toLintInput } from '../src/inspector/model/lint-input.js'
import { checkRunFile, formatRunFile, parseRunFile, RunFileError } from '../src/inspector/model/run-file.js'
import { buildTimeline } from '../src/inspector/model/timeline.js'
import { createTimeTravel } from '../src/inspector/model/time-travel.js'
import { costOf, parsePrices, usageOf } from '../src/inspector/model/usage.js'
import { longRun, teamRun } from './inspector-runs.js'

const runOf = (events: readonly unknown[], more: object = {}) =>
  checkRunFile({
    ...{ threadId: 't', runId: 'r', status: 'completed', ...more },
    events: events.map((event, seq) => ({ seq, event })),
  })

describe('a run file', () => {
  it('is the same after it was saved and opened', () => {
    const file = teamRun()
    expect(parseRunFile(formatRunFile(file))).toEqual(file)
  })

  it('may be a plain list of events', () => {
    const { events, runId } = teamRun()
    const plain = parseRunFile(JSON.stringify(events.map(({ event }) => event)))
    expect(plain.events.map(({ event }) => event)).toEqual(events.map(({ event }) => event))
    expect(plain.runId).toBe(runId)
  })

  it.each([
    ['{', 'not-json'],
    ['42', 'not-a-run'],
    ['{"format":"har"}', 'not-a-run'],
    ['[1,2]', 'not-a-run'],
    ['{"format":"millrace-run","version":2}', 'newer-version'],
    ['{"format":"millrace-run","version":1}', 'broken-events'],
    ['{"format":"millrace-run","version":1,"events":[7]}', 'broken-events'],
  ])('%s is refused as %s', (text, fault) => {
    expect(() => parseRunFile(text)).toThrow(RunFileError)
    try {
      parseRunFile(text)
    } catch (error) {
      expect((error as RunFileError).fault).toBe(fault)
    }
  })
})

describe('time travel', () => {
  it('holds at any event what a fold of all events up to it holds', () => {
    const file = teamRun()
    assertValidStream(
      file.events.map(({ event }) => event),
      { input: file.input },
    )
    const travel = createTimeTravel(file, file.events, { interval: 7 })
    const order = file.events.map((_, index) => (index * 17) % file.events.length)
    for (const index of order) {
      const fold = createFold(travel.start)
      for (const { event } of file.events.slice(0, index + 1)) fold.apply(event as AgUiEvent)
      const { messages, state } = travel.at(index)
      expect({ index, messages, state }).toEqual({ index, messages: fold.messages, state: fold.state })
    }
  })

  it('never changes what it has returned', () => {
    const file = teamRun()
    const travel = createTimeTravel(file, file.events)
    const before = file.events.map((_, index) => travel.at(index))
    const copy = structuredClone(before)
    file.events.forEach((_, index) => travel.at(file.events.length - 1 - index))
    expect(before).toEqual(copy)
  })

  it('folds few events for a jump in a long run', () => {
    const file = longRun(50_000)
    const travel = createTimeTravel(file, file.events)
    travel.at(file.events.length - 1)
    let reads = 0
    const counted = new Proxy(file.events as object[], {
      get: (list, key) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads++
        return Reflect.get(list, key) as unknown
      },
    })
    const second = createTimeTravel(file, counted as typeof file.events)
    second.at(49_999)
    reads = 0
    for (const index of [25_000, 3, 49_000, 12_345, 12_346]) second.at(index)
    // An interval for each jump, and a step is one.
    expect(reads).toBeLessThan(4 * 501 * 2)
    expect(second.at(12_345)).toEqual(travel.at(12_345))
  })

  it('knows the open interrupts, also those of AG-UI before 1.0', () => {
    const interrupt = { id: 'i', reason: 'tool_call', message: 'Sure?' }
    const file = runOf([
      { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
      { type: 'CUSTOM', name: 'on_interrupt', value: '{"question":"Old?"}' },
      { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
      { type: 'RUN_STARTED', threadId: 't', runId: 'r2' },
      {
        type: 'RUN_FINISHED',
        threadId: 't',
        runId: 'r2',
        outcome: { type: 'interrupt', interrupts: [interrupt] },
      },
    ])
    const travel = createTimeTravel(file, file.events)
    expect([0, 1, 2, 3, 4].map((index) => travel.at(index).interrupts)).toEqual([
      ...[[], [{ question: 'Old?' }], [{ question: 'Old?' }], [], [interrupt]],
    ])
  })

  it('reads chunks, THINKING and null members as older producers write them', () => {
    const file = runOf([
      { type: 'RUN_STARTED', threadId: 't', runId: 'r', parentRunId: null },
      { type: 'THINKING_START' },
      { type: 'THINKING_TEXT_MESSAGE_START' },
      { type: 'THINKING_TEXT_MESSAGE_CONTENT', delta: 'Hm' },
      { type: 'THINKING_TEXT_MESSAGE_END' },
      { type: 'THINKING_END' },
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', role: 'assistant', delta: 'Hel' },
      { type: 'TEXT_MESSAGE_CHUNK', delta: 'lo' },
      { type: 'TOOL_CALL_CHUNK', toolCallId: 'c', toolCallName: 'look', parentMessageId: 'm', delta: '{' },
      { type: 'TOOL_CALL_CHUNK', delta: '}' },
      { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
    ])
    const { messages } = createTimeTravel(file, file.events).at(10)
    expect(messages).toMatchObject([
      { role: 'reasoning', content: 'Hm' },
      {
        role: 'assistant',
        content: 'Hello',
        toolCalls: [{ id: 'c', function: { name: 'look', arguments: '{}' } }],
      },
    ])
  })

  it('says why a client passes over an event, and goes on behind it', () => {
    const file = runOf([
      { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
      { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 7 },
      { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/no', value: 1 }] },
      'nonsense',
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'ok' },
    ])
    const travel = createTimeTravel(file, file.events)
    expect(travel.problemAt(2)).toContain('delta')
    expect(travel.problemAt(3)).toContain('does not apply')
    expect(travel.problemAt(5)).toBeUndefined()
    expect(travel.at(5).messages).toMatchObject([{ content: 'ok' }])
  })
})

describe('the timeline', () => {
  it('has a lane for each subagent, and rows for what goes on at once', () => {
    const file = teamRun()
    const { lanes, unit, gaps, firstToken } = buildTimeline(file.events, 'team')
    expect(unit).toBe('ms')
    expect(lanes.map(({ name, depth }) => [name, depth])).toEqual([
      ['team', 0],
      ['scout', 1],
      ['writer', 1],
    ])
    for (const { spans } of lanes)
      for (const a of spans)
        for (const b of spans)
          if (a !== b && a.row === b.row) expect(a.last < b.first || b.last < a.first).toBe(true)
    expect(lanes[1]?.spans.map(({ kind }) => kind)).toEqual(['subagent', 'reasoning', 'message'])
    expect(lanes[1]?.spans[0]?.to).toBeGreaterThan(lanes[2]?.spans[0]?.from ?? Infinity)
    expect(gaps).toHaveLength(1)
    expect(gaps[0]).toMatchObject({ to: (gaps[0]?.from ?? 0) + 2_000 })
    expect(firstToken).toBeGreaterThan(0)
  })

  it('counts events where nobody has noted times', () => {
    const { events } = teamRun()
    const { unit, length, timeOf } = buildTimeline(
      events.map(({ seq, event }) => ({ seq, event })),
      'team',
    )
    expect([unit, length, timeOf(3)]).toEqual(['events', events.length - 1, 3])
  })
})

describe('tokens', () => {
  it('are summed by model, and cost what the person says', () => {
    const usage = usageOf(teamRun())
    expect(usage).toEqual([
      { model: 'scripted', inputTokens: 1200, cachedInputTokens: 200, outputTokens: 340 },
      { model: 'acme/large', inputTokens: 10, cachedInputTokens: 0, outputTokens: 5 },
    ])
    const prices = parsePrices('{"scripted":{"input":2,"output":10},"bad":{"input":"x"}}')
    expect(prices).toEqual({ scripted: { input: 2, output: 10 } })
    const [first, second] = usage
    expect(first && costOf(first, prices[first.model])).toBeCloseTo(0.0058)
    expect(second && costOf(second, prices[second.model])).toBeUndefined()
    expect(parsePrices('nonsense')).toEqual({})
  })
})

describe('two runs', () => {
  it('are the same when only ids, times and the cut of deltas differ', () => {
    const again = JSON.parse(JSON.stringify(teamRun().events).replaceAll('"m-', '"other-')) as never[]
    expect(compareRuns(teamRun().events, again).firstDifference).toBeUndefined()
  })

  it('differ first where the story does', () => {
    const { events } = teamRun()
    const at = events.findIndex(({ event }) => (event as AgUiEvent).type === 'TOOL_CALL_RESULT')
    const changed = events.map((entry, index) =>
      index === at ? { ...entry, event: { ...(entry.event as object), content: 'rain' } } : entry,
    )
    const { left, right, firstDifference = -1 } = compareRuns(events, changed)
    expect(left[firstDifference]?.index).toBe(at)
    expect(right[firstDifference]?.content).toContain('rain')
    expect(unitOf(left, at)).toBe(firstDifference)
    const shorter = compareRuns(events, events.slice(0, -1))
    expect(shorter.left[shorter.firstDifference ?? 0]?.type).toBe('RUN_FINISHED')
  })
})

describe('changed paths', () => {
  it('name what is new, changed, or has lost a member', () => {
    const before = { a: { b: 1, c: 2 }, list: [1, 2], same: { deep: [1] } }
    const after = { a: { b: 1, c: 3 }, list: [1, 2, 3], same: { deep: [1] }, 'x/y': true }
    expect([...changedPaths(before, after)]).toEqual(['/a/c', '/list/2', '/x~1y'])
    expect([...changedPaths({ a: 1, b: 1 }, { a: 1 })]).toEqual([''])
    expect([...changedPaths(before, before)]).toEqual([])
  })
})

describe('copies', () => {
  it('give the command line away without secrets', () => {
    const curl = toCurl('http://x/run', { text: "it's" }, { Authorization: 'Bearer abc', 'x-team': 'one' })
    expect(curl).toContain(`-H "Authorization: $AUTHORIZATION"`)
    expect(curl).toContain(`-H 'x-team: one'`)
    expect(curl).toContain(`'{"text":"it'\\''s"}'`)
    expect(curl).not.toContain('abc')
  })

  it('make a test that passes, also for a stream with faults and chunks', async () => {
    const folder = mkdtempSync(join(import.meta.dirname, 'copied-'))
    try {
      const faulty = runOf([
        { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
        { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', role: 'assistant', delta: 'Hi' },
        { type: 'TEXT_MESSAGE_CONTENT', messageId: 'none', delta: 'x' },
      ])
      ;[teamRun(), faulty].forEach((file, number) => {
        const travel = createTimeTravel(file, file.events)
        const last = file.events.length - 1
        const end = travel.at(last)
        const lintInput = toLintInput(file, travel.start)
        const violations = lintEvents(
          file.events.map(({ event }) => event),
          lintInput === undefined ? {} : { input: lintInput },
        )
        expect(violations.length > 0).toBe(file === faulty)
        const strict = file.events.flatMap((_, index) => travel.strictAt(index))
        const text = toVitest({ file, strict, start: travel.start, end, lintInput, violations })
        writeFileSync(join(folder, `copied-${number}.test.ts`), text)
      })
      writeFileSync(join(folder, 'vitest.config.mjs'), 'export default {}')
      const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs')
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [vitest, 'run', '--root', folder, '--dir', folder],
        { env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' } },
      )
      expect(stdout).toMatch(/Tests\s+4 passed/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
