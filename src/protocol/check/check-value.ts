import { isRecord } from '../../core/is-record.js'
import { toFit } from './clean-check.js'
import { formatPath, kindOf, quote, type FieldNote } from './field-note.js'
import type { Shape } from './schema-shape.js'

/** Stands for a value that must be left out, and says why. May also stand in the value that is checked. */
export class Dropped {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

/** What became of a value on the walk along its schema. */
export interface CheckResult {
  /**
   * What the schema describes of the original, and nothing else. The parts that need no change are those of the original
   * itself: of most requests, that is all of it.
   */
  readonly value: unknown
  readonly warnings: readonly FieldNote[]
  /** Malformed fields. When there are any, `value` is of no use. */
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
        // What was said about the inside of a dropped element no longer matters.
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
    if (typeof name === 'string') return new Dropped(`unknown ${tag} ${quote(name)}`)
    return this.#child(tag, name, { kind: 'leaf', expected: 'string', check: () => false })
  }

  #either(value: unknown, arms: readonly Shape[]): unknown {
    const arm = arms.find((candidate) => toFit(candidate)(value))
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
    // Where only certain words are allowed, the wrong word is worth showing.
    const got = typeof value === 'string' && wanted.startsWith('"') ? quote(value) : kindOf(value)
    this.issues.push({ field: formatPath(this.#path), message: `expected ${wanted}, got ${got}` })
    return undefined
  }
}

function expected(shape: Shape): string {
  if (shape.kind === 'leaf') return shape.expected
  if (shape.kind === 'either') return shape.arms.map(expected).join(' or ')
  return shape.kind === 'array' ? 'array' : 'object'
}
