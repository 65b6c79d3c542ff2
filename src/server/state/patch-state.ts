import type { JsonPatchOperation } from '@ag-ui/core'
import { JsonPatchOperationSchema } from '@ag-ui/core/schemas'
import { MillraceError } from '../../core/errors.js'
import { isEqual, isRecord, withoutKeys } from '../../core/json.js'
import { jsonSize } from '../../core/json-size.js'
import {
  assertEqual,
  PatchedDocument,
  PatchMisfit,
  readAt,
  segmentsOf,
  toPointer,
  topKeyOf,
} from '../../core/json-patch.js'
import type { StateRulesHandle } from './state-rules.js'

const maxOperations = 1000
// A list that is copied into itself doubles with every operation.
const maxCopied = 1_000_000
// An entry at the front of a long list moves all others.
const maxMoved = 100_000_000
const maxDepth = 256

/**
 * Applies a client's RFC 6902 patch to a state, as a whole or not at all. The root stands for what the client may
 * change: an operation on it leaves the server's keys as they are, and may name one only with the value that it has. Never
 * changes its arguments, and shares with the state what it does not change: a small patch of a large state costs little.
 *
 * Throws INVALID_PATCH for a value that is no patch or touches the server's keys, and PATCH_CONFLICT for a patch that does
 * not fit the state. Both name the operation, counted from 0.
 */
export function patchState(state: unknown, patch: unknown, rules: StateRulesHandle): unknown {
  const operations = checkPatch(patch, rules)
  const full = state ?? {}
  // Without private keys, so that no operation can copy or test them.
  const document = applyOperations(rules.visible(full), operations, rules)
  if (canDeepen(operations) && isDeeperThan(document, maxDepth))
    throw invalidPatch(operations.length - 1, 'the state is nested too deeply')
  return isRecord(full) && isRecord(document) ? { ...document, ...rules.privatePart(full) } : document
}

/** Throws INVALID_PATCH unless it is a patch that writes none of the server's keys and reads no private one. */
function checkPatch(patch: unknown, rules: StateRulesHandle): readonly JsonPatchOperation[] {
  if (!Array.isArray(patch)) throw new MillraceError('INVALID_PATCH', 'A patch is a list of operations.')
  if (patch.length > maxOperations)
    throw new MillraceError('INVALID_PATCH', `A patch has at most ${maxOperations} operations.`)
  return patch.map((value: unknown, index) => {
    const parsed = JsonPatchOperationSchema.safeParse(value)
    if (!parsed.success) throw invalidPatch(index, shapeProblem(parsed.error.issues[0]?.path[0]))
    const operation = parsed.data as JsonPatchOperation
    const problem = pathProblem(operation) ?? accessProblem(operation, rules)
    if (problem !== undefined) throw invalidPatch(index, problem)
    return operation
  })
}

function invalidPatch(index: number, problem: string): MillraceError {
  return new MillraceError('INVALID_PATCH', `Operation ${index}: ${problem}.`, {
    details: { operation: index },
  })
}

function patchConflict(index: number, problem: string): MillraceError {
  return new MillraceError('PATCH_CONFLICT', `Operation ${index}: ${problem}.`, {
    details: { operation: index },
  })
}

function shapeProblem(field: PropertyKey | undefined): string {
  return field === undefined ? 'an operation is an object' : `'${String(field)}' is missing or not valid`
}

// Ways to a prototype. No state needs them.
const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

function pathProblem(operation: JsonPatchOperation): string | undefined {
  const pointers = 'from' in operation ? [operation.path, operation.from] : [operation.path]
  const bad = pointers.flatMap(segmentsOf).find((segment) => forbidden.has(segment))
  if (bad !== undefined) return `'${bad}' is not allowed in a path`
  const isInside = operation.op === 'move' && operation.path.startsWith(`${operation.from}/`)
  return isInside ? 'nothing can be moved into itself' : undefined
}

function accessProblem(operation: JsonPatchOperation, rules: StateRulesHandle): string | undefined {
  const { op, path } = operation
  const source = 'from' in operation ? operation.from : path
  const read = topKeyOf(source)
  // Even without a value, a test or a copy would reveal whether the key exists.
  if (read !== undefined && rules.isPrivate(read)) return `'${source}' is not yours to see`
  const written = [...(op === 'test' ? [] : [path]), ...(op === 'move' ? [operation.from] : [])]
  const denied = written.find((pointer) => {
    const key = topKeyOf(pointer)
    return key !== undefined && rules.isServerKey(key)
  })
  return denied === undefined ? undefined : `'${denied}' is not yours to change`
}

/** Whether the state has to be measured behind these operations. Values of a request are not deep by themselves. */
function canDeepen(operations: readonly JsonPatchOperation[]): boolean {
  return operations.some(
    (operation) => 'from' in operation || ('value' in operation && isDeepAt(operation.path, operation.value)),
  )
}

function isDeepAt(path: string, value: unknown): boolean {
  const above = segmentsOf(path).length
  return above >= maxDepth || isDeeperThan(value, maxDepth - above)
}

/** What one patch may still cost. */
interface PatchBudget {
  copied: number
  moved: number
}

function applyOperations(
  start: unknown,
  operations: readonly JsonPatchOperation[],
  rules: StateRulesHandle,
): unknown {
  const patched = new PatchedDocument(start)
  const budget = { copied: maxCopied, moved: maxMoved }
  for (const [index, operation] of operations.entries()) {
    try {
      const source = sourceOf(patched.root, operation, budget)
      if (budget.copied < 0) throw invalidPatch(index, 'the patch copies too much')
      if (operation.path === '') patched.root = applyToRoot(patched.root, { operation, source, index, rules })
      else budget.moved -= patched.apply(operation, source)
      if (budget.moved < 0) throw invalidPatch(index, 'the patch moves too many entries of lists')
    } catch (error) {
      throw error instanceof PatchMisfit ? patchConflict(index, error.message) : error
    }
  }
  return patched.root
}

/** The value at `from`; of a copy, a value of its own. Undefined, with nothing left of the budget, for too large a one. */
function sourceOf(document: unknown, operation: JsonPatchOperation, budget: PatchBudget): unknown {
  if (!('from' in operation)) return undefined
  const source = readAt(document, operation.from)
  if (operation.op !== 'copy') return source
  budget.copied -= isDeeperThan(source, maxDepth) ? Infinity : jsonSize(source, budget.copied)
  return budget.copied < 0 ? undefined : cloneJson(source)
}

interface RootOperation {
  readonly operation: JsonPatchOperation
  /** The value at `from`. */
  readonly source: unknown
  readonly index: number
  readonly rules: StateRulesHandle
}

function applyToRoot(document: unknown, { operation, source, index, rules }: RootOperation): unknown {
  if (operation.op === 'test') {
    assertEqual(document, operation)
    return document
  }
  const next: unknown = operation.op === 'remove' ? {} : 'value' in operation ? operation.value : source
  if (!isRecord(next)) throw invalidPatch(index, 'the root must be an object')
  const current = isRecord(document) ? document : {}
  const denied = Object.keys(next).find((key) => rules.isServerKey(key) && !isEqual(next[key], current[key]))
  if (denied !== undefined) throw invalidPatch(index, `'${toPointer(denied)}' is not yours to change`)
  return { ...next, ...(withoutKeys(current, (key) => !rules.isServerKey(key)) as object) }
}

function cloneJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((member) => isDeeperThan(member, depth - 1))
}
