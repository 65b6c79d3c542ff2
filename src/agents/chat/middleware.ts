import type { ModelPart, ModelRequest } from '../../models/index.js'
import type { RunContext, Tool, ToolContext, ToolSource } from '../contract.js'

/** What an agent starts with. A middleware may return other values for this run. */
export interface AgentSetup {
  readonly instructions: string
  readonly tools: readonly (Tool | ToolSource)[]
}

export interface ToolCallInfo {
  readonly toolCallId: string
  readonly tool: Tool
  /** The arguments as the model gave them, parsed but not yet checked. */
  readonly args: unknown
}

/**
 * Functions around what a chat agent does. In a list, the first is the outermost. Each may be left out. Whatever one
 * throws fails the agent.
 */
export interface Middleware {
  /** Before the first model call of a run, also of a resumed one. Returns what is to be different in this run. */
  onStart?(
    setup: AgentSetup,
    ctx: RunContext,
  ): Partial<AgentSetup> | undefined | Promise<Partial<AgentSetup> | undefined>
  /** After the agent came to its end: not when it failed, paused or was cancelled. */
  onEnd?(result: { readonly text: string; readonly result?: unknown }, ctx: RunContext): void | Promise<void>
  /** Around each attempt at a model call. Call `next` with the same or another request, or do without. */
  model?(
    request: ModelRequest,
    next: (request: ModelRequest) => AsyncIterable<ModelPart>,
    ctx: RunContext,
  ): AsyncIterable<ModelPart>
  /**
   * Around each tool call. `next` checks the arguments and runs the tool; its value is the tool's result. An
   * interrupt passes through as a thrown error: let it pass.
   */
  tool?(
    call: ToolCallInfo,
    next: (call: ToolCallInfo) => Promise<unknown>,
    ctx: ToolContext,
  ): Promise<unknown>
  /** Once per iteration, after all results of its tool calls are in the conversation. */
  afterTools?(ctx: RunContext): void | Promise<void>
}
