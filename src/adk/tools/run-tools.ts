import { AgentTool, createEvent, NodeTool, type BaseTool, type Context, type State } from '@google/adk'
import type { RunContext } from '../../agents/index.js'
import { assertResultSize } from '../../bridge/tool-result-size.js'
import { withToolTimeout } from '../../bridge/tool-timeout.js'
import { toJson } from '../../core/to-json.js'
import { replaceMembers } from '../../core/replace-members.js'
import { isSharedKey } from '../session/session-state.js'

/** Replaces a tool by one for the calls of a run. */
export type ToolWrapper = (tool: BaseTool) => BaseTool

type ToolRequest = Parameters<BaseTool['runAsync']>[0]

/**
 * The tools as one run calls them: within the run's limits of time and size, and their changes of the state are shown as
 * they happen. A result or a state that cannot be JSON fails the call. Agents and nodes that run as tools have no limit of
 * time: their own tools have.
 */
export function createToolWrapper({ signal, services }: RunContext): ToolWrapper {
  const { toolTimeoutMs: timeoutMs = Infinity, toolResultBytes: maxBytes, clock, assertActive } = services
  const wrapped = new WeakMap<BaseTool, BaseTool>()
  return (tool) => {
    const known = wrapped.get(tool)
    if (known) return known
    const isAgent = tool instanceof AgentTool || tool instanceof NodeTool
    const { name } = tool
    // Async: an error becomes a rejection.
    const runAsync = async ({ args, toolContext }: ToolRequest): Promise<unknown> => {
      assertActive()
      const call = (limited: AbortSignal) => callTool(tool, { args, toolContext }, limited)
      const isTimed = !isAgent && timeoutMs !== Infinity
      const result = await (isTimed
        ? withToolTimeout(call, { name, timeoutMs, clock, signal })
        : call(signal))
      assertResultSize(result, { name, maxBytes })
      return result
    }
    const shell = replaceMembers(tool, { runAsync })
    wrapped.set(tool, shell)
    // A tool that is wrapped again stays as it is.
    wrapped.set(shell, shell)
    return shell
  }
}

async function callTool(
  tool: BaseTool,
  { args, toolContext }: ToolRequest,
  abortSignal: AbortSignal,
): Promise<unknown> {
  let isOver = false
  const show = (stateDelta: Record<string, unknown>): void => {
    // A tool whose time is over may still be at work.
    if (!isOver && !abortSignal.aborted) pushStateDelta(toolContext, stateDelta)
  }
  // Inherited, not copied: the tool's actions belong to the call.
  const context = Object.create(toolContext, {
    abortSignal: { value: abortSignal },
    state: { value: shownState(toolContext.state, show) },
  }) as Context
  try {
    const result: unknown = await tool.runAsync({ args, toolContext: context })
    if (result !== undefined) toJson(result, `The result of tool '${tool.name}'`)
    return result
  } finally {
    isOver = true
  }
}

/** Throws ENCODING_ERROR for a value that clients cannot get. */
function checkShared(key: string, value: unknown): void {
  if (isSharedKey(key) && value !== undefined) toJson(value, `state.${key}`)
}

/** The same state, except that every change is checked and shown at once. */
function shownState(state: State, show: (stateDelta: Record<string, unknown>) => void): State {
  return Object.create(state, {
    set: {
      value(key: string, value: unknown): void {
        checkShared(key, value)
        state.set(key, value)
        show({ [key]: value })
      },
    },
    update: {
      value(delta: Record<string, unknown>): void {
        for (const [key, value] of Object.entries(delta)) checkShared(key, value)
        state.update(delta)
        show({ ...delta })
      },
    },
  }) as State
}

/** A partial event is shown and not stored. The result of the tool has the change for the session. */
function pushStateDelta({ invocationContext }: Context, stateDelta: Record<string, unknown>): void {
  const { eventQueue, invocationId, branch, agent } = invocationContext
  const fields = { invocationId, author: agent?.name ?? '', ...(branch === undefined ? {} : { branch }) }
  eventQueue?.push(createEvent({ ...fields, partial: true, actions: { stateDelta } }))
}
