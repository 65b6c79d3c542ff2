import { wordList } from './words.js'

/** Values in a message. Each is returned once, so that two parameters of a tool get two different numbers. */
export interface Facts {
  readonly text: string
  /** Whether the message contains this phrase as whole words. */
  mentions(phrase: string): boolean
  next(kind: FactKind): string | undefined
  /** The number beside a word that begins with one of these, else the next number. */
  number(words: readonly string[]): number | undefined
  /** The word or name after a preposition such as `from`. */
  after(word: string): string | undefined
}

export type FactKind = 'quote' | 'url' | 'email' | 'date' | 'time' | 'name' | 'item'

const name = String.raw`\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)*`

// In this order: each pattern removes its matches before the next one looks.
const patterns: readonly (readonly [FactKind, RegExp])[] = [
  ['quote', /"([^"]+)"|“([^”]+)”|«([^»]+)»/g],
  ['url', /https?:\/\/[^\s<>]*[^\s<>.,;:!?)]/g],
  ['email', /[\w.+-]+@[\w-]+\.[\w.-]*\w/g],
  ['date', /\d{4}-\d{2}-\d{2}/g],
  ['time', /\b\d{1,2}:\d{2}\b/g],
  ['name', new RegExp(name, 'gu')],
]

// The names that Chinese sentences have before what is asked about them: 奥斯陆的天气.
const chineseName =
  /([\p{Script=Han}]{2,8}?)(?:的|今天|明天|现在|那里|那边)*(?:天气|气温|下雨|下雪|冷|热|房|酒店)/u

// What is put on a list, or taken off it.
const itemLists = [
  /\b(?:add|put|buy|remove|take|delete) (.+?) (?:to|on|onto|into|from|off)\b/i,
  /(?:加上?|添加?|买|删除?|去掉|移除)(?:一些|点)?([\p{Script=Han}\p{L}、，]+)/u,
]

const numerals = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

// Capitalised at the start of a sentence, or after a preposition, but no names.
const notNames = new Set(
  wordList(`
    a add an and are ask at book buy call can change check compare could create delete do does eight
    explain find five for four from get give go hello hey hi how i if in is it let list look make me
    my need nine of on one order play please put remind remove reserve search send set seven show
    six start stop tell ten thank thanks that the there think this three to today tomorrow translate
    turn two us use want we weather what when where which who why will with would write you your
  `),
)

// Some of the patterns take quadratic time.
const maxTextLength = 2_000

/** Reads the beginning of a message. */
export function createFacts(message: string): Facts {
  const text = message.slice(0, maxTextLength)
  const { found, rest } = extractValues(text)
  const numbers = numbersIn(rest)
  const used = new Set<string>()
  const use = (value: string | undefined) => {
    if (value !== undefined) used.add(value)
    return value
  }
  return {
    text,
    mentions: (phrase) => spacedWords(text).includes(spacedWords(phrase)) && phrase !== '',
    next: (kind) => use(found[kind].find((value) => !used.has(value))),
    number(words) {
      const beside = numbers.findIndex(({ neighbours }) =>
        neighbours.some((neighbour) => words.some((word) => neighbour.startsWith(word))),
      )
      return numbers.splice(Math.max(beside, 0), 1)[0]?.value
    },
    after(word) {
      const [, following] = new RegExp(`(?:^|\\s)${word} (?:the )?(${name}|\\p{L}+)`, 'u').exec(rest) ?? []
      if (following === undefined || notNames.has(following.toLowerCase()) || used.has(following))
        return undefined
      used.add(following)
      return following.charAt(0).toUpperCase() + following.slice(1)
    },
  }
}

function extractValues(text: string) {
  const found: Record<FactKind, string[]> = {
    ...{ quote: [], url: [], email: [], date: [], time: [], name: [] },
    item: itemsIn(text),
  }
  let rest = text
  for (const [kind, pattern] of patterns) {
    for (const [whole, ...groups] of rest.matchAll(pattern)) {
      const value = groups.find(Boolean) ?? whole
      found[kind].push(...(kind === 'name' ? withoutCommonWords(value) : [value]))
    }
    if (kind !== 'name') rest = rest.replaceAll(pattern, ' ')
  }
  const [, inChinese] = chineseName.exec(rest.replaceAll(chineseFillers, ' ')) ?? []
  if (inChinese !== undefined) found.name.push(inChinese)
  return { found, rest }
}

// Between a verb and a name, or before it.
const chineseFillers = /请问|请|帮我|告诉我|查一下|查查|看看|我想知道|在/g

function itemsIn(text: string): string[] {
  const [, list = ''] = itemLists.map((pattern) => pattern.exec(text)).find((match) => match !== null) ?? []
  return list
    .split(/\s*(?:,|，|、|和|\band\b)\s*/i)
    .map((item) => item.replace(/^(?:the|some|more|an?)\s+/i, '').trim())
    .filter((item) => item !== '')
}

function withoutCommonWords(words: string): string[] {
  // `What's` is `what`.
  const kept = words.split(' ').filter((word) => !notNames.has(word.toLowerCase().replace(/['’].*/, '')))
  return kept.length === 0 ? [] : [kept.join(' ')]
}

/** 两人 is 2 people. */
const chineseNumerals = '零一二三四五六七八九十'

function numbersIn(text: string) {
  const latin = text.replaceAll(
    /([零一二两三四五六七八九十])(?=[个位人])/g,
    (numeral) => ` ${chineseNumerals.indexOf(numeral.replace('两', '二'))} `,
  )
  const words = latin.split(/[^\p{L}\p{N}.,-]+/u).map((word) => word.toLowerCase().replace(/[.,]+$/, ''))
  return words.flatMap((word, index) => {
    const value = numerals.includes(word) ? numerals.indexOf(word) : Number(word.replaceAll(',', ''))
    const neighbours = [words[index + 1] ?? '', words[index - 1] ?? '']
    return word === '' || Number.isNaN(value) ? [] : [{ value, neighbours }]
  })
}

function spacedWords(text: string): string {
  return ` ${text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `
}
