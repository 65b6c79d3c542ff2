import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { abuses, type AbuseName } from './abuse/abuses.js'
import { attackerFile, type Answers } from './abuse/attacker.js'
import { neutralFile, type Seen } from './abuse/neutral.js'
import { serverFile } from './abuse/server.js'
import { quantile } from './http/stats.js'

/** How long each abuse is measured. It begins before. */
const seconds = Number(process.env.ABUSE_SECONDS ?? 8)
const headStartSeconds = 1
/** Before each abuse. All of them together are what the abuses are compared with. */
const quietSeconds = seconds / 2
const warmUpSeconds = 5
const warmUpEachSeconds = 0.5
const restSeconds = 1
const abuseNames = Object.keys(abuses) as AbuseName[]

const maxRatio = 3

const pause = (s: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, s * 1000))

/** A server, neutral clients and attackers, each in a process of its own: short runs while nothing and while something happens. */
export async function benchAbuse(): Promise<string[]> {
  const server = start(serverFile, [])
  const port = await next<number>(server)
  const neutral = start(neutralFile, [String(port)])
  const cpu = (): Promise<number> => {
    server.send('cpu')
    return next<number>(server)
  }
  let attackers = 0
  const attack = (name: AbuseName, time: number): { readonly answers: Promise<Answers> } => {
    const address = `127.0.2.${++attackers}`
    const answers = next<Answers>(start(attackerFile, [name, String(port), String(time), address]))
    // Looked at later.
    answers.catch(() => undefined)
    return { answers }
  }
  const measure = async (time: number): Promise<Measured> => {
    const before = await cpu()
    const began = performance.now()
    neutral.send(time)
    const seen = await next<Seen>(neutral)
    const cpuShare = ((await cpu()) - before) / 1000 / (performance.now() - began)
    return { ...seen, cpuShare }
  }
  try {
    await measure(warmUpSeconds)
    // The first to come would be compared with a server whose code is compiled in the meantime.
    for (const name of abuseNames) await attack(name, warmUpEachSeconds).answers
    await pause(restSeconds)
    const quiet: Measured[] = []
    const during = new Map<AbuseName, Abused>()
    for (const name of abuseNames) {
      quiet.push(await measure(quietSeconds))
      const { answers } = attack(name, seconds + headStartSeconds)
      await pause(headStartSeconds)
      const seen = await measure(seconds)
      during.set(name, { seen, answers: await answers })
      await pause(restSeconds)
    }
    return report(joined(quiet), during)
  } finally {
    for (const child of [neutral, server]) child.disconnect()
  }
}

interface Measured extends Seen {
  /** What the server used of a core, from 0 to 1. Other load on the machine affects it far less than the times. */
  readonly cpuShare: number
}

interface Abused {
  readonly seen: Measured
  readonly answers: Answers
}

function start(file: string, args: readonly string[]): ChildProcess {
  return fork(file, args, { env: { ...process.env, NODE_ENV: 'production' } })
}

/** The next message of a process. Rejects when it ends first. */
async function next<T>(child: ChildProcess): Promise<T> {
  const stop = new AbortController()
  const message = once(child, 'message', { signal: stop.signal })
  const exit = once(child, 'exit', { signal: stop.signal })
  for (const losing of [message, exit]) losing.catch(() => undefined)
  try {
    const got = await Promise.race([message, exit.then(() => undefined)])
    if (got === undefined)
      throw new Error(`the bench needs ${child.spawnargs.slice(1).join(' ')}, which has ended`)
    return got[0] as T
  } finally {
    stop.abort()
  }
}

function joined(all: readonly Measured[]): Measured {
  return {
    first: all.flatMap(({ first }) => first),
    end: all.flatMap(({ end }) => end),
    failures: all.flatMap(({ failures }) => failures),
    cpuShare: all.reduce((sum, { cpuShare }) => sum + cpuShare, 0) / all.length,
  }
}

function report(quiet: Measured, during: ReadonlyMap<AbuseName, Abused>): string[] {
  console.log('abuse: milliseconds of a short run of a neutral client, to its first event and to its end')
  console.log(
    `${'  '.padEnd(34)}${['p50', 'p99', 'p50', 'p99'].map((name) => name.padStart(9)).join('')}    CPU   p99/quiet`,
  )
  print('quiet', quiet)
  const missed = failuresOf('quiet', quiet)
  for (const [name, { seen, answers }] of during) {
    const ratio = Math.max(p99(seen.first) / p99(quiet.first), p99(seen.end) / p99(quiet.end))
    const answered = Object.entries(answers).map(([status, count]) => `${count} of ${status}`)
    print(name, seen, `${ratio.toFixed(1).padStart(8)}x   (${answered.join(', ') || 'unanswered'})`)
    missed.push(...failuresOf(name, seen))
    if (!(ratio <= maxRatio))
      missed.push(`abuse, ${name}: the p99 is ${ratio.toFixed(1)}x of quiet, not ${maxRatio}x`)
  }
  return missed
}

function p99(times: readonly number[]): number {
  return quantile(times, 0.99)
}

function print(name: string, { first, end, cpuShare }: Measured, rest = ''): void {
  const cpu = `${(cpuShare * 100).toFixed(0).padStart(5)} %`
  const times = [quantile(first, 0.5), p99(first), quantile(end, 0.5), p99(end)]
  console.log(`  ${name.padEnd(32)}${times.map((time) => time.toFixed(1).padStart(9)).join('')}${cpu}${rest}`)
}

function failuresOf(name: string, { failures, end }: Seen): string[] {
  if (failures.length === 0) return []
  return [`abuse, ${name}: ${failures.length} of ${failures.length + end.length} runs failed: ${failures[0]}`]
}
