import type { JsonPatchOperation } from '@ag-ui/core'
import { isEqual } from '../../core/is-equal.js'
import { isRecord } from '../../core/is-record.js'
import { segmentsOf } from './pointer.js'

/** Why an operation does not fit a document. */
export class Misfit extends Error {}

/**
 * What a pointer names, looking at own members only. Throws `Misfit` when there is nothing.
 */
export function readAt(document: unknown, pointer: string): unknown {
  const found = segmentsOf(pointer).reduce(childOf, document)
  if (found === undefined) throw new Misfit(`there is nothing at '${pointer}'`)
  return found
}

/**
 * Carries out an operation below the root, in place. `source` is what its `from` names; what is written is given away.
 * The library that clients use is not for this: it copies what it moves over and finds inherited members, so what a
 * stranger sends could cost too much.
 */
export function applyOperation(document: unknown, operation: JsonPatchOperation, source: unknown): void {
  const { path } = operation
  switch (operation.op) {
    case 'test':
      if (!isEqual(readAt(document, path), operation.value))
        throw new Misfit(`the test of '${path}' has failed`)
      return
    case 'remove':
      removeAt(document, path)
      return
    case 'replace':
      replaceAt(document, path, operation.value)
      return
    case 'add':
      addAt(document, path, operation.value)
      return
    case 'move':
      removeAt(document, operation.from)
      addAt(document, path, source)
      return
    case 'copy':
      addAt(document, path, source)
  }
}

const arrayIndex = /^(?:0|[1-9]\d*)$/

function childOf(node: unknown, key: string): unknown {
  if (Array.isArray(node)) return arrayIndex.test(key) ? (node as unknown[])[Number(key)] : undefined
  return isRecord(node) && Object.hasOwn(node, key) ? node[key] : undefined
}

/** The container of what a pointer below the root names, and its key there. */
function parentOf(document: unknown, pointer: string): { parent: unknown; key: string } {
  const segments = segmentsOf(pointer)
  const key = segments.pop() ?? ''
  return { parent: segments.reduce(childOf, document), key }
}

function addAt(document: unknown, pointer: string, value: unknown): void {
  const { parent, key } = parentOf(document, pointer)
  if (Array.isArray(parent)) {
    const at = key === '-' ? parent.length : arrayIndex.test(key) ? Number(key) : Infinity
    if (at > parent.length) throw new Misfit(`'${pointer}' is no place in the list`)
    parent.splice(at, 0, value)
  } else if (isRecord(parent)) parent[key] = value
  else throw new Misfit(`there is nothing to hold '${pointer}'`)
}

function replaceAt(document: unknown, pointer: string, value: unknown): void {
  readAt(document, pointer)
  const { parent, key } = parentOf(document, pointer)
  if (Array.isArray(parent)) parent[Number(key)] = value
  else if (isRecord(parent)) parent[key] = value
}

function removeAt(document: unknown, pointer: string): void {
  readAt(document, pointer)
  const { parent, key } = parentOf(document, pointer)
  if (Array.isArray(parent)) parent.splice(Number(key), 1)
  else if (isRecord(parent)) Reflect.deleteProperty(parent, key)
}
