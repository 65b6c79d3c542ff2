import type { Tool } from '../../contract.js'

/** What can be found. */
export type Searchable = Pick<Tool, 'name' | 'description'>

const selection = /^\s*select:/i

/** The names that a query `select:a,b` asks for. Undefined when it is one of words. */
export function selectedNames(query: string): string[] | undefined {
  if (!selection.test(query)) return undefined
  const names = query.replace(selection, '').split(/[\s,]+/)
  return [...new Set(names.filter((name) => name !== ''))]
}

/**
 * The tools that fit the words of a query, best first: a word in the name counts most, one of the description less.
 * Those that lack a word with a `+` before it are left out.
 */
export function rankTools<T extends Searchable>(tools: readonly T[], query: string): T[] {
  const words = query.toLowerCase().split(/\s+/).map(toWord)
  const wanted = words.filter(({ text }) => text !== '')
  return tools
    .map((tool) => ({ tool, score: scoreOf(tool, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ tool }) => tool)
}

interface Word {
  readonly text: string
  readonly isRequired: boolean
}

function toWord(text: string): Word {
  // Quotes and commas are around words, not in them.
  return { text: text.replaceAll(/^[+"',.;:!?()]+|["',.;:!?()]+$/g, ''), isRequired: text.startsWith('+') }
}

function scoreOf({ name, description }: Searchable, words: readonly Word[]): number {
  const nameParts = partsOf(name)
  const descriptionParts = new Set(partsOf(description))
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

/** The words in a text, and in names such as `get_weather`, `get-weather` and `getWeather`. */
function partsOf(text: string): string[] {
  return text
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
}
