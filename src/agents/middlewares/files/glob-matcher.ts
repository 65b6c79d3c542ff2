import { toolError } from '../tool-error.js'
import { createMatcher, type Matcher } from './line-matcher.js'

/** A path without anything in it that a pattern takes for more than itself. */
const special = /[\\^$.*+?()[\]{}|]/g

/**
 * Makes a matcher of whole paths: `*` and `?` stay within a name, `**` goes through folders, `[a-z]` and `[!a-z]` are
 * one character, `{a,b}` one of several. Throws TOOL_ERROR for a pattern that is not valid.
 */
export function createGlobMatcher(glob: string): Matcher {
  if (glob === '') throw toolError('The pattern is empty. Write one such as "**/*.md".')
  return createMatcher(`^(?:${toPattern(glob)})$`)
}

const tokens = /\*\*\/|\*+|\?|\[[!^]?\]?[^\]]*\]|\{|\}|,|\\.|[^]/gu

function toPattern(glob: string): string {
  let pattern = ''
  let depth = 0
  for (const { 0: token, index } of glob.matchAll(tokens)) {
    const isAtStart = index === 0 || '/{,'.includes(glob.charAt(index - 1))
    if (token === '{') depth++
    if (token === '}' && --depth < 0) throw toolError(`The pattern has a '}' that nothing opens.`)
    pattern += token === ',' ? (depth > 0 ? '|' : ',') : toPart(token, isAtStart)
  }
  if (depth > 0) throw toolError(`The pattern has a '{' that nothing closes.`)
  return pattern
}

function toPart(token: string, isAtStart: boolean): string {
  if (token === '**/' && isAtStart) return '(?:[^/]+/)*'
  if (token === '**/') return '[^/]*/'
  if (token.startsWith('**') && isAtStart) return '(?s:.*)'
  if (token.startsWith('*')) return '[^/]*'
  if (token === '?') return '[^/]'
  if (token === '{') return '(?:'
  if (token === '}') return ')'
  if (token.length > 1 && token.startsWith('[')) return toClass(token)
  const char = token.length > 1 && token.startsWith('\\') ? token.slice(1) : token
  return char.replaceAll(special, '\\$&')
}

function toClass(token: string): string {
  const isNegated = /^\[[!^]/.test(token)
  const inside = token.slice(isNegated ? 2 : 1, -1).replaceAll(/[\\[\]^]/g, '\\$&')
  return isNegated ? `[^/${inside}]` : `[${inside}]`
}
