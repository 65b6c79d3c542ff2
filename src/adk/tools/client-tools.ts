import type { Tool as ToolInfo } from '@ag-ui/core'
import { BaseTool, BaseToolset, type BaseToolParams, type RunnerConfig } from '@google/adk'
import { isRecord } from '../../core/json.js'
import { asArray, type ToolSchema } from './clean-schema.js'

/** Which of the client's tools an agent may use, and how its model calls them. */
export interface ClientToolsOptions {
  /** Names of tools, or a predicate. Default: all. Takes the client's own names. */
  readonly filter?: readonly string[] | ((tool: ToolInfo) => boolean)
  /** Prefix of their names for the model; the client never sees it. */
  readonly prefix?: string
}

/**
 * Marks the agents that may use the client's tools: put it among the `tools` of an LlmAgent. Without one in the tree, all
 * agents may. It has no state of a run: one agent can serve many runs at once.
 *
 * ```ts
 * new LlmAgent({ name: 'painter', model, tools: [mixColors, clientTools({ filter: ['pick_color'] })] })
 * ```
 */
export function clientTools(options: ClientToolsOptions = {}): BaseToolset {
  return new Placeholder(options)
}

// Registered: neither a second copy of this package nor a wrapper around the toolset hides it.
const marker = Symbol.for('millrace.adk.clientTools')

class Placeholder extends BaseToolset {
  readonly [marker]: ClientToolsOptions

  constructor(options: ClientToolsOptions) {
    super([])
    this[marker] = { ...options }
  }

  override getTools(): Promise<BaseTool[]> {
    return Promise.resolve([])
  }

  override close(): Promise<void> {
    return Promise.resolve()
  }
}

/** The options of a `clientTools()` among the tools of an agent. Undefined for any other tool. */
export function placeholderOptions(tool: unknown): ClientToolsOptions | undefined {
  return typeof tool === 'object' && tool !== null && marker in tool
    ? (tool as { readonly [marker]: ClientToolsOptions })[marker]
    : undefined
}

/** What a Runner runs. */
export type RunnerRoot = NonNullable<RunnerConfig['agent']>

/** Every `clientTools()` in a tree. */
export interface Placeholders {
  readonly usable: readonly ClientToolsOptions[]
  /** Agents with a useless one: they run as a tool of another agent, and must answer at once. */
  readonly uselessAt: readonly string[]
}

/**
 * Looks through agents, their sub-agents, the nodes of workflows and what those wrap. Does not find agents that only code
 * knows, as in a dynamic workflow.
 */
export function findPlaceholders(root: RunnerRoot): Placeholders {
  const usable: ClientToolsOptions[] = []
  const uselessAt: string[] = []
  const visited = new Set<unknown>()

  const visit = (value: unknown, isTool: boolean): void => {
    if (!isRecord(value) || visited.has(value)) return
    visited.add(value)
    for (const tool of asArray(value.tools)) {
      const options = placeholderOptions(tool)
      if (options && isTool) uselessAt.push(String(value.name))
      else if (options) usable.push(options)
      else visit(tool, true)
    }
    for (const below of asArray(value.subAgents)) visit(below, isTool)
    if (isRecord(value.graph)) for (const node of asArray(value.graph.nodes)) visit(node, isTool)
    // The node that a ParallelWorker runs.
    visit(value.inner, isTool)
    // A tool as a node, a node and an agent as tools.
    for (const inside of [value.tool, value.node, value.agent]) visit(inside, true)
  }
  visit(root, false)
  return { usable, uselessAt }
}

type Declaration = NonNullable<ReturnType<BaseTool['_getDeclaration']>>

/** A tool that the client executes: a call to it ends the run, and its result comes with a later run. */
export class ClientTool extends BaseTool {
  readonly #parameters: ToolSchema

  constructor(tool: Pick<BaseToolParams, 'name' | 'description'> & { readonly parameters: ToolSchema }) {
    super({ name: tool.name, description: tool.description, isLongRunning: true })
    this.#parameters = tool.parameters
  }

  override _getDeclaration(): Declaration {
    return { name: this.name, description: this.description, parametersJsonSchema: this.#parameters }
  }

  /** Returns null, so that the call of a long-running tool stays pending and the run ends. */
  override runAsync(): Promise<null> {
    return Promise.resolve(null)
  }
}
