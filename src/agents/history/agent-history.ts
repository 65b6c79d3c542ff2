import type { Message } from '@ag-ui/core'
import { isRejected } from '../../protocol/index.js'
import type { HistoryEntry } from '../contract.js'
import { isBehindCall, lanesOf, nameAt, pathFrom, rootOf, type ParallelLane } from '../run/address.js'
import { addressIn, originKey, originMarkOf, originPrefix } from './message-origin.js'

/** What an agent may see: the thread, or only its own input messages and those written at an address and below. */
export interface HistoryScope {
  readonly address: string
  readonly subagentRunId: string | undefined
  /** Messages in place of the thread. */
  readonly messages: readonly Message[] | undefined
}

/** The agent that reads the conversation. */
export interface HistoryReader {
  readonly name: string
  readonly address: string
  readonly subagentRunId: string | undefined
  /** Whether it writes in the span of the agent above it. */
  readonly isSelf: boolean
  readonly scope: HistoryScope
  /** The run that this one resumes; itself when it resumes none. */
  readonly originRunId: string
}

/** What the history is made of, by entry: undefined leaves it out. */
export type ToItem<Item> = (entry: HistoryEntry) => Item | undefined

interface Located {
  readonly entry: HistoryEntry
  /** The address of its author. */
  readonly address: string
}

/**
 * What an agent may see, with the authors, in order; parallel lanes that have ended stand one after the other. Reads
 * each message once, however often the agent runs.
 */
export class AgentHistory<Item> {
  readonly items: Item[] = []
  readonly calls: PairedCalls
  readonly #reader: HistoryReader
  readonly #toItem: ToItem<Item>
  readonly #prefix: string
  /** What the items are ordered by. */
  readonly #keys: (readonly number[])[] = []
  readonly #firstOfFork: Map<string, number>
  /** How many messages were read, and how many of them it may see. */
  #read = 0
  #seen = 0

  constructor(reader: HistoryReader, toItem: ToItem<Item>, before?: AgentHistory<Item>) {
    this.#reader = reader
    this.#toItem = toItem
    this.#prefix = originPrefix(reader.originRunId)
    this.#firstOfFork = new Map(before ? before.#firstOfFork : [])
    this.calls = new PairedCalls(before?.calls)
    if (before) {
      this.items = before.items.slice()
      this.#keys = before.#keys.slice()
      this.#read = before.#read
      this.#seen = before.#seen
      return
    }
    for (const message of reader.scope.messages ?? [])
      if (isPlain(message)) this.#add({ entry: { message, agent: undefined, isOwn: false }, address: '' })
  }

  /** Reads what is new. */
  read(messages: readonly Message[]): this {
    for (; this.#read < messages.length; this.#read++) this.#readNext(messages, [])
    return this
  }

  /** A history that has read all, for a reader with others in parallel: it does not see their lanes. */
  readInLanes(messages: readonly Message[], lanes: readonly ParallelLane[]): AgentHistory<Item> {
    const isBeside = (message: Message): boolean =>
      lanesOf(addressIn(originMarkOf(message) ?? '')).some(({ fork }) =>
        lanes.some((own) => own.fork === fork),
      )
    for (; this.#read < messages.length; this.#read++) {
      const message = messages[this.#read]
      if (message && isBeside(message)) break
      this.#readNext(messages, [])
    }
    const own = new AgentHistory(this.#reader, this.#toItem, this)
    for (; own.#read < messages.length; own.#read++) own.#readNext(messages, lanes)
    return own
  }

  #readNext(messages: readonly Message[], lanes: readonly ParallelLane[]): void {
    const message = messages[this.#read]
    if (!message || isRejected(message)) return
    const located = this.#locate(withCaller(message, messages, this.#read), lanes)
    if (located) this.#add(located)
  }

  #locate(message: Message, lanes: readonly ParallelLane[]): Located | undefined {
    const { scope } = this.#reader
    const mark = originMarkOf(message)
    // Messages of the scope's own agent have no mark when it answers a tool call.
    const isOfScope = mark === undefined && message.subagentRunId === scope.subagentRunId
    const address = isOfScope ? scope.address : mark === undefined ? undefined : addressIn(mark)
    if (message.subagentRunId === undefined) {
      // An agent with input messages of its own does not see those of the thread.
      if (scope.messages !== undefined) return undefined
    } else {
      const isOfThisRun = isOfScope || mark?.startsWith(this.#prefix) === true
      if (address === undefined || !canSee({ scope, lanes }, address, isOfThisRun)) return undefined
    }
    const entry = { message: withoutSpan(message), ...authorOf(message, address, this.#reader) }
    return { entry, address: address ?? '' }
  }

  /** Adds an entry behind those of its lane, and of the lanes before it. */
  #add({ entry, address }: Located): void {
    const key = this.#orderKey(entry, address)
    const item = this.#toItem(entry)
    if (item === undefined) return
    let at = this.items.length
    while (at > 0 && compareKeys(key, this.#keys[at - 1] ?? []) < 0) at--
    if (at === this.items.length) {
      this.items.push(item)
      this.#keys.push(key)
    } else {
      this.items.splice(at, 0, item)
      this.#keys.splice(at, 0, key)
    }
    this.calls.add(entry.message, at)
  }

  #orderKey({ message }: HistoryEntry, address: string): readonly number[] {
    const position = this.#seen++
    // A new run begins: its lanes are new, even with the same address.
    if (message.role === 'user') this.#firstOfFork.clear()
    const lanes = lanesOf(address).flatMap(({ fork, lane }) => {
      const first = this.#firstOfFork.get(fork) ?? position
      this.#firstOfFork.set(fork, first)
      return [first, laneNumber(lane)]
    })
    return [...lanes, position]
  }
}

/** Whether a message is part of the thread and counts. */
export function isPlain(message: Message): boolean {
  return message.subagentRunId === undefined && !isRejected(message)
}

/** Attributes the result of a client tool to the agent that made the call. Clients do not say so themselves. */
function withCaller(message: Message, messages: readonly Message[], position: number): Message {
  if (message.role !== 'tool' || message.subagentRunId !== undefined) return message
  const { toolCallId } = message
  let caller: Message | undefined
  for (let at = position - 1; at >= 0 && caller === undefined; at--) {
    const before = messages[at]
    if (before?.role === 'assistant' && before.toolCalls?.some(({ id }) => id === toolCallId)) caller = before
  }
  if (caller?.subagentRunId === undefined) return message
  const { subagentRunId } = caller
  const mark = originMarkOf(caller)
  const metadata = { ...message.metadata, ...(mark === undefined ? {} : { [originKey]: mark }) }
  return { ...message, subagentRunId, metadata }
}

interface Sight {
  readonly scope: HistoryScope
  readonly lanes: readonly ParallelLane[]
}

function canSee({ scope, lanes }: Sight, writtenAt: string, isOfThisRun: boolean): boolean {
  if (!isOfThisRun) return scope.messages === undefined && !isBehindCall(writtenAt.split('/'))
  const path = pathFrom(scope.address, writtenAt)
  if (path === undefined || isBehindCall(path)) return false
  const own = new Map(lanes.map(({ fork, lane }) => [fork, lane]))
  return lanesOf(writtenAt).every(({ fork, lane }) => (own.get(fork) ?? lane) === lane)
}

function authorOf(
  { role, subagentRunId }: Message,
  address: string | undefined,
  reader: HistoryReader,
): Pick<HistoryEntry, 'agent' | 'isOwn'> {
  if (role === 'user' || role === 'system') return { agent: undefined, isOwn: false }
  // A failure note bears the mark of the agent that failed.
  if (role === 'developer')
    return { agent: address === undefined ? undefined : nameAt(address), isOwn: false }
  // The root of the run wrote what has no mark.
  const agent = nameAt(address ?? rootOf(reader.address))
  return { agent, isOwn: subagentRunId === reader.subagentRunId || agent === reader.name }
}

function withoutSpan(message: Message): Message {
  if (message.subagentRunId === undefined) return message
  const { subagentRunId: _span, ...rest } = message
  return rest
}

function laneNumber(lane: string): number {
  const number = Number.parseInt(lane.slice(lane.indexOf(':') + 1), 10)
  return Number.isNaN(number) ? 0 : number
}

function compareKeys(one: readonly number[], other: readonly number[]): number {
  for (const [index, part] of one.entries()) {
    const difference = part - (other[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Knows how many of the first messages of a history have all results of their calls in order: nothing to repair there. */
export class PairedCalls {
  /** How many messages there are to be sure of. */
  paired = 0
  #total = 0
  #isBroken = false
  readonly #pending: Set<string>

  constructor(before?: PairedCalls) {
    this.#pending = new Set(before ? before.#pending : [])
    if (!before) return
    this.paired = before.paired
    this.#total = before.#total
    this.#isBroken = before.#isBroken
  }

  /** Adds a message at a position. */
  add(message: Message, at: number): void {
    this.#total++
    if (at < this.paired) this.paired = at
    if (at < this.#total - 1) this.#isBroken = true
    if (this.#isBroken) return
    const [next] = this.#pending
    if (message.role === 'tool') {
      this.#isBroken = next !== message.toolCallId
      this.#pending.delete(message.toolCallId)
    }
    if (message.role === 'user') this.#isBroken = this.#pending.size > 0
    else if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) this.#pending.add(id)
    if (!this.#isBroken && this.#pending.size === 0) this.paired = this.#total
  }
}

const pairedPrefixes = new WeakMap<readonly Message[], number>()

/** Notes how many of the first messages need no repair. */
export function notePaired(messages: readonly Message[], count: number): readonly Message[] {
  pairedPrefixes.set(messages, count)
  return messages
}

/** How many of the first messages need no repair, as far as is known. */
export function pairedPrefix(messages: readonly Message[]): number {
  return pairedPrefixes.get(messages) ?? 0
}
