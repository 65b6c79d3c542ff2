import { isRecord } from '../core/json.js'
import type { A2uiCatalog, SurfaceProblem } from './contract.js'
import { shapeCheckOf } from './shape-schema.js'

/** How many components a page is to draw, those of lists counted for each entry. */
const maxDrawn = 5000

type Component = Readonly<Record<string, unknown>>

interface Drawing {
  readonly components: readonly Component[]
  readonly data: unknown
  readonly catalog: A2uiCatalog
}

/**
 * Finds properties, or values in the data model that they are bound to, with which a page would break. Draws the surface in
 * thought, from its root, lists entry by entry.
 */
export function propertyProblems({ components, data, catalog }: Drawing): readonly SurfaceProblem[] {
  const found = new Map<string, SurfaceProblem>()
  const byId = new Map(components.map((component, index) => [component.id, { component, index }]))
  const drawn = new Set<string>()
  const open: { readonly id: string; readonly scope: string }[] = [{ id: 'root', scope: '' }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { id, scope } = next
    const { component, index } = byId.get(id) ?? {}
    const key = `${scope} ${id}`
    if (!component || drawn.has(key)) continue
    drawn.add(key)
    if (drawn.size > maxDrawn) return [tooMany]
    const check = shapeCheckOf(catalog, String(component.component))
    const bound = withValues(component, { data, scope })
    const issues = check && [component, bound].map(check).find((list) => list.length > 0)
    for (const { path, message } of issues ?? []) {
      const at = `components[${index}]${path.slice(1)}`
      found.set(at, {
        code: 'invalid_property',
        path: at,
        message: `'${String(component.component)}': ${message}`,
      })
    }
    for (const child of childrenOf(component, byId)) open.push(...positions(child, { data, scope }))
  }
  return [...found.values()]
}

const tooMany: SurfaceProblem = {
  code: 'too_large',
  path: 'components',
  message: `The surface draws more than ${maxDrawn} components. Show fewer entries`,
}

interface Scope {
  readonly data: unknown
  /** The path of the entry of a list that is drawn. */
  readonly scope: string
}

interface Child {
  readonly id: string
  /** Of the list that it is drawn for. */
  readonly list?: string
}

/** A component with the values that its properties are bound to, where there are any. */
function withValues(value: unknown, where: Scope): unknown {
  if (Array.isArray(value)) return value.map((entry) => withValues(entry, where))
  if (!isRecord(value)) return value
  if (typeof value.path === 'string' && value.componentId === undefined)
    return valueAt(where.data, absolute(value.path, where.scope)) ?? value
  const entries = Object.entries(value).map(([key, member]) => [
    key,
    // What a click reports is not drawn.
    key === 'event' || key === 'checks' ? member : withValues(member, where),
  ])
  return Object.fromEntries(entries) as unknown
}

/** Everything in a component that may be the id of another. */
function childrenOf(value: unknown, known: ReadonlyMap<unknown, unknown>): Child[] {
  if (typeof value === 'string') return known.has(value) ? [{ id: value }] : []
  if (Array.isArray(value)) return value.flatMap((entry) => childrenOf(entry, known))
  if (!isRecord(value)) return []
  const { componentId, path } = value
  if (typeof componentId === 'string' && typeof path === 'string') return [{ id: componentId, list: path }]
  return Object.entries(value).flatMap(([key, member]) => (key === 'id' ? [] : childrenOf(member, known)))
}

function positions({ id, list }: Child, { data, scope }: Scope): { id: string; scope: string }[] {
  if (list === undefined) return [{ id, scope }]
  const path = absolute(list, scope)
  const entries = valueAt(data, path)
  if (!Array.isArray(entries)) return []
  return entries.slice(0, maxDrawn + 1).map((_, index) => ({ id, scope: `${path}/${index}` }))
}

function absolute(path: string, scope: string): string {
  return path.startsWith('/') ? path : `${scope}/${path}`
}

function valueAt(data: unknown, path: string): unknown {
  let value = data
  for (const key of path.split('/').filter((one) => one !== '')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return value
}
