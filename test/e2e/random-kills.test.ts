import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { propertyRuns } from '../support/property-runs.js'
import { startingChildren } from './support-child.js'
import { Customer, type Place } from './support-orders.js'
import { begunTwice } from './support-records.js'
import { temporaryFolder } from './support-server.js'

const startChild = startingChildren('serve-orders.mjs')
const agents = (process.env.KILL_AGENTS ?? 'kit,team,adk,adkteam,graph,graphteam,crew').split(',')
const seed = Number(process.env.FC_SEED ?? 1118)

/** The same numbers in every run. */
function seeded(from: number): (below: number) => number {
  let state = from
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const orders = [
  'look',
  'pay',
  'choose',
  'look look / pay',
  'pay pay',
  'pay look / choose',
  'look choose',
  'pay pay pay / look',
]

/** Events after which a run has something left to do. */
const live: readonly string[] = ['RUN_STARTED', 'TEXT_MESSAGE_START', 'TOOL_CALL_START', 'TOOL_CALL_END']

/** A server that is killed and started again, with customers at it. Every other one writes to the log first. */
async function shop() {
  const folder = temporaryFolder()
  let starts = 0
  const start = async () => {
    const isLogFirst = starts++ % 2 === 1
    const child = await startChild(folder, agents.join(','), '15000', String(isLogFirst))
    return { ...child, isLogFirst }
  }
  let child = await start()
  let open = Promise.resolve(child)
  let onEvent: (isLive: boolean) => void = () => undefined
  const place: Place = { server: () => open, heard: ({ type }) => onEvent(live.includes(type)) }
  return {
    place,
    /** Kills the server at the first event of a run in its midst after so many events, and starts another. */
    kill: async (count: number) => {
      let heard = 0
      await new Promise<void>((resolve) => {
        onEvent = (isLive) => {
          if (++heard < count || !isLive) return
          child.signal('SIGKILL')
          resolve()
        }
      })
      onEvent = () => undefined
      open = child.ended.then(start)
      child = await open
    },
    /** What the tools have begun, and what the models found wrong. */
    deeds: () => {
      const file = join(folder, 'deeds.txt')
      return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
    },
  }
}

it(
  'wherever a process is killed, nothing is done twice and nothing that was seen is undone, in every runtime',
  async () => {
    const kills = propertyRuns(2)
    const random = seeded(seed)
    const { place, kill, deeds } = await shop()
    const customers = agents.map((agent) => new Customer({ agent, thread: agent, place, random }))
    for (let n = 0; n < kills; n++) {
      const killing = kill(1 + random(8 * agents.length))
      await Promise.all([
        killing,
        ...customers.map((customer, m) =>
          customer.order(`n${m}x${n}`, orders[random(orders.length)] ?? 'look'),
        ),
      ])
    }

    const faults = customers.flatMap((customer) => customer.faults)
    const begun = deeds().filter((line) => line.startsWith('begin'))
    const total = (count: (customer: Customer) => number) =>
      customers.reduce((sum, one) => sum + count(one), 0)
    const losses = total((one) => one.losses)
    if (process.env.KILL_REPORT !== undefined)
      console.log(
        `${kills} kills, ${losses} lost runs, ${total((one) => one.unlogged)} with unlogged events, ` +
          `${begun.length} tools begun\n${faults.join('\n')}`,
      )
    expect(faults).toEqual([])
    expect(deeds().filter((line) => line.startsWith('fault'))).toEqual([])
    expect(begunTwice(deeds())).toEqual([])
    expect(begun.length).toBeGreaterThan(0)
    // Kills by which no run is lost show nothing.
    expect(losses).toBeGreaterThan(0)
  },
  120_000 + propertyRuns(2) * 30_000,
)
