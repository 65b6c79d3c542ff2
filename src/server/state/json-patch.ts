import type { JsonPatchOperation } from '@ag-ui/core'
import jsonpatch from 'fast-json-patch'
import { isEqual, isRecord } from '../../core/json.js'

/** An operation does not fit the document. */
export class PatchMisfit extends Error {}

/** The parts of a JSON pointer (RFC 6901), unescaped. The root has none. */
export function segmentsOf(pointer: string): string[] {
  return pointer.split('/').slice(1).map(jsonpatch.unescapePathComponent)
}

/** The top-level key that a JSON pointer leads through. Undefined for the root. */
export function topKeyOf(pointer: string): string | undefined {
  if (pointer === '') return undefined
  const end = pointer.indexOf('/', 1)
  return jsonpatch.unescapePathComponent(pointer.slice(1, end === -1 ? undefined : end))
}

/** The JSON pointer to a top-level key. */
export function toPointer(key: string): string {
  return `/${jsonpatch.escapePathComponent(key)}`
}

/** The value at a pointer. Sees own members only. Throws `PatchMisfit` when there is none. */
export function readAt(document: unknown, pointer: string): unknown {
  const found = segmentsOf(pointer).reduce(childOf, document)
  if (found === undefined) throw new PatchMisfit(`there is nothing at '${pointer}'`)
  return found
}

/**
 * The document with copies of the containers on the way to a pointer, so that an operation may write there. Those in `own` are
 * copies already. All else is shared: the work does not grow with the document.
 */
export function withOwnPath(document: unknown, pointer: string, own: Set<object>): unknown {
  if (pointer === '' || !isContainer(document)) return document
  const root = copyOnce(document, own)
  let node = root
  for (const key of segmentsOf(pointer).slice(0, -1)) {
    const child = childOf(node, key)
    if (!isContainer(child)) break
    node = node[key] = copyOnce(child, own)
  }
  return root
}

/**
 * Applies an operation below the root, in place. `source` is the value at its `from`. Returns how many entries of lists had to
 * move. Not with the library that clients use: that copies what it moves and finds inherited members, so a stranger's
 * patch could cost too much.
 */
export function applyOperation(document: unknown, operation: JsonPatchOperation, source: unknown): number {
  const { path } = operation
  switch (operation.op) {
    case 'test':
      if (!isEqual(readAt(document, path), operation.value))
        throw new PatchMisfit(`the test of '${path}' has failed`)
      return 0
    case 'remove':
      return removeAt(document, path)
    case 'replace':
      replaceAt(document, path, operation.value)
      return 0
    case 'add':
      return addAt(document, path, operation.value)
    case 'move':
      return removeAt(document, operation.from) + addAt(document, path, source)
    case 'copy':
      return addAt(document, path, source)
  }
}

type Container = Record<string, unknown>

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

function copyOnce(container: Container, own: Set<object>): Container {
  if (own.has(container)) return container
  // A list is indexed by text here, as an object is.
  const copy = (Array.isArray(container) ? [...(container as unknown[])] : { ...container }) as Container
  own.add(copy)
  return copy
}

const arrayIndex = /^(?:0|[1-9]\d*)$/

function childOf(node: unknown, key: string): unknown {
  if (Array.isArray(node)) return arrayIndex.test(key) ? (node as unknown[])[Number(key)] : undefined
  return isRecord(node) && Object.hasOwn(node, key) ? node[key] : undefined
}

/** The container of the value at a pointer below the root, and the key in it. */
function containerOf(document: unknown, pointer: string): { parent: unknown; key: string } {
  const segments = segmentsOf(pointer)
  const key = segments.pop() ?? ''
  return { parent: segments.reduce(childOf, document), key }
}

function addAt(document: unknown, pointer: string, value: unknown): number {
  const { parent, key } = containerOf(document, pointer)
  if (Array.isArray(parent)) {
    const at = key === '-' ? parent.length : arrayIndex.test(key) ? Number(key) : Infinity
    if (at > parent.length) throw new PatchMisfit(`'${pointer}' is no position in the list`)
    parent.splice(at, 0, value)
    return parent.length - at
  }
  if (!isRecord(parent)) throw new PatchMisfit(`there is nothing to hold '${pointer}'`)
  parent[key] = value
  return 0
}

function replaceAt(document: unknown, pointer: string, value: unknown): void {
  readAt(document, pointer)
  const { parent, key } = containerOf(document, pointer)
  if (Array.isArray(parent)) parent[Number(key)] = value
  else if (isRecord(parent)) parent[key] = value
}

function removeAt(document: unknown, pointer: string): number {
  readAt(document, pointer)
  const { parent, key } = containerOf(document, pointer)
  if (Array.isArray(parent)) {
    parent.splice(Number(key), 1)
    return parent.length - Number(key)
  }
  if (isRecord(parent)) Reflect.deleteProperty(parent, key)
  return 0
}
