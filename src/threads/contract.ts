import type { Interrupt, Message } from '@ag-ui/core'

/**
 * Where threads, the logs of their runs and the leases on them are kept. Every method that writes takes a lease and
 * throws LEASE_LOST, with nothing changed, when another owner has taken the thread over since. Methods reject with
 * STORE_ERROR when the store cannot be used; they never hang for ever.
 */
export interface Store {
  readonly threads: ThreadStore
  readonly log: RunLog
  readonly leases: Leases
  /** Resolves when the store can read and write. */
  check(): Promise<void>
  /** Waits for what is under way. Nothing may be called afterwards. */
  close(): Promise<void>
}

export interface ThreadStore {
  load(key: ThreadKey): Promise<Thread | undefined>
  /** Notes that a run has started: its thread is made if there is none, with version 0 and nothing in it. */
  begin(lease: Lease, run: RunRecord): Promise<void>
  /**
   * Writes a change, all of it or nothing, and gives the new version. Throws VERSION_CONFLICT when the thread has
   * another version than the change was made from. Makes the thread if there is none.
   */
  commit(lease: Lease, change: ThreadChange, options?: CommitOptions): Promise<number>
  /** The threads of an owner, those changed last first. A thread that nothing was committed to is not among them. */
  list(owner: Owner, page: Page): Promise<ThreadPage>
  /** Forgets a thread with its messages, runs and logs. */
  remove(lease: Lease): Promise<void>
  /** Threads of all owners that have not changed since `before`, the oldest first, at most `limit`. For housekeeping. */
  idle(before: number, limit: number): Promise<readonly ThreadSummary[]>
  /** Threads whose latest run has not ended, as far as the store knows. */
  unfinished(): Promise<readonly ThreadKey[]>
}

interface CommitOptions {
  /** Also releases the lease, in the same write: nobody finds the change and the thread still held. Default false. */
  readonly release?: boolean
}

export interface Page {
  readonly limit: number
  /** Where the page before has ended. */
  readonly cursor?: string
}

export interface ThreadPage {
  readonly threads: readonly ThreadSummary[]
  /** Absent on the last page. */
  readonly cursor?: string
}

/** An event as it was logged. `json` is one AG-UI event, without a line break. */
export interface LogEntry {
  readonly seq: number
  readonly json: string
}

/** The events of runs, numbered. */
export interface RunLog {
  /** Adds events that follow each other from `firstSeq`. They are safe from the end of this process when it resolves. */
  append(lease: Lease, batch: LogBatch): Promise<void>
  /** The events after a number, in order, at most `limit` of them. Empty when there are none, or no such run. */
  read(key: ThreadKey, position: LogPosition, limit: number): Promise<readonly LogEntry[]>
  /**
   * Resolves when there may be more events of this run than before, appended by any process, or when `signal` aborts.
   * May resolve for nothing.
   */
  changed(key: ThreadKey, position: LogPosition, signal: AbortSignal): Promise<void>
}

export interface LogPosition {
  readonly runId: string
  /** The last number that is already known; -1 for none. */
  readonly after: number
}

/** The right to change a thread, for a time. */
export interface Lease {
  readonly key: ThreadKey
  readonly owner: string
  /** Grows with every acquisition of the thread, so that a late write of an earlier owner is told apart. */
  readonly token: number
}

export interface Leases {
  /** Undefined while somebody else, or this owner itself, holds the thread. */
  acquire(key: ThreadKey, terms: LeaseTerms): Promise<Lease | undefined>
  /** False when the lease is lost. */
  renew(lease: Lease, ttlMs: number): Promise<boolean>
  /** Does nothing when the lease is lost. */
  release(lease: Lease): Promise<void>
  /** Whether anybody holds the thread now. */
  isHeld(key: ThreadKey): Promise<boolean>
}

export interface LeaseTerms {
  readonly owner: string
  readonly ttlMs: number
}

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
