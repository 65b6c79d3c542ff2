/** A component of A2UI: its kind, and properties that may point into the data. */
export interface SurfaceComponent {
  readonly id: string
  readonly component: string
  readonly [property: string]: unknown
}

/** A surface as its operations have made it. */
export interface SurfaceModel {
  readonly surfaceId: string
  readonly components: ReadonlyMap<string, SurfaceComponent>
  readonly data: unknown
}

type Fields = Readonly<Record<string, unknown>>

/** Carries out operations of A2UI 0.9, in order. Those that make no sense are left out. */
export function toSurfaces(operations: unknown): readonly SurfaceModel[] {
  const surfaces = new Map<string, SurfaceModel>()
  for (const operation of Array.isArray(operations) ? operations : []) {
    const [kind, payload] = Object.entries(toFields(operation)).find(([key]) => key !== 'version') ?? []
    const fields = toFields(payload)
    const { surfaceId } = fields
    if (kind === undefined || typeof surfaceId !== 'string') continue
    const before = surfaces.get(surfaceId) ?? { surfaceId, components: new Map(), data: {} }
    if (kind === 'deleteSurface') surfaces.delete(surfaceId)
    else surfaces.set(surfaceId, change(before, kind, fields))
  }
  return [...surfaces.values()]
}

function change(surface: SurfaceModel, kind: string, fields: Fields): SurfaceModel {
  if (kind === 'updateComponents' && Array.isArray(fields.components)) {
    const components = new Map(surface.components)
    for (const component of fields.components as readonly unknown[])
      if (isComponent(component)) components.set(component.id, component)
    return { ...surface, components }
  }
  if (kind !== 'updateDataModel') return surface
  const path = typeof fields.path === 'string' ? fields.path : '/'
  return { ...surface, data: writePath(surface.data, toParts(path), fields.value) }
}

function isComponent(value: unknown): value is SurfaceComponent {
  const { id, component } = toFields(value)
  return typeof id === 'string' && typeof component === 'string'
}

/** Where a path leads: those that begin with a slash from the top, others from the entry of a list. */
export function resolvePath(scope: string, path: string): string {
  if (path.startsWith('/')) return path
  return `${scope === '/' ? '' : scope}/${path}`
}

export function readPath(data: unknown, path: string): unknown {
  return toParts(path).reduce<unknown>((value, part) => toFields(value)[part], data)
}

export function writePath(data: unknown, parts: readonly string[], value: unknown): unknown {
  const [first, ...rest] = parts
  if (first === undefined) return value
  const next = writePath(toFields(data)[first], rest, value)
  if (Array.isArray(data)) return data.with(Math.min(Number(first), data.length - 1), next) as unknown
  // A key of its own, whatever its name is.
  return Object.fromEntries([
    ...Object.entries(toFields(data)).filter(([key]) => key !== first),
    [first, next],
  ])
}

export function toParts(path: string): readonly string[] {
  return path.split('/').filter((part) => part !== '')
}

/** A property: a value, or what stands at its path in the data. */
export function readProperty(property: unknown, data: unknown, scope: string): unknown {
  const { path } = toFields(property)
  return typeof path === 'string' ? readPath(data, resolvePath(scope, path)) : property
}

export function toFields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) return {}
  return Object.assign(Object.create(null) as Fields, value)
}
