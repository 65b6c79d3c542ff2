import { isRecord } from '../../core/is-record.js'

/** What a reference inside a JSON Schema document stands for. Undefined when it points nowhere or outside. */
export function resolveRef(root: unknown, ref: string): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined
  let target = root
  for (const segment of ref.split('/').slice(1)) {
    const key = decoded(segment).replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(target)) target = (target as unknown[])[Number(key)]
    else if (isRecord(target) && Object.hasOwn(target, key)) target = target[key]
    else return undefined
  }
  return target
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
