import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAbortError } from './abort.js'
import { manualClock } from './clock.js'
import { merge, type MergedItem } from './merge.js'
import { propertyRuns } from '../../test/support/property-runs.js'

const reason = new DOMException('the user pressed stop', 'AbortError')
const graceMs = 100

/** Lets `count` rounds of promise reactions pass. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve()
}

interface LaneScript {
  /** For each item, how many turns it takes to come. */
  readonly gaps: readonly number[]
  readonly cleanup: number
  readonly end: 'return' | 'throw' | 'hang'
}

function laneScripts(...ends: readonly LaneScript['end'][]): fc.Arbitrary<LaneScript[]> {
  const gaps = fc.array(fc.nat(6), { maxLength: 6 })
  const lane = fc.record({ gaps, cleanup: fc.nat(6), end: fc.constantFrom(...ends) })
  return fc.array(lane, { maxLength: 5 })
}

/** A merge that runs by a script, and what can be seen of it. */
function setup(scripts: readonly LaneScript[]) {
  const clock = manualClock()
  const stop = new AbortController()
  const seen: MergedItem<number>[] = []
  const stray: unknown[] = []
  const started: number[] = []
  const closed: number[] = []
  const hung: number[] = []
  const thrown: unknown[] = []

  async function* run({ gaps, cleanup, end }: LaneScript, index: number) {
    started.push(index)
    try {
      for (const [item, gap] of gaps.entries()) {
        await turns(gap)
        yield item
      }
      if (end === 'throw') throw thrown[thrown.push(new Error(`lane ${index} failed`)) - 1]
      if (end === 'hang') await new Promise(() => hung.push(index))
      return index
    } finally {
      await turns(cleanup)
      closed.push(index)
    }
  }

  const lanes = scripts.map((script, index) => () => run(script, index))
  const onStrayError = (error: unknown) => stray.push(error)
  const stream = merge(lanes, { signal: stop.signal, graceMs, clock, onStrayError })

  /** Reads to the end, with so many turns between one item and the wish for another. */
  async function consume(pause: number): Promise<number[]> {
    for (;;) {
      const { done, value } = await stream.next()
      if (done === true) return value
      seen.push(value)
      await turns(pause)
    }
  }
  return { clock, stop, stream, consume, seen, stray, started, closed, hung, thrown }
}

function itemsOf(lane: number, seen: readonly MergedItem<number>[]): number[] {
  return seen.filter((item) => item.lane === lane).map((item) => item.value)
}

test('delivers every item of every lane once and in the order of its lane', async () => {
  await fc.assert(
    fc.asyncProperty(laneScripts('return'), fc.nat(6), async (scripts, pause) => {
      const { consume, seen, stray, closed, clock } = setup(scripts)
      expect(await consume(pause)).toEqual([...scripts.keys()])
      for (const [lane, { gaps }] of scripts.entries()) expect(itemsOf(lane, seen)).toEqual([...gaps.keys()])
      expect(closed.sort()).toEqual([...scripts.keys()])
      expect([stray, clock.pending]).toEqual([[], 0])
    }),
  )
})

test('closes every lane and loses no error, at whatever point it is ended', async () => {
  const strikes = fc.record({ kind: fc.constantFrom('abort', 'return', 'throw'), after: fc.nat(60) })
  const scripts = laneScripts('return', 'return', 'throw', 'hang')
  await fc.assert(
    fc.asyncProperty(scripts, fc.nat(6), strikes, async (lanes, pause, { kind, after }) => {
      const { clock, stop, stream, consume, seen, stray, started, closed, hung, thrown } = setup(lanes)
      const strike = async () => {
        await turns(after)
        if (kind === 'abort') stop.abort(reason)
        else if (kind === 'return') await stream.return([])
        else await expect(stream.throw(reason)).rejects.toBe(reason)
      }
      const ended = Promise.allSettled([consume(pause), strike()])
      // Without a lane that hangs there is nothing to wait for: the clock may stand still.
      if (lanes.some(({ end }) => end === 'hang')) await clock.advance(graceMs)
      const [consumed, struck] = await ended

      expect(struck.status).toBe('fulfilled')
      expect(closed.sort()).toEqual(started.filter((lane) => !hung.includes(lane)))
      const failed = consumed.status === 'rejected' && !isAbortError(consumed.reason)
      const told = failed ? [consumed.reason, ...stray] : stray
      expect(told).toHaveLength(thrown.length)
      expect(new Set(told)).toEqual(new Set(thrown))
      for (const [lane, { gaps }] of lanes.entries()) {
        const items = itemsOf(lane, seen)
        expect(items).toEqual([...gaps.keys()].slice(0, items.length))
      }
      expect(clock.pending).toBe(0)
    }),
    { numRuns: propertyRuns(300) },
  )
})
