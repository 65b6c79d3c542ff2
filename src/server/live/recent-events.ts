import type { AgUiEvent } from '../../protocol/index.js'
import type { LogEntry } from '../../threads/contract.js'

/** The newest events of a run, as JSON: the same text goes to the log and to every subscriber. */
export class RecentEvents {
  // A class: accessors in an object literal would give every run an object shape of its own.
  /** The number of the oldest event. */
  start: number
  #lines: string[] = []
  #size = 0
  // The JSON of a delta up to its text. It is the same for all deltas of a message.
  #deltaType = ''
  #deltaMessageId = ''
  #deltaHead = ''

  constructor(firstSeq: number) {
    this.start = firstSeq
  }

  /** The number of the next event. */
  get next(): number {
    return this.start + this.#lines.length
  }

  /** Adds an event and returns the length of its JSON. Throws, with nothing changed, when it has none. */
  push(event: AgUiEvent): number {
    const json = this.#toJson(event)
    this.#lines.push(json)
    this.#size += json.length
    return json.length
  }

  replaceLast(event: AgUiEvent): void {
    this.#size -= this.#lines.pop()?.length ?? 0
    this.push(event)
  }

  entries(from: number, to: number): readonly LogEntry[] {
    return this.lines(from, to).map((json, n) => ({ seq: from + n, json }))
  }

  lines(from: number, to: number): readonly string[] {
    return this.#lines.slice(from - this.start, to - this.start)
  }

  /** Drops the oldest events until the rest fits into so many bytes, but none from `until` on. */
  trim(bytes: number, until: number): void {
    let drop = 0
    for (; this.#size > bytes && this.start + drop < until; drop++)
      this.#size -= this.#lines[drop]?.length ?? 0
    if (drop === 0) return
    this.#lines = this.#lines.slice(drop)
    this.start += drop
  }

  /** `JSON.stringify`, at half the cost for plain text deltas. */
  #toJson(event: AgUiEvent): string {
    const { type } = event
    if ((type !== 'TEXT_MESSAGE_CONTENT' && type !== 'REASONING_MESSAGE_CONTENT') || !isPlainDelta(event))
      return JSON.stringify(event)
    const { messageId, delta } = event
    if (messageId !== this.#deltaMessageId || type !== this.#deltaType) {
      this.#deltaType = type
      this.#deltaMessageId = messageId
      this.#deltaHead = `{"type":"${type}","messageId":${JSON.stringify(messageId)},"delta":`
    }
    return `${this.#deltaHead}${JSON.stringify(delta)}}`
  }
}

/** Whether it has these three members and no other, in this order. */
function isPlainDelta(event: object): boolean {
  let n = 0
  for (const name in event) if (name !== deltaMembers[n++]) return false
  return n === deltaMembers.length
}

const deltaMembers = ['type', 'messageId', 'delta']
