import { describe, expect, test } from 'vitest'
import { deferred, settled } from '../../../test/support/run-agent.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { createFeed, type Feed, type FeedBatch } from './feed.js'

function word(name: string): AgUiEvent {
  return { type: 'CUSTOM', name, value: 0 }
}

function namesIn(lines: readonly string[]): string[] {
  return lines.map((json) => (JSON.parse(json) as { readonly name: string }).name)
}

function rig(append: (batch: FeedBatch) => Promise<void> = () => Promise.resolve()) {
  const appended: FeedBatch[] = []
  const feed = createFeed({
    ...{ runId: 'r', firstSeq: 0, bufferBytes: 1e6, flushSoon: () => undefined },
    read: () => Promise.resolve([]),
    append(batch) {
      appended.push(batch)
      return append(batch)
    },
  })
  return { feed, appended }
}

async function allOf(feed: Feed): Promise<string[]> {
  const names: string[] = []
  for await (const { entries } of feed.follow(-1, new AbortController().signal))
    names.push(...namesIn(entries.map(({ json }) => json)))
  return names
}

describe('the end of a feed', () => {
  test('is given with all that the log lacks, and seen when the feed is closed', async () => {
    const { feed } = rig()
    void feed.push(word('a'))
    await feed.flush()
    void feed.push(word('b'))
    const seen = allOf(feed)
    const { firstSeq, lines } = await feed.seal(word('end'))
    expect([firstSeq, ...namesIn(lines)]).toEqual([1, 'b', 'end'])
    expect(await Promise.race([seen, settled()])).toBeUndefined()
    feed.close()
    expect(await seen).toEqual(['a', 'b', 'end'])
  })

  test('waits for a write that is under way, and does not repeat it', async () => {
    const gate = deferred()
    const { feed } = rig(() => gate.promise)
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
    const { feed } = rig(() => gate.promise)
    void feed.push(word('a'))
    const flushed = feed.flush()
    await settled()
    const sealed = feed.seal(word('end'))
    gate.reject(new Error('full'))
    await expect(flushed).rejects.toThrow('full')
    expect(namesIn((await sealed).lines)).toEqual(['a', 'end'])
  })

  test('is not written by a flush that comes while it is committed', async () => {
    const { feed, appended } = rig()
    void feed.push(word('a'))
    const { lines } = await feed.seal(word('end'))
    await feed.flush()
    expect(namesIn(lines)).toEqual(['a', 'end'])
    expect(appended).toEqual([])
    feed.close()
    await feed.flush()
    expect(appended).toEqual([])
  })

  test('is not written by a flush that waits behind another when it is sealed', async () => {
    const gate = deferred()
    const { feed, appended } = rig(() => gate.promise)
    void feed.push(word('a'))
    const first = feed.flush()
    await settled()
    void feed.push(word('b'))
    const sealed = feed.seal(word('end'))
    const second = feed.flush()
    gate.resolve()
    await Promise.all([first, second])
    expect(namesIn((await sealed).lines)).toEqual(['b', 'end'])
    expect(appended.map(({ firstSeq }) => firstSeq)).toEqual([0])
  })

  test('can be another than the one that was sealed', async () => {
    const { feed } = rig()
    void feed.push(word('a'))
    const seen = allOf(feed)
    await feed.seal(word('end'))
    feed.close(word('failure'))
    expect(feed.nextSeq()).toBe(2)
    expect(await seen).toEqual(['a', 'failure'])
    expect(await allOf(feed)).toEqual(['a', 'failure'])
  })

  test('is seen by one who joins while it is closed', async () => {
    const { feed } = rig()
    void feed.push(word('a'))
    await feed.seal(word('end'))
    const before = allOf(feed)
    feed.close()
    const after = allOf(feed)
    expect(await Promise.all([before, after])).toEqual([
      ['a', 'end'],
      ['a', 'end'],
    ])
  })
})
