import fc from 'fast-check'
import { expect, test } from 'vitest'
import { manualClock } from './clock.js'
import { merge, type LaneItem } from './merge.js'

const reason = new Error('the user pressed stop')
const failure = new Error('lane failed')
const graceMs = 100

/** Lets `count` rounds of promise reactions pass. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve()
}

const laneArbitrary = fc.record({
  /** For each item, how many turns it takes to come. */
  gaps: fc.array(fc.nat(6), { maxLength: 6 }),
  cleanup: fc.nat(6),
  end: fc.constantFrom('return', 'return', 'throw', 'hang'),
})
type LaneScript = typeof laneArbitrary extends fc.Arbitrary<infer Script> ? Script : never

const strikeArbitrary = fc.record({
  kind: fc.constantFrom('nothing', 'abort', 'return', 'throw'),
  /** When it strikes: while the consumer holds its nth item, or n turns after the start, read pending or not. */
  after: fc.nat(30),
  while: fc.constantFrom('reading', 'holding'),
})
type Strike = typeof strikeArbitrary extends fc.Arbitrary<infer Script> ? Script : never

/** Runs a merge from a script to its end and says what could be seen of it. */
async function play(scripts: readonly LaneScript[], strike: Strike) {
  const clock = manualClock()
  const stop = new AbortController()
  const started: number[] = []
  const closed: number[] = []
  const stray: unknown[] = []
  const seen: LaneItem<number>[] = []

  const lanes = scripts.map(
    ({ gaps, cleanup, end }, index) =>
      async function* () {
        started.push(index)
        try {
          for (const [item, gap] of gaps.entries()) {
            await turns(gap)
            yield item
          }
          if (end === 'hang') await new Promise(() => undefined)
          if (end === 'throw') throw failure
          return `end ${index}`
        } finally {
          await turns(cleanup)
          closed.push(index)
        }
      },
  )
  const stream = merge(lanes, {
    signal: stop.signal,
    graceMs,
    clock,
    onStrayError: (error) => stray.push(error),
  })

  const hit = async () => {
    if (strike.kind === 'abort') stop.abort(reason)
    if (strike.kind === 'return') await stream.return(['left'])
    if (strike.kind === 'throw') await stream.throw(reason)
  }
  const consume = async () => {
    for (;;) {
      if (strike.while === 'holding' && seen.length === strike.after) await hit()
      const { done, value } = await stream.next()
      if (done === true) return value
      seen.push(value)
    }
  }
  const striker = strike.while === 'reading' ? turns(strike.after).then(hit) : undefined
  const outcome = Promise.allSettled([consume(), striker])
  await clock.advance(graceMs)
  // What still hangs waits for a lane that hangs by its script and was never struck.
  await stream.return([])
  return { outcome: await outcome }
}
