import { toolError } from '../tool-error.js'
import type { PatternNode, Place } from './pattern-node.js'
import { scanAtom } from './scan-atom.js'

const longestPattern = 1_000
const mostRepeats = 1_000

export interface ParseOptions {
  readonly ignoreCase?: boolean
}

/**
 * Reads a regular expression as JavaScript has them, without what cannot be matched in linear time: back references and
 * looking around. More forgiving in one thing: braces that repeat nothing stand for themselves. Throws TOOL_ERROR, in
 * words for a model.
 */
export function parsePattern(pattern: string, { ignoreCase = false }: ParseOptions = {}): PatternNode {
  if (pattern.length > longestPattern)
    throw toolError(`The pattern is longer than ${longestPattern} characters.`)
  const isInsensitive = pattern.startsWith('(?i)')
  const source = isInsensitive ? pattern.slice('(?i)'.length) : pattern
  const reader = createReader(source, ignoreCase || isInsensitive ? 'i' : '')
  const node = reader.choice()
  if (reader.position < source.length) throw toolError(`The pattern has a ')' that nothing opens.`)
  return node
}

const places = new Map<string | undefined, Place>([
  ['^', 'start'],
  ['$', 'end'],
])

function createReader(source: string, flags: string) {
  let position = 0

  function choice(): PatternNode {
    const nodes = [sequence()]
    while (source[position] === '|') {
      position++
      nodes.push(sequence())
    }
    return { type: 'choice', nodes }
  }

  function sequence(): PatternNode {
    const nodes: PatternNode[] = []
    while (position < source.length && source[position] !== '|' && source[position] !== ')')
      nodes.push(repeated(term()))
    return { type: 'sequence', nodes }
  }

  function term(): PatternNode {
    const at = places.get(source[position])
    if (at !== undefined) {
      position++
      return { type: 'assert', at }
    }
    if (source[position] === '(') return group()
    if (quantifierAt(source, position)) throw nothingToRepeat(source, position)
    const { node, end } = scanAtom(source, position, flags)
    position = end
    return node
  }

  function group(): PatternNode {
    const start = position
    const [opening = '('] = /^\((?:\?(?::|<[A-Za-z_]\w*>))?/.exec(source.slice(position)) ?? []
    position += opening.length
    if (source[position] === '?')
      throw toolError(`The pattern has '${source.slice(start, start + 3)}': looking around is not supported.`)
    const node = choice()
    if (source[position] !== ')') throw toolError(`The pattern has a '(' at ${start} that nothing closes.`)
    position++
    return node
  }

  function repeated(node: PatternNode): PatternNode {
    const quantifier = quantifierAt(source, position)
    if (!quantifier) return node
    if (node.type === 'assert') throw nothingToRepeat(source, position)
    position += quantifier.text.length
    return { type: 'repeat', node, min: quantifier.min, max: quantifier.max }
  }

  return {
    choice,
    get position() {
      return position
    },
  }
}

interface Quantifier {
  readonly text: string
  readonly min: number
  readonly max: number
}

function quantifierAt(source: string, position: number): Quantifier | undefined {
  // Whether it takes much or little makes no difference to whether there is a match.
  const match = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(source.slice(position, position + 20))
  if (!match) return undefined
  const [text, from, comma, to] = match
  if (from === undefined) {
    const min = text.startsWith('+') ? 1 : 0
    return { text, min, max: text.startsWith('?') ? 1 : Infinity }
  }
  if (comma === '' && to !== '') return undefined
  const min = Number(from)
  const max = comma === '' ? min : to === '' ? Infinity : Number(to)
  if (min > max || min > mostRepeats || (max > mostRepeats && max !== Infinity))
    throw toolError(`The pattern repeats ${text}: give numbers in order, of at most ${mostRepeats}.`)
  return { text, min, max }
}

function nothingToRepeat(source: string, position: number) {
  return toolError(`The pattern has '${source.charAt(position)}' at ${position}, with nothing to repeat.`)
}
