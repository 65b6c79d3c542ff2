import type { Tool as ToolInfo } from '@ag-ui/core'
import { BaseToolset, type BaseTool } from '@google/adk'

/** Which of the client's tools an agent may use, and how its model calls them. */
export interface ClientToolsOptions {
  /** Which of the client's tools: names, or a test. Default: all. Compared with the client's own names. */
  readonly filter?: readonly string[] | ((tool: ToolInfo) => boolean)
  /** Put before their names for the model; the client never sees it. */
  readonly prefix?: string
}

/**
 * Marks the agents that may use the client's tools: put it among the `tools` of an LlmAgent. Without any in the tree, all
 * agents may. It holds nothing of any run: one agent can serve many runs at once.
 *
 * ```ts
 * new LlmAgent({ name: 'painter', model, tools: [mixColors, clientTools({ filter: ['pick_color'] })] })
 * ```
 */
export function clientTools(options: ClientToolsOptions = {}): BaseToolset {
  return new Placeholder(options)
}

/** What a `clientTools()` among the tools of an agent was made with. Undefined for any other tool. */
export function placeholderOptions(tool: unknown): ClientToolsOptions | undefined {
  return typeof tool === 'object' && tool !== null && marker in tool
    ? (tool as { readonly [marker]: ClientToolsOptions })[marker]
    : undefined
}

// Registered: two copies of this package, or a wrapper around a toolset, must not hide what it is.
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
