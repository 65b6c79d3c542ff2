import type { ContentPart, Message } from '@ag-ui/core'
import type { JsonSchema } from '../models/index.js'
import type { AgentEvent } from '../protocol/index.js'
import type { Agent, Control, Interrupted } from './agent.js'
import type { Interrupting } from './interrupt.js'

/** What a tool can see and do while it runs. */
export interface ToolContext extends Interrupting {
  readonly threadId: string
  readonly runId: string
  readonly toolCallId: string
  readonly toolName: string
  /** The agent whose model has called. */
  readonly agentName: string
  /** How long a call may take in this run unless the tool has a limit of its own. */
  readonly timeoutMs: number | undefined
  /** Aborts when the run is cancelled or the tool's time is over. Throw then: what is returned counts as the result. */
  readonly signal: AbortSignal
  /** The conversation up to and including the call. */
  readonly messages: readonly Message[]
  /** Values shared by everything in this run. Must be JSON: they are saved when the run pauses. */
  readonly values: Map<string, unknown>
  /** The state shared with the client. Change it with `setState`. */
  readonly state: unknown
  /**
   * Replaces the shared state, by value or by a function of the current one. The client gets the difference. Throws
   * ENCODING_ERROR, with the place, for what is not JSON.
   */
  readonly setState: (next: unknown) => void
  /** Sends an AG-UI event of the tool's own, for example CUSTOM or ACTIVITY_SNAPSHOT. */
  readonly emit: (event: AgentEvent) => void
  /**
   * Runs an agent as part of this call, in a subagent span of its own. What it does is sent on as it is read here, and
   * when it stops, to ask or at a safe point, so does the tool: this throws, as `interrupt` does.
   */
  readonly delegate: (agent: Agent, options: DelegatedCall) => AsyncGenerator<AgentEvent, DelegatedEnd>
  /** Ends the agent, and every agent above it, after this batch of calls. `result` becomes the result of the run. */
  readonly exit: (result?: unknown) => void
  /** Ends the agent, and the loop it runs in, after this batch of calls. */
  readonly breakLoop: () => void
  /** Hands over to another agent after this batch of calls. `to` must be one that this agent may hand over to. */
  readonly transfer: (to: string) => void
}

/** How a tool ends its agent. */
export type ToolEnd = Extract<Control, { type: 'exit' | 'break' | 'transfer' }>

/** How an agent ends that works on a call. */
export type DelegatedEnd = Exclude<Control, Interrupted | { type: 'cancelled' }>

export interface DelegatedCall {
  readonly messages: readonly Message[]
  /** Whether nothing of what the agent does is sent. Its questions are asked all the same. */
  readonly isSilent?: boolean
}

/** A tool as the loop sees it. Make one with `defineTool`. */
export interface Tool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, as the model gets it. */
  readonly parameters: JsonSchema
  /** The result ends the agent: the model does not see it. */
  readonly returnDirectly?: boolean
  /** What a saved position in this tool depends on, the agents in it for example. Must be JSON. */
  readonly shape?: unknown
  /**
   * Checks the arguments and runs. An async generator yields progress and returns the result. Throws
   * INVALID_TOOL_ARGUMENTS when the arguments do not fit; whatever else it throws is the tool's own failure.
   */
  call(args: unknown, ctx: ToolContext): unknown
}

/** A place tools come from at run time, an MCP server for example. */
export interface ToolSource {
  /** Lists the tools. Called at the start of every run, so it should answer from a cache. */
  tools(options: { readonly signal: AbortSignal }): Promise<readonly Tool[]>
}

/** A result with media in it, or exact control over the parts. Make one with `contentResult`. */
export interface ContentResult {
  readonly parts: readonly ContentPart[]
}
