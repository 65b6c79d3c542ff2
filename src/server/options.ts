import type { Agent } from '../agents/index.js'
import type { Clock } from '../core/clock.js'
import type { IdSource } from '../core/ids.js'
import type { Store } from '../threads/store.js'
import type { Thread } from '../threads/thread.js'
import type { Hooks } from './hooks/hooks.js'
import type { Limits } from './limits.js'
import type { Logger } from './logger.js'

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
