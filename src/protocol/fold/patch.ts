import type { JsonPatchOperation } from '@ag-ui/core'
import { jsonSize } from '../../core/json-size.js'
// Not the whole library: clients in browsers need only what applies patches.
import { applyOperation, getValueByPointer } from 'fast-json-patch/module/core.mjs'

export type PatchResult = { ok: true; document: unknown } | { ok: false; reason: string }

type Container = Record<string, unknown>

/** What one patch may copy, in characters of JSON: a list that is copied into itself doubles with every operation. */
const maxCopied = 4 * 1024 * 1024

/**
 * Applies an RFC 6902 patch as AG-UI clients do (same library, same checks) and never changes `document`: only the
 * containers along the touched paths are copied, so the cost does not grow with the rest of the document.
 */
export function applyPatch(document: unknown, patch: readonly JsonPatchOperation[]): PatchResult {
  const fresh = new Set<object>()
  let current = document
  let copiable = maxCopied
  for (const [index, operation] of patch.entries()) {
    try {
      // RFC 6902 forbids it; the library would tie the document into a circle.
      if (operation.op === 'move' && isBelowPointer(operation.path, operation.from))
        throw new TypeError('into itself')
      if (operation.op === 'copy') {
        copiable -= jsonSize(getValueByPointer(current, operation.from), copiable)
        if (copiable < 0) throw new TypeError('copies too much')
      }
      current = copySpine(current, operation.path, fresh)
      if (operation.op === 'move') current = copySpine(current, operation.from, fresh)
      current = applyOperation(current, operation, true, true, true, index).newDocument
      // The library silently moves and copies what does not exist to the root.
      if (current === undefined) throw new TypeError('nothing is left')
    } catch (error) {
      return { ok: false, reason: `${operation.op} '${operation.path}' (${patchErrorName(error)})` }
    }
  }
  return { ok: true, document: current }
}

/** Copies every container from the root to the parent of what `pointer` names, unless this patch made it already. */
function copySpine(root: unknown, pointer: string, fresh: Set<object>): unknown {
  if (pointer === '' || !isContainer(root)) return root
  const copiedRoot = copyOnce(root, fresh)
  let node = copiedRoot
  const tokens = pointer.split('/')
  for (let i = 1; i < tokens.length - 1; i++) {
    const key = (tokens[i] ?? '').replaceAll('~1', '/').replaceAll('~0', '~')
    const child = Object.hasOwn(node, key) ? node[key] : undefined
    if (!isContainer(child)) break
    node = node[key] = copyOnce(child, fresh)
  }
  return copiedRoot
}

function isBelowPointer(path: string, ancestor: string): boolean {
  return path.startsWith(`${ancestor}/`)
}

function copyOnce(container: Container, fresh: Set<object>): Container {
  if (fresh.has(container)) return container
  // An array is indexed by strings here just as an object is.
  const copy = (Array.isArray(container) ? [...(container as unknown[])] : { ...container }) as Container
  fresh.add(copy)
  return copy
}

export function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

// The library puts the whole document into its messages; its error names say as much without it.
function patchErrorName(error: unknown): string {
  return error instanceof TypeError ? error.message : error instanceof Error ? error.name : String(error)
}
