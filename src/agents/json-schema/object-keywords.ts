import { isRecord } from '../../core/json.js'
import { areAllValid, asList, asNumber, asRecord, type Keyword } from './keyword.js'
import { toPattern } from './scalar-keywords.js'
import type { Check, Visit } from './visit.js'

type Members = Readonly<Record<string, unknown>>

/** Keywords about the members of an object. */
export const objectKeywords: Readonly<Record<string, Keyword>> = {
  required(value) {
    const names = asList(value).map(String)
    return ifObject((members, visit) => hasAll(names, members, visit))
  },
  minProperties(value) {
    const limit = asNumber(value)
    return ifObject(
      (members, visit) =>
        keysOf(members).length >= limit || visit.fail(`must have at least ${limit} members`),
    )
  },
  maxProperties(value) {
    const limit = asNumber(value)
    return ifObject(
      (members, visit) => keysOf(members).length <= limit || visit.fail(`must have at most ${limit} members`),
    )
  },
  propertyNames(value, { below }) {
    const check = below(value)
    return ifObject((members, visit) =>
      areAllValid(
        keysOf(members),
        visit,
        (key) => visit.fits(check, key) || visit.fail('is not allowed as a name', key),
      ),
    )
  },
  dependentRequired(value) {
    const entries = Object.entries(asRecord(value)).map(
      ([key, names]) => [key, asList(names).map(String)] as const,
    )
    return ifObject((members, visit) =>
      areAllValid(entries, visit, ([key, names]) => !has(members, key) || hasAll(names, members, visit)),
    )
  },
  dependentSchemas(value, { beside }) {
    const entries = Object.entries(asRecord(value)).map(([key, schema]) => [key, beside(schema)] as const)
    return ifObject((members, visit) =>
      areAllValid(entries, visit, ([key, check]) => !has(members, key) || check(members, visit)),
    )
  },
  // Before draft 2019-09, `dependentRequired` and `dependentSchemas` were one.
  dependencies(value, { beside }) {
    const entries = Object.entries(asRecord(value)).map(([key, needed]): readonly [string, Check] => {
      if (!Array.isArray(needed)) return [key, beside(needed)]
      const names = needed.map(String)
      return [key, ifObject((members, visit) => hasAll(names, members, visit))]
    })
    return ifObject((members, visit) =>
      areAllValid(entries, visit, ([key, check]) => !has(members, key) || check(members, visit)),
    )
  },
  properties(value, { below }) {
    const entries = Object.entries(asRecord(value)).map(([key, schema]) => [key, below(schema)] as const)
    return ifObject((members, visit) =>
      areAllValid(
        entries,
        visit,
        ([key, check]) => !has(members, key) || checkMember(members, key, { visit, check }),
      ),
    )
  },
  patternProperties(value, { below }) {
    const entries = toPatterns(value).map(({ pattern, matches }) => ({
      matches,
      check: below(asRecord(value)[pattern]),
    }))
    return ifObject((members, visit) =>
      areAllValid(keysOf(members), visit, (key) =>
        areAllValid(
          entries,
          visit,
          ({ matches, check }) => !matches(key, visit) || checkMember(members, key, { visit, check }),
        ),
      ),
    )
  },
  additionalProperties(value, { schema, below }) {
    const names = new Set(isRecord(schema.properties) ? Object.keys(schema.properties) : [])
    const patterns = toPatterns(schema.patternProperties ?? {})
    const check = below(value)
    return ifObject((members, visit) =>
      areAllValid(
        keysOf(members),
        visit,
        (key) =>
          names.has(key) ||
          patterns.some(({ matches }) => matches(key, visit)) ||
          checkMember(members, key, { visit, check }),
      ),
    )
  },
  unevaluatedProperties(value, { below }) {
    const check = below(value)
    return ifObject((members, visit) =>
      areAllValid(
        keysOf(members),
        visit,
        (key) => visit.evaluated?.has(key) === true || checkMember(members, key, { visit, check }),
      ),
    )
  },
}

function ifObject(check: (members: Members, visit: Visit) => boolean): Check {
  return (instance, visit) => !isRecord(instance) || check(instance, visit)
}

function toPatterns(value: unknown) {
  return Object.keys(asRecord(value)).map((pattern) => ({ pattern, matches: toPattern(pattern) }))
}

// JSON has no undefined: such a member is absent.
function has(members: Members, key: string): boolean {
  return Object.hasOwn(members, key) && members[key] !== undefined
}

function keysOf(members: Members): readonly string[] {
  return Object.keys(members).filter((key) => members[key] !== undefined)
}

function hasAll(names: readonly string[], members: Members, visit: Visit): boolean {
  return areAllValid(names, visit, (name) => has(members, name) || visit.fail('is required', name))
}

function checkMember(
  members: Members,
  key: string,
  { visit, check }: { readonly visit: Visit; readonly check: Check },
): boolean {
  visit.evaluated?.add(key)
  return visit.checkAt(key, check, members[key])
}
