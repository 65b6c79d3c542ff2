import { areAllValid, asList, SchemaProblem, type Keyword, type KeywordSite } from './keyword.js'
import type { Check } from './visit.js'

/** Keywords that apply other schemas to the same value. */
export const logicKeywords: Readonly<Record<string, Keyword>> = {
  $ref: reference,
  // Without the extension of schemas by others, which does not happen here, both mean the same.
  $dynamicRef: reference,
  $recursiveRef: reference,
  allOf(value, site) {
    const checks = all(value, site)
    return (instance, visit) => areAllValid(checks, visit, (check) => check(instance, visit))
  },
  anyOf(value, site) {
    const checks = all(value, site)
    return (instance, visit) => {
      const fits = (check: Check): boolean => visit.fits(check, instance, { counts: true })
      // All that fit count for `unevaluatedProperties`.
      const isValid = visit.evaluated ? checks.filter(fits).length > 0 : checks.some(fits)
      return isValid || visit.fail('fits none of the allowed forms')
    }
  },
  oneOf(value, site) {
    const checks = all(value, site)
    return (instance, visit) => {
      let count = 0
      for (const check of checks) {
        if (visit.fits(check, instance, { counts: true })) count++
        if (count > 1) break
      }
      return count === 1 || visit.fail('must fit exactly one of the allowed forms')
    }
  },
  not(value, site) {
    const check = site.beside(value)
    return (instance, visit) => !visit.fits(check, instance) || visit.fail('has a form that is not allowed')
  },
  if(value, site) {
    const { then = true, else: otherwise = true } = site.schema
    const [condition, thenCheck, elseCheck] = [value, then, otherwise].map((schema) =>
      site.beside(schema),
    ) as [Check, Check, Check]
    return (instance, visit) =>
      visit.fits(condition, instance, { counts: true })
        ? thenCheck(instance, visit)
        : elseCheck(instance, visit)
  },
}

function reference(value: unknown, site: KeywordSite): Check {
  if (typeof value !== 'string') throw new SchemaProblem('it must be a text')
  return site.referenced(value)
}

function all(value: unknown, site: KeywordSite): Check[] {
  return asList(value).map((schema) => site.beside(schema))
}
