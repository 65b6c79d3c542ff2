import { MillraceError } from './errors.js'

/**
 * A copy of a value as JSON carries it. The one rule for all that leaves a run (results, progress, state, events):
 * `toJSON` decides where there is one, so a Date becomes text; a Map becomes an object, a Set and bytes a list, a BigInt
 * its digits, NaN and infinities null, an Error its name and message. Undefined members and functions are left out.
 * Throws ENCODING_ERROR, with the path, for what would be lost without a word: a circle, and an object that has
 * nothing to show, a promise for example.
 */
export function toJson(value: unknown, what: string): unknown {
  try {
    const copy = copyOf(value, { path: [], above: [] })
    if (copy !== undefined) return copy
  } catch (cause) {
    throw notJson(what, cause instanceof Unshowable ? cause.message : unreadable(cause), { cause })
  }
  throw notJson(what, `it is a value of type ${typeof value}`)
}

interface Position {
  readonly path: (string | number)[]
  readonly above: object[]
}

class Unshowable extends Error {
  constructor({ path }: Position, problem: string) {
    const steps = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    super(`${steps.join('').replace(/^\./, '') || 'it'} ${problem}`)
  }
}

function copyOf(value: unknown, at: Position): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'bigint':
      return value.toString()
    case 'object':
      return value === null ? null : copyOfObject(value, at)
    default:
      return undefined
  }
}

function copyOfObject(value: object, at: Position): unknown {
  const { above, path } = at
  if (above.includes(value)) throw new Unshowable(at, 'contains itself')
  above.push(value)
  const shown = shownAs(value, path.at(-1))
  const copy =
    shown === value ? copyOfMembers(value, at) : Array.isArray(shown) ? listOf(shown, at) : copyOf(shown, at)
  above.pop()
  return copy
}

function copyOfMembers(value: object, at: Position): unknown {
  if (Array.isArray(value)) return listOf(value, at)
  const keys = Object.keys(value)
  if (keys.length === 0 && !isPlain(value)) throw new Unshowable(at, `is a ${classOf(value)}`)
  const copy: Record<string, unknown> = {}
  for (const key of keys) {
    at.path.push(key)
    const member = copyOf((value as Record<string, unknown>)[key], at)
    at.path.pop()
    if (member === undefined) continue
    // Assigning it would change the prototype.
    if (key === '__proto__')
      Object.defineProperty(copy, key, {
        value: member,
        enumerable: true,
        writable: true,
        configurable: true,
      })
    else copy[key] = member
  }
  return copy
}

function listOf(values: readonly unknown[], at: Position): unknown[] {
  const list: unknown[] = []
  for (let index = 0; index < values.length; index++) {
    at.path.push(index)
    list.push(copyOf(values[index], at) ?? null)
    at.path.pop()
  }
  return list
}

/** What stands for an object that JSON does not know. The object itself when it does. */
export function shownAs(value: object, key: string | number = ''): unknown {
  if (Array.isArray(value) || (isPlain(value) && !('toJSON' in value))) return value
  if ('toJSON' in value && typeof value.toJSON === 'function') return (value.toJSON as ToJson)(String(key))
  if (value instanceof Map) return entriesOf(value)
  if (value instanceof Set) return [...(value as Set<unknown>)]
  if (value instanceof Error) return Object.assign({ name: value.name, message: value.message }, value)
  if (value instanceof ArrayBuffer) return [...new Uint8Array(value)]
  if (ArrayBuffer.isView(value)) return [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)]
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf()
  return value
}

type ToJson = (key: string) => unknown

/** Members by name. A map with other keys than text and numbers becomes a list of pairs. */
function entriesOf(map: ReadonlyMap<unknown, unknown>): unknown {
  const isNamed = [...map.keys()].every((key) => typeof key === 'string' || typeof key === 'number')
  return isNamed ? Object.fromEntries(map as ReadonlyMap<string | number, unknown>) : [...map]
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function classOf(value: object): string {
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1)
  return tag === 'Object' ? value.constructor.name : tag
}

function unreadable(cause: unknown): string {
  return `it cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`
}

function notJson(what: string, problem: string, options?: { readonly cause: unknown }): MillraceError {
  return new MillraceError('ENCODING_ERROR', `${what} is not JSON: ${problem}.`, options)
}
