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
  // A text may be the same as an id: such a component is seen as its own child, and looked at once.
  const seen = new Set<string>()
  const open: Position[] = [{ id: 'root', scope: '' }]
  let entries = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { id, scope } = next
    const { component, index = 0 } = byId.get(id) ?? {}
    const key = `${scope} ${id}`
    if (!component || seen.has(key)) continue
    seen.add(key)
    for (const problem of problemsAt({ component, index }, { data, scope }, catalog))
      found.set(problem.path, problem)
    for (const child of childrenOf(component, byId)) {
      const below = positions(child, { data, scope })
      if (child.list !== undefined) entries += below.length
      open.push(...below)
    }
    if (entries + seen.size > maxDrawn) return [tooMany]
  }
  return [...found.values()]
}

/** A component, drawn for the entry of a list or once. */
interface Position {
  readonly id: string
  readonly scope: string
}

function problemsAt(
  { component, index }: { readonly component: Component; readonly index: number },
  where: Scope,
  catalog: A2uiCatalog,
): readonly SurfaceProblem[] {
  const name = String(component.component)
  const check = shapeCheckOf(catalog, name)
  const issues = check && [component, withValues(component, where)].map(check).find((list) => list.length > 0)
  return (issues ?? []).map(({ path, message }) => ({
    code: 'invalid_property',
    path: `components[${index}]${path.slice(1)}`,
    message: `'${name}': ${message}`,
  }))
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

function positions({ id, list }: Child, { data, scope }: Scope): Position[] {
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
