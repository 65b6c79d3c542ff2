import { isRecord } from '../../core/is-record.js'
import type { Shape } from './schema-shape.js'

type Check = (value: unknown) => boolean

/**
 * Whether a value is what a schema describes, member for member, so that there is nothing to say about it and nothing to
 * change. Made once for each schema, since long histories are looked at with every request.
 */
function toCleanCheck(shape: Shape): Check {
  switch (shape.kind) {
    case 'object':
      return shape.isClean
    case 'array': {
      const isClean = toCleanCheck(shape.element)
      return (value) => {
        if (!Array.isArray(value)) return false
        for (const entry of value) if (!isClean(entry)) return false
        return true
      }
    }
    case 'tagged': {
      const { tag } = shape
      const arms = new Map([...shape.arms].map(([name, arm]) => [name, toCleanCheck(arm)]))
      return (value) => isRecord(value) && arms.get(value[tag])?.(value) === true
    }
    case 'either': {
      const arms = shape.arms.map((arm) => ({ fits: toFit(arm), isClean: toCleanCheck(arm) }))
      return (value) => {
        for (const arm of arms) if (arm.fits(value)) return arm.isClean(value)
        return false
      }
    }
    case 'leaf':
      return shape.check
  }
}

/** The same for the members of an object. None may be unknown, null or undefined, and none that must be there absent. */
export function toMembersCheck(
  members: readonly { readonly key: string; readonly shape: Shape; readonly optional: boolean }[],
): Check {
  const checks = new Map(
    members.map(({ key, shape, optional }) => [
      key,
      { isClean: toCleanCheck(shape), counts: optional ? 0 : 1 },
    ]),
  )
  const required = members.filter(({ optional }) => !optional).length
  return (value) => {
    if (!isRecord(value) || !isPlain(value)) return false
    let found = 0
    // Not `Object.keys`, which would make a list for each message. Plain objects have no members but their own.
    for (const key in value) {
      const member = value[key]
      const check = checks.get(key)
      if (check === undefined || member === undefined || member === null || !check.isClean(member))
        return false
      found += check.counts
    }
    return found === required
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Whether a value is of the kind that a schema describes, whatever is in it. */
export function toFit(shape: Shape): Check {
  switch (shape.kind) {
    case 'array':
      return Array.isArray
    case 'object':
    case 'tagged':
      return isRecord
    case 'either': {
      const arms = shape.arms.map(toFit)
      return (value) => arms.some((fits) => fits(value))
    }
    case 'leaf':
      return shape.check
  }
}
