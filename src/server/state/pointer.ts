import jsonpatch from 'fast-json-patch'

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
