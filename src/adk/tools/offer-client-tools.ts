import type { Tool as ToolInfo } from '@ag-ui/core'
import { isLlmAgent, type InvocationContext, type LlmRequest } from '@google/adk'
import { isRecord } from '../../core/json.js'
import { cleanParameters, type ToolSchema } from './clean-schema.js'
import {
  ClientTool,
  findPlaceholders,
  placeholderOptions,
  type ClientToolsOptions,
  type RunnerRoot,
} from './client-tools.js'

/** The client's tools in the model requests of one run. */
export interface ClientToolOffer {
  /** Adds to a request the tools that its agent may use and does not have itself. */
  readonly addTo: (request: LlmRequest, context: InvocationContext) => void
  readonly wireName: (modelName: string, author?: string) => string
  readonly modelName: (wireName: string) => string
  readonly isClientTool: (modelName: string, author?: string) => boolean
}

export interface ClientToolOfferOptions {
  readonly tools: readonly ToolInfo[]
  readonly where: 'auto' | 'everywhere' | 'placed' | 'nowhere'
  readonly root: RunnerRoot
  readonly report: (problem: string, error?: unknown) => void
}

export function offerClientTools(options: ClientToolOfferOptions): ClientToolOffer {
  const { where, root, report } = options
  const names = createToolNames()
  const tools = where === 'nowhere' ? [] : usableTools(options)
  const { usable, uselessAt } = tools.length > 0 ? findPlaceholders(root) : { usable: [], uselessAt: [] }
  const isEverywhere = where === 'everywhere' || (where === 'auto' && usable.length === 0)
  const offered = new Map<string, ReadonlySet<string>>()
  const created = new Map<string, ClientTool>()

  const chosenBy = ({ filter, prefix }: ClientToolsOptions): ClientTool[] =>
    tools.flatMap(({ info, parameters }) => {
      if (!passesFilter(info, filter, report)) return []
      const name = names.toModel(info.name, prefix)
      if (name === undefined) {
        report(`The client's tool "${info.name}" is not offered: ADK reserves the name.`)
        return []
      }
      const tool = created.get(name) ?? new ClientTool({ name, description: info.description, parameters })
      created.set(name, tool)
      return [tool]
    })

  // Names must not depend on which agent comes first: a later run looks them up again.
  if (isEverywhere) chosenBy({})
  usable.forEach(chosenBy)
  for (const agent of uselessAt)
    report(`\`clientTools()\` has no effect on "${agent}", which runs as a tool: it has to answer at once.`)

  const isClientTool = (modelName: string, author?: string): boolean =>
    (author === undefined ? undefined : offered.get(author))?.has(modelName) ??
    names.toWire(modelName) !== undefined

  return {
    addTo: (request, context) => {
      const agent = context.agent?.name ?? ''
      const placeholders = placeholdersAt(context)
      const allowed = placeholders.length > 0 ? placeholders : isEverywhere ? [{}] : []
      const reason = tools.length === 0 || allowed.length === 0 ? undefined : refusalOf(request, context)
      if (reason !== undefined) report(`"${agent}" is not offered the client's tools: ${reason}`)
      const added = reason === undefined ? addTools(request, allowed.flatMap(chosenBy), report) : []
      offered.set(agent, new Set(added))
    },
    wireName: (modelName, author) =>
      isClientTool(modelName, author) ? (names.toWire(modelName) ?? modelName) : modelName,
    modelName: (wireName) => names.anyModel(wireName) ?? wireName,
    isClientTool,
  }
}

interface UsableTool {
  readonly info: ToolInfo
  readonly parameters: ToolSchema
}

/** The tools with a valid definition; the first of several with one name. */
function usableTools({ tools, report }: ClientToolOfferOptions): UsableTool[] {
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
      report(`The client's tool "${name}" is not offered: its parameters cannot be used.`, error)
    }
  }
  return [...usable.values()]
}

function passesFilter(
  tool: ToolInfo,
  filter: ClientToolsOptions['filter'],
  report: (problem: string, error?: unknown) => void,
): boolean {
  if (filter === undefined) return true
  if (typeof filter !== 'function') return filter.includes(tool.name)
  try {
    return filter(tool)
  } catch (error) {
    report(`The filter of a \`clientTools()\` failed for "${tool.name}", which is not offered.`, error)
    return false
  }
}

function placeholdersAt({ agent }: InvocationContext): ClientToolsOptions[] {
  return isLlmAgent(agent) ? agent.tools.flatMap((tool) => placeholderOptions(tool) ?? []) : []
}

/** Why a request can take no more functions. Undefined when it can. */
function refusalOf({ config }: LlmRequest, context: InvocationContext): string | undefined {
  if (context.nodeToolDepth > 0) return 'it runs as a tool, and has to answer at once.'
  // With `clientTools()` the application vouches for its model; ADK then handles the output schema.
  if (placeholdersAt(context).length > 0) return undefined
  if ((config?.responseSchema ?? config?.responseJsonSchema) !== undefined)
    return 'it has an output schema. Add `clientTools()` to its tools.'
  const hasBuiltIn = config?.tools?.some((tool) => !('functionDeclarations' in tool)) ?? false
  return hasBuiltIn
    ? 'many models take no functions beside built-in tools. Add `clientTools()` to its tools.'
    : undefined
}

/** Returns the names of the added tools. */
function addTools(
  request: LlmRequest,
  tools: readonly ClientTool[],
  report: (problem: string, error?: unknown) => void,
): string[] {
  const own = request.toolsDict
  const added = [...new Set(tools)].filter((tool) => {
    if (!Object.hasOwn(own, tool.name)) return true
    report(`The client's tool "${tool.name}" is not offered to an agent that has one of that name itself.`)
    return false
  })
  if (added.length === 0) return []
  for (const tool of added) own[tool.name] = tool
  const functionDeclarations = added.map((tool) => tool._getDeclaration())
  const declared = request.config?.tools ?? []
  // A new list: other code owns the one in the request.
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
  return added.map(({ name }) => name)
}

/**
 * Maps the client's tool names to names that models take, and back. A name that models take is kept; others are cleaned
 * and made unique, always in the same way.
 */
export interface ToolNames {
  /** Undefined when ADK reserves the name. */
  readonly toModel: (wireName: string, prefix?: string) => string | undefined
  /** The first name that models know a tool by. */
  readonly anyModel: (wireName: string) => string | undefined
  /** Undefined when the tool is not the client's. */
  readonly toWire: (modelName: string) => string | undefined
}

const maxNameLength = 64
/** Every provider takes all other characters. Gemini alone would also take dots and colons. */
const refusedCharacters = /[^A-Za-z0-9_-]/g
const adkTools = new Set(['transfer_to_agent', 'set_model_response', 'finish_task'])

export function createToolNames(): ToolNames {
  const models = new Map<string, string>()
  const wires = new Map<string, string>()
  const first = new Map<string, string>()

  const toModel = (wireName: string, prefix = ''): string | undefined => {
    if (isReserved(wireName)) return undefined
    const key = JSON.stringify([prefix, wireName])
    const known = models.get(key)
    if (known !== undefined) return known
    const wanted = cleanName(prefix + wireName)
    if (isReserved(wanted)) return undefined
    let name = wanted
    for (let count = 2; wires.has(name); count += 1) {
      const suffix = `_${count}`
      name = wanted.slice(0, maxNameLength - suffix.length) + suffix
    }
    models.set(key, name)
    wires.set(name, wireName)
    if (!first.has(wireName)) first.set(wireName, name)
    return name
  }
  return { toModel, anyModel: (wireName) => first.get(wireName), toWire: (modelName) => wires.get(modelName) }
}

/** Whether the name has a meaning in ADK. */
function isReserved(name: string): boolean {
  return adkTools.has(name) || name.startsWith('adk_')
}

function cleanName(name: string): string {
  const safe = name.replace(refusedCharacters, '_').slice(0, maxNameLength)
  const begun = /^[A-Za-z_]/.test(safe) ? safe : `_${safe}`.slice(0, maxNameLength)
  // ADK looks tools up in a plain object, which inherits a few members.
  return begun in {} ? `${begun}_` : begun
}
