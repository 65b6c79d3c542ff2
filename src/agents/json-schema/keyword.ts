import { isRecord } from '../../core/json.js'
import type { Check, Visit } from './visit.js'

/** Compiles the value of a keyword. Returns undefined when there is nothing to check. Throws SchemaProblem. */
export type Keyword = (value: unknown, site: KeywordSite) => Check | undefined

/** The schema that a keyword stands in, and how to compile those below it. */
export interface KeywordSite {
  readonly schema: Readonly<Record<string, unknown>>
  /** For a schema that other values are checked against: properties, items. */
  readonly below: (schema: unknown) => Check
  /** For a schema that the same value is checked against. */
  readonly beside: (schema: unknown) => Check
  /** For a schema elsewhere that the same value is checked against. */
  readonly referenced: (reference: string) => Check
}

/** A schema that cannot be used. The message says why. */
export class SchemaProblem extends Error {}

/** A keyword's value as a list. */
export function asList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[]
  throw new SchemaProblem('it must be a list')
}

/** A keyword's value as a number. */
export function asNumber(value: unknown): number {
  if (typeof value === 'number') return value
  throw new SchemaProblem('it must be a number')
}

/** A keyword's value as an object. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value
  throw new SchemaProblem('it must be an object')
}

/** Applies a check to all, or up to the first that fails if nobody wants to know the others. */
export function areAllValid<T>(all: readonly T[], visit: Visit, isValid: (one: T) => boolean): boolean {
  visit.spend(all.length)
  let areValid = true
  for (const one of all) {
    if (isValid(one)) continue
    areValid = false
    if (!visit.isCollecting) break
  }
  return areValid
}

/** A text that is the same for equal JSON values, whatever the order of their members. The visit counts the work. */
export function canonicalJson(value: unknown, visit?: Visit): string {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'string') visit?.spend(value.length / 16)
    return JSON.stringify(value)
  }
  visit?.enter()
  const text = Array.isArray(value)
    ? `[${value.map((entry) => canonicalJson(entry, visit)).join()}]`
    : `{${canonicalMembers(value, visit).join()}}`
  visit?.leave()
  return text
}

function canonicalMembers(value: object, visit: Visit | undefined): string[] {
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  visit?.spend(members.length)
  return members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member, visit)}`)
}
