import type { AgUiEvent } from '../contract.js'

/** What the order of lanes depends on. */
export interface LaneEvent {
  readonly type: AgUiEvent['type']
  /** Only for events of items; others have no lane here. */
  readonly subagentRunId?: string | undefined
}

export interface LaneOrderOptions<T> {
  /** The size of what waits at most. */
  readonly maxSize: number
  readonly sizeOf: (event: T) => number
}

/** How many items an event opens in its lane. Events that are not of an item are not listed. */
const opened: Readonly<Partial<Record<AgUiEvent['type'], 1 | 0 | -1>>> = {
  ...{ TEXT_MESSAGE_START: 1, TEXT_MESSAGE_CONTENT: 0, TEXT_MESSAGE_END: -1 },
  ...{ TOOL_CALL_START: 1, TOOL_CALL_ARGS: 0, TOOL_CALL_END: -1 },
  ...{ REASONING_START: 1, REASONING_END: -1 },
  ...{ REASONING_MESSAGE_START: 1, REASONING_MESSAGE_CONTENT: 0, REASONING_MESSAGE_END: -1 },
}

/** Whether an event belongs to an item, and so to a lane. */
export function isOfItem(type: AgUiEvent['type']): boolean {
  return opened[type] !== undefined
}

/** Events that stay together: those of a lane while it has open items, or one that is not of an item. */
interface Block<T> {
  /** The number of open items. */
  open: number
  /** Those that wait. */
  events: T[]
  next: Block<T> | undefined
}

/**
 * Sends the lanes of a run one by one, for clients that hold one open text at a time: while a lane has open items, the events of
 * the others wait. Blocks leave in the order of their first events, so messages keep their order, and what is not of an
 * item keeps its position behind all that came before. Nothing is lost or sent twice, and the order depends on the events
 * alone. When more waits than `maxSize`, all of it is sent, and lanes mix until no item is open.
 *
 * Takes the strict events of a stream in order, from any point of a run. The work per event is constant.
 */
export class LaneOrder<T> {
  readonly #options: LaneOrderOptions<T>
  /** The blocks of lanes with open items. */
  readonly #open = new Map<string | undefined, Block<T>>()
  /** The block that is being sent. Those behind it wait. */
  #first: Block<T> | undefined
  #last: Block<T> | undefined
  #waitingSize = 0
  #isMixed = false

  constructor(options: LaneOrderOptions<T>) {
    this.#options = options
  }

  /** Whether no item is open: all that was taken has been sent. */
  get isQuiet(): boolean {
    return this.#open.size === 0 && this.#first === undefined
  }

  /** Takes an event. Adds to `out` what is to be sent now. */
  take({ type, subagentRunId }: LaneEvent, event: T, out: T[]): void {
    const change = opened[type]
    if (change !== undefined) this.#takeOfItem(this.#blockOf(subagentRunId, change), event, out)
    else if (type === 'RUN_FINISHED' || type === 'RUN_ERROR') {
      this.#flush(out)
      this.#open.clear()
      this.#isMixed = false
      out.push(event)
    } else if (this.#first === this.#last) out.push(event)
    else this.#wait(this.#addBlock(), event, out)
  }

  /** The block of a lane, after an event that opens or closes an item. */
  #blockOf(lane: string | undefined, change: 1 | 0 | -1): Block<T> {
    const block = this.#open.get(lane) ?? this.#addBlock()
    // A stream that begins in the middle of an item lacks the start of it.
    block.open = Math.max(block.open + change, change === 0 ? 1 : 0)
    if (block.open > 0) this.#open.set(lane, block)
    else this.#open.delete(lane)
    return block
  }

  #addBlock(): Block<T> {
    const block: Block<T> = { open: 0, events: [], next: undefined }
    if (this.#isMixed) return block
    if (this.#last) this.#last.next = block
    this.#last = block
    this.#first ??= block
    return block
  }

  #takeOfItem(block: Block<T>, event: T, out: T[]): void {
    if (this.#isMixed) {
      out.push(event)
      this.#isMixed = this.#open.size > 0
    } else if (block !== this.#first) this.#wait(block, event, out)
    else {
      out.push(event)
      if (block.open === 0) this.#nextBlock(block.next, out)
    }
  }

  #wait(block: Block<T>, event: T, out: T[]): void {
    block.events.push(event)
    this.#waitingSize += this.#options.sizeOf(event)
    if (this.#waitingSize > this.#options.maxSize) this.#flush(out)
  }

  /** Adds all that waits to `out`. */
  #flush(out: T[]): void {
    for (let block = this.#first; block; block = block.next) this.#send(block, out)
    this.#first = this.#last = undefined
    this.#isMixed = this.#open.size > 0
  }

  /** Sends the blocks that are complete, and what there is of the first that is not. */
  #nextBlock(next: Block<T> | undefined, out: T[]): void {
    let block = next
    for (; block; block = block.next) {
      this.#send(block, out)
      if (block.open > 0) break
    }
    this.#first = block
    if (!block) this.#last = undefined
  }

  #send(block: Block<T>, out: T[]): void {
    for (const event of block.events) {
      this.#waitingSize -= this.#options.sizeOf(event)
      out.push(event)
    }
    block.events = []
  }
}
