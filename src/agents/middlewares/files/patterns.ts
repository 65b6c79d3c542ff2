import { RE2JS } from 're2js'
import { toolError } from '../tool-error.js'

export type Matches = (text: string) => boolean

const maxPatternLength = 1_000

/**
 * Compiles a regular expression that a model wrote; it matches anywhere in a line. JavaScript's own expressions can take
 * exponential time and cannot be stopped. This is RE2: linear time, no back references, no lookaround. Throws TOOL_ERROR
 * for an invalid pattern.
 */
export function compileRegex(pattern: string, { ignoreCase = false } = {}): Matches {
  checkLength(pattern)
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    return (text) => compiled.matcher(text).find()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw toolError(`The pattern is not a regular expression of RE2: ${reason}.`)
  }
}

function checkLength(pattern: string): void {
  if (pattern.length > maxPatternLength)
    throw toolError(`The pattern is longer than ${maxPatternLength} characters.`)
}

/**
 * Compiles a glob; it matches whole paths. `*` and `?` stay within a name, `**` goes through folders, `[a-z]` and
 * `[!a-z]` are one character, `{a,b}` one of several. Throws TOOL_ERROR for an invalid pattern.
 */
export function compileGlob(glob: string): Matches {
  checkLength(glob)
  if (glob === '') throw toolError('The pattern is empty. Write one such as "**/*.md".')
  return compileRegex(`^(?:${globToRegex(glob)})$`)
}

const globTokens = /\*\*\/|\*+|\?|\[[!^]?\]?[^\]]*\]|\{|\}|,|\\.|[^]/gu
const regexCharacters = /[\\^$.*+?()[\]{}|]/g

function globToRegex(glob: string): string {
  let pattern = ''
  let depth = 0
  for (const { 0: token, index } of glob.matchAll(globTokens)) {
    const isAtStart = index === 0 || '/{,'.includes(glob.charAt(index - 1))
    if (token === '{') depth++
    if (token === '}' && --depth < 0) throw toolError(`The pattern has a '}' that nothing opens.`)
    pattern += token === ',' ? (depth > 0 ? '|' : ',') : tokenToRegex(token, isAtStart)
  }
  if (depth > 0) throw toolError(`The pattern has a '{' that nothing closes.`)
  return pattern
}

function tokenToRegex(token: string, isAtStart: boolean): string {
  if (token === '**/' && isAtStart) return '(?:[^/]+/)*'
  if (token === '**/') return '[^/]*/'
  if (token.startsWith('**') && isAtStart) return '(?s:.*)'
  if (token.startsWith('*')) return '[^/]*'
  if (token === '?') return '[^/]'
  if (token === '{') return '(?:'
  if (token === '}') return ')'
  if (token.length > 1 && token.startsWith('[')) return characterClass(token)
  const char = token.length > 1 && token.startsWith('\\') ? token.slice(1) : token
  return char.replaceAll(regexCharacters, '\\$&')
}

function characterClass(token: string): string {
  const isNegated = /^\[[!^]/.test(token)
  const inside = token.slice(isNegated ? 2 : 1, -1).replaceAll(/[\\[\]^]/g, '\\$&')
  return isNegated ? `[^/${inside}]` : `[${inside}]`
}
