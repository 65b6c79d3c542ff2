import { isRecord, textOf, typeOf } from './json.js'
import type { RunEntry } from './run-file.js'

/** Events that count as one: a single event, or the deltas of one item in a row. */
export interface Unit {
  /** Index of its first event. */
  readonly index: number
  readonly type: string
  /** Its content without ids and times, which differ between any two runs. */
  readonly content: string
}

export interface RunComparison {
  readonly left: readonly Unit[]
  readonly right: readonly Unit[]
  /** The number of the first unit that differs. Undefined: the runs are the same. */
  readonly firstDifference?: number
}

/** Compares what two runs say, in order. How a text was cut into deltas does not count. */
export function compareRuns(left: readonly RunEntry[], right: readonly RunEntry[]): RunComparison {
  const [a, b] = [toUnits(left), toUnits(right)]
  const length = Math.max(a.length, b.length)
  for (let at = 0; at < length; at++)
    if (a[at]?.content !== b[at]?.content) return { left: a, right: b, firstDifference: at }
  return { left: a, right: b }
}

/** The unit that an event belongs to. */
export function unitOf(units: readonly Unit[], index: number): number {
  let [low, high] = [0, units.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((units[middle]?.index ?? 0) <= index) low = middle
    else high = middle - 1
  }
  return low
}

const deltas = new Set(['TEXT_MESSAGE_CONTENT', 'REASONING_MESSAGE_CONTENT', 'TOOL_CALL_ARGS'])

function toUnits(entries: readonly RunEntry[]): Unit[] {
  const units: Unit[] = []
  const names = new Names()
  let open: { readonly id: string; readonly index: number; readonly texts: string[] } | undefined
  const close = (): void => {
    if (!open) return
    const type = open.id.slice(0, open.id.indexOf(' '))
    units.push({ index: open.index, type, content: `${type} ${open.texts.join('')}` })
    open = undefined
  }
  entries.forEach(({ event, raw }, index) => {
    const type = typeOf(event) ?? ''
    const delta = textOf(event, 'delta')
    if (deltas.has(type) && delta !== undefined) {
      const id = `${type} ${textOf(event, 'messageId') ?? textOf(event, 'toolCallId') ?? ''}`
      if (open?.id !== id) {
        close()
        open = { id, index, texts: [] }
      }
      open.texts.push(delta)
      return
    }
    close()
    units.push({
      index,
      type,
      content: event === undefined ? (raw ?? '') : JSON.stringify(names.replaceIn(event)),
    })
  })
  close()
  return units
}

const times = new Set(['timestamp', 'startedAt', 'endedAt', 'at', 'usage', 'rawEvent'])

/** Gives ids the number of their first appearance, so that equal stories are equal texts. */
class Names {
  readonly #numbers = new Map<string, string>()

  replaceIn(value: unknown, key = ''): unknown {
    if (typeof value === 'string') return /(^id|Id|Ids)$/.test(key) ? this.#number(value) : value
    if (Array.isArray(value)) return value.map((entry) => this.replaceIn(entry, key))
    if (!isRecord(value)) return value
    const members = Object.entries(value).filter(([name]) => !times.has(name))
    return Object.fromEntries(
      members.toSorted(byName).map(([name, member]) => [name, this.replaceIn(member, name)]),
    )
  }

  #number(id: string): string {
    const number = this.#numbers.get(id) ?? `#${this.#numbers.size + 1}`
    this.#numbers.set(id, number)
    return number
  }
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
