import { MillraceError } from './errors.js'

/** Whether a value is an object with members: not null, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An object without some of its members. The same value when there is nothing to leave out. */
export function withoutKeys(value: unknown, isLeftOut: (key: string) => boolean): unknown {
  if (!isRecord(value) || !Object.keys(value).some(isLeftOut)) return value
  return Object.fromEntries(Object.entries(value).filter(([key]) => !isLeftOut(key)))
}

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

/**
 * Makes sure that a value survives JSON as it is: no Date, Map, class instance, function, undefined, BigInt, NaN or
 * circle. Throws ENCODING_ERROR that names the path, for example `frames.book.when is a Date, not JSON`.
 */
export function assertJson(value: unknown, what: string): void {
  const above = new Set<object>()
  const visit = (node: unknown, path: string): void => {
    const problem = leafProblem(node)
    if (problem !== undefined) throw new MillraceError('ENCODING_ERROR', `${path} is ${problem}, not JSON.`)
    if (typeof node !== 'object' || node === null) return
    if (above.has(node))
      throw new MillraceError('ENCODING_ERROR', `${path} contains itself, which is not JSON.`)
    above.add(node)
    if (Array.isArray(node)) node.forEach((entry, index) => visit(entry, `${path}[${index}]`))
    // An undefined member counts as absent.
    else
      for (const [key, member] of Object.entries(node))
        if (member !== undefined) visit(member, `${path}.${key}`)
    above.delete(node)
  }
  visit(value, what)
}

function leafProblem(node: unknown): string | undefined {
  switch (typeof node) {
    case 'undefined':
    case 'function':
    case 'symbol':
    case 'bigint':
      return `a value of type ${typeof node}`
    case 'number':
      return Number.isFinite(node) ? undefined : String(node)
    case 'object': {
      if (node === null || Array.isArray(node)) return undefined
      const prototype: unknown = Object.getPrototypeOf(node)
      if (prototype === Object.prototype || prototype === null) return undefined
      return `a ${(node as { constructor?: { name?: string } }).constructor?.name ?? 'class instance'}`
    }
    default:
      return undefined
  }
}

/** Whether a value is nested deeper than this. Looks no deeper. */
export function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((member) => isDeeperThan(depth - 1, member))
}

/** The value of a JSON text; undefined when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The value if it is a string. */
export function ifString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
