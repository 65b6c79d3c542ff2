import type { AgUiEvent, EventOf } from '../events.js'
import type { Fold } from '../fold/fold.js'

/** One owner of events: the run's own agent, or one subagent invocation. Lanes interleave freely. */
export interface Lane {
  /** Unique in the run, also when an agent uses a tag twice. */
  readonly key: number
  /** The subagentRunId the agent writes; undefined for the run's own agent. */
  readonly tag: string | undefined
  /** The subagentRunId on the wire. */
  readonly id: string | undefined
  readonly name: string
  readonly parent: Lane | undefined
  /** What is open in this lane, oldest first. */
  readonly open: Set<Item>
  /** The names of its open steps, oldest first. */
  steps: readonly string[]
  /** The interrupts it says it waits for. Its end is written when it is known that the run stops to ask. */
  waitsFor?: readonly string[]
  closed: boolean
}

/** Fields any event may carry beside its own. */
export type Extras = Pick<AgUiEvent, 'timestamp' | 'rawEvent' | 'metadata'>

interface OpenItem {
  /** The id on the wire. */
  readonly id: string
  readonly lane: Lane
  isOpen: boolean
  /**
   * Stays open when something else opens in its lane. True for a tool call with an explicit start, and for whatever
   * was continued after it had been closed for another item: that agent really writes several at once.
   */
  sticky: boolean
  /** What rides on the item's next event. */
  carried?: Extras | undefined
  /** The newest encrypted value for the open item. It is sent after the item's end. */
  encryptedValue?: EventOf<'REASONING_ENCRYPTED_VALUE'> | undefined
}

export interface MessageItem extends OpenItem {
  readonly kind: 'text' | 'reasoning'
  wasOpen: boolean
  role: NonNullable<EventOf<'TEXT_MESSAGE_START'>['role']>
  name: string | undefined
}

export interface SpanItem extends OpenItem {
  readonly kind: 'span'
  /** The id the agent uses for it. */
  readonly rawId: string
}

export interface CallItem extends OpenItem {
  readonly kind: 'call'
  readonly name: string
  readonly parentMessageId: string | undefined
  /** No argument may follow: the agent said so, or a snapshot has restated the call. */
  ended: boolean
  answered: boolean
}

export type Item = MessageItem | SpanItem | CallItem

/** All that one run stream knows. Lanes, items and writers work on it; only `emit` produces output. */
export interface Run {
  /** What the client holds. */
  readonly fold: Fold
  readonly root: Lane
  /** The running subagents in the order they were started. */
  readonly openLanes: Set<Lane>
  /** Every subagentRunId this run has used on the wire. */
  readonly laneIds: Set<string>
  /** The current lane of each tag. */
  readonly lanes: Map<string, Lane>
  /** The first claimant of each id the agent uses. */
  readonly messages: { readonly text: Map<string, MessageItem>; readonly reasoning: Map<string, MessageItem> }
  /** Items whose id was taken by another owner or kind, by lane, kind and the id the agent uses. Most runs have none. */
  renamed: Map<string, MessageItem> | undefined
  /** Ids on the wire that are spoken for, whether or not the fold has seen them yet. */
  readonly claimed: Set<string>
  readonly calls: Map<string, CallItem>
  /** Ids of calls a snapshot may have taken away. */
  readonly pastCalls: Set<string>
  /** Who owns each reasoning id, of messages and of spans. */
  readonly reasoningOwners: Map<string, Lane['id']>
  /** The id on the wire of each activity, by the id the agent uses. */
  readonly activities: Map<string, string>
  /** Writes one strict event: into the fold and out. */
  emit(event: AgUiEvent): void
  /** The same, unless a client could not take the event; then nothing is written and the reason is returned. */
  tryEmit(event: AgUiEvent): string | undefined
  /** Tells about an event that was repaired in a way that loses something, or left out. */
  report(problem: string): void
  newId(): string
  readState: (() => unknown) | undefined
}

/** The tag of a lane, to be spread into an event. */
export function owner(lane: Lane): { subagentRunId?: string } {
  return lane.id === undefined ? {} : { subagentRunId: lane.id }
}

/** The event under a lane's tag, whatever tag it came with. */
export function attributed<E extends { subagentRunId?: string }>(event: E, lane: Lane): E {
  const { subagentRunId: _tag, ...rest } = event
  return { ...rest, ...owner(lane) } as E
}
