import type { Interrupt, Message } from '@ag-ui/core'

/**
 * Stores threads, the logs of their runs and the leases on them. Every method that writes takes a lease, `label` excepted,
 * and throws LEASE_LOST, with nothing changed, if another owner has taken the thread over. Methods reject with STORE_ERROR
 * if the store cannot be used; they never hang.
 *
 * To add a store, copy the folder of another one, and run the contract suite (`test/support/store-contract.ts`) over it.
 */
export interface Store {
  readonly threads: ThreadStore
  readonly log: RunLog
  readonly leases: Leases
  /** Resolves if the store can read and write. */
  check(): Promise<void>
  /** Waits for running operations. Call nothing afterwards. */
  close(): Promise<void>
}

export interface ThreadStore {
  load(key: ThreadKey): Promise<Thread | undefined>
  /** Loads a thread without its messages and `shown`, which a change of the state does not need. */
  loadHead(key: ThreadKey): Promise<ThreadHead | undefined>
  /** Records that a run has started. Makes the thread if there is none, with version 0 and nothing in it. */
  begin(lease: Lease, run: RunRecord): Promise<void>
  /**
   * Writes a change, all of it or nothing, and returns the new version. Throws VERSION_CONFLICT if the change was made
   * from another version. Makes the thread if there is none. Its first version is above that of every thread that was removed,
   * or at least of those with its key: who knows a version never takes a new thread for the old one.
   */
  commit(lease: Lease, change: ThreadChange, options?: CommitOptions): Promise<number>
  /**
   * Writes what a person gives a thread, without a lease: people rename a thread while it runs. Neither its version nor the
   * time of its change moves. Returns false if there is no such thread.
   */
  label(key: ThreadKey, labels: ThreadLabels): Promise<boolean>
  /**
   * Resolves when the thread is no longer as `known`, changed by any process, or when `signal` aborts. May resolve without a
   * change.
   */
  changed(key: ThreadKey, known: KnownThread, signal: AbortSignal): Promise<void>
  /** Lists the threads of an owner, the latest change first. Threads without a commit are left out. */
  list(owner: Owner, page: Page): Promise<ThreadPage>
  /** Removes a thread with its messages, runs and logs. */
  remove(lease: Lease): Promise<void>
  /** Lists threads of all owners that have not changed since `before`, the oldest first, at most `limit`. */
  idle(before: number, limit: number): Promise<readonly ThreadSummary[]>
  /** Lists threads whose latest run has not ended, as far as the store knows. */
  unfinished(): Promise<readonly ThreadKey[]>
}

/** The numbered events of runs. */
export interface RunLog {
  /** Appends events, numbered from `firstSeq` on. They survive the end of this process once it resolves. */
  append(lease: Lease, batch: LogBatch): Promise<void>
  /** Reads the events after a position, in order, at most `limit`. Empty if there are none, or no such run. */
  read(key: ThreadKey, position: LogPosition, limit: number): Promise<readonly LogEntry[]>
  /**
   * Resolves when the run may have more events, appended by any process, or when `signal` aborts. May resolve without
   * any.
   */
  changed(key: ThreadKey, position: LogPosition, signal: AbortSignal): Promise<void>
}

export interface Leases {
  /** Undefined while any owner holds the lease, this one included. */
  acquire(key: ThreadKey, terms: LeaseTerms): Promise<Lease | undefined>
  /** False if the lease is lost. */
  renew(lease: Lease, ttlMs: number): Promise<boolean>
  /** Does nothing if the lease is lost. */
  release(lease: Lease): Promise<void>
  /** Whether any owner holds the lease now. */
  isHeld(key: ThreadKey): Promise<boolean>
}

/** The right to change a thread, for a time. */
export interface Lease {
  readonly key: ThreadKey
  readonly owner: string
  /** Grows with every acquisition of the thread, so that a late write of an earlier owner can be refused. */
  readonly token: number
}

export interface LeaseTerms {
  readonly owner: string
  readonly ttlMs: number
}

/** The owner of threads: an application, one of its users, and the agent they talk to. */
export interface Owner {
  readonly app: string
  readonly user: string
  readonly agent: string
}

/** Identifies a thread. Two users with the same thread id have two threads. */
export interface ThreadKey extends Owner {
  readonly thread: string
}

/** A conversation at rest, as the last run left it. Shared: never change it. */
export interface Thread {
  readonly key: ThreadKey
  /** 0 before the first commit. Each later commit adds one. No other thread with this key has had it. */
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
  /** People recognise the thread by it. */
  readonly title: string
  /** Put away by its user. */
  readonly archived?: true
  /** The thread whose replaced messages this fork keeps. */
  readonly forkedFrom?: string
  /** Oldest first. */
  readonly messages: readonly Message[]
  /** The whole state, private keys included. */
  readonly state: unknown
  /** The state that clients last saw, if it changed since without a run. */
  readonly shown?: unknown
  /** The open interrupts. */
  readonly interrupts: readonly Interrupt[]
  /** Calls that wait for the client's results. */
  readonly pendingToolCalls: readonly PendingToolCall[]
  /** The run that answers the open interrupts resumes from it. */
  readonly checkpoint?: unknown
  /** The latest run. If it is `running`, it is live, or was lost with its process. */
  readonly run?: RunRecord
}

/** What a person gives a thread. Absent members stay as they were. */
export interface ThreadLabels {
  /** No commit replaces it. */
  readonly title?: string
  readonly archived?: boolean
}

/** A thread without its messages, and without the state that clients last saw. */
export interface ThreadHead extends Omit<Thread, 'messages' | 'shown'> {
  readonly messageCount: number
}

/** What a reader knows of a thread. Version 0 without a run: there is no such thread. */
export interface KnownThread {
  readonly version: number
  /** Whether its latest run is `running`. */
  readonly isRunning: boolean
}

export interface PendingToolCall {
  readonly id: string
  readonly name: string
  /** When a run left it to the client, in milliseconds. Unknown for a thread that the agent's runtime made elsewhere. */
  readonly timestamp?: number
}

export type RunStatus = 'running' | 'completed' | 'interrupted' | 'cancelled' | 'failed' | 'lost'

export interface RunRecord {
  readonly runId: string
  readonly status: RunStatus
  readonly startedAt: number
  readonly endedAt?: number
  /** The number of its next event. */
  readonly nextSeq: number
  readonly error?: { readonly code: string; readonly message: string }
  /** How it started, while it runs: recovery folds a lost run from this and its log. */
  readonly start?: RunStart
}

/** The thread at the start of a run, as a change of the stored one. */
export interface RunStart extends MessageChange {
  readonly state: unknown
  /** Names of the tools the client offers. */
  readonly clientTools: readonly string[]
  /** The ids of the interrupts that it answers. */
  readonly answers?: readonly string[]
  /** How many events after the first were catch-up: snapshots for the client of the request. */
  readonly catchUp?: number
}

/** A new end of the messages: the first `keep` stay as they are, `append` follows. */
export interface MessageChange {
  readonly keep: number
  readonly append: readonly Message[]
}

/** The changes of one commit. Absent members stay as they were, except `checkpoint` and `shown`: absent means none. */
export interface ThreadChange extends MessageChange {
  /** The version that this change is based on, 0 for a new thread. */
  readonly version: number
  readonly state: unknown
  readonly shown?: unknown
  /** Keeps `shown`, or makes the state before this change what was shown if there is none. In place of `shown`. Default false. */
  readonly keepsShown?: boolean
  readonly interrupts: readonly Interrupt[]
  readonly pendingToolCalls: readonly PendingToolCall[]
  readonly checkpoint?: unknown
  /** Does not replace a title that `label` has set. */
  readonly title?: string
  /**
   * The thread that this one is a fork of. In the first commit of a fork, `keep` counts the messages of that thread. What the two
   * have in common is stored once, and stays when either is changed or removed.
   */
  readonly forkedFrom?: string
  /** The run that has ended. Logs of earlier runs are removed. */
  readonly run?: RunRecord
  /** The last events of that run, appended to its log in the same write. */
  readonly log?: LogBatch
}

interface CommitOptions {
  /** Also releases the lease, in the same write: a reader of the change finds the thread free. Default false. */
  readonly release?: boolean
}

export interface Page {
  readonly limit: number
  /** The cursor of the page before. */
  readonly cursor?: string
  /** Leaves out threads that their user has put away. Default false. */
  readonly withoutArchived?: boolean
  /** Only threads whose title has this text in it. Letters of all scripts count as equal in either case. */
  readonly search?: string
}

export interface ThreadPage {
  readonly threads: readonly ThreadSummary[]
  /** Absent on the last page. */
  readonly cursor?: string
}

/** A thread in a list. */
export interface ThreadSummary {
  readonly key: ThreadKey
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly title: string
  readonly archived?: true
  readonly forkedFrom?: string
  readonly messageCount: number
  readonly interruptCount: number
  readonly pendingToolCallCount: number
  readonly run?: Omit<RunRecord, 'start'>
}

/** Consecutive events of a run. */
export interface LogBatch {
  readonly runId: string
  readonly firstSeq: number
  /** Each one event as JSON, without a line break. */
  readonly lines: readonly string[]
}

/** A logged event. `json` is one AG-UI event, without a line break. */
export interface LogEntry {
  readonly seq: number
  readonly json: string
}

export interface LogPosition {
  readonly runId: string
  /** The last number that the reader has; -1 for none. */
  readonly after: number
}
