import { contentToText, type Message } from '@ag-ui/core'
import { isRecord, parseJson } from '../../../core/json.js'
import type { RunContext, Tool } from '../../contract.js'
import { toolError } from '../tool-error.js'

export const searchToolName = 'tool_search'

/** The result of a search, as JSON: later runs read in it which tools were found. */
export interface SearchResult {
  readonly tools: readonly { readonly name: string; readonly description: string }[]
  readonly note: string
}

/** The searchable tools of one agent in one run, which are hidden until found. */
export interface HiddenTools {
  readonly tools: readonly Tool[]
  isHidden(name: string): boolean
  reveal(names: readonly string[]): void
}

/**
 * The names of found tools are in the values of the run, and so in its checkpoint. Those that earlier runs of the thread
 * have found are read from their messages.
 */
export function createHiddenTools(tools: readonly Tool[], ctx: RunContext): HiddenTools {
  // All agents of a run share `values`, and each finds its own tools.
  const key = `millrace:found-tools:${ctx.span.address}`
  const names = new Set(tools.map(({ name }) => name))
  const readFound = (): string[] => {
    const value = ctx.values.get(key)
    return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
  }
  const reveal = (more: readonly string[]): void => {
    const found = new Set([...readFound(), ...more].filter((name) => names.has(name)))
    if (found.size > 0) ctx.values.set(key, [...found])
  }
  reveal(foundInMessages(ctx.messages))
  return { tools, isHidden: (name) => names.has(name) && !readFound().includes(name), reveal }
}

/** The same tool, except that a call before it is found throws TOOL_ERROR. */
export function refuseWhileHidden(tool: Tool, { isHidden }: Pick<HiddenTools, 'isHidden'>): Tool {
  const { name } = tool
  return Object.create(tool, {
    call: {
      value: (...[args, ctx]: Parameters<Tool['call']>) => {
        if (!isHidden(name)) return tool.call(args, ctx)
        const remedy = `Find it first: call ${searchToolName} with the query "select:${name}".`
        throw toolError(`The tool '${name}' is not loaded, so its arguments are not known. ${remedy}`)
      },
    },
  }) as Tool
}

/** The names of the tools that were found in a conversation. Takes linear time. */
export function foundInMessages(messages: readonly Message[]): string[] {
  const searches = new Set<string>()
  const found = new Set<string>()
  for (const message of messages) {
    // Subagents find their own tools.
    if (message.subagentRunId !== undefined) continue
    if (message.role === 'assistant')
      for (const call of message.toolCalls ?? [])
        if (call.function.name === searchToolName) searches.add(call.id)
    if (message.role === 'tool' && searches.has(message.toolCallId))
      for (const name of resultNames(contentToText(message.content))) found.add(name)
  }
  return [...found]
}

/** Empty for an error, or for a result that a middleware has rewritten. */
function resultNames(text: string): string[] {
  const result = parseJson(text)
  if (!isRecord(result) || !Array.isArray(result.tools)) return []
  return result.tools.flatMap((tool: unknown) =>
    isRecord(tool) && typeof tool.name === 'string' ? [tool.name] : [],
  )
}
