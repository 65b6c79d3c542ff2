import { MillraceError } from './errors.js'

/**
 * A copy of a value as JSON carries it. The one rule for all that leaves a run (results, progress, state, events, what
 * hooks return): `toJSON` decides where there is one, so a Date becomes text; a Map becomes an object, a Set and a typed
 * array a list, a BigInt its digits, NaN and infinities null, an Error its name and message, an instance of a class its
 * members without methods. Undefined members are left out, and null in lists. Throws ENCODING_ERROR, with the path, for
 * what would be lost without a word: a function, a symbol, a circle, what throws when it is read, and an object that has
 * nothing to show, a promise for example.
 *
 * @param standIn what stands for an object that JSON does not know; for objects of a library, for example
 */
export function toJson(value: unknown, what: string, standIn: StandIn = shownAs): unknown {
  const at: Position = { path: [], above: [], standIn }
  let copy: unknown
  try {
    copy = copyOf(value, at)
  } catch (cause) {
    const { message } = cause instanceof Unshowable ? cause : new Unshowable(at, unreadable(cause))
    // What a getter throws may quote what was said.
    const quoted = cause instanceof Unshowable || cause instanceof RangeError ? '' : `: ${thrownText(cause)}`
    throw new MillraceError('ENCODING_ERROR', `${what} is not JSON: ${message}${quoted}.`, {
      logMessage: `${what} is not JSON: ${message}.`,
      cause,
    })
  }
  if (copy !== undefined) return copy
  throw new MillraceError('ENCODING_ERROR', `${what} is not JSON: it is undefined.`)
}

type StandIn = (value: object, key?: string | number) => unknown

interface Position {
  readonly path: (string | number)[]
  readonly above: object[]
  readonly standIn: StandIn
}

class Unshowable extends Error {
  constructor({ path }: Position, problem: string) {
    const steps = path.slice(0, 20).map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    super(`${steps.join('').replace(/^\./, '') || 'it'} ${problem}`)
  }
}

function copyOf(value: unknown, at: Position): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return value
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'bigint':
      return value.toString()
    case 'object':
      return value === null ? null : copyOfObject(value, at)
    default:
      throw new Unshowable(at, `is a ${typeof value}`)
  }
}

function copyOfObject(value: object, at: Position): unknown {
  const { above, path, standIn } = at
  if (above.includes(value)) throw new Unshowable(at, 'contains itself')
  above.push(value)
  const shown = standIn(value, path.at(-1))
  const copy =
    shown === value ? copyOfMembers(value, at) : Array.isArray(shown) ? listOf(shown, at) : copyOf(shown, at)
  above.pop()
  return copy
}

function copyOfMembers(value: object, at: Position): unknown {
  if (Array.isArray(value)) return listOf(value, at)
  const isData = isPlain(value)
  let hasMembers = isData
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    at.path.push(key)
    const member: unknown = (value as Record<string, unknown>)[key]
    // Some classes have methods as members. In plain data a function is a mistake.
    const isMethod = typeof member === 'function' && (!isData || key === 'toJSON')
    const shown = isMethod ? undefined : copyOf(member, at)
    at.path.pop()
    hasMembers ||= !isMethod
    if (shown === undefined) continue
    // Assigning it would change the prototype.
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: shown, enumerable: true, writable: true, configurable: true })
    else copy[key] = shown
  }
  if (!hasMembers) throw new Unshowable(at, `is a ${classOf(value)}`)
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
  if (value instanceof DataView) return [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)]
  if (ArrayBuffer.isView(value)) return [...(value as Iterable<number | bigint> & ArrayBufferView)]
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf()
  return value
}

type ToJson = (key: string) => unknown

/** Members by name. A map with other keys than text and numbers, or two of one name, becomes a list of pairs. */
function entriesOf(map: ReadonlyMap<unknown, unknown>): unknown {
  const keys = [...map.keys()].filter((key) => typeof key === 'string' || typeof key === 'number')
  const isNamed = new Set(keys.map(String)).size === map.size
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
  return cause instanceof RangeError ? 'is nested too deeply' : 'cannot be read'
}

function thrownText(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
