import type { JsonPatchOperation } from '@ag-ui/core'
import { isEqual, isRecord } from './json.js'

/** An operation does not fit the document. The message names pointers, and nothing of the document. */
export class PatchMisfit extends Error {}

/** The parts of a JSON pointer (RFC 6901), unescaped. The root has none. */
export function segmentsOf(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapeSegment)
}

/** The top-level key that a JSON pointer leads through. Undefined for the root. */
export function topKeyOf(pointer: string): string | undefined {
  if (pointer === '') return undefined
  const end = pointer.indexOf('/', 1)
  return unescapeSegment(pointer.slice(1, end === -1 ? undefined : end))
}

function unescapeSegment(segment: string): string {
  return segment.includes('~') ? segment.replaceAll('~1', '/').replaceAll('~0', '~') : segment
}

/** The JSON pointer to a top-level key. */
export function toPointer(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The value at a pointer. Sees own members only. Throws `PatchMisfit` when there is none. */
export function readAt(document: unknown, pointer: string): unknown {
  const found = segmentsOf(pointer).reduce(childOf, document)
  if (found === undefined) throw new PatchMisfit(`there is nothing at '${pointer}'`)
  return found
}

/**
 * A document that operations of RFC 6902 are applied to. The one that it began as never changes: the containers on the way to
 * what is written are copied, once, and all else is shared, so the work does not grow with the document.
 */
export class PatchedDocument {
  root: unknown
  /** The containers that are copies already. */
  readonly #own = new Set<object>()

  constructor(root: unknown) {
    this.root = root
  }

  /**
   * Applies an operation below the root. `source` is the value at its `from`, for a copy one that is shared with nothing. Returns
   * how many entries of lists had to move. Throws `PatchMisfit`; then the document is of no use any more.
   */
  apply(operation: JsonPatchOperation, source: unknown): number {
    const { path } = operation
    switch (operation.op) {
      case 'test':
        assertEqual(readAt(this.root, path), operation)
        return 0
      case 'remove':
        return this.#remove(path)
      case 'replace':
        readAt(this.root, path)
        this.#holderOf(path).set(operation.value)
        return 0
      case 'add':
        return this.#add(path, operation.value)
      case 'move':
        return this.#remove(operation.from) + this.#add(path, source)
      case 'copy':
        return this.#add(path, source)
    }
  }

  #add(pointer: string, value: unknown): number {
    const { parent, key, set } = this.#holderOf(pointer)
    if (!Array.isArray(parent)) {
      set(value)
      return 0
    }
    const at = key === '-' ? parent.length : arrayIndex.test(key) ? Number(key) : Infinity
    if (at > parent.length) throw new PatchMisfit(`'${pointer}' is no position in the list`)
    parent.splice(at, 0, value)
    return parent.length - at
  }

  #remove(pointer: string): number {
    readAt(this.root, pointer)
    const { parent, key } = this.#holderOf(pointer)
    if (Array.isArray(parent)) {
      parent.splice(Number(key), 1)
      return parent.length - Number(key)
    }
    Reflect.deleteProperty(parent, key)
    return 0
  }

  /** The container of what a pointer names, which may be written to, and the key in it. Copies the containers on the way. */
  #holderOf(pointer: string) {
    if (toPrototype.test(pointer)) throw new PatchMisfit(`'${pointer}' leads to a prototype`)
    const segments = segmentsOf(pointer)
    const key = segments.pop() ?? ''
    if (isContainer(this.root)) this.root = this.#copyOnce(this.root)
    let parent = this.root
    for (const segment of segments) {
      const child = childOf(parent, segment)
      if (isContainer(parent) && isContainer(child)) parent = parent[segment] = this.#copyOnce(child)
      else throw noParent(pointer)
    }
    if (!isContainer(parent)) throw noParent(pointer)
    const holder = parent
    return { parent: holder, key, set: (value: unknown) => void (holder[key] = value) }
  }

  #copyOnce(container: Container): Container {
    if (this.#own.has(container)) return container
    // A list is indexed by text here, as an object is.
    const copy = (Array.isArray(container) ? [...(container as unknown[])] : { ...container }) as Container
    this.#own.add(copy)
    return copy
  }
}

function noParent(pointer: string): PatchMisfit {
  return new PatchMisfit(`there is nothing to hold '${pointer}'`)
}

/** Throws `PatchMisfit` when a test fails. */
export function assertEqual(
  value: unknown,
  { path, value: expected }: { readonly path: string; readonly value: unknown },
): void {
  if (!isEqual(value, expected)) throw new PatchMisfit(`the test of '${path}' has failed`)
}

type Container = Record<string, unknown>

/** Whether a value is an object or a list. */
export function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

// AG-UI's own clients refuse them too.
const toPrototype = /\/(__proto__|constructor\/prototype)(\/|$)/

const arrayIndex = /^(?:0|[1-9]\d*)$/

function childOf(node: unknown, key: string): unknown {
  if (Array.isArray(node)) return arrayIndex.test(key) ? (node as unknown[])[Number(key)] : undefined
  return isRecord(node) && Object.hasOwn(node, key) ? node[key] : undefined
}
