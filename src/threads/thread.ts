import type { Interrupt, Message } from '@ag-ui/core'

/** Whose threads: an application, one of its users, and the agent they talk to. */
export interface Owner {
  readonly app: string
  readonly user: string
  readonly agent: string
}

/** What a thread is found by. Two users with the same thread id have two threads. */
export interface ThreadKey extends Owner {
  readonly thread: string
}

/** A conversation at rest: what the last run has left. Shared, never to be changed. */
export interface Thread {
  readonly key: ThreadKey
  /** Counts the commits; the first makes it 1. */
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
  /** What people recognise it by. */
  readonly title: string
  /** The thread that this one was cut from, when it keeps what an edit has replaced. */
  readonly forkedFrom?: string
  /** Oldest first. */
  readonly messages: readonly Message[]
  /** The whole state, with what clients may not see. */
  readonly state: unknown
  /** The state as it was when clients last followed it, when it was changed since without a run. */
  readonly shown?: unknown
  /** Questions that wait for a person. */
  readonly interrupts: readonly Interrupt[]
  /** Calls that wait for the client's results. */
  readonly pendingToolCalls: readonly PendingToolCall[]
  /** What the agent needs to go on from the open questions. */
  readonly checkpoint?: unknown
  /** The latest run. One that is `running` may be at work, or lost with its process. */
  readonly run?: RunRecord
}

export interface PendingToolCall {
  readonly id: string
  readonly name: string
}

export type RunStatus = 'running' | 'completed' | 'interrupted' | 'cancelled' | 'failed' | 'lost'

export interface RunRecord {
  readonly runId: string
  readonly status: RunStatus
  readonly startedAt: number
  readonly endedAt?: number
  /** The number its next event would have. */
  readonly nextSeq: number
  readonly error?: { readonly code: string; readonly message: string }
  /** While it runs: what it has started with, so that a lost run can be put together from its log. */
  readonly start?: RunStart
}

/** How the thread looked to a run when it started, as a change of what was stored. */
export interface RunStart extends MessageChange {
  readonly state: unknown
  /** Names of the tools the client offers. */
  readonly clientTools: readonly string[]
  /** Whether it was started with answers to the questions of the thread. */
  readonly isAnswering?: boolean
  /** How many events after the first only brought its client up to date. */
  readonly opening?: number
}

/** A new end of the messages: the first `keep` stay as they are, `append` follows. */
export interface MessageChange {
  readonly keep: number
  readonly append: readonly Message[]
}

/** All that changes with one commit. What is absent stays as it was, except `checkpoint` and `shown`: absent means none. */
export interface ThreadChange extends MessageChange {
  /** The version this change was made from, 0 for a new thread. */
  readonly version: number
  readonly state: unknown
  readonly shown?: unknown
  readonly interrupts: readonly Interrupt[]
  readonly pendingToolCalls: readonly PendingToolCall[]
  readonly checkpoint?: unknown
  readonly title?: string
  readonly forkedFrom?: string
  /** The run that has ended. Logs of the runs before it are removed. */
  readonly run?: RunRecord
  /** The last events of that run, added to its log in the same write. */
  readonly log?: LogBatch
}

/** Events of a run that follow each other. */
export interface LogBatch {
  readonly runId: string
  readonly firstSeq: number
  /** Each one event as JSON. */
  readonly lines: readonly string[]
}

/** A thread in a list. */
export interface ThreadSummary {
  readonly key: ThreadKey
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly title: string
  readonly forkedFrom?: string
  readonly messageCount: number
  readonly interruptCount: number
  readonly pendingToolCallCount: number
  readonly run?: Omit<RunRecord, 'start'>
}
