import { compileSchema } from '../agents/index.js'
import { isRecord } from '../core/json.js'
import type { A2uiCatalog, SurfaceProblem } from './contract.js'
import { flatSchema } from './page-catalog.js'

type ShapeCheck = (component: unknown) => readonly Pick<SurfaceProblem, 'path' | 'message'>[]

const scalars = ['string', 'number', 'boolean', 'null']

const checks = new WeakMap<A2uiCatalog, Map<string, ShapeCheck>>()

/**
 * Checks the properties of a component as far as a page would break: an object in place of a text, a text in place of a list.
 * Which text or number it is, is left to the page. Undefined for a component that the catalog does not have.
 */
export function shapeCheckOf(catalog: A2uiCatalog, name: string): ShapeCheck | undefined {
  const known = checks.get(catalog) ?? new Map<string, ShapeCheck>()
  checks.set(catalog, known)
  const compiled = known.get(name)
  if (compiled || !Object.hasOwn(catalog.components, name)) return compiled
  const { properties } = flatSchema(catalog.components[name] ?? {})
  const check = compileSchema({ properties: eachShape(properties) }, { onUnusable: () => undefined })
  known.set(name, check)
  return check
}

function eachShape(schemas: unknown): Record<string, unknown> {
  return isRecord(schemas)
    ? Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, shapeOf(schema)]))
    : {}
}

/** A schema that tells lists, objects and single values apart. Members keep their position: references point there. */
function shapeOf(schema: unknown): unknown {
  if (!isRecord(schema)) return true
  const { type, enum: values, const: value, properties, items, required, anyOf, oneOf, allOf, $ref } = schema
  const types = new Set([type].flat().filter((one) => typeof one === 'string'))
  const isSingle = scalars.some((one) => types.has(one)) || types.has('integer')
  const isChoice = types.size === 0 && (Array.isArray(values) || value !== undefined)
  const compounds = ['array', 'object'].filter((one) => types.has(one))
  const shape = [...compounds, ...(isSingle || isChoice ? scalars : [])]
  const choices = anyOf ?? oneOf
  return {
    ...(shape.length > 0 ? { type: shape } : {}),
    ...(isRecord(properties) ? { properties: eachShape(properties) } : {}),
    ...(isRecord(items) ? { items: shapeOf(items) } : {}),
    ...(Array.isArray(required) ? { required } : {}),
    ...(Array.isArray(choices) ? { anyOf: choices.map(shapeOf) } : {}),
    ...(Array.isArray(allOf) ? { allOf: allOf.map(shapeOf) } : {}),
    ...(typeof $ref === 'string' ? { $ref } : {}),
  }
}
