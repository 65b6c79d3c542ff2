import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { deferred, settled } from '../../../test/support/run-agent.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { LogEntry } from '../../threads/contract.js'
import { type FeedBatch, RunFeed, createLogFlusher } from './run-feed.js'
import { manualClock } from '../../core/clock.js'

function word(name: string, bytes = 0): AgUiEvent {
  return { type: 'CUSTOM', name, value: '.'.repeat(bytes) }
}

interface Rigged {
  readonly feed: RunFeed
  /** What the log has. */
  readonly log: LogEntry[]
  readonly batches: FeedBatch[]
  readonly reads: number[]
  /** How often a flush was requested. */
  readonly requests: { count: number }
  /** The next so many writes fail. */
  readonly fail: (times: number) => void
}

interface RigOptions {
  readonly firstSeq?: number
  readonly bufferBytes?: number
  readonly append?: (batch: FeedBatch) => Promise<void>
}

function rig({ firstSeq = 0, bufferBytes = 1e6, append }: RigOptions = {}): Rigged {
  const log: LogEntry[] = []
  const [batches, reads]: [FeedBatch[], number[]] = [[], []]
  const requests = { count: 0 }
  let failures = 0
  const fail = (times: number): void => {
    failures = times
  }
  const feed = new RunFeed({
    ...{ runId: 'r', firstSeq, bufferBytes },
    log: {
      async append(batch) {
        await append?.(batch)
        if (failures-- > 0) throw new Error('The disk is full.')
        batches.push(batch)
        log.push(...batch.lines.map((json, n) => ({ seq: batch.firstSeq + n, json })))
      },
      read(after, limit) {
        reads.push(after)
        return Promise.resolve(log.filter(({ seq }) => seq > after).slice(0, limit))
      },
    },
    flusher: {
      flushSoon: () => {
        requests.count++
      },
    },
  })
  return { feed, log, batches, reads, requests, fail }
}

function nameOf({ json }: LogEntry): string {
  return (JSON.parse(json) as { readonly name: string }).name
}

/** Reads until the end, each batch as `seq:name` words. */
function collect(
  feed: RunFeed,
  after = -1,
  signal = new AbortController().signal,
): { readonly batches: string[]; done: Promise<void> } {
  const batches: string[] = []
  const read = async (): Promise<void> => {
    for await (const { entries } of feed.subscribe(after, signal))
      batches.push(entries.map((entry) => `${entry.seq}:${nameOf(entry)}`).join(' '))
  }
  return { batches, done: read() }
}

async function finish({ feed, log }: Rigged, name = 'end'): Promise<void> {
  const { firstSeq, lines } = await feed.seal(word(name))
  log.push(...lines.map((json, n) => ({ seq: firstSeq + n, json })))
  feed.close()
}

describe('subscribers', () => {
  test('get events in order, numbered from the first, those of one tick together', async () => {
    const rigged = rig({ firstSeq: 7 })
    const { feed } = rigged
    const { batches, done } = collect(feed, 6)
    void feed.push(word('a'))
    void feed.push(word('b'))
    await settled()
    void feed.push(word('c'))
    await settled()
    expect(feed.nextSeq).toBe(10)
    await finish(rigged)
    await done
    expect(batches).toEqual(['7:a 8:b', '9:c', '10:end'])
  })

  test('get a large event at once, with those before it', async () => {
    const { feed } = rig()
    const { batches } = collect(feed)
    await settled()
    void feed.push(word('a'))
    void feed.push(word('large', 20_000))
    void feed.push(word('b'))
    await settled()
    expect(batches).toEqual(['0:a 1:large', '2:b'])
  })

  test('may begin at any number, also after the end', async () => {
    const rigged = rig()
    for (const name of ['a', 'b', 'c']) void rigged.feed.push(word(name))
    await finish(rigged)
    const seen = await Promise.all(
      [-1, 0, 1, 2, 3, 9].map(async (after) => {
        const { batches, done } = collect(rigged.feed, after)
        await done
        return batches.join()
      }),
    )
    expect(seen).toEqual(['0:a 1:b 2:c 3:end', '1:b 2:c 3:end', '2:c 3:end', '3:end', '', ''])
  })

  test('of any number see the same', async () => {
    const rigged = rig()
    const all = Array.from({ length: 200 }, () => collect(rigged.feed))
    void rigged.feed.push(word('a'))
    await settled()
    await finish(rigged)
    await Promise.all(all.map(({ done }) => done))
    expect(new Set(all.map(({ batches }) => batches.join()))).toEqual(new Set(['0:a,1:end']))
  })

  test('that are too far behind read the log, and go on from memory', async () => {
    const rigged = rig({ bufferBytes: 100 })
    const { feed, reads } = rigged
    for (const name of ['a', 'b', 'c']) void feed.push(word(name, 60))
    await settled()
    await feed.flush()
    void feed.push(word('d'))
    const { batches, done } = collect(feed)
    await settled()
    await finish(rigged)
    await done
    expect(reads).toEqual([-1])
    expect(batches.join(' ')).toBe('0:a 1:b 2:c 3:d 4:end')
  })

  test('do not see in the log what is not shown yet', async () => {
    const rigged = rig({ bufferBytes: 0 })
    const { feed, log } = rigged
    void feed.push(word('a'))
    await settled()
    await feed.flush()
    const { firstSeq, lines } = await feed.seal(word('end'))
    // The commit has it, and the thread is yet to be freed.
    log.push({ seq: firstSeq, json: lines[0] ?? '' })
    const { batches, done } = collect(feed)
    await settled()
    expect(batches).toEqual(['0:a'])
    feed.close()
    await done
    expect(batches).toEqual(['0:a', '1:end'])
  })

  test('get STORE_ERROR when the log lacks events', async () => {
    const { feed, log } = rig({ bufferBytes: 0 })
    void feed.push(word('a'))
    await settled()
    await feed.flush()
    log.length = 0
    await expect(collect(feed).done).rejects.toMatchObject({ code: 'STORE_ERROR' })
  })

  test('leave at once when their client is gone, and leave no listener behind', async () => {
    const { feed } = rig()
    const leaving = new AbortController()
    const { batches, done } = collect(feed, -1, leaving.signal)
    const { batches: others } = collect(feed)
    await settled()
    expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(1)
    leaving.abort()
    await done
    void feed.push(word('a'))
    await settled()
    expect([batches, others]).toEqual([[], ['0:a']])
    expect(getEventListeners(leaving.signal, 'abort')).toHaveLength(0)
  })

  test('get nothing when their client is gone already', async () => {
    const { feed } = rig()
    void feed.push(word('a'))
    const { batches, done } = collect(feed, -1, AbortSignal.abort())
    await done
    expect(batches).toEqual([])
  })
})

describe('a run that never waits', () => {
  test('yields to timers now and then', async () => {
    const { feed } = rig()
    let turns = 0
    const tick = setInterval(() => turns++, 0)
    let pauses = 0
    for (let n = 0; n < 200; n++) {
      const pause = feed.push(word('a', 2_000))
      if (pause) pauses++
      await pause
    }
    clearInterval(tick)
    // After the first event, and then every 64 KiB.
    expect(pauses).toBe(7)
    expect(turns).toBeGreaterThan(0)
  })
})

describe('the log', () => {
  test('is flushed soon after an event, and gets all that came meanwhile in one batch', async () => {
    const { feed, batches, requests } = rig({ firstSeq: 3 })
    void feed.push(word('a'))
    void feed.push(word('b'))
    expect(requests.count).toBe(1)
    await feed.flush()
    await feed.flush()
    expect(batches).toEqual([{ firstSeq: 3, lines: [JSON.stringify(word('a')), JSON.stringify(word('b'))] }])
  })

  test('gets what it could not take with the next write, once', async () => {
    const rigged = rig()
    const { feed, log, requests, fail } = rigged
    fail(1)
    void feed.push(word('a'))
    await expect(feed.flush()).rejects.toThrow('full')
    void feed.push(word('b'))
    expect(requests.count).toBe(2)
    await feed.flush()
    expect(log.map(nameOf)).toEqual(['a', 'b'])
    await finish(rigged)
    expect(log.map(({ seq }) => seq)).toEqual([0, 1, 2])
  })

  test('is written one batch after the other', async () => {
    const gate = deferred()
    const begun: number[] = []
    const { feed, log } = rig({ append: ({ firstSeq }) => (begun.push(firstSeq), gate.promise) })
    void feed.push(word('a'))
    const first = feed.flush()
    await settled()
    void feed.push(word('b'))
    const second = feed.flush()
    await settled()
    expect(begun).toEqual([0])
    gate.resolve()
    await Promise.all([first, second])
    expect(begun).toEqual([0, 1])
    expect(log.map(nameOf)).toEqual(['a', 'b'])
  })

  test('has a guarded event before anybody sees it', async () => {
    const gate = deferred()
    const { feed } = rig({ append: () => gate.promise })
    const { batches } = collect(feed)
    void feed.push(word('a'))
    const pushed = feed.pushSafely(word('critical'))
    await settled()
    expect(batches).toEqual(['0:a'])
    gate.resolve()
    await pushed
    await settled()
    expect(batches).toEqual(['0:a', '1:critical'])
  })

  test('that cannot be written keeps such an event from being seen', async () => {
    const { feed, fail } = rig()
    const { batches } = collect(feed)
    fail(1)
    void feed.push(word('a'))
    await expect(feed.pushSafely(word('critical'))).rejects.toThrow('full')
    void feed.push(word('b'))
    await settled()
    expect(batches).toEqual(['0:a'])
    await feed.flush()
    void feed.push(word('c'))
    await settled()
    expect(batches).toEqual(['0:a', '1:critical 2:b 3:c'])
  })
})

function namesIn(lines: readonly string[]): string[] {
  return lines.map((json) => (JSON.parse(json) as { readonly name: string }).name)
}

async function readAll(feed: RunFeed): Promise<string[]> {
  const names: string[] = []
  for await (const { entries } of feed.subscribe(-1, new AbortController().signal))
    names.push(...namesIn(entries.map(({ json }) => json)))
  return names
}

describe('the end of a feed', () => {
  test('is given with all that the log lacks, and seen when the feed is closed', async () => {
    const { feed } = rig()
    void feed.push(word('a'))
    await feed.flush()
    void feed.push(word('b'))
    const seen = readAll(feed)
    const { firstSeq, lines } = await feed.seal(word('end'))
    expect([firstSeq, ...namesIn(lines)]).toEqual([1, 'b', 'end'])
    expect(await Promise.race([seen, settled()])).toBeUndefined()
    feed.close()
    expect(await seen).toEqual(['a', 'b', 'end'])
  })

  test('waits for a write that is under way, and does not repeat it', async () => {
    const gate = deferred()
    const { feed } = rig({ append: () => gate.promise })
    void feed.push(word('a'))
    const flushed = feed.flush()
    await settled()
    const sealed = feed.seal(word('end'))
    gate.resolve()
    await flushed
    expect(await sealed).toMatchObject({ firstSeq: 1, lines: [JSON.stringify(word('end'))] })
  })

  test('has what a write that fails meanwhile has not written', async () => {
    const gate = deferred()
    const { feed } = rig({ append: () => gate.promise })
    void feed.push(word('a'))
    const flushed = feed.flush()
    await settled()
    const sealed = feed.seal(word('end'))
    gate.reject(new Error('full'))
    await expect(flushed).rejects.toThrow('full')
    expect(namesIn((await sealed).lines)).toEqual(['a', 'end'])
  })

  test('is not written by a flush that comes while it is committed', async () => {
    const { feed, batches } = rig()
    void feed.push(word('a'))
    const { lines } = await feed.seal(word('end'))
    await feed.flush()
    expect(namesIn(lines)).toEqual(['a', 'end'])
    expect(batches).toEqual([])
    feed.close()
    await feed.flush()
    expect(batches).toEqual([])
  })

  test('is not written by a flush that waits behind another when it is sealed', async () => {
    const gate = deferred()
    const { feed, batches } = rig({ append: () => gate.promise })
    void feed.push(word('a'))
    const first = feed.flush()
    await settled()
    void feed.push(word('b'))
    const sealed = feed.seal(word('end'))
    const second = feed.flush()
    gate.resolve()
    await Promise.all([first, second])
    expect(namesIn((await sealed).lines)).toEqual(['b', 'end'])
    expect(batches.map(({ firstSeq }) => firstSeq)).toEqual([0])
  })

  test('can be another than the one that was sealed', async () => {
    const { feed } = rig()
    void feed.push(word('a'))
    const seen = readAll(feed)
    await feed.seal(word('end'))
    feed.close(word('failure'))
    expect(feed.nextSeq).toBe(2)
    expect(await seen).toEqual(['a', 'failure'])
    expect(await readAll(feed)).toEqual(['a', 'failure'])
  })

  test('is seen by one who joins while it is closed', async () => {
    const { feed } = rig()
    void feed.push(word('a'))
    await feed.seal(word('end'))
    const before = readAll(feed)
    feed.close()
    const after = readAll(feed)
    expect(await Promise.all([before, after])).toEqual([
      ['a', 'end'],
      ['a', 'end'],
    ])
  })
})

function flusherRig() {
  const clock = manualClock()
  const problems: unknown[] = []
  const flusher = createLogFlusher({ clock, onProblem: (error) => problems.push(error) })
  const calls: string[] = []
  const writer = (name: string) => ({
    flush: () => Promise.resolve(void calls.push(`${name}@${clock.now()}`)),
  })
  return { clock, problems, flusher, calls, writer }
}

test('all that is due is written together, each once', async () => {
  const { clock, flusher, calls, writer } = flusherRig()
  const [a, b] = [writer('a'), writer('b')]
  flusher.flushSoon(a)
  flusher.flushSoon(a)
  await clock.advance(50)
  flusher.flushSoon(b)
  expect([calls, clock.pending]).toEqual([[], 1])
  await clock.advance(50)
  expect(calls).toEqual(['a@100', 'b@100'])
})

test('there is no timer while nothing is to be written, and a new one for what comes later', async () => {
  const { clock, flusher, calls, writer } = flusherRig()
  expect(clock.pending).toBe(0)
  const a = writer('a')
  flusher.flushSoon(a)
  await clock.advance(150)
  expect(clock.pending).toBe(0)
  flusher.flushSoon(a)
  await clock.advance(100)
  expect(calls).toEqual(['a@100', 'a@250'])
})

test('a flush that a flush requests comes with the next', async () => {
  const { clock, flusher, calls, writer } = flusherRig()
  const b = writer('b')
  flusher.flushSoon({
    flush() {
      flusher.flushSoon(b)
      return Promise.resolve()
    },
  })
  await clock.advance(100)
  expect(calls).toEqual([])
  await clock.advance(100)
  expect(calls).toEqual(['b@200'])
})

test('a flush that fails is reported, and the others go on', async () => {
  const { clock, problems, flusher, calls, writer } = flusherRig()
  const full = new Error('full')
  flusher.flushSoon({ flush: () => Promise.reject(full) })
  flusher.flushSoon(writer('b'))
  await clock.advance(100)
  expect([problems, calls]).toEqual([[full], ['b@100']])
})
