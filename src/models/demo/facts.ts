import { wordList } from './words.js'

/** What a message names. Each is given out once, so that two parameters of a tool get two different numbers. */
export interface Facts {
  readonly text: string
  /** Whether the message contains this phrase, as words of its own. */
  mentions(phrase: string): boolean
  /** The next of a kind. */
  next(kind: FactKind): string | undefined
  /** A number: the one beside a word that begins like one of these, else the next. */
  number(words: readonly string[]): number | undefined
  /** What stands after a small word, for example `from`. */
  after(word: string): string | undefined
}

export type FactKind = 'quote' | 'url' | 'email' | 'date' | 'time' | 'name'

const name = String.raw`\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)*`

// In this order: what one has taken, the next does not see.
const patterns: readonly (readonly [FactKind, RegExp])[] = [
  ['quote', /"([^"]+)"|“([^”]+)”|«([^»]+)»/g],
  ['url', /https?:\/\/[^\s<>]*[^\s<>.,;:!?)]/g],
  ['email', /[\w.+-]+@[\w-]+\.[\w.-]*\w/g],
  ['date', /\d{4}-\d{2}-\d{2}/g],
  ['time', /\b\d{1,2}:\d{2}\b/g],
  ['name', new RegExp(name, 'gu')],
]

const numerals = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

// Words that begin a sentence, or follow a small word, and name nothing.
const nameless = new Set(
  wordList(`
    a add an and are ask at book buy call can change check compare could create delete do does eight
    explain find five for four from get give go hello hey hi how i if in is it let list look make me
    my need nine of on one order play please put remind remove reserve search send set seven show
    six start stop tell ten thank thanks that the there think this three to today tomorrow translate
    turn two us use want we weather what when where which who why will with would write you your
  `),
)

/** Reads a message. */
export function createFacts(text: string): Facts {
  const { found, rest } = extract(text)
  const numbers = numbersIn(rest)
  const taken = new Set<string>()
  const take = (value: string | undefined) => {
    if (value !== undefined) taken.add(value)
    return value
  }
  return {
    text,
    mentions: (phrase) => asWords(text).includes(asWords(phrase)) && phrase !== '',
    next: (kind) => take(found[kind].find((value) => !taken.has(value))),
    number(words) {
      const beside = numbers.findIndex(({ neighbours }) =>
        neighbours.some((neighbour) => words.some((word) => neighbour.startsWith(word))),
      )
      return numbers.splice(Math.max(beside, 0), 1)[0]?.value
    },
    after(word) {
      const [, following] = new RegExp(`(?:^|\\s)${word} (?:the )?(${name}|\\p{L}+)`, 'u').exec(rest) ?? []
      if (following === undefined || nameless.has(following.toLowerCase()) || taken.has(following))
        return undefined
      taken.add(following)
      return following.charAt(0).toUpperCase() + following.slice(1)
    },
  }
}

function extract(text: string) {
  const found: Record<FactKind, string[]> = { quote: [], url: [], email: [], date: [], time: [], name: [] }
  let rest = text
  for (const [kind, pattern] of patterns) {
    for (const [whole, ...groups] of rest.matchAll(pattern)) {
      const value = groups.find(Boolean) ?? whole
      found[kind].push(...(kind === 'name' ? withoutNameless(value) : [value]))
    }
    if (kind !== 'name') rest = rest.replaceAll(pattern, ' ')
  }
  return { found, rest }
}

function withoutNameless(words: string): string[] {
  // `What's` is `what`.
  const kept = words.split(' ').filter((word) => !nameless.has(word.toLowerCase().replace(/['’].*/, '')))
  return kept.length === 0 ? [] : [kept.join(' ')]
}

function numbersIn(text: string) {
  const words = text.split(/[^\p{L}\p{N}.,-]+/u).map((word) => word.toLowerCase().replace(/[.,]+$/, ''))
  return words.flatMap((word, index) => {
    const value = numerals.includes(word) ? numerals.indexOf(word) : Number(word.replaceAll(',', ''))
    const neighbours = [words[index + 1] ?? '', words[index - 1] ?? '']
    return word === '' || Number.isNaN(value) ? [] : [{ value, neighbours }]
  })
}

function asWords(text: string): string {
  return ` ${text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `
}
