import { MillraceError } from '../../../core/errors.js'
import type { Middleware } from '../../chat/middleware.js'
import { checkGiven } from '../../check-agent.js'
import { checkToolList } from '../../chat/check-options.js'
import { checkNumber } from '../../check-number.js'
import type { RunContext, Tool, ToolSource } from '../../contract.js'
import { defineTool } from '../../tools/define-tool.js'
import { addInstructions } from '../instructions.js'
import { sliceWhole } from '../slice-text.js'
import {
  createHiddenTools,
  refuseWhileHidden,
  searchToolName,
  type HiddenTools,
  type SearchResult,
} from './hidden-tools.js'

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
export function toolSearch(options: ToolSearchOptions): Middleware {
  checkGiven('toolSearch', options, '{ tools }')
  const { tools, alwaysOn = [], maxResults = 5 } = options
  checkToolList(tools, '`toolSearch`')
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

/** The hidden tools of each running agent. All contexts of a run share `values`, so entries vanish with the run. */
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

const maxLimit = 50
const maxDescriptionLength = 200

interface SearchArgs {
  readonly query: string
  readonly max_results?: number
}

/** Finds hidden tools. The model can call them from its next answer on. */
function searchTool(hidden: HiddenTools, defaultLimit: number): Tool {
  return defineTool<SearchArgs>({
    name: searchToolName,
    description: 'Finds more tools. Those it gives can be called afterwards.',
    parameters: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          minLength: 1,
          description:
            'Words for what a tool should do; with + before those it must have. Or names: select:a,b',
        },
        max_results: {
          type: 'integer',
          minimum: 1,
          maximum: maxLimit,
          description: `How many tools to give at most: ${defaultLimit} unless given.`,
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    execute({ query, max_results: limit = defaultLimit }): SearchResult {
      const result = searchTools(hidden.tools, query, limit)
      hidden.reveal(result.tools.map(({ name }) => name))
      return result
    },
  })
}

type Searchable = Pick<Tool, 'name' | 'description'>

/** The limit does not apply to tools that are selected by name. */
function searchTools(tools: readonly Searchable[], query: string, limit: number): SearchResult {
  const selected = selectedNames(query)
  const found = selected ? pickByName(tools, selected) : rankTools(tools, query).slice(0, limit)
  const missing = (selected ?? []).filter((name) => !found.some((tool) => tool.name === name))
  return { tools: found.map(shortenDescription), note: resultNote(found.length, missing) }
}

function pickByName(tools: readonly Searchable[], names: readonly string[]): Searchable[] {
  return names.flatMap((name) => tools.find((tool) => tool.name === name) ?? [])
}

function resultNote(found: number, missing: readonly string[]): string {
  const absent = missing.length > 0 ? `There is no tool ${missing.join(', ')}. ` : ''
  return absent + (found > 0 ? 'You can call these tools now.' : 'Nothing was found. Try other words.')
}

function shortenDescription({ name, description }: Searchable) {
  if (description.length <= maxDescriptionLength) return { name, description }
  return { name, description: `${sliceWhole(description, 0, maxDescriptionLength)}...` }
}

/** Later words do not count: a model may write any number. */
const maxQueryLength = 1_000

const selection = /^\s*select:/i

/** The names in a query `select:a,b`; undefined for a query of words. */
export function selectedNames(query: string): string[] | undefined {
  if (!selection.test(query)) return undefined
  const names = query.replace(selection, '').split(/[\s,]+/)
  return [...new Set(names.filter((name) => name !== ''))]
}

/**
 * The tools that match the words of a query, best first: a word of the name counts most, one of the description less.
 * Tools that lack a word with a `+` before it are left out.
 */
export function rankTools<T extends Searchable>(tools: readonly T[], query: string): T[] {
  const words = query.slice(0, maxQueryLength).toLowerCase().split(/\s+/).map(toQueryWord)
  const wanted = words.filter(({ text }) => text !== '')
  return tools
    .map((tool) => ({ tool, score: matchScore(tool, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ tool }) => tool)
}

interface QueryWord {
  readonly text: string
  readonly isRequired: boolean
}

function toQueryWord(text: string): QueryWord {
  // Strips quotes and punctuation around the word.
  return { text: text.replaceAll(/^[+"',.;:!?()]+|["',.;:!?()]+$/g, ''), isRequired: text.startsWith('+') }
}

function matchScore({ name, description }: Searchable, words: readonly QueryWord[]): number {
  const nameParts = splitWords(name)
  const descriptionParts = new Set(splitWords(description))
  let score = 0
  for (const { text, isRequired } of words) {
    const inName = nameScore(text, name.toLowerCase(), nameParts)
    const inText = descriptionParts.has(text) ? 2 : description.toLowerCase().includes(text) ? 1 : 0
    if (isRequired && inName + inText === 0) return 0
    score += inName + inText
  }
  return score
}

function nameScore(word: string, name: string, parts: readonly string[]): number {
  if (word === name) return 20
  if (parts.includes(word)) return 8
  return name.includes(word) ? 4 : 0
}

/** Splits text, and names such as `get_weather`, `get-weather` and `getWeather`. */
function splitWords(text: string): string[] {
  return text
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
}
