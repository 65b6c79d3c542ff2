import { startTarget, type Child } from './http/child.js'
import { median } from './http/stats.js'
import type { TargetName } from './http/targets.js'
import { createBurst, firstEvents, idle, paced, type Burst, type Round } from './http/workloads.js'

/** Rounds to warm up: some thousand runs. Until then V8 still compiles, and a run costs up to 1.6 times as much. */
const warmUps = 60
const rounds = 15
/** Processes differ in when they compile and collect, which matters more than the rounds of one. */
const historyServers = 3
const firstEventWarmUps = 2
const firstEventRounds = 20
const firstEventsEach = 20

const minThroughput = 0.5
const maxFirstEventMs = 1
const maxHistory = 1.1
const maxIdleKilobytes = 30

const titles: Readonly<Record<string, string>> = {
  bare: 'node:http, frames ready, a write each',
  json: 'node:http, agent, JSON, a write each',
  memory: 'millrace, in memory',
  sqlite: 'millrace, SQLite',
  hooks: 'millrace, in memory, three hooks',
  kit: 'millrace, in memory, agent of the kit',
}
const title = (name: string): string => `  ${(titles[name] ?? name).padEnd(40)}`

/** Servers run in child processes, the load comes from this one. All alternate, so that the machine is the same for all. */
export async function benchHttp(): Promise<string[]> {
  const names: TargetName[] = ['bare', 'json', 'memory', 'sqlite', 'hooks', 'kit']
  const children = await Promise.all(names.map(startTarget))
  const chosen = children.filter(({ target }) => ['bare', 'memory', 'sqlite'].includes(target))
  try {
    return [
      ...(await benchBursts(children)),
      ...(await benchFirstEvent(chosen)),
      ...(await benchPaced(chosen)),
      ...(await benchHistory()),
      ...(await benchIdle()),
    ]
  } finally {
    await Promise.all(children.map((child) => child.close()))
  }
}

async function benchBursts(children: readonly Child[]): Promise<string[]> {
  const bursts: Burst[] = []
  for (const child of children) bursts.push(await createBurst(child, { rounds: warmUps + rounds }))
  const results = await inTurns(bursts)
  const speed = (name: string): number =>
    median((results.get(name) ?? []).map(({ eventsPerSecond }) => eventsPerSecond))
  const cpu = (name: string): number =>
    median((results.get(name) ?? []).map(({ cpuPerEvent }) => cpuPerEvent))
  console.log('http: 50 streams at once of 1,000 deltas each, median of the rounds (ratio to the first)')
  for (const { name } of bursts) {
    const events = Math.round(speed(name)).toLocaleString('en').padStart(9)
    const ratio = (speed(name) / speed('bare')).toFixed(2)
    // Other load on the machine affects CPU time far less than speed.
    const used = `${cpu(name).toFixed(2).padStart(6)} µs of CPU an event (${(cpu(name) / cpu('bare')).toFixed(2)}x)`
    console.log(`${title(name)}${events} events/s (${ratio}x)  ${used}`)
  }
  return speedMisses((name) => speed(name) / speed('bare'))
}

async function inTurns(bursts: readonly Burst[]): Promise<ReadonlyMap<string, readonly Round[]>> {
  const results = new Map<string, Round[]>(bursts.map(({ name }) => [name, []]))
  for (let round = -warmUps; round < rounds; round++) {
    // There and back, so that no target always follows the same one.
    for (const burst of round % 2 === 0 ? bursts : bursts.toReversed()) {
      const result = await burst.round()
      if (round >= 0) results.get(burst.name)?.push(result)
    }
  }
  return results
}

async function benchHistory(): Promise<string[]> {
  console.log('http: the CPU time of a run with 200 messages, to that of one without')
  const [memory, sqlite] = [await costOfHistory('memory'), await costOfHistory('sqlite')]
  // SQLite reads and parses the history once more. There is no target for that.
  for (const [name, cost] of Object.entries({ memory, sqlite }))
    console.log(`${title(name)}${cost.toFixed(3).padStart(9)}x`)
  if (memory <= maxHistory) return []
  return [`http: a history of 200 messages costs ${memory.toFixed(2)}x, not ${maxHistory}x`]
}

/** Compares the two targets within each round, and takes the median of the ratios. */
async function costOfHistory(target: TargetName): Promise<number> {
  const ratios: number[] = []
  for (let n = 0; n < historyServers; n++) {
    const child = await startTarget(target)
    const without = await createBurst(child, { rounds: warmUps + rounds })
    const withHistory = await createBurst(child, { rounds: warmUps + rounds, withHistory: true })
    const results = await inTurns([without, withHistory])
    await child.close()
    const [bare = [], long = []] = results.values()
    ratios.push(...bare.map(({ cpuPerEvent }, round) => (long[round]?.cpuPerEvent ?? NaN) / cpuPerEvent))
  }
  return median(ratios)
}

function speedMisses(share: (name: string) => number): string[] {
  return ['memory', 'sqlite', 'hooks']
    .filter((name) => !(share(name) >= minThroughput))
    .map(
      (name) =>
        `http, ${name}: ${share(name).toFixed(2)}x the events per second of bare, not ${minThroughput}x`,
    )
}

async function benchFirstEvent(children: readonly Child[]): Promise<string[]> {
  const medians = new Map<Child, number[]>(children.map((child) => [child, []]))
  for (let round = -firstEventWarmUps; round < firstEventRounds; round++) {
    for (const [child, all] of medians) {
      const times = await firstEvents(child, firstEventsEach)
      if (round >= 0) all.push(median(times))
    }
  }

  console.log('http: time to the first event, one request after the other, median (and over the first)')
  const missed: string[] = []
  const [bare = []] = medians.values()
  for (const [{ target }, all] of medians) {
    // Each round is relative to its first target: other load changes from round to round.
    const over = median(all.map((time, round) => time - (bare[round] ?? NaN)))
    console.log(`${title(target)}${median(all).toFixed(2).padStart(9)} ms (+${over.toFixed(2)})`)
    if (!(over <= maxFirstEventMs))
      missed.push(`http, ${target}: the first event comes ${over.toFixed(2)} ms after that of bare`)
  }
  return missed
}

async function benchPaced(children: readonly Child[]): Promise<string[]> {
  console.log('http: 200 streams of 50 events a second')
  for (const child of children) {
    const { cpuShare, delay50, delay99 } = await paced(child)
    const cpu = `${(cpuShare * 100).toFixed(0).padStart(9)} % of a core`
    console.log(
      `${title(child.target)}${cpu}, delay p50 ${delay50.toFixed(2)} ms, p99 ${delay99.toFixed(2)} ms`,
    )
  }
  return []
}

async function benchIdle(): Promise<string[]> {
  console.log(
    'http: memory of an open and silent stream, of 1,000: heap and buffers after a collection (and RSS)',
  )
  const missed: string[] = []
  for (const name of ['bare', 'memory', 'sqlite'] as const) {
    const child = await startTarget(name)
    const { heap, rss } = await idle(child)
    await child.close()
    console.log(`${title(name)}${heap.toFixed(1).padStart(9)} KB (${rss.toFixed(1)} KB)`)
    if (name !== 'bare' && !(heap <= maxIdleKilobytes))
      missed.push(`http, ${name}: ${heap.toFixed(1)} KB for an idle stream, not ${maxIdleKilobytes} KB`)
  }
  return missed
}
