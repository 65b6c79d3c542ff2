import { BASIC_CATALOG_ID, assembleOps } from '@ag-ui/a2ui-toolkit'
import { MillraceError } from '../core/errors.js'
import { toJson } from '../core/to-json.js'
import { describeProblems, surfaceProblems } from './check-surface.js'
import type { A2uiComponent, A2uiResult } from './contract.js'
import { findCatalog } from './page-catalog.js'

export interface SurfaceOptions {
  /** Names the surface in the thread: clicks and updates refer to it. */
  readonly surfaceId: string
  /** In any order. The one with the id `root` is drawn. */
  readonly components: readonly A2uiComponent[]
  /** The data model. Components refer to it by paths. */
  readonly data?: Readonly<Record<string, unknown>>
  /** The catalog that the components are of. Default: the basic one. */
  readonly catalogId?: string
}

/**
 * The result of a tool whose surface the application has designed: the tool fills in the data. Throws TOOL_ERROR, in
 * words for whoever wrote the components, when they cannot be drawn.
 *
 * @example
 * execute: async ({ city }) => toSurface({ surfaceId: 'weather', components, data: await forecast(city) })
 */
export function toSurface({
  surfaceId,
  components,
  data,
  catalogId = BASIC_CATALOG_ID,
}: SurfaceOptions): A2uiResult {
  const copy = toJson({ components, ...(data ? { data } : {}) }, `The surface '${surfaceId}'`) as Copy
  const catalog = findCatalog(catalogId, undefined)
  const problems = surfaceProblems({ ...copy, catalog, hasAllData: false })
  if (problems.length > 0 || typeof surfaceId !== 'string' || surfaceId === '') {
    const what = problems.length > 0 ? describeProblems(problems) : '`surfaceId` must be a text'
    throw new MillraceError('TOOL_ERROR', `The surface '${surfaceId}' cannot be drawn:\n${what}`)
  }
  return { a2ui_operations: assembleOps({ intent: 'create', surfaceId, catalogId, ...copy }) }
}

interface Copy {
  readonly components: Record<string, unknown>[]
  readonly data?: Record<string, unknown>
}
