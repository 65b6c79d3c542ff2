import { describe, expect, it } from 'vitest'
import { manualClock } from '../../core/clock.js'
import type { RunInfo } from '../hooks/hooks.js'
import type { LiveRun, RunEnd } from '../live/registry.js'
import { RunFeed } from '../live/run-feed.js'
import { createRunBoard, type RunBoard, type RunSummary } from './run-board.js'

const clock = manualClock()
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

interface TestRun {
  readonly info: RunInfo
  push(text: string): void
  finish(end?: Partial<RunEnd>): Promise<void>
}

/** A live run that the test drives by hand. */
function addRun(board: RunBoard, user: string, runId: string): TestRun {
  const key = { app: 'app', user, agent: 'agent', thread: 'thread' }
  const feed = new RunFeed({
    ...{ runId, firstSeq: 0, bufferBytes: 1e6, flusher: { flushSoon: () => undefined } },
    log: { append: () => Promise.resolve(), read: () => Promise.resolve([]) },
  })
  let finished = (): void => undefined
  const done = new Promise<void>((resolve) => (finished = resolve))
  const run = {
    ...{ key, runId, feed, firstSeq: 0, startedAt: clock.now(), isFirst: false, title: `of ${user}` },
    ...{ start: { messages: [], state: {} }, needsSubscriber: false, isAbandoned: false },
    ...{ stop: () => undefined, stopAfterTools: () => undefined, done, end: undefined as RunEnd | undefined },
  } satisfies LiveRun
  const info = { key, runId } as RunInfo
  board.add(run, info)
  return {
    info,
    push: (delta) => void feed.push({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta }),
    async finish(end = {}) {
      run.end = { status: 'completed', usage: [], ...end }
      feed.close()
      finished()
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

const names = (runs: readonly RunSummary[]): string[] => runs.map(({ user, runId }) => `${user} ${runId}`)

describe('the board', () => {
  it('remembers so many runs, and forgets those of the user who has most, the oldest first', async () => {
    const board = createRunBoard({ clock, log, limits: { runs: 3, bytes: 1e6, bytesPerRun: 1e6 } })
    await addRun(board, 'ann', 'a1').finish()
    for (const runId of ['b1', 'b2', 'b3', 'b4']) await addRun(board, 'bob', runId).finish()
    expect(names(board.list({ app: 'app' }))).toEqual(['bob b4', 'bob b3', 'ann a1'])
    expect(names(board.list({ app: 'app', user: 'ann' }))).toEqual(['ann a1'])
    expect(board.list({ app: 'other' })).toEqual([])
  })

  it('never forgets a live run, and keeps no more bytes than it may', async () => {
    const board = createRunBoard({ clock, log, limits: { runs: 1, bytes: 2000, bytesPerRun: 1500 } })
    const live = addRun(board, 'ann', 'live')
    live.push('x'.repeat(1200))
    await addRun(board, 'bob', 'over').finish()
    const late = addRun(board, 'bob', 'late')
    late.push('y'.repeat(1200))
    await late.finish()
    await live.finish()
    const find = (user: string, runId: string) =>
      board.find({ app: 'app', user, agent: 'agent', thread: 'thread' }, runId)
    expect(find('ann', 'live')?.events?.flat()).toHaveLength(1)
    expect(find('bob', 'over')).toBeUndefined()
    // There was no memory left for its events. Its end is known all the same.
    expect(find('bob', 'late')?.events).toBeUndefined()
    expect(find('bob', 'late')?.end).toMatchObject({ status: 'completed', events: 1 })
  })

  it('gives up the events of a run that grows too large, then the messages of requests', async () => {
    const board = createRunBoard({ clock, log, limits: { runs: 9, bytes: 1e6, bytesPerRun: 1000 } })
    const run = addRun(board, 'ann', 'r')
    run.push('x'.repeat(900))
    run.push('y'.repeat(900))
    await new Promise((resolve) => setImmediate(resolve))
    const observe = board.of(run.info)?.observeModel
    const request = { agent: 'a', model: 'm', messages: ['z'.repeat(800)], tools: [] }
    for (let n = 0; n < 2; n++) observe?.(request)
    await run.finish()
    const recording = board.of(run.info)
    expect(recording?.events).toBeUndefined()
    expect(recording?.requests.map(({ text }) => text)).toEqual([
      JSON.stringify(request),
      JSON.stringify({ ...request, messages: [], isCut: true }),
    ])
  })

  it('tells followers when a run begins, once a second while it moves on, and when it ends', async () => {
    const board = createRunBoard({ clock, log })
    const seen: string[] = []
    const onRun = ({ status, events, outputTokens }: RunSummary): void =>
      void seen.push([status, events, ...(outputTokens === undefined ? [] : [outputTokens])].join(' '))
    const stop = board.follow({ viewer: { app: 'app', user: 'ann' }, onRun })
    const run = addRun(board, 'ann', 'r')
    addRun(board, 'bob', 'other')
    for (let n = 0; n < 10; n++) run.push('x')
    expect(seen).toEqual(['running 0'])
    await clock.advance(1000)
    await clock.advance(1000)
    run.push('x')
    await clock.advance(1000)
    expect(seen).toEqual(['running 0', 'running 10', 'running 11'])
    await run.finish({ usage: [{ inputTokens: 1, outputTokens: 7 }] })
    expect(seen.at(-1)).toBe('completed 11 7')
    stop()
    addRun(board, 'ann', 'r2')
    expect(seen).toHaveLength(4)
  })
})
