import { isOfItem, LaneOrder, type EventPosition, type LaneEvent, type Peer } from '../../protocol/index.js'
import type { LogEntry } from '../../threads/contract.js'
import type { StreamOptions } from '../contract.js'
import { eventTypeIn, type FrameBatch, type FrameEntry, type Framing } from './framing.js'

interface LaneOptions {
  readonly lanes: StreamOptions['lanes']
  /** How much of the lanes that wait is kept, in bytes. */
  readonly maxBytes: number
  /** The last event that the client has. */
  readonly from: EventPosition | undefined
}

/** Sends the lanes of a run one by one to a client that needs it. */
export function withLanes(framing: Framing, peer: Peer, { lanes, maxBytes, from }: LaneOptions): Framing {
  const lastSent = from?.after === undefined ? undefined : from.seq
  const isOneByOne = (lanes ?? (peer.legacy ? 'one-by-one' : 'interleaved')) === 'one-by-one'
  // What began one by one continues so.
  return isOneByOne || lastSent !== undefined ? new OrderedLanes(framing, maxBytes, lastSent) : framing
}

/**
 * Sends the lanes of a run one by one. The order is not that of the log, so the number of an event does not say which others
 * a client has. The id of an event has two numbers while items are open: up to the first the client has all events, up
 * to the second those that come before it in this order, which depends on the events alone. A response to such an id
 * begins after the first, and leaves out what the client has.
 */
class OrderedLanes implements Framing {
  readonly headers: Framing['headers']
  readonly heartbeat: Framing['heartbeat']
  readonly #framing: Framing
  readonly #order: LaneOrder<LogEntry>
  #runId = ''
  /** The client has all events up to this number, and no item was open after it. */
  #hasAllUpTo: number | undefined
  /** What comes before this event is not sent again, nor is the event itself. */
  #lastSent: number | undefined

  constructor(framing: Framing, maxBytes: number, lastSent: number | undefined) {
    this.headers = framing.headers
    this.heartbeat = framing.heartbeat
    this.#framing = framing
    this.#lastSent = lastSent
    this.#order = new LaneOrder({ maxSize: maxBytes, sizeOf: ({ json }) => json.length })
  }

  frame(batch: FrameBatch): string | Uint8Array {
    // The error that ends a broken stream leaves at once: what waits would not be in its order, and follows when the client comes back.
    if (batch.runId === undefined) return this.#framing.frame(batch)
    if (batch.runId !== this.#runId) this.#hasAllUpTo = undefined
    this.#runId = batch.runId
    const entries: FrameEntry[] = []
    for (const entry of batch.entries) this.#take(entry, entries)
    return this.#framing.frame({ runId: batch.runId, entries })
  }

  #take(entry: LogEntry, sent: FrameEntry[]): void {
    this.#hasAllUpTo ??= entry.seq - 1
    const out: LogEntry[] = []
    const event = laneEventOf(entry)
    this.#order.take(event, entry, out)
    const { isQuiet } = this.#order
    for (const [n, one] of out.entries()) {
      const isLast = n === out.length - 1
      // A run that was lost may have lost what the client has: it ends all the same.
      if (isLast && isTerminal(event)) this.#lastSent = undefined
      this.#send(one, sent, isLast && isQuiet ? String(entry.seq) : undefined)
    }
    if (isQuiet) this.#hasAllUpTo = entry.seq
  }

  #send({ seq, json }: LogEntry, sent: FrameEntry[], position = `${this.#hasAllUpTo}~${seq}`): void {
    if (this.#lastSent === undefined) sent.push({ seq, json, position })
    else if (this.#lastSent === seq) this.#lastSent = undefined
  }
}

/** Only events of items need their lane, and those of the run itself have none. */
function laneEventOf({ json }: LogEntry): LaneEvent {
  const type = eventTypeIn(json)
  return isOfItem(type) && json.includes('"subagentRunId"') ? (JSON.parse(json) as LaneEvent) : { type }
}

function isTerminal({ type }: LaneEvent): boolean {
  return type === 'RUN_FINISHED' || type === 'RUN_ERROR'
}
