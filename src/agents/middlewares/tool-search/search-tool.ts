import { defineTool } from '../../tools/define-tool.js'
import type { Tool } from '../../contract.js'
import { sliceWhole } from '../whole-characters.js'
import type { Catalogue } from './catalogue.js'
import { searchToolName, type SearchAnswer } from './found-tools.js'
import { rankTools, selectedNames, type Searchable } from './rank-tools.js'

const mostResults = 50
const longestDescription = 200

interface SearchArgs {
  readonly query: string
  readonly max_results?: number
}

/** The tool that finds others. What it finds can be called from the next answer on. */
export function searchTool(catalogue: Catalogue, maxResults: number): Tool {
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
          maximum: mostResults,
          description: `How many tools to give at most: ${maxResults} unless given.`,
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    execute({ query, max_results: limit = maxResults }): SearchAnswer {
      const answer = search(catalogue.tools, query, limit)
      catalogue.reveal(answer.tools.map(({ name }) => name))
      return answer
    },
  })
}

/** Tools that are asked for by name are all given. */
function search(tools: readonly Searchable[], query: string, limit: number): SearchAnswer {
  const selected = selectedNames(query)
  const found = selected ? byName(tools, selected) : rankTools(tools, query).slice(0, limit)
  const missing = (selected ?? []).filter((name) => !found.some((tool) => tool.name === name))
  return { tools: found.map(toResult), note: noteOf(found.length, missing) }
}

function byName(tools: readonly Searchable[], names: readonly string[]): Searchable[] {
  return names.flatMap((name) => tools.find((tool) => tool.name === name) ?? [])
}

function noteOf(found: number, missing: readonly string[]): string {
  const absent = missing.length > 0 ? `There is no tool ${missing.join(', ')}. ` : ''
  return absent + (found > 0 ? 'You can call these tools now.' : 'Nothing was found. Try other words.')
}

function toResult({ name, description }: Searchable) {
  const isLong = description.length > longestDescription
  return { name, description: isLong ? `${sliceWhole(description, 0, longestDescription)}...` : description }
}
