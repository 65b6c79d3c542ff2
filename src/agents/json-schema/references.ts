import { isRecord } from '../../core/json.js'

/** Finds the schemas that `$ref` names. */
export interface SchemaIndex {
  /** Undefined when the document has no such schema. `from` is the schema with the reference. */
  find(reference: string, from: object): unknown
}

// What stands there is data, not schemas.
const data = new Set(['const', 'default', 'enum', 'examples'])
const documentUri = 'schema:/'

/** Indexes a document by the ids and anchors of its schemas. */
export function indexSchemas(root: unknown): SchemaIndex {
  const byUri = new Map<string, unknown>()
  const bases = new Map<object, string>()
  const visit = (node: unknown, base: string): void => {
    if (Array.isArray(node)) for (const entry of node) visit(entry, base)
    if (!isRecord(node)) return
    const own = typeof node.$id === 'string' ? resolveUri(node.$id, base) : base
    bases.set(node, own)
    if (own !== base) byUri.set(own, node)
    for (const anchor of [node.$anchor, node.$dynamicAnchor])
      if (typeof anchor === 'string') byUri.set(`${own}#${anchor}`, node)
    for (const [key, member] of Object.entries(node)) if (!data.has(key)) visit(member, own)
  }
  byUri.set(documentUri, root)
  visit(root, documentUri)
  return {
    find(reference, from) {
      const [uri = '', fragment = ''] = resolveUri(reference, bases.get(from) ?? documentUri).split('#')
      if (fragment !== '' && !fragment.startsWith('/')) return byUri.get(`${uri}#${fragment}`)
      return followPointer(fragment, byUri.get(uri))
    },
  }
}

function resolveUri(reference: string, base: string): string {
  try {
    const { href } = new URL(reference, base)
    return href.endsWith('#') ? href.slice(0, -1) : href
  } catch {
    return reference
  }
}

function followPointer(pointer: string, root: unknown): unknown {
  const [, ...steps] = pointer.split('/')
  let node = root
  for (const step of steps) {
    const key = decode(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined
    node = (node as Record<string, unknown>)[key]
  }
  return node
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}
