import { MillraceError } from '../../../core/errors.js'
import type { Middleware } from '../../chat/middleware.js'
import { checkNumber } from '../../check-number.js'
import type { RunContext, Tool, ToolSource } from '../../contract.js'
import { addInstructions } from '../instructions.js'
import { createHiddenTools, refuseWhileHidden, searchToolName, type HiddenTools } from './hidden-tools.js'
import { searchTool } from './search-tool.js'

export interface ToolSearchOptions {
  /** Tools that are hidden until found. Sources are read at the start of every run. */
  readonly tools: readonly (Tool | ToolSource)[]
  /** Names of tools among them that are never hidden. */
  readonly alwaysOn?: readonly string[]
  /** The number of tools a search returns, unless the model sets it. Default 5. */
  readonly maxResults?: number
}

/**
 * Gives an agent more tools than a model can be shown at once. The model sees `tool_search`, which takes words or names,
 * and can call the tools it finds from then on: in this run, after a resume, and in later runs of the thread as long as
 * the search is among their messages. A call to a tool that was not found fails with an error that says how to find it.
 *
 * The agent's own tools stay as they are. Hidden is not forbidden: a tool itself must refuse what its user may not do.
 *
 * @example
 * const search = toolSearch({ tools: [mcpTools(github), mcpTools(jira)] })
 * const agent = defineAgent({ name: 'clerk', model, tools: [clock], middlewares: [search] })
 */
export function toolSearch({ tools, alwaysOn = [], maxResults = 5 }: ToolSearchOptions): Middleware {
  checkNumber('maxResults', maxResults, { min: 1, max: 50, isInteger: true })
  checkAlwaysOn(alwaysOn, tools)
  const hiddenTools = createHiddenToolsRegistry()
  return {
    async onStart(setup, ctx) {
      const all = await loadTools(tools, ctx.signal)
      const absent = unknownName(alwaysOn, all)
      if (absent !== undefined)
        ctx.services.report(`no source has the tool '${absent}', which should always be on`)
      const shown = all.filter(({ name }) => alwaysOn.includes(name))
      const searchable = all.filter((tool) => !shown.includes(tool))
      const hidden = createHiddenTools(searchable, ctx)
      hiddenTools.set(ctx, hidden)
      const refusing = searchable.map((tool) => refuseWhileHidden(tool, hidden))
      return {
        instructions: addInstructions(setup.instructions, searchInstructions(searchable)),
        tools: [...setup.tools, ...shown, searchTool(hidden, maxResults), ...refusing],
      }
    },
    model(request, next, ctx) {
      const hidden = hiddenTools.get(ctx)
      const offered = request.tools?.filter(({ name }) => hidden?.isHidden(name) !== true)
      return next(offered === undefined ? request : { ...request, tools: offered })
    },
  }
}

/** The hidden tools of each agent at work. All contexts of a run share `values`, so entries go when the run does. */
function createHiddenToolsRegistry() {
  const byRun = new WeakMap<RunContext['values'], Map<string, HiddenTools>>()
  return {
    get: ({ values, span }: RunContext) => byRun.get(values)?.get(span.address),
    set({ values, span }: RunContext, hidden: HiddenTools) {
      const byAddress = byRun.get(values) ?? new Map<string, HiddenTools>()
      byRun.set(values, byAddress.set(span.address, hidden))
    },
  }
}

async function loadTools(entries: readonly (Tool | ToolSource)[], signal: AbortSignal): Promise<Tool[]> {
  const lists = await Promise.all(
    entries.map(async (entry) => ('call' in entry ? [entry] : entry.tools({ signal }))),
  )
  return lists.flat()
}

/** Checks nothing if there are sources: their tools are not known yet. */
function checkAlwaysOn(alwaysOn: readonly string[], tools: ToolSearchOptions['tools']): void {
  const own = tools.filter((entry): entry is Tool => 'call' in entry)
  const unknown = unknownName(alwaysOn, own)
  if (unknown === undefined || own.length < tools.length) return
  const message = `The option 'alwaysOn' names '${unknown}', which is not among the tools to search.`
  throw new MillraceError('INVALID_AGENT', message, { details: { option: 'alwaysOn', value: unknown } })
}

function unknownName(names: readonly string[], tools: readonly Tool[]): string | undefined {
  return names.find((name) => !tools.some((tool) => tool.name === name))
}

const maxNames = 100

function searchInstructions(searchable: readonly Tool[]): string {
  if (searchable.length === 0) return ''
  const names = searchable.slice(0, maxNames).map(({ name }) => name)
  const rest = searchable.length - names.length
  return [
    `There are more tools than you see. Find those you need with ${searchToolName} before you call them:`,
    names.join(', ') + (rest > 0 ? `, and ${rest} more` : ''),
  ].join('\n')
}
