import type { AgentCapabilities } from '@ag-ui/core'
import type { AgentLimits, HistoryRewriter, RunContext, ThreadOwner } from '../agents/index.js'

/** The members of an `@ag-ui/client` agent that the bridge uses. Every `AbstractAgent` of 1.0 and 0.0.59 has them. */
export interface AgUiAgent {
  readonly agentId?: string | undefined
  readonly description?: string
  clone(): unknown
  run(input: never): AgUiStream
  abortRun(): void
}

/** The part of an Observable that the bridge uses. */
export interface AgUiStream {
  subscribe(observer: AgUiObserver): { unsubscribe(): void }
}

export interface AgUiObserver {
  readonly next: (event: unknown) => void
  readonly error: (error: unknown) => void
  readonly complete: () => void
}

/** A part of the input that may be forwarded to the agent. */
export type Forwarded = 'context' | 'forwardedProps' | 'state' | 'tools'

/** Options of `fromAgUi`. */
export interface FromAgUiOptions<A extends AgUiAgent = AgUiAgent> {
  /** Default: the agent's `agentId`. */
  readonly name?: string
  /** Default: the agent's own. */
  readonly description?: string
  /** Prompts that show what the agent is for. */
  readonly examples?: readonly string[]
  readonly capabilities?: AgentCapabilities
  readonly limits?: AgentLimits
  /** Turns the conversation into the messages this agent reads. Default: messages of other agents become context. */
  readonly historyRewriter?: HistoryRewriter
  /**
   * What to forward besides the messages. Default: all. Without `state` the agent neither sees nor changes the shared
   * state; without `tools` it does not get those of the client.
   */
  readonly forward?: readonly Forwarded[]
  /**
   * The agent's thread for a thread. Default: the same id if there is one user, else an id that no other user has. Below
   * another agent, an id derived from this one and the address.
   */
  readonly threadId?: (thread: ThreadOwner) => string | Promise<string>
  /**
   * Prepares the copy of the agent that one run uses: sets the headers of this user, for example. An error fails the
   * agent.
   */
  readonly prepare?: (agent: A, ctx: RunContext) => void | Promise<void>
  /**
   * Cancels a run on the agent's server, if closing the connection is not enough: AG-UI has no request for it. May take
   * the grace time of the run. `agent` is the copy that the run uses.
   */
  readonly cancel?: (run: RemoteRun<A>) => void | Promise<void>
}

/** A run as the agent's server knows it. */
export interface RemoteRun<A extends AgUiAgent = AgUiAgent> {
  readonly agent: A
  readonly threadId: string
  readonly runId: string
}
