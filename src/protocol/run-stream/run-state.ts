import type { Message } from '@ag-ui/core'
import type { AgUiEvent, EventOf, RunStreamOptions } from '../contract.js'
import { ClientFold } from '../fold/fold.js'
import { isRejected } from '../messages.js'

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
  /** The open items of this lane, oldest first. */
  readonly open: Set<Item>
  /** The names of its open steps, oldest first. */
  steps: readonly string[]
  /** The interrupts of a subagent that says it is suspended. Its end is written when the run is interrupted. */
  interruptIds: readonly string[] | undefined
  closed: boolean
}

export function newLane(lane: Pick<Lane, 'key' | 'tag' | 'id' | 'name' | 'parent'>): Lane {
  const { key, tag, id, name, parent } = lane
  return { key, tag, id, name, parent, open: new Set(), steps: [], interruptIds: undefined, closed: false }
}

/** The `subagentRunId` of a lane, to be spread into an event. */
export function laneTag(lane: Lane): { subagentRunId?: string } {
  return lane.id === undefined ? {} : { subagentRunId: lane.id }
}

/** The event under a lane's tag, whatever tag it came with. */
export function withLaneTag<E extends { subagentRunId?: string }>(event: E, lane: Lane): E {
  const { subagentRunId: _tag, ...rest } = event
  return { ...rest, ...laneTag(lane) } as E
}

/** Fields any event may carry beside its own. */
export type Extras = Pick<AgUiEvent, 'timestamp' | 'rawEvent' | 'metadata'>

interface OpenItem {
  /** The id on the wire. */
  readonly id: string
  readonly lane: Lane
  isOpen: boolean
  /**
   * Stays open when something else opens in its lane. True for an item with an explicit start, and for one that continues
   * after another one has closed it: that agent writes several at once.
   */
  sticky: boolean
  /** Extras of events that were not sent, for the item's next event. */
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
  /** No argument may follow: the agent ended the call, or a snapshot has restated it. */
  ended: boolean
  answered: boolean
}

export type Item = MessageItem | SpanItem | CallItem

/**
 * All that one run stream knows. The writers of the event families work on it; only its `emit` methods produce output.
 * Collections that most runs do not need are created at the first use.
 */
export class RunState {
  /** What the client holds; of messages that were rejected or rewritten, what it holds once they are restated. */
  readonly fold: ClientFold
  /** Whether messages were rejected or rewritten after they were streamed: the run ends with a snapshot. */
  mustRestate = false
  /** Whether reasoning was rewritten: the snapshot needs it too. */
  mustRestateReasoning = false
  /** The lane of the run's own agent. */
  readonly root = newLane({ key: 0, tag: undefined, id: undefined, name: '', parent: undefined })
  /** The first claimant of each id the agent uses. */
  readonly messages = new MessageItems()
  /** Items whose id was taken by another owner or kind, by lane, kind and the id the agent uses. */
  renamed: Map<string, MessageItem> | undefined
  /** Ids on the wire that are taken, whether or not the fold has them yet. */
  readonly claimed = new Set<string>()
  readonly newId: () => string
  readonly readState: (() => unknown) | undefined
  readonly #emit: RunStreamOptions['emit']
  readonly #onProblem: RunStreamOptions['onProblem']
  #openLanes: Set<Lane> | undefined
  #laneIds: Set<string> | undefined
  #lanes: Map<string, Lane> | undefined
  #calls: Map<string, CallItem> | undefined
  #pastCalls: Set<string> | undefined
  #reasoningOwners: Map<string, Lane['id']> | undefined
  #activities: Map<string, string> | undefined

  constructor(options: Omit<RunStreamOptions, 'threadId' | 'runId'>) {
    const { messages = [], state, readState, newId = () => crypto.randomUUID() } = options
    this.#emit = options.emit
    this.#onProblem = options.onProblem
    this.fold = new ClientFold({ messages, state })
    this.newId = newId
    this.readState = readState
  }

  /** The running subagents in the order they were started. */
  get openLanes(): Set<Lane> {
    return (this.#openLanes ??= new Set())
  }

  /** Every subagentRunId this run has used on the wire. */
  get laneIds(): Set<string> {
    return (this.#laneIds ??= new Set())
  }

  /** The current lane of each tag. */
  get lanes(): Map<string, Lane> {
    return (this.#lanes ??= new Map())
  }

  get calls(): Map<string, CallItem> {
    return (this.#calls ??= new Map())
  }

  /** Ids of calls that a snapshot may have removed. */
  get pastCalls(): Set<string> {
    return (this.#pastCalls ??= new Set())
  }

  /** The owner of each reasoning id, of messages and of spans. */
  get reasoningOwners(): Map<string, Lane['id']> {
    return (this.#reasoningOwners ??= new Map())
  }

  /** The id on the wire of each activity, by the id the agent uses. */
  get activities(): Map<string, string> {
    return (this.#activities ??= new Map())
  }

  /** Writes one strict event: into the fold and out. */
  emit(event: AgUiEvent): void {
    if (event.metadata !== undefined && isRejected(event)) this.mustRestate = true
    this.#send(event)
  }

  /** Writes a snapshot of the messages that count. They are in the fold even where a client keeps more. */
  restate(counting: readonly Message[], snapshot: EventOf<'MESSAGES_SNAPSHOT'>): void {
    this.mustRestate = false
    this.fold.list.reset(counting)
    this.#emit(snapshot)
  }

  #send(event: AgUiEvent): void {
    this.fold.apply(event)
    this.#emit(event)
  }

  /** Writes one strict event unless a client could not take it; then returns the reason. */
  tryEmit(event: AgUiEvent): string | undefined {
    const problem = this.fold.apply(event)
    if (problem === undefined) this.#emit(event)
    return problem
  }

  /** Writes the one event per token: a literal, nothing spread. */
  emitDelta(item: Item, delta: string): void {
    const subagentRunId = item.lane.id
    let event: EventOf<'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT' | 'TOOL_CALL_ARGS'>
    if (item.kind === 'call') {
      const toolCallId = item.id
      event =
        subagentRunId === undefined
          ? { type: 'TOOL_CALL_ARGS', toolCallId, delta }
          : { type: 'TOOL_CALL_ARGS', toolCallId, delta, subagentRunId }
    } else {
      const type = item.kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT'
      const messageId = item.id
      event =
        subagentRunId === undefined ? { type, messageId, delta } : { type, messageId, delta, subagentRunId }
    }
    if (item.carried) {
      event = { ...event, ...item.carried }
      item.carried = undefined
      this.emit(event)
    } else this.#send(event)
  }

  /** Reports an event that was left out, or repaired in a way that loses something. */
  report(problem: string): void {
    this.#onProblem?.(problem)
  }
}

class MessageItems {
  readonly text = new Map<string, MessageItem>()
  #reasoning: Map<string, MessageItem> | undefined

  get reasoning(): Map<string, MessageItem> {
    return (this.#reasoning ??= new Map())
  }
}
