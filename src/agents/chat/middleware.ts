import type { ModelPart, ModelRequest } from '../../models/index.js'
import type { RunContext, Tool, ToolContext, ToolSource } from '../contract.js'

/** What a chat agent starts with. A middleware may return other values for this run. */
export interface AgentSetup {
  readonly instructions: string
  readonly tools: readonly (Tool | ToolSource)[]
}

export interface ToolCallInfo {
  readonly toolCallId: string
  readonly tool: Tool
  /** The arguments of the model, parsed but not yet checked. */
  readonly args: unknown
}

/**
 * Functions around the model and tool calls of a chat agent. In a list, the first is the outermost: it begins first
 * (`onStart`) and ends last (`afterTools`, `onEnd`). Each is optional. An error that one throws fails the agent, except
 * that of `tool`.
 */
export interface Middleware {
  /** The tools that it adds, if it knows them before a run: outlines show them. */
  readonly tools?: readonly Tool[]
  /** Before the first model call of a run, also of a resumed one. Returns what differs in this run. */
  onStart?(
    setup: AgentSetup,
    ctx: RunContext,
  ): Partial<AgentSetup> | undefined | Promise<Partial<AgentSetup> | undefined>
  /** After the agent has ended: not when it failed, was interrupted or cancelled. */
  onEnd?(result: { readonly text: string; readonly result?: unknown }, ctx: RunContext): void | Promise<void>
  /** Around each attempt of a model call. Call `next` with the same or another request, or not at all. */
  model?(
    request: ModelRequest,
    next: (request: ModelRequest) => AsyncIterable<ModelPart>,
    ctx: RunContext,
  ): AsyncIterable<ModelPart>
  /**
   * Around each tool call. `next` checks the arguments, runs the tool within its time limit and returns its result. An
   * error that it throws is the failure of the call, as if the tool had thrown it: the model reads it, unless `onToolError`
   * of the agent says otherwise. An interrupt passes through as a thrown error: let it pass.
   */
  tool?(
    call: ToolCallInfo,
    next: (call: ToolCallInfo) => Promise<unknown>,
    ctx: ToolContext,
  ): Promise<unknown>
  /** Once per iteration, after all results of its tool calls are in the conversation. */
  afterTools?(ctx: RunContext): void | Promise<void>
}
