import { LogLevel, setLogLevel } from '@google/adk'
import { contestants, time } from './adk/contestants.js'
import { benchAdkOverHttp } from './adk/over-http.js'
import { benchAdkTurns } from './adk/turns.js'
import { median } from './http/stats.js'

const pieces = 2_000
const rounds = 31
const histories = [0, 100, 1_000]
/** The most that an event may cost on top of the bare Runner. */
const maxAdded = 0.25
/** The growth of that overhead that a long history may cause, apart from the resolution of the clock. */
const maxGrowth = 1.5
const noiseMicros = 2
/** The most that a history may add to a run, relative to what it adds to the bare Runner. */
const maxHistory = 1.5

interface Figures {
  /** Microseconds per word of an answer. */
  readonly event: number
  /** Microseconds for a run that answers one word. */
  readonly run: number
}

/** All contestants alternate, so that other load on the machine affects them alike. */
async function measure(history: number): Promise<Figures[]> {
  const taken = contestants.map(() => ({ event: [] as number[], run: [] as number[] }))
  for (let round = 0; round < rounds; round++)
    for (const [index, { prepare }] of contestants.entries()) {
      const short = await time(prepare, history, 1)
      const long = await time(prepare, history, pieces)
      taken[index]?.run.push(short)
      taken[index]?.event.push((long - short) / (pieces - 1))
    }
  return taken.map((figures) => ({ event: median(figures.event), run: median(figures.run) }))
}

const percent = (share: number): string => `${share < 0 ? '' : '+'}${(share * 100).toFixed(0)} %`

function print(history: number, figures: readonly Figures[]): void {
  const base = figures[0] ?? { event: NaN, run: NaN }
  console.log(`adk: an answer of ${pieces} words after ${history} messages`)
  for (const [index, { event, run: perRun }] of figures.entries()) {
    const { name } = contestants[index] ?? { name: '' }
    const share = index === 0 ? '' : ` (${percent(event / base.event - 1)})`
    console.log(
      `  ${name.padEnd(20)} ${event.toFixed(2).padStart(7)} µs a word${share.padEnd(9)} ${(perRun / 1000).toFixed(2).padStart(7)} ms a run`,
    )
  }
}

/** The additional cost of a run with a history. */
function growth(perHistory: readonly Figures[]): number {
  return (perHistory.at(-1)?.run ?? NaN) - (perHistory[0]?.run ?? NaN)
}

export async function benchAdk(): Promise<string[]> {
  setLogLevel(LogLevel.ERROR)
  // The first measurement includes compilation and is discarded.
  await measure(10)
  const bases: Figures[] = []
  const added: Figures[] = []
  const missed: string[] = []
  for (const history of histories) {
    const figures = await measure(history)
    print(history, figures)
    const [base, ours] = figures
    if (!base || !ours) throw new Error('nothing was measured')
    bases.push(base)
    added.push({ event: ours.event - base.event, run: ours.run - base.run })
    const share = ours.event / base.event - 1
    if (share > maxAdded)
      missed.push(`adk: ${percent(share)} a word after ${history} messages, more than ${percent(maxAdded)}`)
  }
  console.log(`adk: added after ${histories.join(', ')} messages`)
  console.log(`  ${added.map(({ event }) => event.toFixed(2)).join(', ')} µs a word`)
  console.log(`  ${added.map(({ run: perRun }) => (perRun / 1000).toFixed(2)).join(', ')} ms a run`)
  const [first, last] = [added[0]?.event ?? NaN, added.at(-1)?.event ?? NaN]
  if (!(last <= first * maxGrowth + noiseMicros))
    missed.push(
      `adk: a word adds ${last.toFixed(2)} µs after ${histories.at(-1)} messages, ${first.toFixed(2)} without`,
    )
  // The Runner's service copies a history. `fromAdk` has its own, which does not, and compares it with the thread.
  const [more, own] = [growth(added), growth(bases)]
  if (!(more <= own * maxHistory))
    missed.push(
      `adk: ${histories.at(-1)} messages add ${(more / 1000).toFixed(1)} ms to a run, to the Runner's own ${(own / 1000).toFixed(1)}`,
    )
  return [...missed, ...(await benchAdkTurns()), ...(await benchAdkOverHttp())]
}
