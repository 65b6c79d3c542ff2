import { invalidField } from './errors.js'

/** What is taken of a request. */
export interface SafeJsonOptions {
  /** How many objects and lists may stand inside each other. A flat list is 1. */
  readonly maxDepth: number
}

/** An object or list on the way from the top to where the walk is. */
interface Frame {
  readonly node: Readonly<Record<string | number, unknown>>
  /** Undefined for a list. */
  readonly keys: readonly string[] | undefined
  readonly size: number
  /** How many members have been visited. */
  done: number
}

/** How deep a first look goes. What is deeper is walked, which needs no stack. */
const firstLook = 100

const plainKey = /^[A-Za-z_$][\w$-]*$/
const maxKey = 60
const maxPath = 200

/**
 * Makes sure that what `JSON.parse` gave can be walked, merged and copied without harm: it is not nested too deeply, no
 * object has a member `__proto__` or a `constructor` with a `prototype`, and no number is infinite (`1e999` parses).
 * Throws INVALID_INPUT that names the place. Takes no more of the stack for deep values, and memory only for one way
 * down.
 */
export function assertSafeJson(value: unknown, { maxDepth }: SafeJsonOptions): void {
  // Nearly all requests pass, and long histories come with each of them. The walk below finds the place for the others.
  if (looksSafe(value, Math.min(maxDepth, firstLook))) return
  const frames: Frame[] = []
  enter(value, frames, maxDepth)
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (frame.done === frame.size) {
      frames.pop()
      continue
    }
    const index = frame.done++
    const key = frame.keys?.[index]
    const member = frame.node[key ?? index]
    if (key !== undefined && isHarmful(key, member))
      throw invalidField(pathOf(frames), 'this member is not allowed')
    enter(member, frames, maxDepth)
  }
}

/** Whether there is certainly nothing to refuse. Takes nothing but the stack. */
function looksSafe(value: unknown, levels: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  if (levels <= 0) return false
  if (Array.isArray(value)) {
    for (const entry of value) if (!looksSafe(entry, levels - 1)) return false
    return true
  }
  const members = value as Readonly<Record<string, unknown>>
  // Not `Object.keys`, which would make a list for each message. What a prototype adds is looked at too: no harm in that.
  for (const key in members) {
    if (key === '__proto__' || key === 'constructor') return false
    const member = members[key]
    if (typeof member !== 'string' && !looksSafe(member, levels - 1)) return false
  }
  return true
}

function enter(value: unknown, frames: Frame[], maxDepth: number): void {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw invalidField(pathOf(frames), 'the number is too large')
  if (typeof value !== 'object' || value === null) return
  if (frames.length >= maxDepth) throw invalidField(pathOf(frames), `nested deeper than ${maxDepth} levels`)
  if (Array.isArray(value))
    frames.push({ node: value as unknown as Frame['node'], keys: undefined, size: value.length, done: 0 })
  else {
    const keys = Object.keys(value)
    frames.push({ node: value as Frame['node'], keys, size: keys.length, done: 0 })
  }
}

/** Whether code that copies members one by one would reach a prototype through this one. */
function isHarmful(key: string, member: unknown): boolean {
  if (key === '__proto__') return true
  return (
    key === 'constructor' &&
    typeof member === 'object' &&
    member !== null &&
    Object.hasOwn(member, 'prototype')
  )
}

/** The place of the member that is being visited, for example `state.items[3]`. Long ones are cut. */
function pathOf(frames: readonly Frame[]): string {
  let path = ''
  for (const { keys, done } of frames) {
    const key = keys?.[done - 1]
    if (key === undefined) path += `[${done - 1}]`
    else if (!plainKey.test(key) || key.length > maxKey) path += `[${JSON.stringify(key.slice(0, maxKey))}]`
    else path += path === '' ? key : `.${key}`
    if (path.length > maxPath) return `${path.slice(0, maxPath)}…`
  }
  return path === '' ? '(body)' : path
}

/** What may come next in a JSON text. */
type Wanted = 'value' | 'key' | 'colon' | 'comma'

interface Scan {
  readonly text: string
  /** The brackets that must close what is open, the innermost last. */
  readonly open: string[]
  at: number
  wanted: Wanted
  /** The bracket just passed was an opening one, so a closing one may follow at once. */
  fresh: boolean
}

const space = /[ \t\n\r]*/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const plainCharacters = /[ !#-[\]-\uffff]*/y
const escaped = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

/**
 * Where a text stops being JSON: the index of the first character or word that cannot stand there, or its length when
 * it ends too early. Undefined when it is JSON. `JSON.parse` does not always tell, and what it tells quotes the text.
 */
export function findJsonError(text: string): number | undefined {
  const scan: Scan = { text, open: [], at: 0, wanted: 'value', fresh: false }
  for (;;) {
    scan.at = endOf(space, text, scan.at) ?? scan.at
    if (scan.at === text.length)
      return scan.wanted === 'comma' && scan.open.length === 0 ? undefined : scan.at
    if (!step(scan)) return scan.at
  }
}

/** Passes one token. False when it cannot stand there; then `at` is where the trouble is. */
function step(scan: Scan): boolean {
  const { text, open, wanted, fresh } = scan
  const char = text[scan.at]
  scan.fresh = false
  if (char === open.at(-1) && (fresh || wanted === 'comma')) {
    open.pop()
    return pass(scan, 'comma')
  }
  switch (wanted) {
    case 'comma':
      return char === ',' && open.length > 0 && pass(scan, open.at(-1) === '}' ? 'key' : 'value')
    case 'colon':
      return char === ':' && pass(scan, 'value')
    case 'key':
      return char === '"' && passString(scan, 'colon')
    case 'value':
      return passValue(scan, char)
  }
}

function passValue(scan: Scan, char: string | undefined): boolean {
  if (char === '"') return passString(scan, 'comma')
  if (char === '{' || char === '[') {
    scan.open.push(char === '{' ? '}' : ']')
    scan.fresh = true
    return pass(scan, char === '{' ? 'key' : 'value')
  }
  const end = endOf(scalar, scan.text, scan.at)
  if (end === undefined) return false
  scan.at = end
  scan.wanted = 'comma'
  return true
}

function passString(scan: Scan, next: Wanted): boolean {
  scan.at++
  for (;;) {
    scan.at = endOf(plainCharacters, scan.text, scan.at) ?? scan.at
    if (scan.text[scan.at] === '"') return pass(scan, next)
    const end = endOf(escaped, scan.text, scan.at)
    if (end === undefined) return false
    scan.at = end
  }
}

function pass(scan: Scan, next: Wanted): boolean {
  scan.at++
  scan.wanted = next
  return true
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
