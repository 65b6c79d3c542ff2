import { areAllValid, asList, asNumber, canonicalJson, type Keyword } from './keyword.js'
import type { Check, Visit } from './visit.js'

type Items = readonly unknown[]

/** Keywords about the items of an array. */
export const arrayKeywords: Readonly<Record<string, Keyword>> = {
  minItems(value) {
    const limit = asNumber(value)
    return ifArray((items, visit) => items.length >= limit || visit.fail(`must have at least ${limit} items`))
  },
  maxItems(value) {
    const limit = asNumber(value)
    return ifArray((items, visit) => items.length <= limit || visit.fail(`must have at most ${limit} items`))
  },
  uniqueItems(value) {
    return value === true ? ifArray(areUnique) : undefined
  },
  prefixItems(value, { below }) {
    const checks = asList(value).map((schema) => below(schema))
    return ifArray((items, visit) => checkFirst(items, checks, visit))
  },
  items(value, { schema, below }) {
    // Before draft 2020-12, a list here was what `prefixItems` is now.
    if (Array.isArray(value)) {
      const checks = value.map((one) => below(one))
      return ifArray((items, visit) => checkFirst(items, checks, visit))
    }
    const from = Array.isArray(schema.prefixItems) ? schema.prefixItems.length : 0
    const check = below(value)
    return ifArray((items, visit) => checkRest(items, from, { check, visit }))
  },
  additionalItems(value, { schema, below }) {
    if (!Array.isArray(schema.items)) return undefined
    const from = schema.items.length
    const check = below(value)
    return ifArray((items, visit) => checkRest(items, from, { check, visit }))
  },
  contains(value, { schema, below }) {
    const { minContains, maxContains } = schema
    const least = minContains === undefined ? 1 : asNumber(minContains)
    const most = maxContains === undefined ? Infinity : asNumber(maxContains)
    const check = below(value)
    return ifArray((items, visit) => {
      const count = countMatching(items, check, visit)
      if (count < least) return visit.fail(`must have at least ${least} items of the required form`)
      return count <= most || visit.fail(`must have at most ${most} items of the form that is counted`)
    })
  },
  unevaluatedItems(value, { below }) {
    const check = below(value)
    return ifArray((items, visit) =>
      areAllValid(
        [...items.keys()],
        visit,
        (index) => visit.evaluated?.has(index) === true || checkItem(items, index, { check, visit }),
      ),
    )
  },
}

function ifArray(check: (items: Items, visit: Visit) => boolean): Check {
  return (instance, visit) => !Array.isArray(instance) || check(instance, visit)
}

interface ItemCheck {
  readonly check: Check
  readonly visit: Visit
}

function checkItem(items: Items, index: number, { check, visit }: ItemCheck): boolean {
  visit.evaluated?.add(index)
  return visit.checkAt(index, check, items[index])
}

function checkFirst(items: Items, checks: readonly Check[], visit: Visit): boolean {
  return areAllValid([...checks.entries()].slice(0, items.length), visit, ([index, check]) =>
    checkItem(items, index, { check, visit }),
  )
}

function checkRest(items: Items, from: number, { check, visit }: ItemCheck): boolean {
  let isValid = true
  for (let index = from; index < items.length; index++) {
    if (checkItem(items, index, { check, visit })) continue
    isValid = false
    if (!visit.isCollecting) break
  }
  return isValid
}

function countMatching(items: Items, check: Check, visit: Visit): number {
  let count = 0
  for (const [index, item] of items.entries()) {
    if (!visit.fits(check, item)) continue
    visit.evaluated?.add(index)
    count++
  }
  return count
}

function areUnique(items: Items, visit: Visit): boolean {
  const seen = new Map<string, number>()
  for (const [index, item] of items.entries()) {
    const text = canonicalJson(item, visit)
    const first = seen.get(text)
    if (first !== undefined) return visit.fail(`has the same item at ${first} and ${index}`)
    seen.set(text, index)
  }
  return true
}
