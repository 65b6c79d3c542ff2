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
import { processorsOf } from './content-processor.js'
import { createOpenCalls, type OpenCalls } from './open-calls.js'
import { overlay } from '../overlay.js'
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
      // Here and not in a stage of its own: every piece of every text comes this way.
      for await (const event of runAsyncImpl.call(shell, context)) {
        if (!event.partial) calls.note(event)
        yield event
      }
      if (calls.isPaused()) context.endInvocation = true
    },
    // ADK goes on to the next request when something follows the call: a count of tokens, or the end of a transfer.
    runOneStepAsync(context: InvocationContext): AsyncGenerator<Event, void> {
      return callsIn.get(context)?.isPaused() ? noSteps() : runOneStepAsync.call(shell, context)
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

/** A stream of nothing. */
// eslint-disable-next-line @typescript-eslint/require-await -- there is nothing to wait for
async function* noSteps(): AsyncGenerator<Event, void> {
  yield* []
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
