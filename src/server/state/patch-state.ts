import type { JsonPatchOperation } from '@ag-ui/core'
import { isEqual } from '../../core/is-equal.js'
import { isRecord } from '../../core/is-record.js'
import { applyOperation, Misfit, readAt } from './json-patch.js'
import { checkPatch, invalidPatch, patchConflict } from './check-patch.js'
import { without, type StateRulesHandle } from './state-rules.js'

// A list that is copied into itself doubles with every operation.
const maxCopied = 1_000_000
const maxDepth = 256

/**
 * Applies a client's RFC 6902 patch to a state, as a whole or not at all. The root stands for what the client may
 * change: an operation on it leaves the server's keys as they are. Never changes what it is given.
 *
 * Throws INVALID_PATCH for what is no patch, or touches what is the server's, and PATCH_CONFLICT when it does not fit
 * the state. Both name the operation, counted from 0.
 */
export function patchState(state: unknown, patch: unknown, rules: StateRulesHandle): unknown {
  const operations = checkPatch(patch, rules)
  const full = state ?? {}
  // Private keys are not even there, so that nothing can copy them or ask for them.
  const document = patched(copyOf(rules.visible(full)), operations, rules)
  if (isDeeperThan(document, maxDepth))
    throw invalidPatch(operations.length - 1, 'the state is nested too deeply')
  if (!isRecord(full) || !isRecord(document)) return document
  return { ...document, ...(without(full, (key) => !rules.isPrivate(key)) as object) }
}

/** Works on `start` in place. */
function patched(
  start: unknown,
  operations: readonly JsonPatchOperation[],
  rules: StateRulesHandle,
): unknown {
  let document = start
  let left = maxCopied
  for (const [index, operation] of operations.entries()) {
    try {
      const source = 'from' in operation ? readAt(document, operation.from) : undefined
      const step = { operation: ownValue(operation), source, index, rules }
      if (operation.op === 'copy') {
        const text = isDeeperThan(source, maxDepth) ? undefined : JSON.stringify(source)
        left -= text?.length ?? Infinity
        if (text === undefined || left < 0) throw invalidPatch(index, 'it copies too much')
        step.source = JSON.parse(text)
      }
      if (operation.path === '') document = atRoot(document, step)
      else applyOperation(document, step.operation, step.source)
    } catch (error) {
      throw error instanceof Misfit ? patchConflict(index, error.message) : error
    }
  }
  return document
}

interface Step {
  readonly operation: JsonPatchOperation
  /** What `from` names. */
  readonly source: unknown
  readonly index: number
  readonly rules: StateRulesHandle
}

function atRoot(document: unknown, { operation, source, index, rules }: Step): unknown {
  if (operation.op === 'test') {
    if (isEqual(document, operation.value)) return document
    throw new Misfit('the test of the root has failed')
  }
  const next: unknown = operation.op === 'remove' ? {} : 'value' in operation ? operation.value : source
  if (!isRecord(next)) throw invalidPatch(index, 'the root must be an object')
  const kept = isRecord(document) ? without(document, (key) => !rules.isServerKey(key)) : {}
  return { ...(without(next, rules.isServerKey) as object), ...(kept as object) }
}

/** Later operations may write into what this one adds. */
function ownValue(operation: JsonPatchOperation): JsonPatchOperation {
  return 'value' in operation && operation.op !== 'test'
    ? { ...operation, value: copyOf(operation.value) }
    : operation
}

function copyOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((member) => isDeeperThan(member, depth - 1))
}
