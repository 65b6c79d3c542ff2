import { A2UI_OPERATIONS_KEY } from '@ag-ui/a2ui-toolkit'
import { isRecord, parseJson } from '../core/json.js'
import type { A2uiOperation } from './contract.js'

const kinds = ['createSurface', 'updateComponents', 'updateDataModel', 'deleteSurface'] as const

type Payload = Readonly<Record<string, unknown>>

/** The operations on one surface, as they are drawn: what a later one replaces is gone. */
export interface SurfaceContent {
  readonly surfaceId: string
  /** Undefined for a surface that the operations change without having made it. */
  readonly created?: A2uiOperation | undefined
  readonly components: ReadonlyMap<string, Payload>
  readonly data: ReadonlyMap<string, A2uiOperation>
  readonly isDeleted?: boolean
}

/** A tool result that asks for surfaces, or says why there is none. Undefined for any other result. */
export type SurfaceResult =
  | { readonly type: 'operations'; readonly operations: readonly unknown[] }
  | { readonly type: 'failed'; readonly error: string; readonly attempts: readonly unknown[] }

/** Reads the content of a tool message. */
export function readSurfaceResult(content: unknown): SurfaceResult | undefined {
  const text = textOf(content)
  // Most results are none: no need to parse them.
  if (!text?.includes('a2ui_')) return undefined
  const parsed = parseJson(text)
  const result = typeof parsed === 'string' ? parseJson(parsed) : parsed
  if (!isRecord(result)) return undefined
  const operations = result[A2UI_OPERATIONS_KEY]
  if (Array.isArray(operations)) return { type: 'operations', operations }
  if (result.code !== 'a2ui_recovery_exhausted') return undefined
  const attempts: readonly unknown[] = Array.isArray(result.attempts) ? result.attempts : []
  return { type: 'failed', error: String(result.error), attempts }
}

function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  const [part, ...others] = Array.isArray(content) ? (content as readonly unknown[]) : []
  return others.length === 0 && isRecord(part) && typeof part.text === 'string' ? part.text : undefined
}

/** Sorts operations by surface, in order. Returns a sentence about the first that is none. */
export function bySurface(
  operations: readonly unknown[],
  before: (surfaceId: string) => SurfaceContent | undefined,
): ReadonlyMap<string, SurfaceContent> | string {
  const surfaces = new Map<string, SurfaceContent>()
  for (const [index, operation] of operations.entries()) {
    const found = isRecord(operation) ? kinds.filter((kind) => isRecord(operation[kind])) : []
    const [kind] = found
    if (!isRecord(operation) || kind === undefined || found.length > 1)
      return `Operation ${index} must be an object with one of ${kinds.join(', ')}.`
    const payload = operation[kind] as Payload
    const { surfaceId } = payload
    if (typeof surfaceId !== 'string' || surfaceId === '')
      return `Operation ${index} (${kind}) has no \`surfaceId\`.`
    const known = surfaces.get(surfaceId) ?? before(surfaceId) ?? emptySurface(surfaceId)
    surfaces.set(surfaceId, applyOperation(known, { kind, operation, payload }))
  }
  return surfaces
}

function emptySurface(surfaceId: string): SurfaceContent {
  return { surfaceId, components: new Map(), data: new Map() }
}

interface ReadOperation {
  readonly kind: (typeof kinds)[number]
  readonly operation: A2uiOperation
  readonly payload: Payload
}

function applyOperation(
  surface: SurfaceContent,
  { kind, operation, payload }: ReadOperation,
): SurfaceContent {
  switch (kind) {
    case 'createSurface':
      return { ...emptySurface(surface.surfaceId), created: operation }
    case 'deleteSurface':
      return { ...emptySurface(surface.surfaceId), created: surface.created, isDeleted: true }
    case 'updateComponents': {
      const list: readonly unknown[] = Array.isArray(payload.components) ? payload.components : []
      const added = list.map((one, index): [string, Payload] => [keyOf(one, index), one as Payload])
      return { ...surface, components: new Map([...surface.components, ...added]) }
    }
    case 'updateDataModel': {
      const path = typeof payload.path === 'string' && payload.path !== '' ? payload.path : '/'
      const kept = [...surface.data].filter(([other]) => !isWithin(other, path))
      return { ...surface, data: new Map([...kept, [path, operation]]) }
    }
  }
}

/** Whether one path in the data model is the other, or below it. */
function isWithin(path: string, above: string): boolean {
  return above === '/' || path === above || path.startsWith(`${above}/`)
}

// One without an id must be seen, to be told.
function keyOf(component: unknown, index: number): string {
  return isRecord(component) && typeof component.id === 'string' ? component.id : `[${index}]`
}

/** The data model that the operations leave. */
export function dataOf({ data }: SurfaceContent): unknown {
  let model: unknown = {}
  for (const [path, operation] of data) {
    const { value } = operation.updateDataModel as Payload
    model = withValueAt(
      model,
      path.split('/').filter((key) => key !== ''),
      value,
    )
  }
  return model
}

function withValueAt(model: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value
  const below: unknown = isObject(model) && Object.hasOwn(model, key) ? Reflect.get(model, key) : undefined
  const next = withValueAt(below, rest, value)
  if (Array.isArray(model))
    return Number(key) <= model.length
      ? Object.assign([...(model as unknown[])], { [key]: next })
      : (model as unknown)
  return { ...(isObject(model) ? model : {}), [key]: next }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** The operations that draw a surface from nothing. */
export function toOperations({ surfaceId, created, ...surface }: SurfaceContent): readonly A2uiOperation[] {
  const version = 'v0.9'
  if (surface.isDeleted) return [{ version, deleteSurface: { surfaceId } }]
  const components = [...surface.components.values()]
  return [
    ...(created ? [created] : []),
    ...(components.length > 0 ? [{ version, updateComponents: { surfaceId, components } }] : []),
    ...surface.data.values(),
  ]
}
