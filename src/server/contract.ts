import type { Agent } from '../agents/index.js'
import type { Clock } from '../core/clock.js'
import type { IdSource } from '../core/ids.js'
import type { Store } from '../threads/store.js'
import type { Thread } from '../threads/thread.js'
import type { Hooks } from './hooks/hooks.js'

/** Who asks. */
export interface Identity {
  readonly user: string
  /** Default: `default`. */
  readonly app?: string
}

export interface ServerOptions {
  /** Served under `/agents/{name}`; the first also without that prefix. */
  readonly agents: readonly [Agent, ...Agent[]]
  /** Default: in memory. */
  readonly store?: Store
  /**
   * Tells who asks, from a request, never from its body. Undefined refuses it with 401. Without this function everybody
   * is the one local user, and only requests to a loopback host are served.
   */
  readonly identify?: (request: Request) => Identity | undefined | Promise<Identity | undefined>
  readonly hooks?: Hooks
  readonly limits?: Partial<Limits>
  /** Put before every route, `/api/agents` for example. Default: none. */
  readonly basePath?: string
  /** Origins whose pages may call this server. Default: none. */
  readonly cors?: { readonly origins: readonly string[] | '*' }
  /**
   * What a second run on a busy thread gets: a refusal (default), its turn when the first is over, its turn when the tools of
   * the first have run (`preempt`), or the thread at once.
   */
  readonly whenBusy?: 'reject' | 'wait' | 'preempt' | 'cancel-previous'
  /** What becomes of a run when the client that started it goes away. Default: it goes on. */
  readonly onDisconnect?: 'continue' | 'cancel'
  /**
   * Whose history counts. `server` (default): the stored one; a client adds user messages and tool results, edits and
   * truncates, but says nothing in the agent's name. `client`: what the request has, for stateless use.
   */
  readonly history?: 'server' | 'client'
  readonly state?: StateRules
  readonly threads?: ThreadRules
  /** A pino logger, or one like it. Never given the content of messages. Default: pino on standard output. */
  readonly log?: Logger
  readonly clock?: Clock
  readonly newId?: IdSource
}

/** Top-level keys of the state that are the server's. Keys that begin with `app:`, `user:` or `temp:` always are private. */
export interface StateRules {
  /** Clients see them and cannot change them. */
  readonly readOnly?: readonly string[]
  /** Clients neither see nor change them. */
  readonly private?: readonly string[]
}

/** What becomes of threads that nobody uses. Nothing is ever removed unless this says so. */
export interface ThreadRules {
  /** Threads that have not changed for so long are removed. Those that wait for a person are spared. */
  readonly idleTimeoutMs?: number
  /** The same for threads that wait for a person. */
  readonly waitingTimeoutMs?: number
  /** When a user gets one more, the one that has been idle longest is removed. Running and waiting ones are spared. */
  readonly maxPerUser?: number
  /** How often to look. Default: every five minutes. */
  readonly sweepEveryMs?: number
  /** Called before a thread is removed, by these rules or by a request, for example to keep it elsewhere. Throw to spare it. */
  readonly onThreadRemoved?: (thread: Thread, reason: RemovalReason) => void | Promise<void>
}

export type RemovalReason = 'idle' | 'waiting-too-long' | 'too-many' | 'request'

/** What a server takes, and for how long. */
export interface Limits {
  /** Bytes of a request body. Default 10 MiB. */
  readonly bodyBytes: number
  /** How long a client may take to send its body, in milliseconds. Default 30 s. */
  readonly bodyTimeoutMs: number
  /** Messages in one request. Default 10,000. */
  readonly messages: number
  /** Tools a client may offer. Default 256. */
  readonly tools: number
  /** How deeply JSON may be nested. Default 64. */
  readonly jsonDepth: number
  /** Characters of an id: thread, run, message, tool call. Default 256. */
  readonly idLength: number
  /** Runs at work in this process. Those that wait for a person are not at work. Default 1000. */
  readonly runs: number
  /** Runs at work for one user. Default 100. */
  readonly runsPerUser: number
  /** How long a run may take, in milliseconds, whether it is chatty or silent. Default 10 minutes. */
  readonly runTimeoutMs: number
  /** How long a tool may take that has no limit of its own, in milliseconds. Default 5 minutes. */
  readonly toolTimeoutMs: number
  /** How long a hook may take, in milliseconds. Then it has failed. Default 30 s. */
  readonly hookTimeoutMs: number
  /** How long to wait for a busy thread with `whenBusy: 'wait'`, in milliseconds. Default 30 s. */
  readonly waitMs: number
  /** How long a run may take to come to where `whenBusy: 'preempt'` stops it, in milliseconds. Default 10 s. */
  readonly preemptMs: number
  /** Events that are kept at hand for clients that are slow; those further behind read the log. Default 1 MiB. */
  readonly bufferBytes: number
  /** A client that takes nothing for so long is dropped and may reconnect. The run goes on. Default 30 s. */
  readonly stallMs: number
  /** How often a silent stream is kept alive, in milliseconds. Default 15 s. */
  readonly heartbeatMs: number
  /** How long a thread is leased, in milliseconds. Renewed at a third of it. Default 15 s. */
  readonly leaseMs: number
}

export const defaultLimits: Limits = {
  bodyBytes: 10 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
  messages: 10_000,
  tools: 256,
  jsonDepth: 64,
  idLength: 256,
  runs: 1000,
  runsPerUser: 100,
  runTimeoutMs: 600_000,
  toolTimeoutMs: 300_000,
  hookTimeoutMs: 30_000,
  waitMs: 30_000,
  preemptMs: 10_000,
  bufferBytes: 1024 * 1024,
  stallMs: 30_000,
  heartbeatMs: 15_000,
  leaseMs: 15_000,
}

/** The part of a pino logger that is used. Facts come first, then the sentence. */
export interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}
