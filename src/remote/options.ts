import type { AgentCapabilities } from '@ag-ui/core'
import type { RunContext, ThreadOwner } from '../agents/index.js'

/** What is needed of an agent of `@ag-ui/client`: every `AbstractAgent` has it, of 1.0 as of 0.0.59. */
export interface AgUiAgent {
  readonly agentId?: string | undefined
  readonly description?: string
  clone(): unknown
  run(input: never): AgUiStream
  abortRun(): void
}

/** What is needed of an Observable. */
export interface AgUiStream {
  subscribe(observer: AgUiObserver): { unsubscribe(): void }
}

export interface AgUiObserver {
  readonly next: (event: unknown) => void
  readonly error: (error: unknown) => void
  readonly complete: () => void
}

/** A part of a run that may go along to the agent. */
export type Forwarded = 'context' | 'forwardedProps' | 'state' | 'tools'

/** How an agent of AG-UI takes part. */
export interface FromAgUiOptions<A extends AgUiAgent = AgUiAgent> {
  /** What it is called. Default: its `agentId`. */
  readonly name?: string
  /** Default: the agent's own. */
  readonly description?: string
  /** Prompts that show its point. */
  readonly examples?: readonly string[]
  readonly capabilities?: AgentCapabilities
  /**
   * What goes along besides the messages. Default: all. Without `state` the agent neither sees nor changes the shared
   * state; without `tools` it is not offered those of the client.
   */
  readonly forward?: readonly Forwarded[]
  /**
   * The agent's thread that belongs to a thread. Default: the same id when there are no users to tell apart, else one
   * that no other user has. Below another agent, one is made of this and of the place in the tree.
   */
  readonly threadId?: (thread: ThreadOwner) => string | Promise<string>
  /**
   * Has a hand in the copy of the agent that one run is made with: the headers of this user, for example. What it
   * throws fails the agent.
   */
  readonly prepare?: (agent: A, ctx: RunContext) => void | Promise<void>
  /**
   * Tells the agent's server that a run is not wanted any more, where hanging up is not enough: AG-UI has no request for
   * it. Has the grace time of the run. `agent` is the copy that the run was made with.
   */
  readonly cancel?: (run: RemoteRun<A>) => void | Promise<void>
}

/** A run as the agent's server knows it. */
export interface RemoteRun<A extends AgUiAgent = AgUiAgent> {
  readonly agent: A
  readonly threadId: string
  readonly runId: string
}
