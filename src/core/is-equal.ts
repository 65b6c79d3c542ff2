/**
 * Whether two JSON values are equal. The order of members does not matter, and an undefined member counts as absent.
 * Recursive: values from outside must have a bounded depth.
 */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isObjectOrArray(a) || !isObjectOrArray(b)) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && hasEqualEntries(a, b)
  }
  return hasEqualMembers(a, b)
}

function hasEqualEntries(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((entry, index) => isEqual(entry, b[index]))
}

type Members = Readonly<Record<string, unknown>>

function hasEqualMembers(a: Members, b: Members): boolean {
  for (const key of Object.keys(a)) {
    if (!isEqual(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false
  }
  return Object.keys(b).every((key) => b[key] === undefined || Object.hasOwn(a, key))
}

function isObjectOrArray(value: unknown): value is Members {
  return typeof value === 'object' && value !== null
}
