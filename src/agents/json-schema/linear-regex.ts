import { RE2JS } from 're2js'

/** A regular expression of JavaScript that runs in linear time. */
export interface LinearRegex {
  /** Steps per character, at most. */
  readonly cost: number
  readonly test: (text: string) => boolean
}

const maxPatternLength = 5_000
const maxCost = 5_000

/**
 * Compiles a pattern of a JSON Schema: JavaScript's syntax and meaning, as with the flag `u`, on RE2. JavaScript's own
 * engine can take exponential time and cannot be stopped. Throws an Error, with a reason for people, for a pattern that is
 * none or that RE2 cannot express: back references, and look-around other than look-ahead right after a leading `^`.
 */
export function compileLinear(pattern: string): LinearRegex {
  if (pattern.length > maxPatternLength) throw new Error(`it is longer than ${maxPatternLength} characters`)
  const { conditions, rest } = splitConditions(readTokens(sourceOf(pattern)))
  const all = [...conditions, { tokens: rest, isMatch: true }].map(({ tokens, isMatch }) => {
    const compiled = compileTokens(tokens)
    return { cost: compiled.programSize(), fits: (text: string) => compiled.test(text) === isMatch }
  })
  const cost = all.reduce((sum, part) => sum + part.cost, 0)
  if (cost > maxCost) throw new Error('it repeats too much')
  return { cost, test: (text) => all.every(({ fits }) => fits(text)) }
}

/** The pattern as JavaScript reads it. Never runs it. */
function sourceOf(pattern: string): string {
  try {
    return new RegExp(pattern, 'u').source
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`it is no regular expression (${reason})`, { cause })
  }
}

interface Token {
  readonly text: string
  readonly isInClass: boolean
}

const tokenPattern =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u\{[\da-fA-F]+\}|\\u[\da-fA-F]{4}|\\[pP]\{[^}]*\}|\\c[A-Za-z]|\\[^]|\(\?<?[=!]|\(\?<[^>]*>|\(\?[a-z-]*:|\[\^?\]?|[^]/gu

function readTokens(pattern: string): Token[] {
  let isInClass = false
  return (
    pattern.match(tokenPattern)?.flatMap((text) => {
      // A bracket means something else inside of a class, so its token is taken apart.
      if (isInClass && text.startsWith('[')) {
        isInClass = !text.endsWith(']')
        return Array.from(text, (char) => ({ text: char, isInClass: char !== ']' }))
      }
      const token = { text, isInClass: isInClass && text !== ']' }
      if (text.startsWith('[') && !text.endsWith(']')) isInClass = true
      else if (text === ']') isInClass = false
      return [token]
    }) ?? []
  )
}

interface Condition {
  readonly tokens: readonly Token[]
  readonly isMatch: boolean
}

/**
 * Takes look-ahead at the start apart, as in `^(?!.*\.\.)(?=.*\d)x`: each is a pattern of its own, from the start of the
 * text.
 */
function splitConditions(tokens: readonly Token[]): { conditions: Condition[]; rest: readonly Token[] } {
  const conditions: Condition[] = []
  if (tokens[0]?.text !== '^' || hasAlternatives(tokens)) return { conditions, rest: tokens }
  let at = 1
  for (let opener = tokens[at]?.text; opener === '(?=' || opener === '(?!'; opener = tokens[at]?.text) {
    const end = groupEnd(tokens, at)
    conditions.push({
      tokens: [start, openGroup, ...tokens.slice(at + 1, end), closeGroup],
      isMatch: opener === '(?=',
    })
    at = end + 1
  }
  return { conditions, rest: [start, ...tokens.slice(at)] }
}

const [start, openGroup, closeGroup] = ['^', '(?:', ')'].map((text) => ({ text, isInClass: false })) as [
  Token,
  Token,
  Token,
]

function depthChange({ text, isInClass }: Token): number {
  if (isInClass) return 0
  return text.startsWith('(') ? 1 : text === ')' ? -1 : 0
}

function hasAlternatives(tokens: readonly Token[]): boolean {
  let depth = 0
  return tokens.some((token) => {
    depth += depthChange(token)
    return depth === 0 && token.text === '|' && !token.isInClass
  })
}

/** The position of the bracket that closes a group. */
function groupEnd(tokens: readonly Token[], opensAt: number): number {
  let depth = 0
  return tokens.findIndex((token, index) => {
    if (index < opensAt) return false
    depth += depthChange(token)
    return depth === 0
  })
}

function compileTokens(tokens: readonly Token[]): RE2JS {
  const translated = tokens.map(translate).join('')
  try {
    return RE2JS.compile(translated)
  } catch (cause) {
    const reason =
      cause instanceof Error ? cause.message.replace('error parsing regexp: ', '') : String(cause)
    throw new Error(`RE2 cannot express it (${reason})`, { cause })
  }
}

// What `\s` and `.` are in JavaScript; in RE2 they know ASCII only.
const spaces = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
const notSpaces = String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
const replacements = new Map([
  ['[]', String.raw`[^\x{0}-\x{10ffff}]`],
  ['[^]', String.raw`[\x{0}-\x{10ffff}]`],
  ['.', String.raw`[^\n\r\x{2028}\x{2029}]`],
  [String.raw`\s`, `[${spaces}]`],
  [String.raw`\S`, `[^${spaces}]`],
  [String.raw`\0`, String.raw`\x{0}`],
])
const classReplacements = new Map([
  ['[', String.raw`\[`],
  [String.raw`\s`, spaces],
  [String.raw`\S`, notSpaces],
  [String.raw`\b`, String.raw`\x{8}`],
  [String.raw`\0`, String.raw`\x{0}`],
])

function translate({ text, isInClass }: Token): string {
  const replacement = (isInClass ? classReplacements : replacements).get(text)
  if (replacement !== undefined) return replacement
  if (text.startsWith('\\')) return translateEscape(text)
  if (isInClass || !text.startsWith('(')) return text
  if (/^\(\?<?[=!]/.test(text))
    throw new Error('it looks around, and only look-ahead right after a leading ^ is checked')
  // Nobody reads the groups.
  return text === '(' || text.startsWith('(?<') ? '(?:' : text
}

const categories: Readonly<Record<string, string>> = {
  ...{ Letter: 'L', Uppercase_Letter: 'Lu', Lowercase_Letter: 'Ll', Titlecase_Letter: 'Lt' },
  ...{ Modifier_Letter: 'Lm', Other_Letter: 'Lo', Mark: 'M', Number: 'N', Decimal_Number: 'Nd', digit: 'Nd' },
  ...{ Punctuation: 'P', punct: 'P', Symbol: 'S', Separator: 'Z', Space_Separator: 'Zs' },
  ...{ Other: 'C', Control: 'Cc', cntrl: 'Cc' },
}

function translateEscape(text: string): string {
  if (/^\\[1-9k]/.test(text)) throw new Error('it refers back to a group')
  const unicode = /^\\u\{?([\da-f]+)\}?$/i.exec(text)?.[1]
  if (unicode !== undefined) return `\\x{${unicode}}`
  if (text.startsWith('\\u')) {
    const pair = String.fromCharCode(parseInt(text.slice(2, 6), 16), parseInt(text.slice(8), 16))
    return `\\x{${(pair.codePointAt(0) ?? 0).toString(16)}}`
  }
  if (text.startsWith('\\c')) return `\\x{${(text.charCodeAt(2) % 32).toString(16)}}`
  // RE2 has the values alone, and the categories by their short names.
  return text.replace(
    /^(\\[pP]\{)(?:(?:Script|sc|General_Category|gc)=)?([^}]*)/,
    (_, opener: string, name: string) => {
      return opener + (categories[name] ?? name)
    },
  )
}
