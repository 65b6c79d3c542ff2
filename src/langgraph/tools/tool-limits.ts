import type { RunnableConfig } from '@langchain/core/runnables'
import { withToolTimeout } from '../../bridge/tool-timeout.js'
import { isRecord } from '../../core/json.js'
import { currentCallLimit } from '../source/current-run.js'

interface InvokableTool {
  readonly name: string
  invoke(input: unknown, config?: RunnableConfig): Promise<unknown>
}

const limitedNodes = new WeakSet<object>()

/**
 * Gives the tools in the tool nodes of a graph, and of the graphs below it, the time limit of the run that calls them.
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

/** The same tool, called within the limit. Tools that a provider runs have nothing to call. */
function limitedTool(tool: unknown): unknown {
  if (!isObject(tool) || typeof Reflect.get(tool, 'invoke') !== 'function') return tool
  const own = tool as InvokableTool
  const invoke = (input: unknown, config: RunnableConfig = {}): Promise<unknown> => {
    const limit = currentCallLimit(config)
    if (!limit) return own.invoke(input, config)
    if (isRecord(input) && typeof input.id === 'string') limit.addLimited(input.id)
    return withToolTimeout((signal) => own.invoke(input, { ...config, signal }), {
      ...{ name: own.name, timeoutMs: limit.timeoutMs, clock: limit.clock, signal: config.signal },
    })
  }
  return Object.create(own, { invoke: { value: invoke } })
}
