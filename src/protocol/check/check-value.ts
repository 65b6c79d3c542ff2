import { EventSchema } from '@ag-ui/core/schemas'
import { MillraceError } from '../../core/errors.js'
import type { AgUiEvent, AgentEvent, FieldNote } from '../contract.js'
import { type Shape, toKindCheck, toShape } from './schema-shape.js'
import { isRecord } from '../../core/json.js'
import { toJson } from '../../core/to-json.js'

/** The shape of each event type. */
const eventShapes: ReadonlyMap<unknown, Shape> = (() => {
  const events = toShape(EventSchema)
  if (events.kind !== 'tagged') throw new TypeError('the event schema is not a union by type')
  return events.arms
})()

const ownerEvents = new Set(['RUN_STARTED', 'RUN_FINISHED', 'RUN_ERROR'])

/**
 * Checks an event of an agent. Returns a copy as the wire will carry it: JSON throughout, without nulls, unknown members
 * or broken timestamps. Returns undefined when the type is not known. Throws INVALID_EVENT for a malformed field and
 * ENCODING_ERROR for a value that is not JSON.
 */
export function checkAgentEvent(
  event: AgentEvent,
  problems: { report(problem: string): void },
): AgentEvent | undefined {
  const type: string = event.type
  if (ownerEvents.has(type)) {
    throw new MillraceError('INVALID_EVENT', `${type} is written by the owner of a run, not by an agent.`)
  }
  const shape = eventShapes.get(type)
  if (!shape) {
    problems.report(`'${type}' is not an AG-UI 1.0 event; it was left out`)
    return undefined
  }
  const { value, warnings, issues } = checkValue(withoutBrokenTime(toJson(event, type)), shape)
  const [issue] = issues
  if (issue) {
    const message = `${type}.${issue.field}: ${issue.message}`
    throw new MillraceError('INVALID_EVENT', message, { details: { issues } })
  }
  for (const { field, message } of warnings) problems.report(`${type}.${field}: ${message}`)
  // checkValue has just compared every member with the schema this type is generated from.
  return value as AgentEvent
}

/** Clients accept whole milliseconds only, and end the run over anything else. */
function withoutBrokenTime(event: unknown): unknown {
  if (typeof event !== 'object' || event === null || !('timestamp' in event)) return event
  const { timestamp, ...rest } = event
  const rounded = typeof timestamp === 'number' ? Math.round(timestamp) : undefined
  return Number.isSafeInteger(rounded) ? { ...rest, timestamp: rounded } : rest
}

/** Says what is malformed about a strict event, if anything: clients would break off over it. */
export function eventProblem(event: AgUiEvent): string | undefined {
  const shape = eventShapes.get(event.type)
  if (!shape) return `'${event.type}' is not an AG-UI 1.0 event`
  const [issue] = checkValue(event, shape).issues
  return issue && `${event.type}.${issue.field}: ${issue.message}`
}

/** Marks a value that must be left out, with the reason. The checked value may contain some already. */
export class Dropped {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

/** A value after the check against its schema. */
export interface CheckResult {
  /** The part of the original that the schema describes. It shares with the original all that needs no change. */
  readonly value: unknown
  readonly warnings: readonly FieldNote[]
  /** Malformed fields. If there are any, do not use `value`. */
  readonly issues: readonly FieldNote[]
}

/**
 * Walks a value along a schema once. Unknown members, unknown union members and nulls of optional fields are left
 * out with a warning; a malformed known field is an issue. Paths are those of the original value.
 */
export function checkValue(value: unknown, shape: Shape): CheckResult {
  const walk = new Walk()
  const result = walk.visit(value, shape)
  return { value: result, warnings: walk.warnings, issues: walk.issues }
}

class Walk {
  readonly warnings: FieldNote[] = []
  readonly issues: FieldNote[] = []
  readonly #path: (string | number)[] = []

  visit(value: unknown, shape: Shape): unknown {
    if (value instanceof Dropped) return value
    switch (shape.kind) {
      case 'object':
        if (shape.isClean(value)) return value
        return isRecord(value) ? this.#object(value, shape) : this.#reject(value, 'object')
      case 'array':
        return Array.isArray(value) ? this.#array(value, shape.element) : this.#reject(value, 'array')
      case 'tagged':
        return isRecord(value) ? this.#tagged(value, shape) : this.#reject(value, 'object')
      case 'either':
        return this.#either(value, shape.arms)
      case 'leaf':
        return shape.check(value) ? value : this.#reject(value, shape.expected)
    }
  }

  #object(value: Record<string, unknown>, { fields, list }: Extract<Shape, { kind: 'object' }>): unknown {
    const result: Record<string, unknown> = {}
    for (const key of Object.keys(value)) {
      if (!fields.has(key)) this.#warn(key, 'unknown member, dropped')
    }
    for (const field of list) {
      const { key } = field
      const member = Object.hasOwn(value, key) ? value[key] : undefined
      if (field.optional && (member ?? null) === null) {
        if (member === null) this.#warn(key, 'null, read as absent')
        continue
      }
      const child = this.#child(key, member, field.shape)
      if (!(child instanceof Dropped)) result[key] = child
      else if (field.optional) this.#warn(key, `${child.reason}, dropped`)
      else return new Dropped(`${key} has ${child.reason}`)
    }
    return result
  }

  #array(value: readonly unknown[], element: Shape): unknown[] {
    const result: unknown[] = []
    for (const [index, entry] of value.entries()) {
      const before = { warnings: this.warnings.length, issues: this.issues.length }
      const child = this.#child(index, entry, element)
      if (child instanceof Dropped) {
        // Notes about the inside of a dropped element no longer matter.
        this.warnings.length = before.warnings
        this.issues.length = before.issues
        this.#warn(index, `${child.reason}, dropped`)
      } else {
        result.push(child)
      }
    }
    return result
  }

  #tagged(value: Record<string, unknown>, { tag, arms }: Extract<Shape, { kind: 'tagged' }>): unknown {
    const name = Object.hasOwn(value, tag) ? value[tag] : undefined
    const arm = arms.get(name)
    if (arm) return this.visit(value, arm)
    if (typeof name === 'string') return new Dropped(`unknown ${tag} ${quoteShort(name)}`)
    return this.#child(tag, name, { kind: 'leaf', expected: 'string', check: () => false })
  }

  #either(value: unknown, arms: readonly Shape[]): unknown {
    const arm = arms.find((candidate) => toKindCheck(candidate)(value))
    return arm ? this.visit(value, arm) : this.#reject(value, arms.map(expected).join(' or '))
  }

  #child(key: string | number, value: unknown, shape: Shape): unknown {
    this.#path.push(key)
    const result = this.visit(value, shape)
    this.#path.pop()
    return result
  }

  #warn(key: string | number, message: string): void {
    this.warnings.push({ field: formatPath([...this.#path, key]), message })
  }

  #reject(value: unknown, wanted: string): unknown {
    // Show the wrong word if only certain words are allowed.
    const got = typeof value === 'string' && wanted.startsWith('"') ? quoteShort(value) : jsonKind(value)
    this.issues.push({ field: formatPath(this.#path), message: `expected ${wanted}, got ${got}` })
    return undefined
  }
}

function expected(shape: Shape): string {
  if (shape.kind === 'leaf') return shape.expected
  if (shape.kind === 'either') return shape.arms.map(expected).join(' or ')
  return shape.kind === 'array' ? 'array' : 'object'
}

/** The keys and indices that lead to a field of a request or an event. */
export type FieldPath = readonly (string | number)[]

const plainName = /^[A-Za-z_$][\w$-]*$/
const maxQuoted = 60

/** Text in double quotes, escaped and cut, so that a foreign value can stand in a log line or an error. */
export function quoteShort(text: string): string {
  return JSON.stringify(text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text)
}

/** Writes `['messages', 2, 'id']` as `messages[2].id`. The empty path is the request itself: `(body)`. */
export function formatPath(path: FieldPath): string {
  if (path.length === 0) return '(body)'
  let text = ''
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`
    else if (!plainName.test(key) || key.length > maxQuoted) text += `[${quoteShort(key)}]`
    else text += text === '' ? key : `.${key}`
  }
  return text
}

/** Names the kind of a JSON value for an error message. */
export function jsonKind(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
