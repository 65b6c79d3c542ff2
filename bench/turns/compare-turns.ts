import { median } from '../http/stats.js'
import { Conversation, type Handler } from './conversation.js'

const earlyTurn = 10
const lateTurn = 1_000
/** The early conversations of a round, and the turns of each that count. */
const conversations = 4
const turnsEach = 2

export interface TurnsOptions {
  readonly name: string
  /** Our share may not grow by more than this. None: the figures are printed and that is all. */
  readonly maxGrowth?: number
  readonly ours: () => Handler
  /** The least program that does the same with the same runtime. */
  readonly floor: () => Handler
  /** Whether the late conversations come from elsewhere, since a thousand real turns would take too long. */
  readonly isBrought?: boolean
  readonly rounds?: number
  readonly warmUps?: number
}

/** A turn of both, in microseconds. */
interface Pair {
  readonly floor: number
  readonly ours: number
}

type Conversations = Readonly<Record<keyof Pair, Conversation>>

/**
 * Compares turn 1,000 with turn 10 over `createServer`: our share is the CPU time of a turn less that of the floor, which
 * alternates with it in the same run. What grows in the floor is not ours: JSON and the schema of a request with the
 * whole conversation, and what the runtime does with a long history.
 */
export async function compareTurns(options: TurnsOptions): Promise<string[]> {
  const { name, maxGrowth, isBrought = false, rounds = 25, warmUps = 10 } = options
  const brought = isBrought ? 2 * lateTurn : 0
  const late = await converse(options, { turns: isBrought ? 3 : lateTurn, brought })
  const taken = { early: [] as Pair[], late: [] as Pair[] }
  for (let round = -warmUps; round < rounds; round++) {
    const early: Pair[] = []
    for (let n = 0; n < conversations; n++)
      early.push(...(await measure(await converse(options, { turns: earlyTurn, brought: 0 }))))
    const later = await measure(late)
    if (round < 0) continue
    taken.early.push(...early)
    taken.late.push(...later)
  }
  const [early, later] = [sharesOf(taken.early), sharesOf(taken.late)]
  const growth = later.share / early.share
  console.log(
    `${name}: CPU time of a turn over createServer, in memory; the floor is the least that does the same`,
  )
  for (const [turn, { floor, ours, share }] of [
    [earlyTurn, early],
    [lateTurn, later],
  ] as const)
    console.log(
      `  turn ${String(turn).padStart(5)} ${micros(ours)}, floor ${micros(floor)}, our share ${micros(share)}`,
    )
  console.log(`  our share grows by ${growth.toFixed(2)}x`)
  if (maxGrowth === undefined || growth <= maxGrowth) return []
  return [
    `${name}: our share of turn ${lateTurn} is ${growth.toFixed(2)}x that of turn ${earlyTurn}, not ${maxGrowth}x`,
  ]
}

async function converse(
  { ours, floor }: TurnsOptions,
  { turns, brought }: { readonly turns: number; readonly brought: number },
): Promise<Conversations> {
  return {
    floor: await new Conversation(floor(), brought).turnsUntil(turns),
    ours: await new Conversation(ours(), brought).turnsUntil(turns),
  }
}

/** In turns, and in both orders: the garbage of one is collected on the time of the next. */
async function measure({ floor, ours }: Conversations): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let n = 0; n < turnsEach; n++) {
    const first = await (n % 2 === 0 ? floor : ours).turn()
    const second = await (n % 2 === 0 ? ours : floor).turn()
    pairs.push(n % 2 === 0 ? { floor: first, ours: second } : { floor: second, ours: first })
  }
  return pairs
}

function sharesOf(pairs: readonly Pair[]): Pair & { readonly share: number } {
  const floor = median(pairs.map((pair) => pair.floor))
  const ours = median(pairs.map((pair) => pair.ours))
  // Within a pair the machine is the same for both.
  return { floor, ours, share: median(pairs.map((pair) => pair.ours - pair.floor)) }
}

function micros(value: number): string {
  return `${value.toFixed(0).padStart(6)} µs`
}
