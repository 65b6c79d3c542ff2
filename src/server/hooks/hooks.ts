import type { Interrupt } from '@ag-ui/core'
import type { AgentEvent, AgUiEvent, RunInput } from '../../protocol/index.js'
import type { PendingToolCall, ThreadKey } from '../../threads/contract.js'

/** Which run a hook is called for. */
export interface RunInfo {
  readonly key: ThreadKey
  readonly runId: string
  /** Aborts when the run is stopped. */
  readonly signal: AbortSignal
}

/** What is known of the thread when a request comes in. */
export interface ThreadInfo {
  readonly interrupts: readonly Interrupt[]
  readonly pendingToolCalls: readonly PendingToolCall[]
}

/** One, several or none in the place of what was given. */
export type Replaced<T> = T | readonly T[] | undefined

type Awaitable<T> = T | Promise<T>

/**
 * What a team can do on the way of a run. All are optional, may be async, and are called in the order in which they
 * stand here. One that throws or takes longer than `hookTimeoutMs` fails the run with HOOK_ERROR, or with its own code
 * when it throws a `MillraceError`.
 */
export interface Hooks {
  /** Takes note of a request, as it came in. */
  readonly inputRecord?: (input: RunInput, info: RunInfo) => Awaitable<void>
  /**
   * A lock of the team's own, taken before the thread is leased. Throw to refuse. What it gives is called when the run
   * is over, however it ends.
   */
  readonly lock?: (info: RunInfo) => Awaitable<(() => Awaitable<void>) | undefined>
  /** Rewrites the request: sanitise it, add context. What it gives is run. */
  readonly inputChange?: (
    input: RunInput,
    info: RunInfo & { readonly thread: ThreadInfo },
  ) => Awaitable<RunInput>
  /**
   * Filters, replaces or expands an event of the runtime, before anything is made of it. Which events these are depends
   * on the agent: `Event` of ADK for an agent of ADK, AG-UI events for one of the kit. Give them the type you expect.
   */
  runtimeEvent?(this: void, event: unknown, info: RunInfo): unknown
  /** What to send when the time is over, in place of an error: then the run ends well. Undefined: RUN_ERROR. */
  readonly runtimeTimeout?: (info: RunInfo) => Awaitable<readonly AgentEvent[] | undefined>
  /** Translates an event of the runtime. Undefined: as usual. An empty list: not at all. */
  translate?(this: void, event: unknown, info: RunInfo): Awaitable<readonly AgentEvent[] | undefined>
  /**
   * Filters, replaces or expands an AG-UI event before it becomes part of the stream and of the history. The stream is
   * valid whatever this does.
   */
  readonly event?: (event: AgentEvent, info: RunInfo) => Awaitable<Replaced<AgentEvent>>
  /**
   * Changes the state that is shown as a whole: at the end, at every pause, and at the start to a client that holds another.
   * Undefined: no snapshot. What it leaves out is not private: changes that a run sends have it, and so does who connects.
   */
  readonly stateSnapshot?: (state: unknown, info: RunInfo) => unknown
  /** Takes note of an event on its way out, the first and the last included. */
  readonly outputRecord?: (event: AgUiEvent, info: RunInfo) => Awaitable<void>
  /**
   * Has the last word on an event before it is logged and sent. It must keep its type and its ids, and be well formed.
   * The history does not see this change; `event` is for what should.
   */
  readonly outputChange?: (event: AgUiEvent, info: RunInfo) => Awaitable<AgUiEvent>
}
