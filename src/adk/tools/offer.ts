import type { Tool as ToolInfo } from '@ag-ui/core'
import { isLlmAgent, type InvocationContext, type LlmRequest } from '@google/adk'
import { isRecord } from '../../core/is-record.js'
import { cleanParameters } from './clean-schema.js'
import { ClientTool } from './client-tool.js'
import { placeholderOptions, type ClientToolsOptions } from './client-tools.js'
import { findPlaceholders, type Root } from './find-placeholders.js'
import type { Schema } from './merge-schemas.js'
import { createToolNames } from './tool-names.js'

/** The client's tools for the models of one run. */
export interface Offer {
  /** Adds to a request the tools that its agent may use and has not itself. */
  readonly addTo: (request: LlmRequest, context: InvocationContext) => void
  readonly wireName: (modelName: string, author?: string) => string
  readonly modelName: (wireName: string) => string
  readonly isClientTool: (modelName: string, author?: string) => boolean
}

export interface OfferOptions {
  readonly tools: readonly ToolInfo[]
  readonly where: 'auto' | 'everywhere' | 'placed' | 'nowhere'
  readonly root: Root
  readonly report: (problem: string) => void
}

export function createOffer(options: OfferOptions): Offer {
  const { where, root, report } = options
  const names = createToolNames()
  const tools = where === 'nowhere' ? [] : usableTools(options)
  const { placed, inVain } = tools.length > 0 ? findPlaceholders(root) : { placed: [], inVain: [] }
  const isEverywhere = where === 'everywhere' || (where === 'auto' && placed.length === 0)
  const offered = new Map<string, ReadonlySet<string>>()
  const made = new Map<string, ClientTool>()

  const chosen = ({ filter, prefix }: ClientToolsOptions): ClientTool[] =>
    tools.flatMap(({ info, parameters }) => {
      if (!passes(info, filter, report)) return []
      const name = names.toModel(info.name, prefix)
      if (name === undefined) {
        report(`The client's tool "${info.name}" is not offered: ADK has a use of its own for the name.`)
        return []
      }
      const tool = made.get(name) ?? new ClientTool({ name, description: info.description, parameters })
      made.set(name, tool)
      return [tool]
    })

  // Names must not depend on which agent comes first: a later run looks them up again.
  if (isEverywhere) chosen({})
  placed.forEach(chosen)
  for (const agent of inVain)
    report(`\`clientTools()\` is in vain on "${agent}", which runs as a tool: it has to answer at once.`)

  const has = (modelName: string, author: string | undefined): boolean =>
    (author === undefined ? undefined : offered.get(author))?.has(modelName) ??
    names.toWire(modelName) !== undefined

  return {
    addTo: (request, context) => {
      const agent = context.agent?.name ?? ''
      const placeholders = placedAt(context)
      const allowed = placeholders.length > 0 ? placeholders : isEverywhere ? [{}] : []
      const refusal = tools.length === 0 || allowed.length === 0 ? undefined : refusalOf(request, context)
      if (refusal !== undefined) report(`"${agent}" is not offered the client's tools: ${refusal}`)
      const added = refusal === undefined ? add(request, allowed.flatMap(chosen), report) : []
      offered.set(agent, new Set(added))
    },
    wireName: (modelName, author) =>
      has(modelName, author) ? (names.toWire(modelName) ?? modelName) : modelName,
    modelName: (wireName) => names.anyModel(wireName) ?? wireName,
    isClientTool: has,
  }
}

interface UsableTool {
  readonly info: ToolInfo
  readonly parameters: Schema
}

/** The tools with a sound definition. The first of several with one name is taken. */
function usableTools({ tools, report }: OfferOptions): UsableTool[] {
  const usable = new Map<string, UsableTool>()
  for (const tool of tools as readonly unknown[]) {
    const { name, description, parameters } = isRecord(tool) ? tool : {}
    if (typeof name !== 'string' || name === '') {
      report('A tool of the client has no name and is not offered.')
      continue
    }
    if (usable.has(name)) {
      report(`The client has several tools named "${name}". The first is offered.`)
      continue
    }
    try {
      const info = { ...(tool as ToolInfo), description: typeof description === 'string' ? description : '' }
      usable.set(name, { info, parameters: cleanParameters(parameters) })
    } catch (error) {
      report(
        `The client's tool "${name}" is not offered: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
  return [...usable.values()]
}

function passes(
  tool: ToolInfo,
  filter: ClientToolsOptions['filter'],
  report: (problem: string) => void,
): boolean {
  if (filter === undefined) return true
  if (typeof filter !== 'function') return filter.includes(tool.name)
  try {
    return filter(tool)
  } catch (error) {
    report(
      `The filter of a \`clientTools()\` failed for "${tool.name}", which is not offered: ${String(error)}`,
    )
    return false
  }
}

function placedAt({ agent }: InvocationContext): ClientToolsOptions[] {
  return isLlmAgent(agent) ? agent.tools.flatMap((tool) => placeholderOptions(tool) ?? []) : []
}

/** Why a request can have no functions besides what it has. Undefined when it can. */
function refusalOf({ config }: LlmRequest, context: InvocationContext): string | undefined {
  if (context.nodeToolDepth > 0) return 'it runs as a tool, and has to answer at once.'
  // An agent with `clientTools()` says that it knows what its model can do; ADK takes care of its output schema then.
  if (placedAt(context).length > 0) return undefined
  if ((config?.responseSchema ?? config?.responseJsonSchema) !== undefined)
    return 'it has an output schema. Add `clientTools()` to its tools.'
  const hasBuiltIn = config?.tools?.some((tool) => !('functionDeclarations' in tool)) ?? false
  return hasBuiltIn
    ? 'many models take no functions beside built-in tools. Add `clientTools()` to its tools.'
    : undefined
}

function add(request: LlmRequest, tools: readonly ClientTool[], report: (problem: string) => void): string[] {
  const own = request.toolsDict
  const fresh = [...new Set(tools)].filter((tool) => {
    if (!Object.hasOwn(own, tool.name)) return true
    report(`The client's tool "${tool.name}" is not offered to an agent that has one of that name itself.`)
    return false
  })
  if (fresh.length === 0) return []
  for (const tool of fresh) own[tool.name] = tool
  const functionDeclarations = fresh.map((tool) => tool._getDeclaration())
  const declared = request.config?.tools ?? []
  // In a new list: what is there belongs to others.
  const at = declared.findIndex((tool) => 'functionDeclarations' in tool)
  const before = declared[at]
  const merged =
    before && 'functionDeclarations' in before
      ? declared.with(at, {
          ...before,
          functionDeclarations: [...(before.functionDeclarations ?? []), ...functionDeclarations],
        })
      : [...declared, { functionDeclarations }]
  request.config = { ...request.config, tools: merged }
  return fresh.map(({ name }) => name)
}
