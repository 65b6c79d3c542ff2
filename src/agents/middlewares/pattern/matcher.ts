import { toolError } from '../tool-error.js'
import { compilePattern, type Instruction } from './compile-pattern.js'
import { parsePattern, type ParseOptions } from './parse-pattern.js'
import type { Place } from './pattern-node.js'

/** Finds a pattern in lines, in a time that grows no faster than they do. */
export interface Matcher {
  /** Whether the pattern is anywhere in the line. Throws TOOL_ERROR when the pattern costs too much. */
  readonly test: (line: string) => boolean
}

export interface MatcherOptions extends ParseOptions {
  /** How many steps of work it may take in its life: 3,000,000 unless told, about a second. */
  readonly maxSteps?: number
}

/** What is beside a place in a line. */
type Neighbour = 'edge' | 'word' | 'other'

/** Where in the program a search may be at once, and what it has learned of the way from there. */
interface State {
  readonly positions: readonly number[]
  readonly before: Neighbour
  readonly ways: Map<number, State | 'matched'>
}

const atEnd = -1
const mostWays = 50_000

/**
 * Makes a matcher of a regular expression that a model wrote. JavaScript's own can take time exponential in the length
 * of a line, and cannot be stopped; this one is at all places of the pattern at once, and remembers where a character
 * led. Throws TOOL_ERROR for a pattern that is not valid.
 */
export function createMatcher(pattern: string, options: MatcherOptions = {}): Matcher {
  const { instructions, start } = compilePattern(parsePattern(pattern, options))
  const states = new Map<string, State>()
  let stepsLeft = options.maxSteps ?? 3_000_000
  let ways = 0

  function toState(positions: readonly number[], before: Neighbour): State {
    const key = `${before}:${positions.join()}`
    const known = states.get(key)
    if (known) return known
    const state: State = { positions, before, ways: new Map() }
    states.set(key, state)
    return state
  }

  function follow(state: State, code: number): State | 'matched' {
    const char = code === atEnd ? '' : String.fromCodePoint(code)
    const after = neighbourOf(char)
    const reached = reachable(state, after)
    if (reached === 'matched') return 'matched'
    const next = new Set<number>()
    for (const one of reached) if (one.op === 'char' && char !== '' && one.test(char)) next.add(one.next)
    return toState(
      [...next].sort((a, b) => a - b),
      after,
    )
  }

  /** The instructions that wait for a character, from all positions and from a new beginning. */
  function reachable({ positions, before }: State, after: Neighbour): readonly Instruction[] | 'matched' {
    const seen = new Set<number>([start, ...positions])
    const waiting: Instruction[] = []
    // A set also gives what is added while it is read.
    for (const position of seen) {
      if (--stepsLeft < 0) throw toolError('The pattern takes too much work. Search for something simpler.')
      const instruction = instructions[position]
      if (instruction?.op === 'match') return 'matched'
      if (instruction?.op === 'char') waiting.push(instruction)
      if (instruction?.op === 'split') for (const way of instruction.next) seen.add(way)
      if (instruction?.op === 'assert' && holds(instruction.at, before, after)) seen.add(instruction.next)
    }
    return waiting
  }

  function step(state: State, code: number): State | 'matched' {
    const known = state.ways.get(code)
    if (known) return known
    const next = follow(state, code)
    state.ways.set(code, next)
    if (++ways < mostWays || next === 'matched') return next
    // Too much to keep: from here on everything is learned anew.
    states.clear()
    ways = 0
    return toState(next.positions, next.before)
  }

  return {
    test(line) {
      let state = toState([], 'edge')
      for (let index = 0; index <= line.length; index++) {
        const code = line.codePointAt(index) ?? atEnd
        const next = step(state, code)
        if (next === 'matched') return true
        state = next
        if (code > 0xffff) index++
      }
      return false
    },
  }
}

function neighbourOf(char: string): Neighbour {
  if (char === '') return 'edge'
  return /^\w$/.test(char) ? 'word' : 'other'
}

function holds(at: Place, before: Neighbour, after: Neighbour): boolean {
  const isBoundary = (before === 'word') !== (after === 'word')
  switch (at) {
    case 'start':
      return before === 'edge'
    case 'end':
      return after === 'edge'
    case 'boundary':
      return isBoundary
    case 'inside':
      return !isBoundary
  }
}
