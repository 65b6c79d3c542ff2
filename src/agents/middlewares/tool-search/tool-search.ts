import { MillraceError } from '../../../core/errors.js'
import type { RunContext, Tool, ToolSource } from '../../contract.js'
import { checkNumber } from '../../check-number.js'
import type { Middleware } from '../../chat/middleware.js'
import { addInstructions } from '../add-instructions.js'
import { guarded, openCatalogue, type Catalogue } from './catalogue.js'
import { searchToolName } from './found-tools.js'
import { searchTool } from './search-tool.js'

export interface ToolSearchOptions {
  /** The tools that are hidden until they are found. Sources are asked at the start of every run. */
  readonly tools: readonly (Tool | ToolSource)[]
  /** Names of those among them that are never hidden. */
  readonly alwaysOn?: readonly string[]
  /** How many tools a search gives when the model does not say: 5 unless told. */
  readonly maxResults?: number
}

/**
 * Gives an agent more tools than a model can be shown at once. It sees `tool_search`, which takes words or names; what
 * that finds, it can call from then on: in this run, after a pause, and in later runs of the thread as long as the
 * search is among their messages. A call to a tool that was not found is an error that says how to find it.
 *
 * Tools of the agent itself are not touched. Hidden is not forbidden: what a user may not do has to be refused by the
 * tool.
 *
 * @example
 * const search = toolSearch({ tools: [mcpTools(github), mcpTools(jira)] })
 * const agent = defineAgent({ name: 'clerk', model, tools: [clock], middlewares: [search] })
 */
export function toolSearch({ tools, alwaysOn = [], maxResults = 5 }: ToolSearchOptions): Middleware {
  checkNumber('maxResults', maxResults, { min: 1, max: 50, isInteger: true })
  checkAlwaysOn(alwaysOn, tools)
  const catalogues = createCatalogues()
  return {
    async onStart(setup, ctx) {
      const all = await toolsIn(tools, ctx.signal)
      const absent = strayName(alwaysOn, all)
      if (absent !== undefined)
        ctx.services.report(`no source has the tool '${absent}', which should always be on`)
      const shown = all.filter(({ name }) => alwaysOn.includes(name))
      const hidden = all.filter((tool) => !shown.includes(tool))
      const catalogue = openCatalogue(hidden, ctx)
      catalogues.set(ctx, catalogue)
      const more = hidden.map((tool) => guarded(tool, catalogue))
      return {
        instructions: addInstructions(setup.instructions, instructionsFor(hidden)),
        tools: [...setup.tools, ...shown, searchTool(catalogue, maxResults), ...more],
      }
    },
    model(request, next, ctx) {
      const catalogue = catalogues.get(ctx)
      const offered = request.tools?.filter(({ name }) => catalogue?.isHidden(name) !== true)
      return next(offered === undefined ? request : { ...request, tools: offered })
    },
  }
}

/** Those of runs that are over are forgotten with their values, which all contexts of a run share. */
function createCatalogues() {
  const byRun = new WeakMap<RunContext['values'], Map<string, Catalogue>>()
  return {
    get: ({ values, span }: RunContext) => byRun.get(values)?.get(span.address),
    set({ values, span }: RunContext, catalogue: Catalogue) {
      const ofRun = byRun.get(values) ?? new Map<string, Catalogue>()
      byRun.set(values, ofRun.set(span.address, catalogue))
    },
  }
}

async function toolsIn(entries: readonly (Tool | ToolSource)[], signal: AbortSignal): Promise<Tool[]> {
  const lists = await Promise.all(
    entries.map(async (entry) => ('call' in entry ? [entry] : entry.tools({ signal }))),
  )
  return lists.flat()
}

/** What sources have is not known yet. */
function checkAlwaysOn(alwaysOn: readonly string[], tools: ToolSearchOptions['tools']): void {
  const own = tools.filter((entry): entry is Tool => 'call' in entry)
  const stray = strayName(alwaysOn, own)
  if (stray === undefined || own.length < tools.length) return
  const message = `The option 'alwaysOn' names '${stray}', which is not among the tools to search.`
  throw new MillraceError('INVALID_AGENT', message, { details: { option: 'alwaysOn', value: stray } })
}

function strayName(names: readonly string[], tools: readonly Tool[]): string | undefined {
  return names.find((name) => !tools.some((tool) => tool.name === name))
}

const mostNames = 100

function instructionsFor(hidden: readonly Tool[]): string {
  if (hidden.length === 0) return ''
  const names = hidden.slice(0, mostNames).map(({ name }) => name)
  const rest = hidden.length - names.length
  return [
    `There are more tools than you see. Find those you need with ${searchToolName} before you call them:`,
    names.join(', ') + (rest > 0 ? `, and ${rest} more` : ''),
  ].join('\n')
}
