import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { propertyRuns } from '../support/property-runs.js'
import { startingChildren } from './support-child.js'
import { Customer, type Place } from './support-orders.js'
import { temporaryFolder } from './support-server.js'

const startChild = startingChildren('serve-orders.mjs')
const agents = (process.env.KILL_AGENTS ?? 'kit,team,adk,adkteam,graph,crew').split(',')
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

/** A server that is killed and started again, with customers at it. */
async function shop(isLogFirst: boolean) {
  const folder = temporaryFolder()
  const start = () => startChild(folder, agents.join(','), '15000', String(isLogFirst))
  let child = await start()
  let open = Promise.resolve(child.url)
  let heard = 0
  let enough: { readonly count: number; readonly tell: () => void } | undefined
  const place: Place = {
    url: () => open,
    heard() {
      if (enough && ++heard >= enough.count) enough.tell()
    },
  }
  return {
    place,
    /** Kills the server when its customers have had so many events, and starts another. */
    kill: async (count: number) => {
      heard = 0
      await new Promise<void>((tell) => {
        enough = { count, tell }
      })
      enough = undefined
      child.signal('SIGKILL')
      open = child.ended.then(start).then((next) => {
        child = next
        return next.url
      })
      await open
    },
    /** What the tools have begun, and what the models found wrong. */
    deeds: () => {
      const file = join(folder, 'deeds.txt')
      return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
    },
  }
}

const doubled = (all: readonly string[]): string[] => all.filter((one, n) => all.indexOf(one) !== n)

describe.each([false, true])('with the log first: %s', (isLogFirst) => {
  it(
    'wherever a process is killed, nothing is done twice and nothing that was seen is undone, in every runtime',
    async () => {
      const kills = propertyRuns(2)
      const random = seeded(seed)
      const { place, kill, deeds } = await shop(isLogFirst)
      let isOver = false
      const customers = agents.map(
        (agent) => new Customer({ agent, thread: agent, place, random, isLogFirst }),
      )
      const shopping = customers.map(async (customer, n) => {
        for (let round = 0; !isOver; round++)
          await customer.order(`n${n}x${round}`, orders[random(orders.length)] ?? 'look')
      })
      const killing = (async () => {
        for (let n = 0; n < kills; n++) await kill(1 + random(60))
        isOver = true
      })()
      await Promise.all([...shopping, killing])

      const faults = customers.flatMap((customer) => customer.faults)
      const begun = deeds()
        .filter((line) => line.startsWith('begin'))
        .map((line) => line.split(' '))
      const total = (count: (customer: Customer) => number) =>
        customers.reduce((sum, one) => sum + count(one), 0)
      if (process.env.KILL_REPORT !== undefined)
        console.log(
          `${kills} kills, ${total((one) => one.losses)} lost runs, ${total((one) => one.unlogged)} with unlogged events, ` +
            `${begun.length} tools begun, keys twice: ${doubled(begun.map(([, , key = '']) => key)).join(' ')}\n${faults.join('\n')}`,
        )
      expect(faults).toEqual([])
      expect(deeds().filter((line) => line.startsWith('fault'))).toEqual([])
      expect(doubled(begun.map(([, callId = '']) => callId))).toEqual([])
      expect(begun.length).toBeGreaterThan(0)
    },
    60_000 + propertyRuns(2) * 30_000,
  )
})
