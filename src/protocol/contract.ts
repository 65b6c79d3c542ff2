import type { Event, EventType, Interrupt, Message, Metadata, RunAgentInput, TokenUsage } from '@ag-ui/core'

/**
 * The field that AG-UI 1.1 has beside every `encryptedValue`, of events, messages and tool calls: the producer's name for the
 * kind of value, such as `anthropic.redacted_thinking`. It is replaced, stored and returned with its value.
 */
export interface EncryptedValueType {
  encryptedValueType?: string
}

// Distributes over the union, so that each member keeps its own fields. The type may be written as a plain string:
// the enum's members are assignable to their strings, not the other way round.
type Written<E> = E extends { type: EventType }
  ? Omit<E, 'type'> & { type: `${E['type']}` } & (E extends { encryptedValue: string }
        ? EncryptedValueType
        : unknown)
  : never

/** Any event of AG-UI 1.0 and 1.1 as it stands on the wire. */
export type AgUiEvent = Written<Event>

/** The event of one type, for example `EventOf<'CUSTOM'>`. */
export type EventOf<T extends AgUiEvent['type']> = Extract<AgUiEvent, { type: T }>

/** An event of an agent: any AG-UI event except the three that begin and end a run, which its owner writes. */
export type AgentEvent = Exclude<AgUiEvent, { type: 'RUN_STARTED' | 'RUN_FINISHED' | 'RUN_ERROR' }>

/**
 * Messages and state that an AG-UI client holds after the events applied so far: the same as the reducer of
 * `@ag-ui/client`, at a constant cost per event.
 */
export interface Fold {
  readonly messages: readonly Message[]
  readonly state: unknown
  /** The messages, for a reader that comes again and reads only what is new. */
  settle(): SettledMessages
  /**
   * Applies one strict event (no chunks). Returns a sentence when a client would ignore the event, warn about it, or
   * be left with a broken history.
   */
  apply(event: AgUiEvent): string | undefined
}

/** Messages that were read. While the edition is the same they have not changed, and others have only been added. */
export interface SettledMessages {
  readonly messages: readonly Message[]
  readonly edition: number
}

export interface FoldOptions {
  /** The history the client starts with. Never changed. */
  readonly messages?: readonly Message[]
  /** The state the client starts with. Never changed. */
  readonly state?: unknown
}

/**
 * The one owner of the open items of a run. Agents write loosely: chunks, untagged continuations, ends that never come.
 * The stream emits strict AG-UI 1.0: RUN_STARTED first, and exactly one terminal event with everything closed before it.
 *
 * - A chunk opens its message or tool call. Within a lane, opening one item closes another.
 * - The end of a closed item is ignored.
 * - An encrypted value is sent after the end of its message or tool call.
 */
export interface RunStream {
  /** What a client of this stream holds now; what was rejected or rewritten, as it holds it when the run has ended. */
  readonly fold: Pick<Fold, 'messages' | 'state' | 'settle'>
  readonly ended: boolean
  /**
   * Takes one event of an agent. Throws INVALID_EVENT or ENCODING_ERROR, with nothing written, when it has no
   * meaning, and RUN_CLOSED after the end.
   */
  write(event: AgentEvent): void
  /** Ends the run. Throws, with nothing written, when the end itself is invalid: then call `fail`. */
  finish(end: RunEnd): void
  /** Ends the run with RUN_ERROR. Clients get its public part, see `toWireError`. */
  fail(error: unknown, options?: FailOptions): void
  /**
   * Closes all open items, running subagents too, and leaves the run open: for an attempt that failed. Returns the ids
   * of the messages that were cut off.
   */
  closeOpen(options: CloseOptions): readonly string[]
}

export interface RunStreamOptions {
  readonly threadId: string
  readonly runId: string
  readonly parentRunId?: string | undefined
  /** The messages the client holds when the run starts. */
  readonly messages?: readonly Message[]
  /** The state the client holds when the run starts. */
  readonly state?: unknown
  /** Receives every event of the strict stream, in order, synchronously. Its errors reach the writer. */
  readonly emit: (event: AgUiEvent) => void
  /** Reads the agent's own state, for the snapshot that is sent when a delta does not fit the client's. */
  readonly readState?: () => unknown
  /** Called with a sentence about each event that was left out or changed. Must not throw. */
  readonly onProblem?: (problem: string) => void
  readonly newId?: () => string
}

export interface ResumeRunStreamOptions extends RunStreamOptions {
  /** The strict events that the run has emitted so far, as its log has them. They are not emitted again. */
  readonly events: Iterable<AgUiEvent>
  /** Called when one of the events cannot be read. It is left out. */
  readonly onUnreadable: (error: unknown) => void
}

/** The end of a run, unless it fails with an error. */
export type RunEnd =
  | { readonly type: 'success'; readonly result?: unknown; readonly usage?: readonly TokenUsage[] }
  | {
      readonly type: 'interrupt'
      readonly interrupts: readonly Interrupt[]
      readonly usage?: readonly TokenUsage[]
    }
  | ({ readonly type: 'cancelled' } & FailOptions)

export interface FailOptions {
  /** Metadata for the messages and tool calls that are cut off. */
  readonly mark?: Metadata
  readonly usage?: readonly TokenUsage[]
}

export interface CloseOptions {
  /** Metadata for the messages and tool calls that are cut off. */
  readonly mark?: Metadata
  /** Marks complete messages too, except those of subagents that have ended. Default false. */
  readonly markComplete?: boolean
  /** The message of the SUBAGENT_ERROR that ends each running subagent. */
  readonly reason: string
}

/** A run request that may be served. */
export interface ParsedRunInput {
  readonly input: RunInput
  readonly peer: Peer
  /** Fields that were left out or read differently. At most 100; the last one counts those beyond. */
  readonly warnings: readonly FieldNote[]
}

/** A run input that has been checked: `state` is at least `{}`, and every list is there. */
export type RunInput = RunAgentInput & Required<Pick<RunAgentInput, 'state' | 'resume'>>

/** The client, as far as its request reveals it. */
export interface Peer {
  readonly protocolVersion?: string
  /** The client declared no version, so it predates 1.0 and cannot read all of it. */
  readonly legacy: boolean
}

/** A remark about one field of a request or an event, for example `messages[2].content[0]`. */
export interface FieldNote {
  readonly field: string
  readonly message: string
}

/** The encodings of an event stream. SSE is the one every client reads. */
export type WireFormat = 'sse' | 'protobuf'

/** One frame of an event stream, whatever its encoding. Frames are numbered from 1. */
export type DecodedFrame = EventFrame | MalformedFrame

/** A frame that could be read. */
export interface EventFrame {
  readonly kind: 'event'
  readonly frame: number
  /** The document of the frame. Not validated. */
  readonly event: unknown
}

/** A frame that could not be read. The frames after it can, so the reader decides whether this ends the stream. */
export interface MalformedFrame {
  readonly kind: 'malformed'
  readonly frame: number
  readonly error: Error
}
