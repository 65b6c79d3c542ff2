import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { contestants, model, sent, type Contestant } from './langgraph/contestants.js'
import { benchLangGraphTurns } from './langgraph/turns.js'

const pieces = 2_000
const rounds = 31
/** Microseconds that a delta may cost on top of a graph whose model streams to nobody. */
const maxAdded = 10
/** Bytes per character for deltas as long as a paragraph, where frames hardly count. */
const maxBytes = 1.5
const paragraph = 500
/** Bytes that a delta of 20 characters may retain: itself, in the message that will be stored. */
const maxHeld = 200

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as (options?: { type: 'minor' }) => void

type Name = keyof typeof contestants
const names = Object.keys(contestants) as Name[]

/** CPU time in microseconds: nothing here waits, and other processes do not count. */
async function time(prepare: Contestant, length: number): Promise<number> {
  const once = prepare()
  model.pieces = length
  // Collects the garbage of the setup. A minor collection only: a full one discards compiled code.
  collectGarbage({ type: 'minor' })
  const before = process.cpuUsage()
  const events = await once()
  const { user, system } = process.cpuUsage(before)
  if (events < length) throw new Error(`only ${events} events for ${length} pieces`)
  return user + system
}

type Round = Readonly<Record<Name, number>>

/** Microseconds per delta. All contestants alternate, so that other load on the machine affects them alike. */
async function measure(count: number): Promise<Round[]> {
  const taken: Round[] = []
  for (let round = 0; round < count; round++) {
    const entries: [Name, number][] = []
    // The order rotates: the garbage of one is collected on the time of the next.
    const first = round % names.length
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const { prepare } = contestants[name]
      const short = await time(prepare, 1)
      entries.push([name, ((await time(prepare, pieces)) - short) / (pieces - 1)])
    }
    taken.push(Object.fromEntries(entries) as Round)
  }
  return taken
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

async function benchTime(): Promise<string[]> {
  // The first rounds include compilation and are discarded.
  await measure(3)
  const taken = await measure(rounds)
  console.log(`langgraph: an answer of ${pieces} pieces of ${model.characters} characters, ${rounds} rounds`)
  for (const name of names) {
    const values = taken.map((round) => round[name])
    const added = median(taken.map((round) => round[name] - round.floor))
    console.log(
      `  ${contestants[name].name.padEnd(20)} ${median(values).toFixed(1).padStart(6)} µs a piece` +
        `, min ${Math.min(...values).toFixed(1)}${name === 'floor' ? '' : `, added ${added.toFixed(1)}`}`,
    )
  }
  const added = median(taken.map(({ ours, floor }) => ours - floor))
  const saved = median(taken.map(({ v2, ours }) => v2 - ours))
  return [
    ...(added <= maxAdded ? [] : [`a piece adds ${added.toFixed(2)} µs, more than ${maxAdded}`]),
    ...(saved > 0 ? [] : [`a piece costs ${(-saved).toFixed(1)} µs more than with streamEvents v2`]),
  ]
}

/** Bytes per character. */
async function expansion(characters: number): Promise<number> {
  model.pieces = pieces
  model.characters = characters
  await contestants.bytes.prepare()()
  return sent.bytes / (pieces * characters)
}

async function benchBytes(): Promise<string[]> {
  const short = await expansion(20)
  const long = await expansion(paragraph)
  model.characters = 20
  const frame = (short - 1) * 20
  console.log(
    `  bytes: ${short.toFixed(2)} for a character in pieces of 20, ${long.toFixed(2)} in pieces of ${paragraph}; a frame adds ${frame.toFixed(0)}`,
  )
  return long <= maxBytes
    ? []
    : [`${long.toFixed(2)} bytes for a character in long pieces, more than ${maxBytes}`]
}

/** Retained bytes just before the last of a number of deltas. */
async function heapAt(name: Name, length: number): Promise<number> {
  const once = contestants[name].prepare()
  let heap = NaN
  model.pieces = length
  // Collects the garbage of the previous run first.
  await setImmediate()
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  model.atTheEnd = () => {
    collectGarbage()
    heap = process.memoryUsage().heapUsed - before
  }
  await once()
  model.atTheEnd = () => undefined
  return heap
}

async function benchHeap(): Promise<string[]> {
  const held: Partial<Record<Name, number>> = {}
  console.log(`  alive at the last of ${pieces} and of ${pieces * 10} pieces`)
  for (const name of names) {
    await heapAt(name, pieces)
    const [few, many] = [await heapAt(name, pieces), await heapAt(name, pieces * 10)]
    const perPiece = (many - few) / (pieces * 9)
    held[name] = perPiece
    console.log(
      `    ${contestants[name].name.padEnd(20)} ${megabytes(few)}, ${megabytes(many)} MB: ${perPiece.toFixed(0)} bytes a piece`,
    )
  }
  const added = (held.ours ?? NaN) - (held.floor ?? NaN)
  return added <= maxHeld
    ? []
    : [`a piece keeps ${added.toFixed(0)} bytes more alive than the graph itself, more than ${maxHeld}`]
}

const megabytes = (bytes: number): string => (bytes / 1_048_576).toFixed(2)

export async function benchLangGraph(): Promise<string[]> {
  const missed = [...(await benchTime()), ...(await benchBytes()), ...(await benchHeap())]
  return [...missed.map((line) => `langgraph: ${line}`), ...(await benchLangGraphTurns())]
}
