import type { JsonPatchOperation } from '@ag-ui/core'
import jsonpatch from 'fast-json-patch'
import { jsonSize } from '../../core/json-size.js'
import type { EventOf } from '../contract.js'

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
        copiable -= jsonSize(jsonpatch.getValueByPointer(current, operation.from), copiable)
        if (copiable < 0) throw new TypeError('copies too much')
      }
      current = copySpine(current, operation.path, fresh)
      if (operation.op === 'move') current = copySpine(current, operation.from, fresh)
      current = jsonpatch.applyOperation(current, operation, true, true, true, index).newDocument
      // The library silently moves and copies what does not exist to the root.
      if (current === undefined) throw new TypeError('nothing is left')
    } catch (error) {
      return { ok: false, reason: `${operation.op} '${operation.path}' (${patchErrorName(error)})` }
    }
  }
  return { ok: true, document: current }
}

/** The smallest event that brings a client from one state to another. Undefined when they are equal. */
export function stateEventBetween(
  before: unknown,
  after: unknown,
): EventOf<'STATE_SNAPSHOT' | 'STATE_DELTA'> | undefined {
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
    return Object.is(before, after) ? undefined : { type: 'STATE_SNAPSHOT', snapshot: after }
  }
  // The library's operations are those of RFC 6902; only its type has a private one more.
  const delta = jsonpatch.compare(before, after) as JsonPatchOperation[]
  return delta.length === 0 ? undefined : { type: 'STATE_DELTA', delta }
}

/** Copies every container from the root to the parent of what `pointer` names, unless this patch made it already. */
function copySpine(root: unknown, pointer: string, fresh: Set<object>): unknown {
  if (pointer === '' || !isContainer(root)) return root
  const copiedRoot = copyOnce(root, fresh)
  let node = copiedRoot
  const tokens = pointer.split('/')
  for (let i = 1; i < tokens.length - 1; i++) {
    const key = jsonpatch.unescapePathComponent(tokens[i] ?? '')
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

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

// The library puts the whole document into its messages; its error names say as much without it.
function patchErrorName(error: unknown): string {
  return error instanceof TypeError ? error.message : error instanceof Error ? error.name : String(error)
}
