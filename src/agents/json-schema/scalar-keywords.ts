import { formats } from './formats.js'
import { asList, asNumber, canonicalJson, SchemaProblem, type Keyword } from './keyword.js'
import { compileLinear } from './linear-regex.js'
import type { Check, Visit } from './visit.js'

const types = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object']

/** Keywords about a value itself. */
export const scalarKeywords: Readonly<Record<string, Keyword>> = {
  type(value) {
    const allowed = Array.isArray(value) ? (value as unknown[]) : [value]
    for (const name of allowed)
      if (typeof name !== 'string' || !types.includes(name))
        throw new SchemaProblem(`${JSON.stringify(name)} is none of ${types.join(', ')}`)
    const message = `expected ${allowed.join(' or ')}`
    return (instance, visit) =>
      allowed.some((name) => hasType(instance, name as string)) || visit.fail(message)
  },
  const: (value) => oneOf([value], `must be ${JSON.stringify(value)}`),
  enum(value) {
    const values = asList(value)
    return oneOf(values, `must be one of ${values.map((entry) => JSON.stringify(entry)).join(', ')}`)
  },

  minimum: (value) => bound(value, (instance, limit) => instance >= limit, 'must be at least'),
  maximum: (value) => bound(value, (instance, limit) => instance <= limit, 'must be at most'),
  exclusiveMinimum: (value) => bound(value, (instance, limit) => instance > limit, 'must be more than'),
  exclusiveMaximum: (value) => bound(value, (instance, limit) => instance < limit, 'must be less than'),
  multipleOf: (value) => bound(value, isMultiple, 'must be a multiple of'),

  minLength: (value) => lengthBound(value, (length, limit) => length >= limit, 'must have at least'),
  maxLength: (value) => lengthBound(value, (length, limit) => length <= limit, 'must have at most'),
  pattern(value) {
    const matches = toPattern(value)
    return ifText(
      (text, visit) => matches(text, visit) || visit.fail(`does not match the pattern ${String(value)}`),
    )
  },
  format(value) {
    const hasFormat = formats.get(value)
    if (!hasFormat) return undefined
    return ifText((text, visit) => hasFormat(text) || visit.fail(`does not have the format ${String(value)}`))
  },
}

/** Matches a text against a pattern in linear time, and counts the work. */
export function toPattern(pattern: unknown): (text: string, visit: Visit) => boolean {
  if (typeof pattern !== 'string') throw new SchemaProblem('a pattern must be a text')
  try {
    const { cost, test } = compileLinear(pattern)
    return (text, visit) => {
      visit.spend(cost * text.length)
      return test(text)
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const advice = 'Change it, or check the value in code'
    throw new SchemaProblem(`the pattern ${JSON.stringify(pattern)} cannot be checked: ${reason}. ${advice}`)
  }
}

function hasType(instance: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return instance === null
    case 'array':
      return Array.isArray(instance)
    case 'object':
      return typeof instance === 'object' && instance !== null && !Array.isArray(instance)
    case 'integer':
      return Number.isInteger(instance)
    default:
      return typeof instance === type
  }
}

function oneOf(values: readonly unknown[], message: string): Check {
  const allowed = new Set(values.map((value) => canonicalJson(value)))
  return (instance, visit) => allowed.has(canonicalJson(instance, visit)) || visit.fail(message)
}

function bound(value: unknown, isWithin: (instance: number, limit: number) => boolean, words: string): Check {
  const limit = asNumber(value)
  return (instance, visit) =>
    typeof instance !== 'number' || isWithin(instance, limit) || visit.fail(`${words} ${limit}`)
}

/** Whether a number is a multiple of another, as people write them: 0.3 is one of 0.1. */
function isMultiple(value: number, divisor: number): boolean {
  if (!Number.isFinite(value) || !(divisor > 0)) return false
  const [valueDigits, valueExponent] = toDecimal(value)
  const [divisorDigits, divisorExponent] = toDecimal(divisor)
  const shift = Math.min(valueExponent, divisorExponent)
  const scale = (digits: bigint, exponent: number): bigint => digits * 10n ** BigInt(exponent - shift)
  return scale(valueDigits, valueExponent) % scale(divisorDigits, divisorExponent) === 0n
}

/** The number as digits times a power of ten. */
function toDecimal(value: number): [digits: bigint, exponent: number] {
  const [mantissa = '', exponent = '0'] = String(Math.abs(value)).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return [BigInt(whole + fraction), Number(exponent) - fraction.length]
}

function lengthBound(
  value: unknown,
  isWithin: (length: number, limit: number) => boolean,
  words: string,
): Check {
  const limit = asNumber(value)
  return ifText(
    (text, visit) => isWithin(characters(text), limit) || visit.fail(`${words} ${limit} characters`),
  )
}

/** The number of characters: a pair of surrogates is one. */
function characters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

const charactersPerStep = 16

function ifText(check: (text: string, visit: Visit) => boolean): Check {
  return (instance, visit) => {
    if (typeof instance !== 'string') return true
    visit.spend(instance.length / charactersPerStep)
    return check(instance, visit)
  }
}
