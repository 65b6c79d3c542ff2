import type { Interrupt } from '@ag-ui/core'
import type { Claims } from '../../agents/index.js'
import type { AgentEvent, AgUiEvent, RunInput } from '../../protocol/index.js'
import type { PendingToolCall, ThreadKey } from '../../threads/contract.js'
import type { AuditEvent } from '../observe/audit.js'

/** The run that a hook is called for. All hooks of a run get the same object. */
export interface RunInfo {
  readonly key: ThreadKey
  readonly runId: string
  /** The request, after `inputChange`. Without messages and state: the run would keep them in memory. */
  readonly input: RequestFields
  /** The claims that `identify` returned. */
  readonly claims: Claims
  /** Values of the application's own, for the hooks of this run. Never stored, never sent. */
  readonly data: Map<string, unknown>
  /** The thread before the run. Undefined for `inputRecord` and `lock`. */
  readonly thread: ThreadInfo | undefined
  /** Aborts when the run is stopped. */
  readonly signal: AbortSignal
}

export type RequestFields = Omit<RunInput, 'messages' | 'state'>

/** The thread of a request before its run. */
export interface ThreadInfo {
  /** Whether this is the first request of the thread. */
  readonly isNew: boolean
  readonly interrupts: readonly Interrupt[]
  readonly pendingToolCalls: readonly PendingToolCall[]
}

/** One, several or no values in place of the original. */
export type Replaced<T> = T | readonly T[] | undefined

type Awaitable<T> = T | Promise<T>

/**
 * Functions of the application that the server calls during a run, in the order in which they stand here. All are
 * optional and may be async. A hook that throws or takes longer than `hookTimeoutMs` fails the run with HOOK_ERROR, or
 * with its own code when it throws a `MillraceError`. Only `audit` cannot fail anything.
 */
export interface Hooks {
  /** Records a request as it came in. */
  readonly inputRecord?: (input: RunInput, info: RunInfo) => Awaitable<void>
  /**
   * Takes a lock of the application, before the thread is leased. Throw to refuse the run. The returned function is
   * called when the run is over, however it ends.
   */
  readonly lock?: (info: RunInfo) => Awaitable<(() => Awaitable<void>) | undefined>
  /** Rewrites the request, to sanitise it or to add context. The server runs the returned request. */
  readonly inputChange?: (
    input: RunInput,
    info: RunInfo & { readonly thread: ThreadInfo },
  ) => Awaitable<RunInput>
  /**
   * Returns the state that a new thread starts with, an object. Called once for each thread, after `inputChange`, with the
   * request that makes the thread. What the client has sent is added to it, except for keys that belong to the server.
   */
  readonly initialState?: (input: RunInput, info: RunInfo) => unknown
  /**
   * Filters, replaces or expands a native event of the runtime before it is translated. Its type depends on the agent:
   * `Event` of ADK for an ADK agent, AG-UI events for an agent of the kit. Declare the type you expect.
   */
  runtimeEvent?(this: void, event: unknown, info: RunInfo): unknown
  /** Returns what to send when the run takes too long. The run then ends as cancelled. Undefined: RUN_ERROR. */
  readonly runtimeTimeout?: (info: RunInfo) => Awaitable<readonly AgentEvent[] | undefined>
  /** Translates a native event of the runtime. Undefined: the default translation. An empty list: no events. */
  translate?(this: void, event: unknown, info: RunInfo): Awaitable<readonly AgentEvent[] | undefined>
  /**
   * Filters, replaces or expands an AG-UI event before it becomes part of the stream and of the history. The stream is
   * valid whatever this returns.
   */
  readonly event?: (event: AgentEvent, info: RunInfo) => Awaitable<Replaced<AgentEvent>>
  /**
   * Changes the state in snapshots: at the end, at every interrupt, at the start for a client that holds another
   * state, and before the first patch for one that needs it. Undefined: no snapshot. A key that it leaves out is not private: patches have it, and clients get it when
   * they connect.
   */
  readonly stateSnapshot?: (state: unknown, info: RunInfo) => unknown
  /** Records an event that is about to leave, including the first and the last. */
  readonly outputRecord?: (event: AgUiEvent, info: RunInfo) => Awaitable<void>
  /**
   * Changes an event before it is logged and sent. The result must keep the type and the ids, and be well formed. The
   * history does not get this change; use `event` for that.
   */
  readonly outputChange?: (event: AgUiEvent, info: RunInfo) => Awaitable<AgUiEvent>
  /**
   * Records who deleted, labelled, patched, cancelled or answered what, and who could not be identified. Called when it is decided; the
   * request does not wait for it, `server.close` does. If it fails, the log says so with the event, and nothing else happens.
   */
  readonly audit?: (event: AuditEvent) => Awaitable<void>
}
