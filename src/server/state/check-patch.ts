import type { JsonPatchOperation } from '@ag-ui/core'
import { JsonPatchOperationSchema } from '@ag-ui/core/schemas'
import { MillraceError } from '../../core/errors.js'
import { segmentsOf, topKeyOf } from './pointer.js'
import type { StateRulesHandle } from './state-rules.js'

const maxOperations = 1000

// Ways to a prototype. No state needs them.
const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Makes sure that a value is a patch and leaves alone what is the server's: private keys altogether, read-only ones
 * except for reading. Throws INVALID_PATCH that names the operation.
 */
export function checkPatch(patch: unknown, rules: StateRulesHandle): readonly JsonPatchOperation[] {
  if (!Array.isArray(patch)) throw new MillraceError('INVALID_PATCH', 'A patch is a list of operations.')
  if (patch.length > maxOperations)
    throw new MillraceError('INVALID_PATCH', `A patch has at most ${maxOperations} operations.`)
  return patch.map((value: unknown, index) => {
    const parsed = JsonPatchOperationSchema.safeParse(value)
    if (!parsed.success) throw invalidPatch(index, shapeProblem(parsed.error.issues[0]?.path[0]))
    const operation = parsed.data as JsonPatchOperation
    const problem = pathProblem(operation) ?? ownerProblem(operation, rules)
    if (problem !== undefined) throw invalidPatch(index, problem)
    return operation
  })
}

export function invalidPatch(index: number, problem: string): MillraceError {
  return new MillraceError('INVALID_PATCH', `Operation ${index}: ${problem}.`, {
    details: { operation: index },
  })
}

export function patchConflict(index: number, problem: string): MillraceError {
  return new MillraceError('PATCH_CONFLICT', `Operation ${index}: ${problem}.`, {
    details: { operation: index },
  })
}

function shapeProblem(field: PropertyKey | undefined): string {
  return field === undefined ? 'an operation is an object' : `'${String(field)}' is missing or not valid`
}

function pathProblem(operation: JsonPatchOperation): string | undefined {
  const pointers = 'from' in operation ? [operation.path, operation.from] : [operation.path]
  const bad = pointers.flatMap(segmentsOf).find((segment) => forbidden.has(segment))
  if (bad !== undefined) return `'${bad}' is not allowed in a path`
  const isInside = operation.op === 'move' && operation.path.startsWith(`${operation.from}/`)
  return isInside ? 'nothing can be moved into itself' : undefined
}

function ownerProblem(operation: JsonPatchOperation, rules: StateRulesHandle): string | undefined {
  const { op, path } = operation
  const source = 'from' in operation ? operation.from : path
  const read = topKeyOf(source)
  // Also without a value, a test or a copy would tell whether it is there.
  if (read !== undefined && rules.isPrivate(read)) return `'${source}' is not yours to see`
  const written = [...(op === 'test' ? [] : [path]), ...(op === 'move' ? [operation.from] : [])]
  const taken = written.find((pointer) => {
    const key = topKeyOf(pointer)
    return key !== undefined && rules.isServerKey(key)
  })
  return taken === undefined ? undefined : `'${taken}' is not yours to change`
}
