import { invalidField } from './errors.js'

export interface SafeJsonOptions {
  /** How many objects and lists may stand inside each other. A flat list is 1. */
  readonly maxDepth: number
}

/**
 * Makes sure that a result of `JSON.parse` can be walked, merged and copied without harm: it is not nested too deeply, no
 * object has a member `__proto__` or a `constructor` with a `prototype`, and no number is infinite (`1e999` parses).
 * Throws INVALID_INPUT that names the path. Deep values take no more of the call stack.
 */
export function assertSafeJson(value: unknown, { maxDepth }: SafeJsonOptions): void {
  // Nearly all requests pass, and each brings a long history. The walk below finds the path for the others.
  if (looksSafe(value, Math.min(maxDepth, maxRecursion))) return
  const levels: Level[] = []
  enter(value, levels, maxDepth)
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    if (level.visited === level.size) {
      levels.pop()
      continue
    }
    const index = level.visited++
    const key = level.keys?.[index]
    const member = level.node[key ?? index]
    if (key !== undefined && isHarmful(key, member))
      throw invalidField(currentPath(levels), 'this member is not allowed')
    enter(member, levels, maxDepth)
  }
}

/** How deep `looksSafe` recurses. */
const maxRecursion = 100

/** Returns true when there is certainly nothing to refuse. Allocates nothing. */
function looksSafe(value: unknown, levels: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  if (levels <= 0) return false
  if (Array.isArray(value)) {
    for (const entry of value) if (!looksSafe(entry, levels - 1)) return false
    return true
  }
  const members = value as Readonly<Record<string, unknown>>
  // `Object.keys` would create a list for each message. Members of a prototype are checked too, which does no harm.
  for (const key in members) {
    if (key === '__proto__' || key === 'constructor') return false
    const member = members[key]
    if (typeof member !== 'string' && !looksSafe(member, levels - 1)) return false
  }
  return true
}

/** An object or list on the path from the top to the current member. */
interface Level {
  readonly node: Readonly<Record<string | number, unknown>>
  /** Undefined for a list. */
  readonly keys: readonly string[] | undefined
  readonly size: number
  /** The number of members that have been visited. */
  visited: number
}

function enter(value: unknown, levels: Level[], maxDepth: number): void {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw invalidField(currentPath(levels), 'the number is too large')
  if (typeof value !== 'object' || value === null) return
  if (levels.length >= maxDepth)
    throw invalidField(currentPath(levels), `nested deeper than ${maxDepth} levels`)
  if (Array.isArray(value))
    levels.push({ node: value as unknown as Level['node'], keys: undefined, size: value.length, visited: 0 })
  else {
    const keys = Object.keys(value)
    levels.push({ node: value as Level['node'], keys, size: keys.length, visited: 0 })
  }
}

/** Returns true when code that copies members one by one would reach a prototype through this one. */
function isHarmful(key: string, member: unknown): boolean {
  if (key === '__proto__') return true
  return (
    key === 'constructor' &&
    typeof member === 'object' &&
    member !== null &&
    Object.hasOwn(member, 'prototype')
  )
}

const plainKey = /^[A-Za-z_$][\w$-]*$/
const maxKeyLength = 60
const maxPathLength = 200

/** Returns the path of the current member, for example `state.items[3]`. Long paths are cut. */
function currentPath(levels: readonly Level[]): string {
  let path = ''
  for (const { keys, visited } of levels) {
    const key = keys?.[visited - 1]
    if (key === undefined) path += `[${visited - 1}]`
    else if (!plainKey.test(key) || key.length > maxKeyLength)
      path += `[${JSON.stringify(key.slice(0, maxKeyLength))}]`
    else path += path === '' ? key : `.${key}`
    if (path.length > maxPathLength) return `${path.slice(0, maxPathLength)}…`
  }
  return path === '' ? '(body)' : path
}

/**
 * Finds where a text stops being JSON: the index of the first token that cannot stand there, or the length of the text
 * when it ends too early. Undefined when it is JSON. `JSON.parse` may not report it, and quotes the text.
 */
export function findJsonError(text: string): number | undefined {
  const scan: JsonScan = { text, brackets: [], at: 0, expected: 'value', isFirst: false }
  for (;;) {
    scan.at = endOfMatch(space, text, scan.at) ?? scan.at
    if (scan.at === text.length)
      return scan.expected === 'comma' && scan.brackets.length === 0 ? undefined : scan.at
    if (!scanToken(scan)) return scan.at
  }
}

type Expected = 'value' | 'key' | 'colon' | 'comma'

interface JsonScan {
  readonly text: string
  /** The closing brackets that are due, the innermost last. */
  readonly brackets: string[]
  at: number
  expected: Expected
  /** True after an opening bracket, where a closing one may follow. */
  isFirst: boolean
}

const space = /[ \t\n\r]*/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const plainCharacters = /[ !#-[\]-\uffff]*/y
const escaped = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

/** Moves past one token. Returns false when it cannot stand there; then `at` is the position of the error. */
function scanToken(scan: JsonScan): boolean {
  const { text, brackets, expected, isFirst } = scan
  const char = text[scan.at]
  scan.isFirst = false
  if (char === brackets.at(-1) && (isFirst || expected === 'comma')) {
    brackets.pop()
    return advanceScan(scan, 'comma')
  }
  switch (expected) {
    case 'comma':
      return (
        char === ',' && brackets.length > 0 && advanceScan(scan, brackets.at(-1) === '}' ? 'key' : 'value')
      )
    case 'colon':
      return char === ':' && advanceScan(scan, 'value')
    case 'key':
      return char === '"' && scanString(scan, 'colon')
    case 'value':
      return scanValue(scan, char)
  }
}

function scanValue(scan: JsonScan, char: string | undefined): boolean {
  if (char === '"') return scanString(scan, 'comma')
  if (char === '{' || char === '[') {
    scan.brackets.push(char === '{' ? '}' : ']')
    scan.isFirst = true
    return advanceScan(scan, char === '{' ? 'key' : 'value')
  }
  const end = endOfMatch(scalar, scan.text, scan.at)
  if (end === undefined) return false
  scan.at = end
  scan.expected = 'comma'
  return true
}

function scanString(scan: JsonScan, next: Expected): boolean {
  scan.at++
  for (;;) {
    scan.at = endOfMatch(plainCharacters, scan.text, scan.at) ?? scan.at
    if (scan.text[scan.at] === '"') return advanceScan(scan, next)
    const end = endOfMatch(escaped, scan.text, scan.at)
    if (end === undefined) return false
    scan.at = end
  }
}

function advanceScan(scan: JsonScan, next: Expected): boolean {
  scan.at++
  scan.expected = next
  return true
}

function endOfMatch(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
