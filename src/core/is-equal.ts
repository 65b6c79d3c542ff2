/**
 * Whether two JSON values say the same. The order of members does not matter, and one that is undefined is one that is
 * not there. Recursive: what comes from outside must have a bounded depth.
 */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isContainer(a) || !isContainer(b)) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && hasEqualEntries(a, b)
  }
  return hasEqualMembers(a, b)
}

function hasEqualEntries(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((entry, index) => isEqual(entry, b[index]))
}

type Container = Readonly<Record<string, unknown>>

function hasEqualMembers(a: Container, b: Container): boolean {
  for (const key of Object.keys(a)) {
    if (!isEqual(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false
  }
  return Object.keys(b).every((key) => b[key] === undefined || Object.hasOwn(a, key))
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}
