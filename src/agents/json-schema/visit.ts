import { toIssue, type SchemaIssue } from './issues.js'

/** Checks a value, and what is in it. Adds issues to the visit, if it collects them. */
export type Check = (value: unknown, visit: Visit) => boolean

// A step is a keyword applied to a value, or an instruction of RE2 applied to a character: less than a microsecond.
const maxSteps = 5_000_000
const maxDepth = 500
const maxIssues = 100

/** Thrown when a value cannot be checked with reasonable effort, or enough is wrong with it. */
export class VisitOver extends Error {}

/** One check of one value. Some schemas take exponential time, so the work is counted. */
export class Visit {
  readonly issues: SchemaIssue[] = []
  /** Properties and items that were checked so far, for `unevaluatedProperties` and `unevaluatedItems`. */
  evaluated: Set<PropertyKey> | undefined
  readonly #path: PropertyKey[] = []
  #stepsLeft = maxSteps
  #depth = 0
  #isQuiet = false

  /** Whether a check should look for all issues, not only for the first. */
  get isCollecting(): boolean {
    return !this.#isQuiet
  }

  /** Counts work. Throws when it is too much. */
  spend(steps: number): void {
    this.#stepsLeft -= steps
    if (this.#stepsLeft < 0) this.#giveUp('is too large to be checked')
  }

  /** Enters a level of the value or the schema. Throws when it is too deep. */
  enter(): void {
    this.spend(1)
    if (++this.#depth > maxDepth) this.#giveUp('is nested too deeply to be checked')
  }

  leave(): void {
    this.#depth--
  }

  /** Applies the checks of a schema. What they have evaluated counts for the schema around it if all pass. */
  apply(checks: readonly Check[], value: unknown, isTracking: boolean): boolean {
    this.enter()
    this.spend(checks.length)
    const outer = this.evaluated
    const evaluated = isTracking || outer ? new Set<PropertyKey>() : undefined
    this.evaluated = evaluated
    let isValid = true
    for (const check of checks) {
      if (check(value, this)) continue
      isValid = false
      if (this.#isQuiet) break
    }
    // With issues, what an invalid part has checked counts too: it gets no second issue.
    if ((isValid || !this.#isQuiet) && outer && evaluated) {
      this.spend(evaluated.size)
      for (const key of evaluated) outer.add(key)
    }
    this.evaluated = outer
    this.leave()
    return isValid
  }

  /** Checks a property or an item. */
  checkAt(key: PropertyKey, check: Check, value: unknown): boolean {
    this.#path.push(key)
    const isValid = this.#apart(check, value)
    this.#path.pop()
    return isValid
  }

  /** Whether a value fits, without issues. With `counts`, what was checked counts for the schema around it. */
  fits(check: Check, value: unknown, { counts = false } = {}): boolean {
    const wasQuiet = this.#isQuiet
    this.#isQuiet = true
    const isValid = counts ? check(value, this) : this.#apart(check, value)
    this.#isQuiet = wasQuiet
    return isValid
  }

  /** Returns false, so that a check can end with it. */
  fail(message: string, ...below: PropertyKey[]): false {
    if (this.#isQuiet) return false
    this.issues.push(toIssue([...this.#path, ...below], message))
    if (this.issues.length >= maxIssues) throw new VisitOver()
    return false
  }

  #apart(check: Check, value: unknown): boolean {
    const outer = this.evaluated
    this.evaluated = undefined
    const isValid = check(value, this)
    this.evaluated = outer
    return isValid
  }

  #giveUp(message: string): never {
    this.issues.push(toIssue(this.#path.slice(0, 10), message))
    throw new VisitOver()
  }
}
