import type { AgentCapabilities } from '@ag-ui/core'
import type { RunContext, ThreadOwner } from '../agents/index.js'

/** A value, or a function that gives one for a run. */
export type PerRun<T> = T | ((ctx: RunContext) => T | Promise<T>)

/** How a graph is served. */
export interface LangGraphOptions {
  /** What it is called. Default: the name it was compiled with. */
  readonly name?: string
  readonly description?: string
  /** Prompts that show its point. */
  readonly examples?: readonly string[]
  readonly capabilities?: AgentCapabilities
  /** Passed on to the graph: `configurable`, `context`, `recursionLimit`, `callbacks`, `tags` and what else it takes. */
  readonly config?: PerRun<Readonly<Record<string, unknown>>>
  /**
   * The thread of the checkpointer that belongs to a thread. Default: one that no other agent and no other user has.
   * `({ threadId }) => threadId` shares threads with what else uses the checkpointer; then ids must be hard to guess.
   */
  readonly threadId?: (thread: ThreadOwner) => string | Promise<string>
  /** Keys of the state that clients do not see. Messages are never part of the state they see. */
  readonly privateKeys?: readonly string[]
  /** How graphs inside the graph are shown: as subagents with all they say, or by their steps alone. Default `subagents`. */
  readonly subgraphs?: 'subagents' | 'steps'
}
