import { RE2JS } from 're2js'
import { toolError } from '../tool-error.js'

/** Finds a pattern in lines, in a time that grows no faster than they do. */
export interface Matcher {
  /** Whether the pattern is anywhere in the line. */
  readonly test: (line: string) => boolean
}

const longestPattern = 1_000

/**
 * Makes a matcher of a regular expression that a model wrote. JavaScript's own can take time exponential in the length
 * of a line, and cannot be stopped: this is RE2, which has no back references and does not look around. Throws TOOL_ERROR
 * for a pattern that is not valid.
 */
export function createMatcher(pattern: string, { ignoreCase = false } = {}): Matcher {
  if (pattern.length > longestPattern)
    throw toolError(`The pattern is longer than ${longestPattern} characters.`)
  try {
    const compiled = RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
    return { test: (line) => compiled.matcher(line).find() }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw toolError(`The pattern is not a regular expression of RE2: ${reason}.`)
  }
}
