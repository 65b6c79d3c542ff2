import type { Tool } from '../../contract.js'
import { defineTool } from '../../tools/define-tool.js'
import { sliceWhole } from '../slice-text.js'
import { searchToolName, type HiddenTools, type SearchResult } from './hidden-tools.js'

const maxLimit = 50
const maxDescriptionLength = 200

interface SearchArgs {
  readonly query: string
  readonly max_results?: number
}

/** Finds hidden tools. The model can call them from its next answer on. */
export function searchTool(hidden: HiddenTools, defaultLimit: number): Tool {
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
  const words = query.toLowerCase().split(/\s+/).map(toQueryWord)
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
