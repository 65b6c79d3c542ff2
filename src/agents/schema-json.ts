import { Validator, type OutputUnit } from '@cfworker/json-schema'
import { MillraceError } from '../core/errors.js'
import type { JsonSchema } from '../models/index.js'
import { toIssue, type SchemaIssue } from './schema-issue.js'

/** Errors that only say that there are others, further down. */
const wrappers = new Set([
  '$ref',
  '$recursiveRef',
  'additionalItems',
  'additionalProperties',
  'allOf',
  'dependentSchemas',
  'if',
  'items',
  'patternProperties',
  'prefixItems',
  'properties',
  'unevaluatedItems',
  'unevaluatedProperties',
])

/** Errors that stand for all those below them: what is wrong with each alternative only confuses. */
const choices = new Map([
  ['anyOf', 'fits none of the allowed forms'],
  ['oneOf', 'must fit exactly one of the allowed forms'],
  ['contains', 'has no item of the required form'],
])

/**
 * Reads a JSON Schema (draft 2020-12) once, to check any number of values. It is interpreted: no code is generated, so
 * a schema from elsewhere is only data. The check throws INVALID_AGENT when the schema itself is of no use, for
 * example for a `$ref` that leads nowhere.
 */
export function toJsonCheck(schema: JsonSchema, what: string): (value: unknown) => SchemaIssue[] {
  const validator = attempt(what, () => {
    // A copy, since the validator writes its notes into what it is given.
    const copy = JSON.parse(JSON.stringify(schema)) as Record<string, unknown>
    return new Validator(copy, '2020-12', false)
  })
  return (value) => {
    if (value === undefined) return [toIssue([], 'is missing')]
    return toIssues(attempt(what, () => validator.validate(value)).errors)
  }
}

function attempt<T>(what: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const [reason] = String(error).split('\n')
    throw new MillraceError('INVALID_AGENT', `${what}: the JSON Schema cannot be used: ${reason ?? ''}`, {
      cause: error,
    })
  }
}

function toIssues(errors: readonly OutputUnit[]): SchemaIssue[] {
  const chosen = errors.filter(({ keyword }) => choices.has(keyword))
  return errors
    .filter((error, index) => {
      // The schema `false` has no place of its own: it stands right after the keyword that holds it.
      const place = error.keyword === 'false' ? errors[index - 1] : error
      const isBelow = chosen.some((choice) => place?.keywordLocation.startsWith(`${choice.keywordLocation}/`))
      return !wrappers.has(error.keyword) && !isBelow
    })
    .map(toOneIssue)
}

function toOneIssue({ keyword, instanceLocation, error }: OutputUnit): SchemaIssue {
  const keys = toKeys(instanceLocation)
  if (keyword === 'false') return toIssue(keys, 'is not allowed')
  const quoted = /"(.*)"\.$/.exec(error)?.[1]
  if (keyword === 'required' && quoted !== undefined) return toIssue([...keys, quoted], 'is required')
  const expected = keyword === 'type' ? /Expected "(.*)"\.$/.exec(error)?.[1] : undefined
  if (expected !== undefined) return toIssue(keys, `expected ${expected.replaceAll('", "', ' or ')}`)
  return toIssue(keys, choices.get(keyword) ?? error)
}

/** The keys of a JSON pointer in a URI fragment, as the validator writes it. */
function toKeys(pointer: string): PropertyKey[] {
  const [, ...keys] = pointer.split('/')
  return keys.map((key) => {
    if (/^\d+$/.test(key)) return Number(key)
    return decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
  })
}
