import type { AgUiEvent } from '../../protocol/index.js'
import { DeltaWriter } from './delta-writer.js'
import type { LogEntry } from '../../threads/contract.js'

/** The newest events of a run, at hand for those who follow it. As JSON, written once for all who read it. */
export interface Tail {
  /** The number of the oldest that is at hand, and of the next to come. */
  readonly start: number
  readonly next: number
  /** Adds an event, and gives the length of its JSON. */
  push(event: AgUiEvent): number
  /** Puts another in the place of the last one. */
  replaceLast(event: AgUiEvent): void
  slice(from: number, to: number): readonly LogEntry[]
  /** The same without their numbers. */
  lines(from: number, to: number): readonly string[]
  /** Drops the oldest until the rest fits into so many bytes, but none from `until` on. */
  trim(bytes: number, until: number): void
}

export function createTail(firstSeq: number): Tail {
  return new NewestEvents(firstSeq)
}

// A class: accessors in an object literal would give every run an object shape of its own.
class NewestEvents implements Tail {
  readonly #delta = new DeltaWriter()
  #lines: string[] = []
  #size = 0
  start: number

  constructor(firstSeq: number) {
    this.start = firstSeq
  }

  get next(): number {
    return this.start + this.#lines.length
  }

  push(event: AgUiEvent): number {
    const json = this.#delta.write(event) ?? JSON.stringify(event)
    this.#lines.push(json)
    this.#size += json.length
    return json.length
  }

  replaceLast(event: AgUiEvent): void {
    this.#size -= this.#lines.pop()?.length ?? 0
    this.push(event)
  }

  slice(from: number, to: number): readonly LogEntry[] {
    return this.lines(from, to).map((json, n) => ({ seq: from + n, json }))
  }

  lines(from: number, to: number): readonly string[] {
    return this.#lines.slice(from - this.start, to - this.start)
  }

  trim(bytes: number, until: number): void {
    let drop = 0
    for (; this.#size > bytes && this.start + drop < until; drop++)
      this.#size -= this.#lines[drop]?.length ?? 0
    if (drop === 0) return
    this.#lines = this.#lines.slice(drop)
    this.start += drop
  }
}
