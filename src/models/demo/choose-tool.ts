import type { Tool } from '@ag-ui/core'
import { wordList, wordsOf } from './words.js'

// Words that many tools share and that say little about what one does.
const common = new Set(
  wordList(`
    a an and any are by can do fetch find for from get give in is it its look lookup make my of on
    or out read run set show tell that the this to tool use user what with you your
  `),
)

// What people say, and the word that tools use for it.
const synonyms = new Map([
  ...['rain', 'raining', 'snow', 'snowing', 'sunny', 'warm', 'cold', 'forecast', 'temperature'].map(
    (word) => [word, 'weather'] as const,
  ),
  ['reserve', 'book'],
  ['reservation', 'book'],
  ['mail', 'email'],
  ['erase', 'delete'],
  ['todo', 'task'],
  ['price', 'cost'],
])

// These alone do not tell which tool is meant: people also create poems.
const verbs = new Set(
  wordList('add change create delete list open remove search send start stop update write'),
)

const enough = 2

/**
 * The tool that fits a message best. Words of its name count most, words of its description a little. Undefined when
 * too little speaks for any.
 */
export function chooseTool<T extends Tool>(text: string, tools: readonly T[]): T | undefined {
  const said = new Set(wordsOf(text).flatMap((word) => [word, synonyms.get(word) ?? word]))
  const scored = tools.map((tool) => ({ tool, score: scoreOf(tool, said) }))
  return scored.filter(({ score }) => score >= enough).sort((a, b) => b.score - a.score)[0]?.tool
}

function scoreOf({ name, description }: Tool, said: ReadonlySet<string>): number {
  const named = hits(name, said)
  return named.length + named.filter((word) => !verbs.has(word)).length + hits(description, said).length
}

function hits(text: string, said: ReadonlySet<string>): string[] {
  return [...new Set(wordsOf(text))].filter((word) => said.has(word) && !common.has(word))
}
