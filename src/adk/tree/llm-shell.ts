import {
  AgentTool,
  isBaseAgent,
  isBaseToolset,
  type BaseAgent,
  type BaseTool,
  type Event,
  type InvocationContext,
  type LlmAgent,
  type ReadonlyContext,
} from '@google/adk'
import { confirmedTools } from '../ask/asked-tools.js'
import { internalsOf } from './agent-internals.js'
import { noting } from './composites.js'
import { processorsOf } from './content-processor.js'
import { createOpenCalls, type OpenCalls } from './open-calls.js'
import { overlay } from './overlay.js'
import type { ToolsetLeases } from './toolsets.js'

/** How tools of an agent are stood for. */
export interface ToolOptions {
  readonly toolsets: ToolsetLeases
  /** What stands for the agent behind an AgentTool. */
  readonly behindTool: (agent: BaseAgent) => BaseAgent
}

/** What the shell of an LlmAgent has of its own: how it ends when a call is left open, and its tools. */
export function llmMembers(agent: LlmAgent, shell: BaseAgent, options: ToolOptions): Record<string, unknown> {
  const { runAsyncImpl, runOneStepAsync } = internalsOf(shell)
  const callsIn = new WeakMap<InvocationContext, OpenCalls>()
  return {
    async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void> {
      const calls = createOpenCalls()
      callsIn.set(context, calls)
      yield* noting(runAsyncImpl.call(shell, context), calls)
      if (calls.isPaused()) context.endInvocation = true
    },
    // ADK goes on to the next request when something follows the call: a count of tokens, or the end of a transfer.
    async *runOneStepAsync(context: InvocationContext): AsyncGenerator<Event, void> {
      if (!callsIn.get(context)?.isPaused()) yield* runOneStepAsync.call(shell, context)
    },
    // Not for requests: from here ADK takes the tools that it runs again after an answer.
    async canonicalTools(context?: ReadonlyContext): Promise<BaseTool[]> {
      const tools = await agent.canonicalTools.call(shell, context)
      const confirmed = confirmedTools(context?.invocationContext.session.events ?? [], agent.name)
      return tools.map((tool) => (confirmed.has(tool.name) ? confirmable(tool) : tool))
    },
    tools: agent.tools.map((tool) => toolFor(tool, options)),
    requestProcessors: processorsOf(agent),
    includeContents: agent.includeContents,
    codeExecutor: agent.codeExecutor,
  }
}

/** A tool that stands by the question that its own code has asked. */
function confirmable(tool: BaseTool): BaseTool {
  // One that says so itself is known to ADK.
  if (Reflect.get(tool, 'requireConfirmation')) return tool
  return overlay(tool, { checkRequireConfirmation: () => Promise.resolve(true) })
}

type Tool = LlmAgent['tools'][number]

function toolFor(tool: Tool, { toolsets, behindTool }: ToolOptions): Tool {
  if (isBaseToolset(tool)) return toolsets.take(tool)
  // Its agent has a Runner of its own, which closes toolsets like every other.
  if (!(tool instanceof AgentTool) || tool.runAsync !== AgentTool.prototype.runAsync) return tool
  const { agent } = tool as unknown as { readonly agent: unknown }
  if (!isBaseAgent(agent)) return tool
  return Object.create(tool, { agent: { get: () => behindTool(agent) } }) as AgentTool
}
