import type { RunnableConfig } from '@langchain/core/runnables'
import { assertResultSize } from '../../bridge/tool-result-size.js'
import { withToolTimeout } from '../../bridge/tool-timeout.js'
import { isRecord } from '../../core/json.js'
import { bridgeOfCall } from '../source/current-run.js'
import { callerIn } from './kept-results.js'

interface InvokableTool {
  readonly name: string
  invoke(input: unknown, config?: RunnableConfig): Promise<unknown>
}

const limitedNodes = new WeakSet<object>()

/**
 * Gives the tools in the tool nodes of a graph, and of the graphs below it, the limits of the run that calls them. A call that
 * has its result in the thread is not executed again.
 * Calls outside of such a run are as before.
 */
export function limitTools(graph: unknown): void {
  const nodes: unknown = isObject(graph) ? Reflect.get(graph, 'nodes') : undefined
  if (!isRecord(nodes)) return
  for (const node of Object.values(nodes)) {
    const bound: unknown = isObject(node) ? Reflect.get(node, 'bound') : undefined
    if (!isObject(bound) || limitedNodes.has(bound)) continue
    limitedNodes.add(bound)
    const tools: unknown = Reflect.get(bound, 'tools')
    if (Array.isArray(tools) && typeof Reflect.get(bound, 'runTool') === 'function')
      Reflect.set(bound, 'tools', tools.map(limitedTool))
    else limitTools(bound)
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** The same tool, called within the limits. Tools that a provider runs have nothing to call. */
function limitedTool(tool: unknown): unknown {
  if (!isObject(tool) || typeof Reflect.get(tool, 'invoke') !== 'function') return tool
  const own = tool as InvokableTool
  const invoke = (input: unknown, config: RunnableConfig = {}): Promise<unknown> => {
    const { callLimit: limit, keptResult } = bridgeOfCall(config) ?? {}
    const callId = isRecord(input) && typeof input.id === 'string' ? input.id : undefined
    const kept = callId === undefined ? undefined : keptResult?.(callId, callerIn(config, callId))
    if (kept) return Promise.resolve(kept)
    if (!limit) return own.invoke(input, config)
    const { timeoutMs, clock, maxBytes } = limit
    const measured = maxBytes === undefined ? own : measuredTool(own, maxBytes)
    if (timeoutMs === Infinity) return measured.invoke(input, config)
    if (callId !== undefined) limit.addLimited(callId)
    return withToolTimeout((signal) => measured.invoke(input, { ...config, signal }), {
      ...{ name: own.name, timeoutMs, clock, signal: config.signal },
    })
  }
  return Object.create(own, { invoke: { value: invoke } })
}

/**
 * The same tool, with results within a size. Measured where the tool's own code returns: LangChain shows the result to callbacks
 * before `invoke` returns it. Progress of a generator is no result.
 */
function measuredTool(tool: InvokableTool, maxBytes: number): InvokableTool {
  const call: unknown = Reflect.get(tool, '_call')
  if (typeof call !== 'function') return tool
  const hasArtifact = Reflect.get(tool, 'responseFormat') === 'content_and_artifact'
  const measured = async (...args: readonly unknown[]): Promise<unknown> => {
    const result: unknown = await Reflect.apply(call, tool, args)
    // The model does not get an artifact.
    const content: unknown = hasArtifact && Array.isArray(result) ? result[0] : result
    assertResultSize(content, { name: tool.name, maxBytes })
    return result
  }
  return Object.create(tool, { _call: { value: measured } }) as InvokableTool
}
