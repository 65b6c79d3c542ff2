import { isRecord } from '../../core/json.js'
import { arrayKeywords } from './array-keywords.js'
import type { SchemaIssue } from './issues.js'
import { SchemaProblem, type KeywordSite } from './keyword.js'
import { logicKeywords } from './logic-keywords.js'
import { objectKeywords } from './object-keywords.js'
import { indexSchemas, type SchemaIndex } from './references.js'
import { scalarKeywords } from './scalar-keywords.js'
import { Visit, VisitOver, type Check } from './visit.js'

export interface CompileOptions {
  /**
   * Called for each part of the schema that cannot be used, which is then left out. By default, such a schema is refused:
   * this throws SchemaProblem.
   */
  readonly onUnusable?: (problem: string) => void
}

// The order of the checks: the last ones look at what the others have evaluated.
const keywords = Object.entries({ ...scalarKeywords, ...logicKeywords, ...objectKeywords, ...arrayKeywords })
const trackingKeywords = ['unevaluatedProperties', 'unevaluatedItems']
const maxSchemas = 10_000
const maxDepth = 200

/**
 * Compiles a JSON Schema (draft 2020-12) once, to check any number of values. No code is generated: a schema from elsewhere
 * is only data. Patterns and formats take linear time, and the work of a check is bounded, whatever the schema and the
 * value are.
 */
export function compileSchema(
  schema: Readonly<Record<string, unknown>>,
  options: CompileOptions = {},
): (value: unknown) => SchemaIssue[] {
  // A copy, since the owner may change it. It also has no circles.
  const copy = JSON.parse(JSON.stringify(schema)) as unknown
  const check = new SchemaCompiler(copy, options).compileRoot()
  return (value) => {
    const visit = new Visit()
    try {
      check(value, visit)
    } catch (error) {
      if (!(error instanceof VisitOver)) throw error
    }
    return visit.issues
  }
}

interface Compiled {
  check: Check
  /** Schemas that the same value is checked against. */
  readonly beside: Set<Compiled>
}

class SchemaCompiler {
  readonly #root: unknown
  readonly #options: CompileOptions
  readonly #compiled = new Map<unknown, Compiled>()
  #index: SchemaIndex | undefined
  #depth = 0

  constructor(root: unknown, options: CompileOptions) {
    this.#root = root
    this.#options = options
  }

  compileRoot(): Check {
    const root = this.#compile(this.#root)
    if (!runsInCircles(this.#compiled.values())) return root.check
    return (
      this.#orLeaveOut('$ref', () => {
        throw new SchemaProblem('it leads back to itself')
      }) ?? (() => true)
    )
  }

  #compile(schema: unknown): Compiled {
    if (typeof schema === 'boolean')
      return { check: schema ? () => true : (_, visit) => visit.fail('is not allowed'), beside: new Set() }
    if (!isRecord(schema)) throw new SchemaProblem('a schema must be an object, true or false')
    const known = this.#compiled.get(schema)
    if (known) return known
    if (this.#compiled.size >= maxSchemas) throw new SchemaProblem(`it has more than ${maxSchemas} parts`)
    if (++this.#depth > maxDepth) throw new SchemaProblem(`it is nested more than ${maxDepth} deep`)
    const checks: Check[] = []
    const isTracking = trackingKeywords.some((keyword) => keyword in schema)
    const compiled: Compiled = {
      check: (value, visit) => visit.apply(checks, value, isTracking),
      beside: new Set(),
    }
    this.#compiled.set(schema, compiled)
    for (const [name, keyword] of keywords) {
      if (!Object.hasOwn(schema, name)) continue
      const check = this.#orLeaveOut(name, () => keyword(schema[name], this.#siteOf(schema, compiled)))
      if (check) checks.push(check)
    }
    this.#depth--
    return compiled
  }

  #siteOf(schema: Readonly<Record<string, unknown>>, { beside }: Compiled): KeywordSite {
    const besideCheck = (other: unknown): Check => {
      const compiled = this.#compile(other)
      beside.add(compiled)
      return compiled.check
    }
    return {
      schema,
      below: (other) => this.#compile(other).check,
      beside: besideCheck,
      referenced: (reference) => {
        this.#index ??= indexSchemas(this.#root)
        const target = this.#index.find(reference, schema)
        if (target === undefined) throw new SchemaProblem(`there is no '${reference}' in it`)
        return besideCheck(target)
      },
    }
  }

  #orLeaveOut(keyword: string, compile: () => Check | undefined): Check | undefined {
    const depth = this.#depth
    try {
      return compile()
    } catch (error) {
      if (!(error instanceof SchemaProblem)) throw error
      const message = error.message.startsWith('`') ? error.message : `\`${keyword}\`: ${error.message}`
      if (!this.#options.onUnusable) throw new SchemaProblem(message)
      this.#depth = depth
      this.#options.onUnusable(message)
      return undefined
    }
  }
}

/** Whether a value would be checked against the same schema for ever. */
function runsInCircles(all: Iterable<Compiled>): boolean {
  const safe = new Set<Compiled>()
  const above = new Set<Compiled>()
  const visit = (schema: Compiled): boolean => {
    if (safe.has(schema)) return false
    if (above.has(schema)) return true
    above.add(schema)
    const isCircle = [...schema.beside].some(visit)
    above.delete(schema)
    safe.add(schema)
    return isCircle
  }
  return [...all].some(visit)
}
