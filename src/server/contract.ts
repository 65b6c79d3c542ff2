import type { Agent, Claims } from '../agents/index.js'
import type { Clock } from '../core/clock.js'
import type { IdSource } from '../core/ids.js'
import type { Store, Thread } from '../threads/contract.js'
import type { Hooks } from './hooks/hooks.js'

/** Agents, served over HTTP. `createServer` makes one of `ServerOptions`. */
export interface Server {
  /** Answers a request: a Web-standard handler for any runtime. `millrace/node` serves it on Node. */
  readonly fetch: (request: Request, env?: object) => Response | Promise<Response>
  /** True when the server has `identify`. Without it, other machines must not reach the server. */
  readonly identifies: boolean
  /** The limits that hold, with the defaults filled in. `serve` takes those of connections from here. */
  readonly limits: Limits
  /** The state of stored threads, for code of the application. */
  readonly state: ThreadStates
  /**
   * Takes no more runs, lets live runs finish, and stops the rest when the time is over: each ends with a terminal event.
   * Closes the store. May be called again with a shorter time.
   */
  close(options?: CloseOptions): Promise<void>
}

/** A stored thread. */
export interface ThreadName {
  readonly user: string
  readonly thread: string
  /** Default: `default`. */
  readonly app?: string
  /** Default: the first agent. */
  readonly agent?: string
}

/**
 * Reads and changes the state of threads, private keys included. All reject with THREAD_NOT_FOUND for a thread that does not
 * exist. Changes wait for a live run to end, up to `limits.waitMs`, and clients see them when they connect or run next.
 */
export interface ThreadStates {
  read(thread: ThreadName): Promise<unknown>
  /** Replaces the state by what `change` makes of it. Rejects with ENCODING_ERROR for a value that is not JSON. */
  update(thread: ThreadName, change: (state: unknown) => unknown): Promise<unknown>
  /** Removes all keys but those with these prefixes. Default: `app:` and `user:`. */
  clear(thread: ThreadName, options?: { readonly keep?: readonly string[] }): Promise<unknown>
}

export interface CloseOptions {
  /** How long live runs may continue, in milliseconds. Default 10 s. */
  readonly graceMs?: number
}

export interface ServerOptions {
  /** Served under `/agents/{name}`; the first also without that prefix. */
  readonly agents: readonly [Agent, ...Agent[]]
  /** Default: in memory. */
  readonly store?: Store
  /**
   * Identifies the user from the request, never from its body. Undefined refuses the request with 401. Without this
   * function all requests belong to one local user, and only those to a loopback host are served.
   */
  readonly identify?: (request: Request) => Identity | undefined | Promise<Identity | undefined>
  /**
   * Whom to believe about the address of a client, for limits per address. A number: so many proxies stand in front, and each adds
   * the address it sees to the end of `X-Forwarded-For`. A function: it reads the address from the request, where a runtime or
   * a proxy says it elsewhere; undefined means not known. Default: the address of the socket on Node, else none.
   */
  readonly trustProxy?: number | ((request: Request) => string | undefined)
  readonly hooks?: Hooks
  readonly limits?: Partial<Limits>
  /** Stands before every route, for example `/api/agents`. Default: none. */
  readonly basePath?: string
  /** Which pages of other origins may call this server. Default: none. */
  readonly cors?: CorsOptions
  /**
   * What a second run on a busy thread does: it fails (default), waits until the first has ended, waits until
   * the tools of the first have run and then stops it (`preempt`), or stops it at once.
   */
  readonly whenBusy?: 'reject' | 'wait' | 'preempt' | 'cancel-previous'
  /**
   * What happens to a run when the client that started it disconnects. `auto` (default): it continues for a client that says in
   * the header `Millrace-Reconnects: true` that it reconnects. For any other, to hang up is the only way to stop: a run that
   * nobody follows yields to the next run on its thread, and is cancelled after `limits.abandonedMs`. `continue`: it
   * continues. `cancel`: it is cancelled at once.
   */
  readonly onDisconnect?: 'auto' | 'continue' | 'cancel'
  /**
   * Whose history counts. `server` (default): the stored one; a client adds user messages, tool results and reports,
   * edits and truncates, but writes no messages of the agent. Only a thread that is not stored takes the client's, marked
   * as imported. `client`: the one in the request, for stateless use.
   */
  readonly history?: 'server' | 'client'
  readonly state?: StateRules
  readonly threads?: ThreadRules
  /** Routes to leave out: `{ delete: false }`. Clients get 404 there. Default: all are served. */
  readonly routes?: Readonly<Partial<Record<OptionalRoute, boolean>>>
  readonly stream?: StreamOptions
  /** Serves what CopilotKit's front end asks of its runtime, under `/copilotkit`. Default: not served. */
  readonly copilotKit?: boolean | CopilotKitOptions
  /** Serves the web console, under `/console`: to each user that user's own threads and runs. Default: not served. */
  readonly console?: boolean | ConsoleOptions
  /** A pino logger, or one like it. Never gets the content of messages. Default: pino on standard output. */
  readonly log?: Logger
  /**
   * What is logged of errors. `facts` (default): name, code, status, frames of the stack and, for errors of Millrace, its own
   * message. `full`: the errors as they were thrown; those of providers and tools hold prompts, answers, headers and keys.
   */
  readonly logErrors?: 'facts' | 'full'
  readonly clock?: Clock
  readonly newId?: IdSource
}

export interface CorsOptions {
  /** The origins of the pages, `https://app.example.com` for example, or `'*'` for all. */
  readonly origins: readonly string[] | '*'
  /**
   * Whether their requests may carry cookies and HTTP authentication. A header that the page sets itself, such as
   * `authorization`, needs no such permission. Not for `'*'`. Default false.
   */
  readonly credentials?: boolean
}

export interface CopilotKitOptions {
  /** The `runtimeUrl` of the front end, below the server's own `basePath`. Default `/copilotkit`. */
  readonly basePath?: string
  /** Serves `GET /cpk-debug-events` to CopilotKit's inspector: to each user the events of that user's runs. Default false. */
  readonly debugEvents?: boolean
}

export interface ConsoleOptions {
  /** Where the page is, below the server's own `basePath`. Default `/console`. */
  readonly path?: string
  /** Whether the page may open AG-UI endpoints of other servers: the browser then lets it speak to any. Default false. */
  readonly foreign?: boolean
  /** Whether operators may call a tool from the page, with arguments of their own and outside of any run. Default false. */
  readonly toolCalls?: boolean
}

/** The user a request belongs to. */
export interface Identity {
  readonly user: string
  /** Default: `default`. */
  readonly app?: string
  /** What hooks, agents and tools may know of the request besides: roles of a token, a header. Never stored, never sent. */
  readonly claims?: Claims
  /**
   * Whether this user may see what all users of the app have, cancel their runs, and see what models were asked. See the guide of
   * the console. Without `identify`, the local user may. Default false.
   */
  readonly isOperator?: boolean
}

/**
 * Top-level keys of the state that belong to the server. Those beginning with `app:`, `user:` or `temp:` are always private,
 * and so are the `privateKeys` of an agent in its threads.
 */
export interface StateRules {
  /** Clients see them and cannot change them. */
  readonly readOnly?: readonly string[]
  /** Clients neither see nor change them. */
  readonly private?: readonly string[]
}

/**
 * `connect` stands for `follow` too, `history` for the list of threads and the snapshots of messages and state, `patch` for changes
 * of the state, the title and the archive.
 */
export type OptionalRoute = 'connect' | 'cancel' | 'history' | 'delete' | 'patch' | 'metrics'

/** What streams have beside AG-UI's events. */
export interface StreamOptions {
  /** Adds the time, in milliseconds, to every event without a `timestamp`. Default false. */
  readonly timestamps?: boolean
  /**
   * Names the type of each event in an `event:` line of SSE, for proxies and logs that route by it. Browsers' `EventSource`
   * then calls listeners of that name in place of `onmessage`. Default false.
   */
  readonly eventLines?: boolean
  /**
   * Writes every event to the run log before anybody sees it. By default text is shown at once and logged within 100 ms, so
   * a process that dies may take the last words back. Results of tools and calls for the client are logged first always.
   * Default false.
   */
  readonly logFirst?: boolean
  /**
   * How the lanes of agents that run at once are sent: `interleaved`, as they come, or `one-by-one`, for clients that hold one open
   * text at a time: while one lane has a text or a tool call open, the others wait, up to `limits.bufferBytes`. Default:
   * one by one for clients before 1.0, interleaved for others.
   */
  readonly lanes?: 'interleaved' | 'one-by-one'
}

/** When unused threads are removed. Without these rules, none ever is. */
export interface ThreadRules {
  /** Removes threads that have not changed for this long, except those that wait for an answer. */
  readonly idleTimeoutMs?: number
  /** Removes threads that have waited for an answer for this long. */
  readonly waitingTimeoutMs?: number
  /** Removes the thread that has been idle longest when a user gets one more. Running and waiting ones stay. */
  readonly maxPerUser?: number
  /** How often to look for such threads. Default: every five minutes. */
  readonly sweepEveryMs?: number
  /** Called before a thread is removed, by these rules or by a request, for example to archive it. Throw to keep it. */
  readonly onThreadRemoved?: (thread: Thread, reason: RemovalReason) => void | Promise<void>
}

export type RemovalReason = 'idle' | 'waiting-too-long' | 'too-many' | 'request'

/** The part of a pino logger that is used. Facts come first, then the sentence. */
export interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

/** Bounds for everything that a request can make grow. Times are in milliseconds. */
export interface Limits {
  /** Bytes of a request body. Default 10 MiB. */
  readonly bodyBytes: number
  /** How long a client may take to send its body. Default 30 s. */
  readonly bodyTimeoutMs: number
  /** Messages in one request. Default 10,000. */
  readonly messages: number
  /** Tools that a client may offer. Default 256. */
  readonly tools: number
  /** Levels of nested JSON. Default 64. */
  readonly jsonDepth: number
  /** Characters of an id: thread, run, message, tool call. Default 256. */
  readonly idLength: number
  /** Bytes of the state of a thread. Default 4 MiB. */
  readonly stateBytes: number
  /** Bytes of the messages of a thread. Default 64 MiB. */
  readonly threadBytes: number
  /** Bytes of one event of an agent. Default 10 MiB. */
  readonly eventBytes: number
  /** Bytes of the result of one tool call. The model gets an error for a larger one. Default 5 MiB. */
  readonly toolResultBytes: number
  /** Bytes of one attachment: a part of a message that brings its data along. Default 8 MiB. */
  readonly attachmentBytes: number
  /** Attachments of one message. Default 32. */
  readonly attachments: number
  /** Live runs in this process, and requests that wait to become one. Interrupted runs are not live. Default 1000. */
  readonly runs: number
  /** Those of one user. Default 100. */
  readonly runsPerUser: number
  /** How long a run may take, whether it sends events or not. Default 10 minutes. */
  readonly runTimeoutMs: number
  /** How long a tool without a limit of its own may take. Default 5 minutes. */
  readonly toolTimeoutMs: number
  /** How long a hook may take before it counts as failed. Default 30 s. */
  readonly hookTimeoutMs: number
  /** How long a run waits for a busy thread with `whenBusy: 'wait'`. Default 30 s. */
  readonly waitMs: number
  /** How long a run may take to reach the safe point where `whenBusy: 'preempt'` stops it. Default 10 s. */
  readonly preemptMs: number
  /** Bytes of events kept in memory for slow clients; those further behind read the log. Default 1 MiB. */
  readonly bufferBytes: number
  /** How long a run continues that nobody follows, when its client cannot reconnect. Default 15 s. */
  readonly abandonedMs: number
  /** A client that takes nothing for this long is disconnected, as if it had hung up; it may reconnect. Default 30 s. */
  readonly stallMs: number
  /** How often a quiet stream gets a heartbeat. Default 15 s. */
  readonly heartbeatMs: number
  /** How long a thread is leased. Renewed at a third of it. Default 15 s. */
  readonly leaseMs: number
  /**
   * Requests of one user in a minute, a sixth of them at once. A body counts as one more for each 64 KiB. Default: no
   * limit.
   */
  readonly requestsPerUser: number
  /** Requests from one address in a minute, a sixth of them at once. See `trustProxy`. Default: no limit. */
  readonly requestsPerAddress: number
  /** Requests from one address in a minute that `identify` does not know, a sixth of them at once. Default: no limit. */
  readonly failedIdentifications: number
  /** Open streams of one user, of runs and connections. Default 500. */
  readonly streamsPerUser: number
  /** Bytes of the request bodies that are being read. Default 256 MiB. */
  readonly bytesInFlight: number
  /** The same for one user. Default 64 MiB. */
  readonly bytesInFlightPerUser: number
  /** How long `identify` may take. Default 10 s. */
  readonly identifyTimeoutMs: number
  /** `serve` only: how long a connection may take to send the headers of a request, from when it opens. Default 15 s. */
  readonly headersTimeoutMs: number
  /** `serve` only: how long a connection stays open without a next request. Default 75 s. */
  readonly keepAliveMs: number
  /** `serve` only: open connections from one address, as the socket has it. Default: no limit. */
  readonly connectionsPerAddress: number
  /** Entries, members and brackets in the JSON of one request. Default 200,000. */
  readonly jsonValues: number
}

export const defaultLimits: Limits = {
  bodyBytes: 10 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
  messages: 10_000,
  tools: 256,
  jsonDepth: 64,
  idLength: 256,
  stateBytes: 4 * 1024 * 1024,
  threadBytes: 64 * 1024 * 1024,
  eventBytes: 10 * 1024 * 1024,
  toolResultBytes: 5 * 1024 * 1024,
  attachmentBytes: 8 * 1024 * 1024,
  attachments: 32,
  runs: 1000,
  runsPerUser: 100,
  runTimeoutMs: 600_000,
  toolTimeoutMs: 300_000,
  hookTimeoutMs: 30_000,
  waitMs: 30_000,
  preemptMs: 10_000,
  bufferBytes: 1024 * 1024,
  abandonedMs: 15_000,
  stallMs: 30_000,
  heartbeatMs: 15_000,
  leaseMs: 15_000,
  requestsPerUser: Infinity,
  requestsPerAddress: Infinity,
  failedIdentifications: Infinity,
  streamsPerUser: 500,
  bytesInFlight: 256 * 1024 * 1024,
  bytesInFlightPerUser: 64 * 1024 * 1024,
  identifyTimeoutMs: 10_000,
  headersTimeoutMs: 15_000,
  keepAliveMs: 75_000,
  connectionsPerAddress: Infinity,
  jsonValues: 200_000,
}
