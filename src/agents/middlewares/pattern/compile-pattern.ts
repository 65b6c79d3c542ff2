import { toolError } from '../tool-error.js'
import type { PatternNode, Place } from './pattern-node.js'

/** One step of a program; `next` are positions in it. */
export type Instruction =
  | { readonly op: 'char'; readonly test: (char: string) => boolean; readonly next: number }
  | { readonly op: 'assert'; readonly at: Place; readonly next: number }
  | { readonly op: 'split'; readonly next: readonly number[] }
  | { readonly op: 'match' }

/** A pattern as a machine that is in many places at once. */
export interface Program {
  readonly instructions: readonly Instruction[]
  readonly start: number
}

const longestProgram = 3_000

/** Throws TOOL_ERROR when counted repetitions make it too large. */
export function compilePattern(pattern: PatternNode): Program {
  const instructions: Instruction[] = []

  function add(instruction: Instruction): number {
    if (instructions.length >= longestProgram)
      throw toolError('The pattern is too large: it repeats too much by number. Write a simpler one.')
    return instructions.push(instruction) - 1
  }

  /** Adds what matches the node and goes on at `next`. Gives where it begins. */
  function emit(node: PatternNode, next: number): number {
    switch (node.type) {
      case 'char':
        return add({ op: 'char', test: node.test, next })
      case 'assert':
        return add({ op: 'assert', at: node.at, next })
      case 'sequence':
        return node.nodes.reduceRight((behind, one) => emit(one, behind), next)
      case 'choice':
        return add({ op: 'split', next: node.nodes.map((one) => emit(one, next)) })
      case 'repeat':
        return emitRepeat(node, next)
    }
  }

  function emitRepeat({ node, min, max }: Extract<PatternNode, { type: 'repeat' }>, next: number): number {
    let begin = max === Infinity ? emitLoop(node, next) : next
    // Each further one only when the one before was there.
    for (let count = min; count < max && max !== Infinity; count++)
      begin = add({ op: 'split', next: [emit(node, begin), next] })
    for (let count = 0; count < min; count++) begin = emit(node, begin)
    return begin
  }

  function emitLoop(node: PatternNode, next: number): number {
    const ways = [next]
    const loop = add({ op: 'split', next: ways })
    ways.push(emit(node, loop))
    return loop
  }

  const end = add({ op: 'match' })
  return { start: emit(pattern, end), instructions }
}
