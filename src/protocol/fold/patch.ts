import type { JsonPatchOperation } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'
import { jsonSize } from '../../core/json-size.js'
import { assertEqual, PatchedDocument, PatchMisfit, readAt } from '../../core/json-patch.js'

export type PatchResult = { ok: true; document: unknown } | { ok: false; reason: string }

/** What one patch may copy, in characters of JSON: a list that is copied into itself doubles with every operation. */
const maxCopied = 4 * 1024 * 1024

/**
 * Applies an RFC 6902 patch, all of it or nothing, to what AG-UI clients make of it too. Takes operations as they come from
 * anywhere, never changes `document`, and shares with it what stays.
 */
export function applyPatch(document: unknown, patch: readonly JsonPatchOperation[]): PatchResult {
  const patched = new PatchedDocument(document)
  const budget = { copied: maxCopied }
  for (const operation of patch) {
    try {
      assertOperation(operation)
      const source = sourceOf(patched.root, operation, budget)
      if (operation.path === '') patched.root = newRoot(patched.root, operation, source)
      else patched.apply(operation, source)
    } catch (error) {
      if (!(error instanceof PatchMisfit)) throw error
      const { op } = isRecord(operation) ? operation : { op: typeof operation }
      return { ok: false, reason: `${op}: ${error.message}` }
    }
  }
  return { ok: true, document: patched.root }
}

const operations = ['add', 'remove', 'replace', 'move', 'copy', 'test']

function assertOperation(operation: unknown): void {
  const { op, path, from, value } = isRecord(operation) ? operation : {}
  const isMove = op === 'move' || op === 'copy'
  if (typeof op !== 'string' || !operations.includes(op)) throw new PatchMisfit('no operation of RFC 6902')
  for (const pointer of isMove ? [path, from] : [path])
    if (typeof pointer !== 'string' || !/^(\/|$)/.test(pointer))
      throw new PatchMisfit('a path is missing, or no JSON pointer')
  if (!isMove && op !== 'remove' && value === undefined) throw new PatchMisfit('the value is missing')
  if (op === 'move' && String(path).startsWith(`${String(from)}/`))
    throw new PatchMisfit('nothing can be moved into itself')
}

function sourceOf(document: unknown, operation: JsonPatchOperation, budget: { copied: number }): unknown {
  if (operation.op !== 'move' && operation.op !== 'copy') return undefined
  const source = readAt(document, operation.from)
  if (operation.op === 'move') return source
  budget.copied -= jsonSize(source, budget.copied)
  if (budget.copied < 0) throw new PatchMisfit('the patch copies too much')
  return JSON.parse(JSON.stringify(source))
}

function newRoot(root: unknown, operation: JsonPatchOperation, source: unknown): unknown {
  switch (operation.op) {
    case 'test':
      assertEqual(root, operation)
      return root
    case 'remove':
      return null
    case 'add':
    case 'replace':
      return operation.value
    default:
      return source
  }
}
