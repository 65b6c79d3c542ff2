import {
  AgentTool,
  createEvent,
  isBaseAgent,
  isBaseToolset,
  type BaseAgent,
  type BaseTool,
  type BaseToolset,
  type Event,
  type InvocationContext,
  type LlmAgent,
  type LlmResponse,
  type ReadonlyContext,
} from '@google/adk'
import { adkField, requestNames } from '../interrupts/request-calls.js'
import { replaceMembers } from '../../core/replace-members.js'
import type { ToolWrapper } from '../tools/run-tools.js'
import { internalsOf, type LlmCall } from './agent-internals.js'
import { PendingCalls } from './composites.js'
import { modelEventProcessors } from './events-for-model.js'

export interface LlmShellOptions {
  readonly toolsets: ToolsetLeases
  /** The shell for the agent behind an AgentTool. */
  readonly behindTool: (agent: BaseAgent) => BaseAgent
  readonly wrapTool: ToolWrapper
  /** The calls of an agent that get no result in this run. */
  readonly openCallsOf: (agent: BaseAgent) => readonly string[]
}

/** Members for the shell of an LlmAgent: it ends when a call is left pending, and has shells for its tools. */
export function llmShellMembers(
  agent: LlmAgent,
  shell: BaseAgent,
  options: LlmShellOptions,
): Record<string, unknown> {
  const { runAsyncImpl, runOneStepAsync, callLlmAsync } = internalsOf(shell)
  const { wrapTool } = options
  const pendingIn = new WeakMap<InvocationContext, PendingCalls>()
  return {
    async *runAsyncImpl(context: InvocationContext): AsyncGenerator<Event, void> {
      const calls = new PendingCalls()
      pendingIn.set(context, calls)
      const longRunningToolIds = [...options.openCallsOf(agent)]
      // ADK runs the tools that are approved now, and does not call the model.
      if (longRunningToolIds.length > 0) context.endInvocation = true
      // Not in a stage of its own: every delta passes here.
      for await (const event of runAsyncImpl.call(shell, context)) {
        if (!event.partial) calls.record(event)
        yield event
      }
      if (longRunningToolIds.length > 0) yield waitingEvent(agent, context, longRunningToolIds)
      if (calls.isWaiting) context.endInvocation = true
    },
    // ADK makes the next request when something follows the call: a token count, or the end of a transfer.
    runOneStepAsync(context: InvocationContext): AsyncGenerator<Event, void> {
      return pendingIn.get(context)?.isWaiting ? noSteps() : runOneStepAsync.call(shell, context)
    },
    // The request has all tools of the agent by now. ADK runs those that it finds there.
    callLlmAsync(...call: LlmCall): AsyncGenerator<LlmResponse> {
      const [, { toolsDict }] = call
      for (const [name, tool] of Object.entries(toolsDict)) toolsDict[name] = wrapTool(tool)
      return callLlmAsync.call(shell, ...call)
    },
    // Requests do not use these. ADK reads here the tools that it runs again after an answer.
    async canonicalTools(context?: ReadonlyContext): Promise<BaseTool[]> {
      const tools = await agent.canonicalTools.call(shell, context)
      const confirmed = confirmedTools(context?.invocationContext.session.events ?? [], agent.name)
      return tools.map((tool) => wrapTool(confirmed.has(tool.name) ? withConfirmation(tool) : tool))
    },
    tools: agent.tools.map((tool) => toolShell(tool, options)),
    canonicalBeforeModelCallbacks: notedCallbacks(agent.canonicalBeforeModelCallbacks),
    canonicalAfterModelCallbacks: notedCallbacks(agent.canonicalAfterModelCallbacks),
    requestProcessors: modelEventProcessors(agent),
    includeContents: agent.includeContents,
    codeExecutor: agent.codeExecutor,
  }
}

/** Tells the agents and workflows above that an agent still waits for results. */
function waitingEvent(
  { name }: LlmAgent,
  { invocationId, branch }: InvocationContext,
  longRunningToolIds: string[],
) {
  return createEvent({
    author: name,
    invocationId,
    longRunningToolIds,
    ...(branch === undefined ? {} : { branch }),
  })
}

// eslint-disable-next-line @typescript-eslint/require-await -- there is nothing to wait for
async function* noSteps(): AsyncGenerator<Event, void> {
  yield* []
}

/**
 * The tools whose own code requested a confirmation that the user's last event has. ADK does not remember that they
 * did, and then rejects the answer: `IntentMismatchError: confirmation_not_required`.
 */
function confirmedTools(events: readonly Event[], agentName: string): ReadonlySet<string> {
  const last = events.findLast(({ author }) => author === 'user')
  const answered = new Set(
    last?.content?.parts?.flatMap(({ functionResponse }) => functionResponse?.id ?? []),
  )
  const names = new Set<string>()
  if (answered.size === 0) return names
  for (const { author, content, actions } of events) {
    if (author !== agentName) continue
    for (const { functionCall } of content?.parts ?? []) {
      if (functionCall?.name !== requestNames.confirmation || !answered.has(functionCall.id ?? '')) continue
      const original = adkField(functionCall.args, 'originalFunctionCall')
      const id = adkField(original, 'id')
      const name = adkField(original, 'name')
      // ADK's own entry proves the request. A call alone proves nothing.
      if (typeof id === 'string' && typeof name === 'string' && id in actions.requestedToolConfirmations)
        names.add(name)
    }
  }
  return names
}

/** A tool that declares to ADK the confirmation that its code requested. */
function withConfirmation(tool: BaseTool): BaseTool {
  // ADK already handles tools with this option.
  if (Reflect.get(tool, 'requireConfirmation')) return tool
  return replaceMembers(tool, { checkRequireConfirmation: () => Promise.resolve(true) })
}

type AgentToolUnion = LlmAgent['tools'][number]

function toolShell(tool: AgentToolUnion, { toolsets, behindTool }: LlmShellOptions): AgentToolUnion {
  if (isBaseToolset(tool)) return toolsets.take(tool)
  // The agent behind an AgentTool has a Runner of its own, which closes toolsets like every other.
  if (!(tool instanceof AgentTool) || tool.runAsync !== AgentTool.prototype.runAsync) return tool
  const { agent } = tool as unknown as { readonly agent: unknown }
  if (!isBaseAgent(agent)) return tool
  return Object.create(tool, { agent: { get: () => behindTool(agent) } }) as AgentTool
}

/** Number of runs that use a toolset, over all trees of the process. */
const toolsetUses = new WeakMap<BaseToolset, number>()

/**
 * The toolsets that one run uses. ADK closes all toolsets of a tree after each run, even while other runs use them. Here
 * the last run closes them.
 */
export class ToolsetLeases {
  readonly #shields = new Map<BaseToolset, BaseToolset>()

  /** The same toolset, except that its `close` does nothing. */
  take(toolset: BaseToolset): BaseToolset {
    const known = this.#shields.get(toolset)
    if (known) return known
    toolsetUses.set(toolset, (toolsetUses.get(toolset) ?? 0) + 1)
    const shield = replaceMembers(toolset, { close: () => Promise.resolve() })
    this.#shields.set(toolset, shield)
    return shield
  }

  /** Closes the toolsets that no other run uses. Ignores their errors: the run is over. */
  async release(): Promise<void> {
    const toolsets = [...this.#shields.keys()]
    this.#shields.clear()
    await Promise.allSettled(
      toolsets.map(async (toolset) => {
        const uses = (toolsetUses.get(toolset) ?? 1) - 1
        toolsetUses.set(toolset, uses)
        if (uses === 0) await toolset.close()
      }),
    )
  }
}

type Callback = (...args: never[]) => unknown

const callbackErrors = new WeakSet()

/**
 * The callbacks around an agent's model, with a note of the errors they throw. ADK reports such an error as one of the
 * model.
 */
function notedCallbacks<C extends Callback>(callbacks: readonly C[]): C[] {
  return callbacks.map((callback) => {
    const noted = async (...args: Parameters<C>): Promise<unknown> => {
      try {
        return await callback(...args)
      } catch (error) {
        if (error instanceof Error) callbackErrors.add(error)
        throw error
      }
    }
    return noted as unknown as C
  })
}

/** Whether a callback of an agent or of a plugin threw the error, not the model. */
export function isCallbackError(error: unknown): boolean {
  return (
    error instanceof Error && (callbackErrors.has(error) || error.message.startsWith("Error in plugin '"))
  )
}
